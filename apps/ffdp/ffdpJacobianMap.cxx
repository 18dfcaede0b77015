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

#include "ffdpPartition.h"

#include "ffdpJacobian.h"
#include "ffdpPlaneSums.h"

#include <algorithm>
#include <cmath>
#include <cstring>
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

/** The mean over the whole volume of values of which each rank has the sums of its planes. */
double
MeanOf(const ffdp::PlaneSums & own, ffdp::Communicator & communicator)
{
  std::int64_t count = own.Count();
  double       sum = 0;
  for (const double plane : communicator.Gather(own.planeSums))
  {
    sum += plane;
  }
  communicator.Sum(&count, 1);
  return sum / double(std::max<std::int64_t>(count, 1));
}

double
MeanIntensity(const ffdp::VolumeView<const float> & image, ffdp::Communicator & communicator)
{
  ffdp::PlaneSums sums;
  for (std::int64_t z = image.firstPlane; z < image.EndPlane(); ++z)
  {
    const float * plane = image.Row(0, z);
    sums.planeSums.push_back(std::accumulate(plane, plane + image.planeStride, 0.0));
    sums.planeCounts.push_back(image.planeStride);
  }
  return MeanOf(sums, communicator);
}

/** Of the voxels that are brighter than `mean`. */
void
MeasureDisplacements(const ffdp::WarpView<const float> & warp,
                     const FloatImage *                  fixed,
                     double                              mean,
                     ffdp::Communicator &                communicator,
                     JacobianMap &                       map)
{
  const ffdp::PlacedImage image = PlaceImage(fixed);
  const double * const    toMm = image.indexToPhysical.matrix;
  ffdp::PlaneSums         sums;
  for (std::int64_t z = warp.firstPlane; z < warp.EndPlane(); ++z)
  {
    const float * const voxels = image.voxels.Row(0, z);
    double              sum = 0;
    std::int64_t        count = 0;
    for (std::int64_t i = 0; i < warp.planeStride; ++i)
    {
      if (voxels[i] > mean)
      {
        const double u[3] = { warp.Row(0, 0, z)[i], warp.Row(1, 0, z)[i], warp.Row(2, 0, z)[i] };
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
    sums.planeSums.push_back(sum);
    sums.planeCounts.push_back(count);
  }
  communicator.Maximum(&map.largestDisplacement, 1);
  map.meanDisplacement = MeanOf(sums, communicator);
}

/** A few planes of a warp with one more on each side, where the volume goes on: determinants need them. */
class WindowOfWarp
{
public:
  /** Fetches the planes beside those that this rank owns. */
  WindowOfWarp(const ffdp::WarpView<const float> & own, ffdp::Communicator & communicator)
    : m_Own(own)
    , m_Below(std::size_t(3 * own.planeStride))
    , m_Above(m_Below.size())
    , m_Window(std::size_t(3 * own.planeStride * (PlanesAtOnce + 2)))
  {
    const ffdp::Partition      owners(own.domain.z, communicator.Size());
    std::vector<ffdp::Message> sends, receives;
    const auto                 ownerOf = [&](std::int64_t plane) {
      int rank = 0;
      while (plane >= owners.Owned(rank).end)
      {
        ++rank;
      }
      return rank;
    };
    if (own.planes > 0 && own.firstPlane > 0)
    {
      const int below = ownerOf(own.firstPlane - 1);
      sends.push_back({ below, this->OwnBlocks(own.firstPlane) });
      receives.push_back({ below, this->Blocks(m_Below) });
    }
    if (own.planes > 0 && own.EndPlane() < own.domain.z)
    {
      const int above = ownerOf(own.EndPlane());
      sends.push_back({ above, this->OwnBlocks(own.EndPlane() - 1) });
      receives.push_back({ above, this->Blocks(m_Above) });
    }
    communicator.Start(sends, receives)->Wait();
  }

  /** The planes [first, first + count) of this rank and their neighbors. */
  ffdp::WarpView<const float>
  Show(std::int64_t first, std::int64_t count)
  {
    const std::int64_t begin = std::max<std::int64_t>(0, first - 1), end = std::min(m_Own.domain.z, first + count + 1);
    const std::int64_t plane = m_Own.planeStride, volume = plane * (PlanesAtOnce + 2);
    for (int c = 0; c < 3; ++c)
    {
      for (std::int64_t z = begin; z < end; ++z)
      {
        const float * const from = z < m_Own.firstPlane    ? m_Below.data() + c * plane
                                   : z >= m_Own.EndPlane() ? m_Above.data() + c * plane
                                                           : m_Own.Row(c, 0, z);
        std::memcpy(m_Window.data() + c * volume + (z - begin) * plane, from, std::size_t(plane) * sizeof(float));
      }
    }
    const float * const data = m_Window.data();
    return ffdp::WarpView<const float>::Planar(
      data, data + volume, data + 2 * volume, m_Own.domain, begin, end - begin);
  }

private:
  /** The components of a plane. */
  std::vector<ffdp::MemoryBlock>
  OwnBlocks(std::int64_t z) const
  {
    std::vector<ffdp::MemoryBlock> blocks;
    for (int c = 0; c < 3; ++c)
    {
      blocks.push_back({ const_cast<float *>(m_Own.Row(c, 0, z)), std::size_t(m_Own.planeStride) * sizeof(float) });
    }
    return blocks;
  }
  std::vector<ffdp::MemoryBlock>
  Blocks(std::vector<float> & plane) const
  {
    std::vector<ffdp::MemoryBlock> blocks;
    for (int c = 0; c < 3; ++c)
    {
      blocks.push_back({ plane.data() + c * m_Own.planeStride, std::size_t(m_Own.planeStride) * sizeof(float) });
    }
    return blocks;
  }

  ffdp::WarpView<const float> m_Own;
  std::vector<float>          m_Below, m_Above, m_Window;
};

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
MapJacobian(const ffdp::WarpView<const float> & warp,
            const FloatImage *                  fixed,
            const std::vector<SlicePlane> &     planes,
            ffdp::Communicator &                communicator)
{
  const auto         image = PlaceImage(fixed).voxels;
  const ffdp::Extent size = warp.domain;
  const double       mean = MeanIntensity(image, communicator);
  JacobianMap        map;
  map.histogram.resize(Bins);
  for (const SlicePlane & plane : planes)
  {
    map.slices.emplace_back(std::size_t(plane.width) * std::size_t(plane.height));
  }
  WindowOfWarp       window(warp, communicator);
  std::vector<float> buffer(std::size_t(size.x * size.y * PlanesAtOnce));
  for (std::int64_t first = warp.firstPlane; first < warp.EndPlane(); first += PlanesAtOnce)
  {
    const auto                    count = std::min(PlanesAtOnce, warp.EndPlane() - first);
    const ffdp::VolumeView<float> determinant(buffer.data(), size, first, count);
    ffdp::JacobianDeterminant(window.Show(first, count), first, count, determinant);
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
  communicator.Sum(map.histogram.data(), map.histogram.size());
  for (Slice & slice : map.slices)
  {
    JoinSlice(slice, communicator);
  }
  MeasureDisplacements(warp, fixed, mean, communicator, map);
  return map;
}
