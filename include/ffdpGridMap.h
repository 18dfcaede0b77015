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
#ifndef ffdpGridMap_h
#define ffdpGridMap_h

#include "ffdpVolume.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace ffdp
{

/** Where a coarse grid lies in a fine one: coarse index i is at the fine coordinate scale * i + offset, axis
 * by axis in the order x, y, z. A level of a pyramid has one GridMap; its image is made with it
 * (Downsample), its warp leaves with it (UpsampleWarp), and its spacing and origin must say the same. */
struct GridMap
{
  double scale[3] = { 1, 1, 1 };  ///< size of a coarse voxel in fine voxels
  double offset[3] = { 0, 0, 0 }; ///< fine coordinate of coarse index 0

  /** The outer faces of the grids coincide: i is at (i + 1/2) N/n - 1/2. Both grids cover the same part of
   * space, so this is the geometry of an image whose spacing grew by N/n. */
  static GridMap
  Centered(const Extent & fine, const Extent & coarse)
  {
    GridMap            map;
    const std::int64_t fineSize[3] = { fine.x, fine.y, fine.z };
    const std::int64_t coarseSize[3] = { coarse.x, coarse.y, coarse.z };
    for (int axis = 0; axis < 3; ++axis)
    {
      map.scale[axis] = double(fineSize[axis]) / double(coarseSize[axis]);
      map.offset[axis] = 0.5 * map.scale[axis] - 0.5;
    }
    return map;
  }

  /** The centers of the outermost voxels coincide: i is at i (N - 1)/(n - 1). An axis that is one voxel
   * long on either grid has no two such centers and is treated as in Centered(). */
  static GridMap
  AlignCorners(const Extent & fine, const Extent & coarse)
  {
    GridMap            map = Centered(fine, coarse);
    const std::int64_t fineSize[3] = { fine.x, fine.y, fine.z };
    const std::int64_t coarseSize[3] = { coarse.x, coarse.y, coarse.z };
    for (int axis = 0; axis < 3; ++axis)
    {
      if (fineSize[axis] > 1 && coarseSize[axis] > 1)
      {
        map.scale[axis] = double(fineSize[axis] - 1) / double(coarseSize[axis] - 1);
        map.offset[axis] = 0;
      }
    }
    return map;
  }
};

/** The size of a level: int(N / scale) along each axis, but not below `minimum`, and never above N. So an axis
 * that is short already keeps its voxels instead of being enlarged, and one plane stays one plane. */
inline Extent
LevelSize(const Extent & full, double scale, std::int64_t minimum = 32)
{
  const auto shrink = [=](std::int64_t n) {
    const double shrunk = std::floor(double(n) / scale);
    const auto   size = shrunk < double(n) ? std::int64_t(std::max(shrunk, 1.0)) : n;
    return std::min(n, std::max(size, minimum));
  };
  return Extent{ shrink(full.x), shrink(full.y), shrink(full.z) };
}

} // namespace ffdp

#endif
