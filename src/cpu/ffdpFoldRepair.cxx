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

#include "ffdpCheck.h"
#include "ffdpParallel.h"

#include <algorithm>
#include <array>
#include <vector>

namespace ffdp
{
namespace
{

/** Indices [first, end) of the neighbors of a voxel along an axis, itself among them. */
struct Neighbors
{
  std::int64_t first, end;

  Neighbors(std::int64_t at, std::int64_t size)
    : first(std::max<std::int64_t>(0, at - 1))
    , end(std::min(size, at + 2))
  {}
};

struct Change
{
  std::int64_t         x, y;
  std::array<float, 3> displacement;
};

bool
HasFoldNear(const VolumeView<const float> & determinant,
            std::int64_t                    x,
            const Neighbors &               ys,
            const Neighbors &               zs,
            float                           least)
{
  const Neighbors xs(x, determinant.domain.x);
  for (std::int64_t z = zs.first; z < zs.end; ++z)
  {
    for (std::int64_t y = ys.first; y < ys.end; ++y)
    {
      const float * row = determinant.Row(y, z);
      for (std::int64_t i = xs.first; i < xs.end; ++i)
      {
        if (row[i] < least)
        {
          return true;
        }
      }
    }
  }
  return false;
}

/** Most rows have no fold in or beside them, and this is much quicker to see than for each of their voxels. */
bool
HasFoldInRows(const VolumeView<const float> & determinant, const Neighbors & ys, const Neighbors & zs, float least)
{
  for (std::int64_t z = zs.first; z < zs.end; ++z)
  {
    for (std::int64_t y = ys.first; y < ys.end; ++y)
    {
      const float * row = determinant.Row(y, z);
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

std::array<float, 3>
MeanOfNeighbors(const WarpView<float> & u, std::int64_t x, const Neighbors & ys, const Neighbors & zs)
{
  const Neighbors      xs(x, u.domain.x);
  std::array<float, 3> mean{};
  const double         count = double((xs.end - xs.first) * (ys.end - ys.first) * (zs.end - zs.first));
  for (int c = 0; c < 3; ++c)
  {
    double sum = 0;
    for (std::int64_t z = zs.first; z < zs.end; ++z)
    {
      for (std::int64_t y = ys.first; y < ys.end; ++y)
      {
        const float * row = u.Row(c, y, z);
        for (std::int64_t i = xs.first; i < xs.end; ++i)
        {
          sum += double(row[i]);
        }
      }
    }
    mean[std::size_t(c)] = float(sum / count);
  }
  return mean;
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
  RequirePlanes(u, firstOwned, firstOwned + ownedPlanes, 1, "the warp");
  RequirePlanes(determinant, firstOwned, firstOwned + ownedPlanes, 1, "the determinant");
  RequireSameDomain(u.domain, determinant.domain, "the warp and the determinant");
  Require(u.elementStride == 1 && u.component[2], "the warp must be planar with three components");

  // All means are taken before any voxel changes.
  std::vector<std::vector<Change>> changes(std::size_t(std::max<std::int64_t>(0, ownedPlanes)));
  ParallelFor(ownedPlanes, threads, [&](std::int64_t plane, unsigned) {
    const std::int64_t z = firstOwned + plane;
    const Neighbors    zs(z, u.domain.z);
    for (std::int64_t y = 0; y < u.domain.y; ++y)
    {
      const Neighbors ys(y, u.domain.y);
      if (!HasFoldInRows(determinant, ys, zs, least))
      {
        continue;
      }
      for (std::int64_t x = 0; x < u.domain.x; ++x)
      {
        if (HasFoldNear(determinant, x, ys, zs, least))
        {
          changes[std::size_t(plane)].push_back({ x, y, MeanOfNeighbors(u, x, ys, zs) });
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
