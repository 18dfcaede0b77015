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
#ifndef ffdpMetricPlanes_h
#define ffdpMetricPlanes_h

#include "ffdpAlignedBuffer.h"
#include "ffdpImageMetric.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace ffdp
{

/** A few planes of both images, sampled on the grid, and which of their voxels count. */
class MetricPlanes
{
public:
  /** \param capacity  planes to hold at most
   *  \param findValid whether Valid() is needed */
  MetricPlanes(const MetricProblem & problem, std::int64_t capacity, bool findValid);

  /** Holds the planes [first, end) afterwards. Those that were there already are kept, not sampled again, if they are
   * the first ones. */
  void
  Load(std::int64_t first, std::int64_t end, unsigned threads);

  /** Values outside the image are NaN. */
  VolumeView<const float>
  Fixed() const;

  /** Likewise. May be changed. */
  VolumeView<float>
  Moving() const;

  /** Not 0 where a voxel counts; empty if all of them do. */
  VolumeView<const std::uint8_t>
  Valid() const;

  /** Memory for dL/dM on the planes that are held. */
  VolumeView<float>
  Weights();

  /** Writes d for the planes of `weights` = dL/dM, and returns their moments if they are asked for. */
  std::vector<MapGradient>
  Differentiate(const VolumeView<const float> & weights, const MetricDerivative & derivative, unsigned threads);

private:
  void
  LoadBatch(std::int64_t first, std::int64_t end, unsigned threads);
  void
  KeepPlanes(std::int64_t first);
  WarpInput
  WarpOf(const MetricImage & image, std::int64_t first, std::int64_t end, unsigned threads);
  void
  SampleImage(const MetricImage & image, const VolumeView<float> & output, unsigned threads);
  WarpView<float>
  GradientToLeadBack(std::int64_t first, std::int64_t count);
  void
  FindValid(std::int64_t first, std::int64_t end, unsigned threads);

  const MetricProblem &       m_Problem;
  const std::int64_t          m_PlaneVoxels;
  const bool                  m_FixedInPlace;
  const bool                  m_FindValid;
  const std::int64_t          m_Batch; ///< planes for which there are residuals, masks and gradients at a time
  PlaneRange                  m_Range;
  AlignedBuffer<float>        m_Fixed;
  AlignedBuffer<float>        m_Moving;
  AlignedBuffer<float>        m_Residuals;
  AlignedBuffer<float>        m_Weights;
  AlignedBuffer<float>        m_Gradient; ///< that is led back, on the planes being differentiated
  AlignedBuffer<std::uint8_t> m_Valid;
  AlignedBuffer<std::uint8_t> m_Mask; ///< of both images, on the planes being loaded
  std::vector<std::int64_t>   m_ValidCounts;
};

/** X' = a(X) for the map of X. */
CompositeMap
MapThrough(const AffineMap & a, const CompositeMap & map);

/** The mask of an image on the planes of the grid that `output` holds, given the warp of the image on these planes. */
void
SampleMask(const MetricImage &              image,
           const WarpInput &                warp,
           const VolumeView<std::uint8_t> & output,
           unsigned                         threads);

/** Calls work(planes, range, worker, threads) for pieces that cover the grid, the planes of the range being loaded.
 * Pieces are shared out to threads, each with buffers of its own; if there are too few of them, they are done one
 * after the other and `threads` of them may work on each. */
void
SweepPlanes(const MetricProblem &                                                               problem,
            bool                                                                                findValid,
            const std::function<void(MetricPlanes &, const PlaneRange &, unsigned, unsigned)> & work);

/** Throws std::invalid_argument unless the problem and the derivative fit together. */
void
CheckProblem(const MetricProblem & problem, const MetricDerivative & derivative);

} // namespace ffdp

#endif
