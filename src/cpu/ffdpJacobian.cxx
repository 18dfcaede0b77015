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
#include "ffdpJacobian.h"

#include "ffdpCheck.h"
#include "ffdpJacobianTerms.h"
#include "ffdpNotANumber.h"
#include "ffdpParallel.h"
#include "ffdpRowLanes.h"
#include "ffdpRowPieces.h"

#include <algorithm>

namespace ffdp
{
namespace
{

/** The rows of each component that the derivatives in one row are made of. */
struct JacobianRows
{
  const float * center[3]; ///< the row itself
  const float * below[3];  ///< its neighbors along y, or itself at the border
  const float * above[3];
  const float * before[3]; ///< its neighbors along z, or itself at the border
  const float * behind[3];
  float         factorY; ///< 1 / distance between below and above; 0 if they are the same
  float         factorZ;
};

struct JacobianJob
{
  WarpView<const float>          warp;
  VolumeView<float>              determinant;
  VolumeView<const std::uint8_t> mask;
  const float *                  zeros = nullptr; ///< a row for the component that a 2-D field lacks

  JacobianRows
  RowsAt(std::int64_t y, std::int64_t z) const
  {
    const std::int64_t below = std::max<std::int64_t>(0, y - 1);
    const std::int64_t above = std::min(warp.domain.y - 1, y + 1);
    const std::int64_t before = std::max<std::int64_t>(0, z - 1);
    const std::int64_t behind = std::min(warp.domain.z - 1, z + 1);
    const auto         factor = [](std::int64_t distance) { return distance > 0 ? 1.0f / float(distance) : 0.0f; };
    JacobianRows       rows;
    rows.factorY = factor(above - below);
    rows.factorZ = factor(behind - before);
    for (int c = 0; c < 3; ++c)
    {
      const bool there = warp.component[c] != nullptr;
      rows.center[c] = there ? warp.Row(c, y, z) : zeros;
      rows.below[c] = there ? warp.Row(c, below, z) : zeros;
      rows.above[c] = there ? warp.Row(c, above, z) : zeros;
      rows.before[c] = there ? warp.Row(c, y, before) : zeros;
      rows.behind[c] = there ? warp.Row(c, y, behind) : zeros;
    }
    return rows;
  }
};

struct JacobianPartial
{
  double       sum = 0;
  std::int64_t count = 0;
  std::int64_t notPositive = 0;
  float        minimum = std::numeric_limits<float>::infinity();
};

} // namespace
} // namespace ffdp

#define FFDP_KERNEL_FILE "ffdpJacobianKernel.h"
#include "ffdpForEachInstructionSet.h"

namespace ffdp
{

JacobianResult
JacobianDeterminant(const WarpView<const float> &          warp,
                    std::int64_t                           firstPlane,
                    std::int64_t                           planes,
                    const VolumeView<float> &              determinant,
                    const VolumeView<const std::uint8_t> & mask,
                    unsigned                               threads)
{
  RequireUsable(warp, "the warp");
  const std::int64_t endPlane = firstPlane + planes;
  Require(firstPlane >= 0 && planes >= 0 && endPlane <= warp.domain.z, "planes outside the warp are asked for");
  RequirePlanes(warp, firstPlane, endPlane, 1, "the warp");
  Require(warp.elementStride == 1 && warp.component[1], "the warp is not planar");
  if (determinant)
  {
    RequirePlanes(determinant, firstPlane, endPlane, 0, "the determinant");
    RequireSameDomain(warp.domain, determinant.domain, "the warp and the determinant");
  }
  if (mask)
  {
    RequirePlanes(mask, firstPlane, endPlane, 0, "the mask");
    RequireSameDomain(warp.domain, mask.domain, "the warp and the mask");
  }

  const std::vector<float> zeros(warp.component[2] ? 0 : std::size_t(warp.domain.x));
  const JacobianJob        job{ warp, determinant, mask, zeros.data() };
  const RowPieces          pieces{ warp.domain.y, firstPlane, planes };
  const auto kernel = mask ? FFDP_SELECT_KERNEL(JacobianPiece<true>) : FFDP_SELECT_KERNEL(JacobianPiece<false>);
  std::vector<JacobianPartial> partials(static_cast<std::size_t>(pieces.Count()));
  ParallelFor(pieces.Count(), threads, [&](std::int64_t piece, unsigned) {
    partials[std::size_t(piece)] = kernel(job, pieces.Plane(piece), pieces.FirstRow(piece), pieces.EndRow(piece));
  });

  JacobianResult result;
  result.planeSums.resize(std::size_t(planes));
  result.planeCounts.resize(std::size_t(planes));
  for (std::int64_t piece = 0; piece < pieces.Count(); ++piece)
  {
    const auto              plane = std::size_t(pieces.Plane(piece) - firstPlane);
    const JacobianPartial & partial = partials[std::size_t(piece)];
    result.planeSums[plane] += partial.sum;
    result.planeCounts[plane] += partial.count;
    result.notPositive += partial.notPositive;
    result.minimum = std::min(result.minimum, double(partial.minimum));
  }
  return result;
}

} // namespace ffdp
