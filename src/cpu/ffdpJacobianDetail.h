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
#ifndef ffdpJacobianDetail_h
#define ffdpJacobianDetail_h

#include "ffdpCheck.h"
#include "ffdpJacobian.h"
#include "ffdpRowPieces.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

/** What is before and behind the loops over determinants: the same for every device. */
namespace ffdp
{

inline void
RequireJacobianInputs(const WarpView<const float> &          warp,
                      std::int64_t                           firstPlane,
                      std::int64_t                           planes,
                      const VolumeView<float> &              determinant,
                      const VolumeView<const std::uint8_t> & mask,
                      const JacobianParameters &             parameters)
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
  Require(!parameters.marks || parameters.marks->IsFor(warp.domain), "marks must be of the blocks of the warp's grid");
}

/** The statistics of a piece of rows. */
struct JacobianPartial
{
  double       sum = 0;
  std::int64_t count = 0;
  std::int64_t notPositive = 0;
  float        minimum = std::numeric_limits<float>::infinity();
};

inline JacobianResult
GatherJacobian(const RowPieces & pieces, const std::vector<JacobianPartial> & partials)
{
  JacobianResult result;
  result.planeSums.resize(std::size_t(pieces.planes));
  result.planeCounts.resize(std::size_t(pieces.planes));
  result.planeMinima.resize(std::size_t(pieces.planes), result.minimum);
  for (std::int64_t piece = 0; piece < pieces.Count(); ++piece)
  {
    const auto              plane = std::size_t(pieces.Plane(piece) - pieces.firstPlane);
    const JacobianPartial & partial = partials[std::size_t(piece)];
    result.planeSums[plane] += partial.sum;
    result.planeCounts[plane] += partial.count;
    result.notPositive += partial.notPositive;
    result.planeMinima[plane] = std::min(result.planeMinima[plane], double(partial.minimum));
    result.minimum = std::min(result.minimum, double(partial.minimum));
  }
  return result;
}

} // namespace ffdp

#endif
