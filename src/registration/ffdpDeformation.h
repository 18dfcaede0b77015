/*=========================================================================
 *
 *  Copyright NumFOCUS
 *
 *  Licensed under the Apache License, Version 2.0 (the "License");
 *  you may not use this file except in compliance with the License.
 *  You may obtain a copy of the License at
 *
 *         https://www.apache.org/licenses/LICENSE-2.0.txt
 *
 *  Unless required by applicable law or agreed to in writing, software
 *  distributed under the License is distributed on an "AS IS" BASIS,
 *  WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 *  See the License for the specific language governing permissions and
 *  limitations under the License.
 *
 *=========================================================================*/
#ifndef ffdpDeformation_h
#define ffdpDeformation_h

#include "ffdpLoss.h"

namespace ffdp
{

/** How a warp is optimized at a level. Lengths are in voxels of the level. */
struct DeformationParameters
{
  double learningRate = 0.5; ///< the largest step is this times half a voxel (of the shortest edge)
  double gradientSigma = 2;  ///< smoothing of the gradient
  double warpSigma = 0.5;    ///< smoothing of the warp after each step
  double beta1 = 0.9;
  double beta2 = 0.99;
  double axisWeight[3] = { 1, 1, 1 }; ///< 0 keeps an axis from moving
};

/** A warp of the fixed grid, the state of its optimizer, and the step: greedy, compositive Adam.
 *
 * Memory: warp and two moments, nine floats per voxel, and windows of planes. The gradient exists only a few planes
 * at a time: it is smoothed and put into the moments, and the step is computed again from these once the largest one is
 * known. */
class Deformation
{
public:
  /** `spacing`: edges of a voxel in mm. */
  Deformation(Backend &      backend,
              Communicator & communicator,
              const Extent & domain,
              const double (&spacing)[3],
              const DeformationParameters & parameters,
              std::int64_t                  planesAtATime);

  WarpView<float>
  Warp() const
  {
    return m_Warp;
  }

  /** Gives the memory of the moments back; no step can follow. */
  void
  ForgetMoments();

  /** Starts from the warp of a coarser level, whose grid lies in this one as `map` says. */
  void
  Upsample(const WarpView<const float> & coarse, const GridMap & map);

  /** One iteration: returns the loss before the step. */
  double
  Step(Loss & loss, const AffineMap & physical);

  /** The largest step of the last iteration, in voxels. */
  double
  LargestStep() const
  {
    return m_LargestStep;
  }

private:
  /** Calls use(smoothed gradient) with successive planes of the sweep. */
  template <typename TUse>
  double
  SweepGradient(Loss & loss, const AffineMap & physical, const TUse & use);

  Backend &             m_Backend;
  Communicator &        m_Communicator;
  DeformationParameters m_Parameters;
  std::int64_t          m_PlanesAtATime;
  Extent                m_Domain;
  double                m_AxisScale[3]; ///< edge of a voxel by the shortest edge
  DeviceArray<float>    m_WarpMemory, m_MomentMemory;
  WarpView<float>       m_Warp, m_First, m_Second;
  PlaneWindow<float>    m_Raw, m_Smoothed;
  AdamParameters        m_Adam;
  std::int64_t          m_Steps = 0;
  double                m_LargestStep = 0;
};

} // namespace ffdp

#endif
