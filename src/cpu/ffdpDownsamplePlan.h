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
#ifndef ffdpDownsamplePlan_h
#define ffdpDownsamplePlan_h

#include "ffdpCheck.h"
#include "ffdpDownsample.h"
#include "ffdpDownsampleWeights.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

/** The weights of a downsampling, and its checks: the same for every device. */
namespace ffdp
{

inline std::int64_t
SizeAlong(const Extent & size, int axis)
{
  return axis == 0 ? size.x : axis == 1 ? size.y : size.z;
}

inline DownsampleWeights
MakeDownsampleWeights(int                          axis,
                      const Extent &               fine,
                      const Extent &               coarse,
                      const GridMap &              map,
                      const DownsampleParameters & parameters,
                      std::int64_t                 begin,
                      std::int64_t                 end)
{
  const std::int64_t fineSize = SizeAlong(fine, axis);
  const std::int64_t coarseSize = SizeAlong(coarse, axis);
  const double       usual = coarseSize < fineSize ? 0.5 * double(fineSize) / double(coarseSize) : 0.0;
  const double       sigma = parameters.sigma[axis] < 0 ? usual : parameters.sigma[axis];
  return DownsampleWeights(begin, end, fineSize, map.scale[axis], map.offset[axis], sigma, parameters.truncation);
}

/** The table along x, laid out for vectors of coarse voxels: the weights of tap 0 for all columns, then of tap 1, ...
 * Windows that would leave the row are moved back into it. */
struct DownsampleColumnTables
{
  std::vector<std::int32_t> first;
  std::vector<float>        weights;

  DownsampleColumnTables(const DownsampleWeights & table, std::int64_t fineSize)
    : first(table.first.size())
    , weights(table.weights.size())
  {
    const std::size_t columns = first.size();
    for (std::size_t x = 0; x < columns; ++x)
    {
      const std::int64_t start = std::min(table.first[x], fineSize - table.taps);
      const auto         moved = std::size_t(table.first[x] - start);
      first[x] = std::int32_t(start);
      for (std::size_t t = 0; t < std::size_t(table.count[x]); ++t)
      {
        weights[(t + moved) * columns + x] = table.weights[x * std::size_t(table.taps) + t];
      }
    }
  }
};

inline void
RequireDownsample(const GridMap & map, const DownsampleParameters & parameters)
{
  for (int axis = 0; axis < 3; ++axis)
  {
    Require(std::isfinite(map.scale[axis]) && map.scale[axis] > 0 && std::isfinite(map.offset[axis]),
            "a coarse grid's voxels must be larger than nothing");
    Require(std::isfinite(parameters.sigma[axis]), "the sigma of a downsampling must be finite");
  }
  Require(std::isfinite(parameters.truncation) && parameters.truncation > 0,
          "a downsampling's Gaussian must end at a positive number of sigmas");
}

inline void
RequireDownsample(const VolumeView<const float> & fine,
                  const VolumeView<float> &       coarse,
                  const GridMap &                 map,
                  const DownsampleParameters &    parameters)
{
  RequireUsable(fine, "the fine image");
  RequireUsable(coarse, "the coarse image");
  RequireDownsample(map, parameters);
  Require(fine.domain.x <= std::numeric_limits<std::int32_t>::max(), "a row of the fine image is too long");
}

/** All weights for the planes that `coarse` holds, at least one. */
struct DownsamplePlan
{
  DownsampleWeights      x;
  DownsampleWeights      y;
  DownsampleWeights      z; ///< begins at the first plane of `coarse`
  DownsampleColumnTables columns;

  DownsamplePlan(const VolumeView<const float> & fine,
                 const VolumeView<float> &       coarse,
                 const GridMap &                 map,
                 const DownsampleParameters &    parameters)
    : x(MakeDownsampleWeights(0, fine.domain, coarse.domain, map, parameters, 0, coarse.domain.x))
    , y(MakeDownsampleWeights(1, fine.domain, coarse.domain, map, parameters, 0, coarse.domain.y))
    , z(MakeDownsampleWeights(2, fine.domain, coarse.domain, map, parameters, coarse.firstPlane, coarse.EndPlane()))
    , columns(x, fine.domain.x)
  {
    RequirePlanes(fine, z.first.front(), z.first.back() + z.count.back(), 0, "the fine image");
  }
};

} // namespace ffdp

#endif
