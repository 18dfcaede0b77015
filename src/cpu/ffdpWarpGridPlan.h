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
#ifndef ffdpWarpGridPlan_h
#define ffdpWarpGridPlan_h

#include "ffdpCheck.h"
#include "ffdpWarpGrid.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

/** Checks, tables and last steps of what is done to a warp and its grid: the same for every device. */
namespace ffdp
{

/** Where a fine index falls between two coarse ones. At the far border both are the last one. */
struct UpsamplePlace
{
  std::int64_t lower = 0;
  std::int64_t upper = 0;
  float        fraction = 0;
};

inline UpsamplePlace
UpsamplePlaceOf(std::int64_t fineIndex, std::int64_t coarseSize, double scale, double offset)
{
  const double last = double(coarseSize - 1);
  const double at = std::min(std::max((double(fineIndex) - offset) / scale, 0.0), last);
  const auto   lower = std::int64_t(at);
  return UpsamplePlace{ lower, std::min(lower + 1, coarseSize - 1), float(at - double(lower)) };
}

inline void
RequireGridMap(const GridMap & map)
{
  for (int axis = 0; axis < 3; ++axis)
  {
    Require(std::isfinite(map.scale[axis]) && map.scale[axis] > 0 && std::isfinite(map.offset[axis]),
            "a coarse grid's voxels must be larger than nothing");
  }
}

template <typename T>
void
RequirePlanarWarp(const WarpView<T> & warp, const char * name)
{
  RequireUsable(warp, name);
  Require(warp.elementStride == 1 && warp.component[1], std::string(name) + " is not planar");
}

/** Where each fine voxel falls on the coarse grid. */
struct UpsamplePlan
{
  std::vector<std::int32_t>  lowerX; ///< as UpsamplePlace, laid out for vector loads
  std::vector<float>         fractionX;
  std::vector<UpsamplePlace> placesY;
  std::vector<UpsamplePlace> placesZ; ///< begins at the first plane of `fine`

  /** Throws std::invalid_argument if the warps cannot be used. */
  UpsamplePlan(const WarpView<const float> & coarse, const WarpView<float> & fine, const GridMap & map)
  {
    RequirePlanarWarp(coarse, "the coarse warp");
    RequirePlanarWarp(fine, "the fine warp");
    Require(!coarse.component[2] == !fine.component[2], "the warps differ in their number of components");
    Require(coarse.domain.x < std::numeric_limits<std::int32_t>::max(), "a row of the coarse warp is too long");
    const PlaneRange needed = UpsampleWarpPlanes(coarse.domain, map, { fine.firstPlane, fine.EndPlane() });
    RequirePlanes(coarse, needed.first, needed.end, 0, "the coarse warp");

    lowerX.reserve(std::size_t(fine.domain.x)); // the tables are all the memory there is
    fractionX.reserve(std::size_t(fine.domain.x));
    placesY.reserve(std::size_t(fine.domain.y));
    placesZ.reserve(std::size_t(fine.planes));
    for (std::int64_t x = 0; x < fine.domain.x; ++x)
    {
      const UpsamplePlace place = UpsamplePlaceOf(x, coarse.domain.x, map.scale[0], map.offset[0]);
      lowerX.push_back(std::int32_t(place.lower));
      fractionX.push_back(place.fraction);
    }
    for (std::int64_t y = 0; y < fine.domain.y; ++y)
    {
      placesY.push_back(UpsamplePlaceOf(y, coarse.domain.y, map.scale[1], map.offset[1]));
    }
    for (std::int64_t z = fine.firstPlane; z < fine.EndPlane(); ++z)
    {
      placesZ.push_back(UpsamplePlaceOf(z, coarse.domain.z, map.scale[2], map.offset[2]));
    }
  }
};

/** What is known of some voxels of a field. */
struct MeasurePartial
{
  float squaredNorm = 0;
  float largest[3] = { 0, 0, 0 };
  bool  finite = true;

  /** The order of joining does not matter. */
  void
  Join(const MeasurePartial & other)
  {
    squaredNorm = std::max(squaredNorm, other.squaredNorm);
    finite = finite && other.finite;
    for (int c = 0; c < 3; ++c)
    {
      largest[c] = std::max(largest[c], other.largest[c]);
    }
  }
};

inline WarpSize
MakeWarpSize(const MeasurePartial & whole, const double (&axisScale)[3])
{
  WarpSize result;
  result.norm = std::sqrt(double(whole.squaredNorm));
  result.finite = whole.finite;
  for (int c = 0; c < 3; ++c) // a squared norm may overflow where its components do not
  {
    result.largest[c] = double(whole.largest[c]);
    result.norm = std::max(result.norm, std::abs(axisScale[c]) * result.largest[c]);
  }
  return result;
}

} // namespace ffdp

#endif
