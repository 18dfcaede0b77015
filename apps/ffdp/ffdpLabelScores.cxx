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
#include "ffdpLabelScores.h"

#include "ffdpSurfaceDistances.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace
{

VoxelGrid
GridOf(const LabelMap::ImageType * image)
{
  VoxelGrid grid;
  for (unsigned int axis = 0; axis < 3; ++axis)
  {
    grid.size[axis] = std::int64_t(image->GetBufferedRegion().GetSize(axis));
    grid.spacing[axis] = image->GetSpacing()[axis];
  }
  return grid;
}

/** The surface of each label: its voxels that share a face with another label, or with the outside of the grid. An axis
 * of one voxel has no faces, so that the surface of a 2-D label is its outline. */
std::vector<VoxelList>
FindSurfaces(const LabelMap & map, std::size_t background)
{
  const VoxelGrid        grid = GridOf(map.image);
  const std::int64_t     strides[3] = { 1, grid.size[0], grid.size[0] * grid.size[1] };
  const auto *           voxels = map.image->GetBufferPointer();
  std::vector<VoxelList> surfaces(map.labels.size());
  std::int64_t           offset = 0;
  std::int64_t           p[3];
  for (p[2] = 0; p[2] < grid.size[2]; ++p[2])
  {
    for (p[1] = 0; p[1] < grid.size[1]; ++p[1])
    {
      for (p[0] = 0; p[0] < grid.size[0]; ++p[0], ++offset)
      {
        const auto label = voxels[offset];
        if (label == background)
        {
          continue;
        }
        bool surface = false;
        for (int axis = 0; axis < 3 && !surface; ++axis)
        {
          surface =
            grid.size[axis] > 1 && (p[axis] == 0 || p[axis] == grid.size[axis] - 1 ||
                                    voxels[offset - strides[axis]] != label || voxels[offset + strides[axis]] != label);
        }
        if (surface)
        {
          surfaces[label].push_back(offset);
        }
      }
    }
  }
  return surfaces;
}

void
MeasureSurfaces(const LabelMap &          fixed,
                const LabelMap &          moved,
                std::size_t               background,
                std::vector<LabelScore> & scores)
{
  const VoxelGrid              grid = GridOf(fixed.image);
  const std::vector<VoxelList> a = FindSurfaces(fixed, background), b = FindSurfaces(moved, background);
  for (std::size_t i = 0; i < scores.size(); ++i)
  {
    if (i != background && !a[i].empty() && !b[i].empty())
    {
      scores[i].hd90 = std::max(MeanOfNearest90Percent(DistancesToNearest(a[i], b[i], grid)),
                                MeanOfNearest90Percent(DistancesToNearest(b[i], a[i], grid)));
    }
  }
}

} // namespace

double
MeanOfNearest90Percent(std::vector<double> distances)
{
  const std::size_t count = std::max<std::size_t>(1, distances.size() * 9 / 10);
  std::sort(distances.begin(), distances.end());
  return std::accumulate(distances.begin(), distances.begin() + std::ptrdiff_t(count), 0.0) / double(count);
}

LabelScores
CompareLabelMaps(LabelMap & fixed, LabelMap & moved, bool withSurfaces)
{
  ShareLabels(fixed, moved);
  const auto background = std::size_t(std::find(fixed.labels.begin(), fixed.labels.end(), 0) - fixed.labels.begin());
  std::vector<LabelScore> scores(fixed.labels.size());
  for (std::size_t i = 0; i < scores.size(); ++i)
  {
    scores[i].label = fixed.labels[i];
    scores[i].hd90 = std::numeric_limits<double>::quiet_NaN();
  }
  const auto * f = fixed.image->GetBufferPointer();
  const auto * m = moved.image->GetBufferPointer();
  const auto   voxels = fixed.image->GetBufferedRegion().GetNumberOfPixels();
  for (itk::SizeValueType i = 0; i < voxels; ++i)
  {
    ++scores[f[i]].fixedVoxels;
    ++scores[m[i]].movedVoxels;
    scores[f[i]].commonVoxels += f[i] == m[i] ? 1 : 0;
  }
  if (withSurfaces)
  {
    MeasureSurfaces(fixed, moved, background, scores);
  }
  LabelScores result;
  double      weights = 0;
  for (std::size_t i = 0; i < scores.size(); ++i)
  {
    const LabelScore & score = scores[i];
    if (i == background)
    {
      continue;
    }
    result.labels.push_back(score);
    if (score.fixedVoxels > 0)
    {
      ++result.count;
      result.meanDice += score.Dice();
      result.inverseVolumeWeightedDice += score.Dice() / double(score.fixedVoxels);
      weights += 1 / double(score.fixedVoxels);
    }
    if (std::isfinite(score.hd90))
    {
      ++result.hd90Count;
      result.meanHd90 += score.hd90;
    }
  }
  result.meanDice /= result.count;
  result.inverseVolumeWeightedDice /= weights;
  result.meanHd90 /= result.hd90Count; // 0 / 0 is the NaN that is promised
  return result;
}
