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
#ifndef ffdpCompositiveWarp_h
#define ffdpCompositiveWarp_h

#include "ffdpCommunicator.h"
#include "ffdpSlab.h"
#include "ffdpStateArchive.h"

#include <array>

namespace ffdp
{

/** How a warp is optimized at a level. */
struct DeformationParameters
{
  double learningRate = 0.5;               ///< the largest step is this times half a voxel (of the shortest edge)
  double gradientSigma[3] = { 2, 2, 2 };   ///< smoothing of the gradient, voxels of the level
  double warpSigma[3] = { 0.5, 0.5, 0.5 }; ///< smoothing of the warp after each step, voxels of the level
  double beta1 = 0.9;
  double beta2 = 0.99;
  double axisWeight[3] = { 1, 1, 1 }; ///< 0 keeps an axis from moving
  double gradientScale = 0;           ///< units of the moments, see AdamGradientScale(); 0: found at the first step
};

/** A warp u of the fixed grid, the state of its optimizer, and the step: compositive Adam. With an opposite, a second
 * warp r takes the same steps the other way: u <- u o (id + v), r <- r o (id - v).
 *
 * Memory: a warp or two, a first moment and a second one: seven or ten floats per voxel. A step is taken in two goes:
 * the gradient is put into the moments some planes at a time (Take), and the step is computed again from these once the
 * largest one is known (Finish). So no gradient of the size of the image is kept. */
class CompositiveWarp
{
public:
  /** `spacing`: edges of a voxel in mm. Starts from the warps in `start` and `opposite`; one that is empty is zero. */
  CompositiveWarp(Backend &                     backend,
                  Communicator &                communicator,
                  const Extent &                domain,
                  const std::array<double, 3> & spacing,
                  const DeformationParameters & parameters,
                  Slab                          start,
                  Slab                          opposite,
                  bool                          withOpposite);

  const Slab &
  Warp() const
  {
    return m_Warp.slab;
  }
  /** The planes that this rank owns of the opposite warp; not given if there is none. */
  WarpView<float>
  OppositeView() const
  {
    return m_Opposite.slab ? m_Opposite.slab.OwnedWarp() : WarpView<float>();
  }

  /** Gives the memory of the moments back; no step can follow. */
  void
  ForgetMoments();

  /** Hands a warp over. */
  Slab
  Release();
  Slab
  ReleaseOpposite();

  bool
  NeedsGradientScale() const
  {
    return m_Steps == 0 && !(m_Parameters.gradientScale > 0);
  }
  /** Before the first step: the largest component of the gradient, of all ranks, or 0. The moments are in its units,
   * see AdamGradientScale(). */
  void
  SetGradientScale(double largest);
  double
  GradientScale() const
  {
    return m_Adam.gradientScale;
  }

  void
  Begin();
  void
  Take(const WarpView<const float> & gradient);
  void
  Finish();

  /** The largest step of the last iteration, in voxels. */
  double
  LargestStep() const
  {
    return m_LargestStep;
  }

  /** Waits for planes of halos that are on their way. All ranks do. */
  void
  FinishTransfers();

  void
  Exchange(StateArchive & archive);

private:
  /** A warp, and the planes of its halo that are on their way while the next gradient is computed. */
  struct MovingWarp
  {
    Slab                             slab;
    std::unique_ptr<PendingTransfer> halo;
  };

  /** A start, or a warp of zero, with a halo as wide as a step and smoothing reach. */
  Slab
  StartOrZero(Slab start, std::int64_t halo) const;
  void
  RefreshHalo(MovingWarp & warp) const;
  Slab
  Release(MovingWarp & warp) const;
  /** Moves a warp by the step that the moments tell, times `scale`, and smooths it. */
  void
  Move(MovingWarp & warp, double scale);

  Backend &             m_Backend;
  Communicator &        m_Communicator;
  DeformationParameters m_Parameters;
  Extent                m_Domain;
  double                m_AxisScale[3]; ///< edge of a voxel by the shortest edge
  MovingWarp            m_Warp, m_Opposite;
  Slab                  m_First, m_Second; ///< moments; three components and one
  AdamParameters        m_Adam;
  std::int64_t          m_Steps = 0;
  double                m_Norm = 0; ///< of the directions that Take() has seen
  double                m_LargestStep = 0;
};

} // namespace ffdp

#endif
