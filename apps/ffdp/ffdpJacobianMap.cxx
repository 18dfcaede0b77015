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
#include "ffdpJacobianMap.h"

#include "ffdpJacobian.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace
{

constexpr std::size_t  Bins = 96;
constexpr std::int64_t PlanesAtOnce = 8;

std::size_t
BinOf(float determinant)
{
  const double octave = determinant > 0 ? std::log2(double(determinant)) : -JacobianMap::Octaves;
  const double place = (octave / JacobianMap::Octaves + 1) * 0.5 * double(Bins);
  return std::size_t(std::min(double(Bins) - 1, std::max(0.0, place)));
}

/** Of the voxels that are brighter than `mean`. */
void
MeasureDisplacements(const ffdp::WarpView<const float> & warp, const FloatImage * fixed, double mean, JacobianMap & map)
{
  const ffdp::PlacedImage image = PlaceImage(fixed);
  const double * const    toMm = image.indexToPhysical.matrix;
  double                  sum = 0, count = 0;
  for (std::int64_t i = 0; i < warp.domain.Voxels(); ++i)
  {
    if (image.voxels.data[i] > mean)
    {
      const double u[3] = { warp.component[0][i], warp.component[1][i], warp.component[2][i] };
      double       squares = 0;
      for (int row = 0; row < 3; ++row)
      {
        const double mm = toMm[3 * row] * u[0] + toMm[3 * row + 1] * u[1] + toMm[3 * row + 2] * u[2];
        squares += mm * mm;
      }
      sum += std::sqrt(squares);
      count += 1;
      map.largestDisplacement = std::max(map.largestDisplacement, std::sqrt(squares));
    }
  }
  map.meanDisplacement = sum / std::max(count, 1.0);
}

} // namespace

double
JacobianMap::Quantile(double share) const
{
  const double all = double(std::accumulate(histogram.begin(), histogram.end(), std::int64_t(0)));
  double       below = 0;
  std::size_t  bin = 0;
  while (bin + 1 < histogram.size() && below + double(histogram[bin]) < share * all)
  {
    below += double(histogram[bin++]);
  }
  return std::exp2((2 * (double(bin) + 0.5) / double(histogram.size()) - 1) * Octaves);
}

JacobianMap
MapJacobian(const ffdp::WarpView<const float> & warp, const FloatImage * fixed, const std::vector<SlicePlane> & planes)
{
  const auto         image = PlaceImage(fixed).voxels;
  const ffdp::Extent size = warp.domain;
  const double       mean = std::accumulate(image.data, image.data + size.Voxels(), 0.0) / double(size.Voxels());
  JacobianMap        map;
  map.histogram.resize(Bins);
  for (const SlicePlane & plane : planes)
  {
    map.slices.emplace_back(std::size_t(plane.width) * std::size_t(plane.height));
  }
  std::vector<float> buffer(std::size_t(size.x * size.y * PlanesAtOnce));
  for (std::int64_t first = 0; first < size.z; first += PlanesAtOnce)
  {
    const auto                    count = std::min(PlanesAtOnce, size.z - first);
    const ffdp::VolumeView<float> determinant(buffer.data(), size, first, count);
    ffdp::JacobianDeterminant(warp, first, count, determinant);
    const float * voxels = image.Row(0, first);
    for (std::int64_t i = 0; i < count * size.x * size.y; ++i)
    {
      map.histogram[BinOf(buffer[std::size_t(i)])] += voxels[i] > mean ? 1 : 0;
    }
    for (std::size_t k = 0; k < planes.size(); ++k)
    {
      for (std::size_t i = 0; i < map.slices[k].size(); ++i)
      {
        const int  width = planes[k].width;
        const auto at = planes[k].VoxelAt(int(i) % width, int(i) / width);
        if (at[2] >= first && at[2] < first + count)
        {
          map.slices[k][i] = determinant.Row(at[1], at[2])[at[0]];
        }
      }
    }
  }
  MeasureDisplacements(warp, fixed, mean, map);
  return map;
}
