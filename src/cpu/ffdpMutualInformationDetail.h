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
#ifndef ffdpMutualInformationDetail_h
#define ffdpMutualInformationDetail_h

#include "ffdpCheck.h"
#include "ffdpMutualInformation.h"
#include "ffdpParzenSetup.h"

#include <cstddef>
#include <cstdint>

/** What the three steps of mutual information share. */
namespace ffdp
{

/** Throws std::invalid_argument unless the images can be compared on the planes of the moving one. */
inline void
RequireHistogramImages(const VolumeView<const float> &        fixed,
                       const VolumeView<const float> &        moving,
                       const VolumeView<const std::uint8_t> & mask)
{
  RequireUsable(moving, "the moving image");
  RequireSameDomain(fixed.domain, moving.domain, "fixed and moving image");
  RequirePlanes(fixed, moving.firstPlane, moving.EndPlane(), 0, "the fixed image");
  if (mask)
  {
    RequireSameDomain(mask.domain, moving.domain, "mask and moving image");
    RequirePlanes(mask, moving.firstPlane, moving.EndPlane(), 0, "the mask");
  }
}

/** Throws std::invalid_argument unless the gradients can be written. */
inline void
RequireGradientImages(const MutualInformation &              information,
                      const VolumeView<const float> &        fixed,
                      const VolumeView<const float> &        moving,
                      const VolumeView<const std::uint8_t> & mask,
                      const VolumeView<float> &              gradientMoving,
                      const VolumeView<float> &              gradientFixed)
{
  const VolumeView<float> & output = gradientMoving ? gradientMoving : gradientFixed;
  RequireUsable(output, "the gradient");
  const std::int64_t first = output.firstPlane;
  const std::int64_t end = output.EndPlane();
  RequireSameDomain(fixed.domain, output.domain, "fixed image and gradient");
  RequireSameDomain(moving.domain, output.domain, "moving image and gradient");
  RequirePlanes(fixed, first, end, 0, "the fixed image");
  RequirePlanes(moving, first, end, 0, "the moving image");
  if (mask)
  {
    RequireSameDomain(mask.domain, output.domain, "mask and gradient");
    RequirePlanes(mask, first, end, 0, "the mask");
  }
  if (gradientMoving && gradientFixed)
  {
    RequireSameDomain(gradientMoving.domain, gradientFixed.domain, "the two gradients");
    Require(gradientFixed.firstPlane == first && gradientFixed.EndPlane() == end,
            "the gradients for the moving and the fixed image hold different planes");
  }
  const std::size_t tableSize = MutualInformationTableSize(information.parameters);
  Require(!gradientMoving || information.movingTable.size() == tableSize, "there is no table for the moving image");
  Require(!gradientFixed || information.fixedTable.size() == tableSize,
          "a gradient for the fixed image needs FinishMutualInformation with forFixed");
}

/** How to look up the gradient for one image. */
struct GradientTask
{
  ParzenSetup   setup;
  ParzenBinning active;
  ParzenBinning other;
  std::int32_t  activeStride = 1; ///< table entries from an active bin to the next
  std::int32_t  otherStride = 1;
  std::int32_t  stride = 1; ///< the larger of the two: from row to row
  const float * table = nullptr;
};

inline GradientTask
MakeGradientTask(const MutualInformation & information, const ParzenSetup & setup, bool forFixed)
{
  GradientTask task;
  task.setup = setup;
  task.active = forFixed ? setup.fixed : setup.moving;
  task.other = forFixed ? setup.moving : setup.fixed;
  task.table = forFixed ? information.fixedTable.data() : information.movingTable.data();
  task.stride = setup.bins;
  switch (information.parameters.kind)
  {
    case MutualInformationKind::BSpline: // rows are differences of active bins
      task.activeStride = task.stride;
      break;
    case MutualInformationKind::Gaussian: // rows are other bins
      task.stride = setup.PaddedStride();
      task.otherStride = task.stride;
      break;
    case MutualInformationKind::Approximate: // rows are fixed bins
      (forFixed ? task.activeStride : task.otherStride) = task.stride;
      break;
    case MutualInformationKind::Mattes: // has a loop of its own
      break;
  }
  return task;
}

/** Voxels of views that lie side by side, cut into pieces. Nothing depends on a voxel's place, so rows and planes
 * without gaps between them are taken as one long row. */
class VoxelRuns
{
public:
  /** The planes [first, first + planes) of `domain`; rows are joined if `dense`. A piece has at most `longest`
   * voxels. */
  VoxelRuns(const Extent & domain, std::int64_t first, std::int64_t planes, bool dense, std::int64_t longest = 32768)
    : m_First(first)
    , m_Longest(longest)
    , m_Rows(dense ? 1 : domain.y)
    , m_RowLength(dense ? domain.x * domain.y * planes : domain.x)
    , m_PiecesPerRow((m_RowLength + longest - 1) / longest)
    , m_Pieces(dense ? m_PiecesPerRow : planes * m_Rows * m_PiecesPerRow)
  {}

  FFDP_HOST_DEVICE std::int64_t
                   Pieces() const
  {
    return m_Pieces;
  }

  FFDP_HOST_DEVICE std::int64_t
                   Length(std::int64_t piece) const
  {
    const std::int64_t left = m_RowLength - piece % m_PiecesPerRow * m_Longest;
    return left < m_Longest ? left : m_Longest;
  }

  /** Where the piece begins in a view, or null if the view is missing. */
  template <typename T>
  FFDP_HOST_DEVICE T *
  Begin(const VolumeView<T> & view, std::int64_t piece) const
  {
    const std::int64_t row = piece / m_PiecesPerRow;
    return view ? view.Row(row % m_Rows, m_First + row / m_Rows) + piece % m_PiecesPerRow * m_Longest : nullptr;
  }

private:
  std::int64_t m_First;
  std::int64_t m_Longest;
  std::int64_t m_Rows;
  std::int64_t m_RowLength;
  std::int64_t m_PiecesPerRow;
  std::int64_t m_Pieces;
};

/** There are no gaps between the view's rows and planes; true for a missing view. */
template <typename T>
bool
IsDense(const VolumeView<T> & view)
{
  return !view || (view.rowStride == view.domain.x && view.planeStride == view.domain.x * view.domain.y);
}

} // namespace ffdp

#endif
