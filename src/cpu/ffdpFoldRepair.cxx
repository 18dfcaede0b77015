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
#include "ffdpFoldRepair.h"

#include "ffdpFoldRepairArguments.h"
#include "ffdpFoldRepairTerms.h"
#include "ffdpParallel.h"

#include <algorithm>
#include <array>
#include <vector>

namespace ffdp
{
namespace
{

struct Change
{
  std::int64_t         x, y;
  std::array<float, 3> displacement;
};

/** Most rows have no fold in or beside them, and this is much quicker to see than for each of their voxels. */
bool
HasFoldInRows(const VolumeView<const float> & determinant,
              const Neighborhood &            around,
              std::int64_t                    y,
              std::int64_t                    z,
              float                           least)
{
  for (int dz = around.low[2]; dz <= around.high[2]; ++dz)
  {
    for (int dy = around.low[1]; dy <= around.high[1]; ++dy)
    {
      const float * row = determinant.Row(y + dy, z + dz);
      int           folds = 0;
      for (std::int64_t i = 0; i < determinant.domain.x; ++i)
      {
        folds |= int(row[i] < least);
      }
      if (folds != 0)
      {
        return true;
      }
    }
  }
  return false;
}

} // namespace

std::int64_t
IronFolds(const WarpView<float> &         u,
          std::int64_t                    firstOwned,
          std::int64_t                    ownedPlanes,
          const VolumeView<const float> & determinant,
          float                           least,
          unsigned                        threads)
{
  CheckFoldRepair(u, firstOwned, ownedPlanes, determinant);

  // All means are taken before any voxel changes.
  std::vector<std::vector<Change>> changes(std::size_t(std::max<std::int64_t>(0, ownedPlanes)));
  ParallelFor(ownedPlanes, threads, [&](std::int64_t plane, unsigned) {
    const std::int64_t z = firstOwned + plane;
    for (std::int64_t y = 0; y < u.domain.y; ++y)
    {
      if (!HasFoldInRows(determinant, NeighborhoodOf(0, y, z, u.domain), y, z, least))
      {
        continue;
      }
      for (std::int64_t x = 0; x < u.domain.x; ++x)
      {
        const Neighborhood around = NeighborhoodOf(x, y, z, u.domain);
        if (HasFoldNear(determinant.Row(y, z) + x, determinant.rowStride, determinant.planeStride, around, least))
        {
          Change change{ x, y, {} };
          for (int c = 0; c < 3; ++c)
          {
            change.displacement[std::size_t(c)] =
              IronedDisplacement(u.Row(c, y, z) + x, u.rowStride, u.planeStride, around);
          }
          changes[std::size_t(plane)].push_back(change);
        }
      }
    }
  });
  std::int64_t changed = 0;
  for (std::int64_t plane = 0; plane < ownedPlanes; ++plane)
  {
    for (const Change & change : changes[std::size_t(plane)])
    {
      for (int c = 0; c < 3; ++c)
      {
        u.Row(c, change.y, firstOwned + plane)[change.x] = change.displacement[std::size_t(c)];
      }
      ++changed;
    }
  }
  return changed;
}

} // namespace ffdp
