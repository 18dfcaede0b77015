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
#ifndef ffdpFoldRepairTerms_h
#define ffdpFoldRepairTerms_h

#include "ffdpVolume.h"
#include "ffdpVoxelInline.h"

#include <cstdint>

/** One voxel of a warp that is ironed where it folds. */
namespace ffdp
{

/** A voxel and its neighbors, cut to the volume: from `low` to `high` of it along x, y and z, each -1, 0 or 1. */
struct Neighborhood
{
  int low[3];
  int high[3];
};

FFDP_VOXEL_INLINE Neighborhood
NeighborhoodOf(std::int64_t x, std::int64_t y, std::int64_t z, const Extent & domain)
{
  return Neighborhood{ { x > 0 ? -1 : 0, y > 0 ? -1 : 0, z > 0 ? -1 : 0 },
                       { x + 1 < domain.x ? 1 : 0, y + 1 < domain.y ? 1 : 0, z + 1 < domain.z ? 1 : 0 } };
}

/** One of them is below `least`; `voxel` is the one in the middle. (The CPU asks whole rows instead.) */
FFDP_VOXEL_INLINE bool
HasFoldNear(const float *        voxel,
            std::int64_t         rowStride,
            std::int64_t         planeStride,
            const Neighborhood & around,
            float                least)
{
  for (int z = around.low[2]; z <= around.high[2]; ++z)
  {
    for (int y = around.low[1]; y <= around.high[1]; ++y)
    {
      const float * row = voxel + z * planeStride + y * rowStride;
      for (int x = around.low[0]; x <= around.high[0]; ++x)
      {
        if (row[x] < least)
        {
          return true;
        }
      }
    }
  }
  return false;
}

/** What a voxel that is ironed gets: most of the way to the mean of its neighborhood. All of the way would take more of
 * the deformation than it has to. */
FFDP_VOXEL_INLINE float
IronedDisplacement(const float * voxel, std::int64_t rowStride, std::int64_t planeStride, const Neighborhood & around)
{
  double sum = 0;
  double count = 1;
  for (int axis = 0; axis < 3; ++axis)
  {
    count *= around.high[axis] - around.low[axis] + 1;
  }
  for (int z = around.low[2]; z <= around.high[2]; ++z)
  {
    for (int y = around.low[1]; y <= around.high[1]; ++y)
    {
      const float * row = voxel + z * planeStride + y * rowStride;
      for (int x = around.low[0]; x <= around.high[0]; ++x)
      {
        sum += double(row[x]);
      }
    }
  }
  const double ironed = 0.85;
  return float(ironed * (sum / count) + (1 - ironed) * double(voxel[0]));
}

} // namespace ffdp

#endif
