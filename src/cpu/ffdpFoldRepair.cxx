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
  std::int32_t         x, y;
  std::array<float, 3> displacement;
};

using PlaneChanges = std::vector<std::vector<Change>>;

bool
HasFold(const float * row, std::int64_t count, float least)
{
  int folds = 0;
  for (std::int64_t x = 0; x < count; ++x)
  {
    folds |= int(row[x] < least);
  }
  return folds != 0;
}

/** Most rows have no fold in or beside them: which ones have is found once for all of their neighbors. */
class FoldedRows
{
public:
  /** Looks at the planes of a range, and at one on either side. */
  FoldedRows(const VolumeView<const float> & determinant,
             std::int64_t                    firstPlane,
             std::int64_t                    planes,
             float                           least,
             unsigned                        threads)
    : m_Determinant(determinant)
    , m_Least(least)
    , m_First(std::max<std::int64_t>(0, firstPlane - 1))
  {
    const Extent &     domain = determinant.domain;
    const std::int64_t looked = std::min(domain.z, firstPlane + planes + 1) - m_First;
    m_Folded.resize(std::size_t(looked * domain.y));
    ParallelFor(looked, threads, [&](std::int64_t plane, unsigned) {
      for (std::int64_t y = 0; y < domain.y; ++y)
      {
        m_Folded[std::size_t(plane * domain.y + y)] = HasFold(determinant.Row(y, m_First + plane), domain.x, least);
      }
    });
  }

  /** Sets near[x] to whether there is a fold at x in row (y, z) or in one beside it. False if there is none at all. */
  bool
  FindNear(const Neighborhood & around, std::int64_t y, std::int64_t z, std::vector<std::uint8_t> & near) const
  {
    bool found = false;
    for (std::int64_t atZ = z + around.low[2]; atZ <= z + around.high[2]; ++atZ)
    {
      for (std::int64_t atY = y + around.low[1]; atY <= y + around.high[1]; ++atY)
      {
        if (m_Folded[std::size_t((atZ - m_First) * m_Determinant.domain.y + atY)] == 0)
        {
          continue;
        }
        if (!found)
        {
          std::fill(near.begin(), near.end(), std::uint8_t(0));
          found = true;
        }
        const float * row = m_Determinant.Row(atY, atZ);
        for (std::size_t x = 0; x < near.size(); ++x)
        {
          near[x] |= std::uint8_t(row[x] < m_Least);
        }
      }
    }
    return found;
  }

private:
  VolumeView<const float>   m_Determinant;
  float                     m_Least;
  std::int64_t              m_First;
  std::vector<std::uint8_t> m_Folded; ///< of each row; bytes, since threads write to neighbors
};

void
FindChanges(const WarpView<float> & u, const FoldedRows & folded, std::int64_t z, std::vector<Change> & changes)
{
  std::vector<std::uint8_t> near(std::size_t(u.domain.x));
  for (std::int64_t y = 0; y < u.domain.y; ++y)
  {
    if (!folded.FindNear(NeighborhoodOf(0, y, z, u.domain), y, z, near))
    {
      continue;
    }
    for (std::int64_t x = 0; x < u.domain.x; ++x)
    {
      const Neighborhood   around = NeighborhoodOf(x, y, z, u.domain);
      const std::uint8_t * at = near.data() + x;
      if ((at[around.low[0]] | at[0] | at[around.high[0]]) != 0)
      {
        Change change{ std::int32_t(x), std::int32_t(y), {} };
        for (int c = 0; c < 3; ++c)
        {
          change.displacement[std::size_t(c)] =
            IronedDisplacement(u.Row(c, y, z) + x, u.rowStride, u.planeStride, around);
        }
        changes.push_back(change);
      }
    }
  }
}

/** Returns how many voxels changed, in the planes from `first` on. */
std::int64_t
Apply(const PlaneChanges & changes, std::int64_t first, const WarpView<float> & u)
{
  std::int64_t changed = 0;
  for (std::size_t plane = 0; plane < changes.size(); ++plane)
  {
    for (const Change & change : changes[plane])
    {
      for (int c = 0; c < 3; ++c)
      {
        u.Row(c, change.y, first + std::int64_t(plane))[change.x] = change.displacement[std::size_t(c)];
      }
    }
    changed += std::int64_t(changes[plane].size());
  }
  return changed;
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

  if (ownedPlanes <= 0)
  {
    return 0;
  }
  const FoldedRows folded(determinant, firstOwned, ownedPlanes, least, threads);

  // Means are taken before any voxel that they are of changes: some planes at a time, and those before them change
  // when these are done.
  constexpr std::int64_t PlanesAtATime = 16;
  const auto             find = [&](std::int64_t first, std::int64_t end) {
    PlaneChanges changes{ std::size_t(end - first) };
    ParallelFor(end - first, threads, [&](std::int64_t plane, unsigned) {
      FindChanges(u, folded, first + plane, changes[std::size_t(plane)]);
    });
    return changes;
  };
  const std::int64_t end = firstOwned + ownedPlanes;
  std::int64_t       changed = 0;
  PlaneChanges       before;
  for (std::int64_t first = firstOwned; first < end; first += PlanesAtATime)
  {
    PlaneChanges changes = find(first, std::min(end, first + PlanesAtATime));
    changed += Apply(before, first - PlanesAtATime, u);
    before = std::move(changes);
  }
  return changed + Apply(before, end - std::int64_t(before.size()), u);
}

} // namespace ffdp
