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
#include "ffdpSurfaceDistances.h"

#include "itkMultiThreaderBase.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace
{

using Position = std::array<std::int64_t, 3>;

constexpr double Infinity = std::numeric_limits<double>::infinity();

/** Half-open ranges of x, y and z. */
struct Box
{
  Position first, end;

  std::int64_t
  Count(int axis) const
  {
    return end[axis] - first[axis];
  }
};

Position
PositionOf(std::int64_t offset, const VoxelGrid & grid)
{
  return { offset % grid.size[0], offset / grid.size[0] % grid.size[1], offset / grid.size[0] / grid.size[1] };
}

Box
BoxAround(const VoxelList & voxels, const VoxelGrid & grid)
{
  Box box{ grid.size, { 0, 0, 0 } };
  for (const std::int64_t offset : voxels)
  {
    const Position p = PositionOf(offset, grid);
    for (int axis = 0; axis < 3; ++axis)
    {
      box.first[axis] = std::min(box.first[axis], p[axis]);
      box.end[axis] = std::max(box.end[axis], p[axis] + 1);
    }
  }
  return box;
}

/** Lower envelope of the parabolas q -> height(q) + (spacing (p - q))^2 of a line. */
class Envelope
{
public:
  explicit Envelope(std::int64_t longest)
    : m_Places(std::size_t(longest))
    , m_Starts(std::size_t(longest))
    , m_Heights(std::size_t(longest))
  {}

  void
  Clear()
  {
    m_Count = 0;
  }

  /** Places come in ascending order. */
  void
  Add(double place, double height, double squaredSpacing)
  {
    if (height == Infinity)
    {
      return;
    }
    double start = -Infinity;
    for (; m_Count > 0; --m_Count)
    {
      const double q = m_Places[m_Count - 1];
      start = 0.5 * (place + q + (height - m_Heights[m_Count - 1]) / (squaredSpacing * (place - q)));
      if (start > m_Starts[m_Count - 1])
      {
        break;
      }
      start = -Infinity;
    }
    m_Places[m_Count] = place;
    m_Heights[m_Count] = height;
    m_Starts[m_Count++] = start;
  }

  /** Heights at places first, first + 1, ...; infinite without a parabola. */
  void
  Evaluate(double first, std::int64_t count, double squaredSpacing, double * heights, std::int64_t stride) const
  {
    std::size_t k = 0;
    for (std::int64_t i = 0; i < count; ++i)
    {
      const double p = first + double(i);
      while (k + 1 < m_Count && m_Starts[k + 1] <= p)
      {
        ++k;
      }
      heights[i * stride] =
        m_Count == 0 ? Infinity : m_Heights[k] + squaredSpacing * (p - m_Places[k]) * (p - m_Places[k]);
    }
  }

private:
  std::vector<double> m_Places, m_Starts, m_Heights;
  std::size_t         m_Count = 0;
};

/** The problem, prepared: rows of `to`, planes of `from`. */
struct Search
{
  const VoxelGrid &        grid;
  Box                      fromBox, toBox;
  std::vector<std::size_t> rowStart; ///< of each row (y fastest) of toBox in `columns`, and the end
  std::vector<int>         columns;  ///< x of the voxels of `to`, ascending within a row
  std::vector<std::size_t> planeStart;
  std::vector<std::size_t> byPlane; ///< places in `from`, sorted by x

  Search(const VoxelList & from, const VoxelList & to, const VoxelGrid & where)
    : grid(where)
    , fromBox(BoxAround(from, where))
    , toBox(BoxAround(to, where))
    , rowStart(std::size_t(toBox.Count(1) * toBox.Count(2)) + 1)
    , planeStart(std::size_t(fromBox.Count(0)) + 1)
    , byPlane(from.size())
  {
    for (const std::int64_t offset : to)
    {
      const Position p = PositionOf(offset, grid);
      ++rowStart[std::size_t((p[2] - toBox.first[2]) * toBox.Count(1) + p[1] - toBox.first[1]) + 1];
      columns.push_back(int(p[0]));
    }
    for (const std::int64_t offset : from)
    {
      ++planeStart[std::size_t(offset % grid.size[0] - fromBox.first[0]) + 1];
    }
    for (auto * starts : { &rowStart, &planeStart })
    {
      for (std::size_t i = 1; i < starts->size(); ++i)
      {
        (*starts)[i] += (*starts)[i - 1];
      }
    }
    std::vector<std::size_t> next(planeStart.begin(), planeStart.end() - 1);
    for (std::size_t i = 0; i < from.size(); ++i)
    {
      byPlane[next[std::size_t(from[i] % grid.size[0] - fromBox.first[0])]++] = i;
    }
  }

  /** (distance along x)^2 from x to the nearest voxel of a row. */
  double
  AlongX(std::size_t row, int x) const
  {
    const auto begin = columns.begin() + std::ptrdiff_t(rowStart[row]);
    const auto end = columns.begin() + std::ptrdiff_t(rowStart[row + 1]);
    const auto right = std::lower_bound(begin, end, x);
    double     nearest = Infinity;
    if (right != end)
    {
      nearest = double(*right - x);
    }
    if (right != begin)
    {
      nearest = std::min(nearest, double(x - *(right - 1)));
    }
    return nearest * nearest * grid.spacing[0] * grid.spacing[0];
  }

  /** Writes the distances of the voxels of `from` in one plane x. */
  void
  Plane(std::int64_t x, const VoxelList & from, std::vector<double> & distances) const
  {
    const std::size_t first = planeStart[std::size_t(x - fromBox.first[0])];
    const std::size_t end = planeStart[std::size_t(x - fromBox.first[0]) + 1];
    if (first == end)
    {
      return;
    }
    const double       yy = grid.spacing[1] * grid.spacing[1], zz = grid.spacing[2] * grid.spacing[2];
    const std::int64_t rows = fromBox.Count(1), toRows = toBox.Count(1), toPlanes = toBox.Count(2);
    // after the pass along y: for each plane z of `to`, at each y of `from`
    std::vector<double> heights(std::size_t(rows * toPlanes));
    Envelope            envelope(std::max(toRows, toPlanes));
    for (std::int64_t z = 0; z < toPlanes; ++z)
    {
      envelope.Clear();
      for (std::int64_t y = 0; y < toRows; ++y)
      {
        envelope.Add(double(toBox.first[1] + y), this->AlongX(std::size_t(z * toRows + y), int(x)), yy);
      }
      envelope.Evaluate(double(fromBox.first[1]), rows, yy, heights.data() + z, toPlanes);
    }
    std::vector<double> column(std::size_t(fromBox.Count(2)));
    // within a plane, voxels come with z slowest: take them by y, so that each column is made once
    std::vector<std::size_t> places(byPlane.begin() + std::ptrdiff_t(first), byPlane.begin() + std::ptrdiff_t(end));
    const auto               rowOf = [&](std::size_t i) { return from[i] / grid.size[0] % grid.size[1]; };
    std::stable_sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) { return rowOf(a) < rowOf(b); });
    std::int64_t made = -1;
    for (const std::size_t i : places)
    {
      const Position p = PositionOf(from[i], grid);
      if (p[1] != made)
      {
        made = p[1];
        envelope.Clear();
        for (std::int64_t z = 0; z < toPlanes; ++z)
        {
          envelope.Add(double(toBox.first[2] + z), heights[std::size_t((made - fromBox.first[1]) * toPlanes + z)], zz);
        }
        envelope.Evaluate(double(fromBox.first[2]), fromBox.Count(2), zz, column.data(), 1);
      }
      distances[i] = std::sqrt(column[std::size_t(p[2] - fromBox.first[2])]);
    }
  }
};

} // namespace

std::vector<double>
DistancesToNearest(const VoxelList & from, const VoxelList & to, const VoxelGrid & grid)
{
  std::vector<double> distances(from.size(), Infinity);
  if (from.empty() || to.empty())
  {
    return distances;
  }
  const Search search(from, to, grid);
  itk::MultiThreaderBase::New()->ParallelizeArray(
    itk::SizeValueType(search.fromBox.first[0]),
    itk::SizeValueType(search.fromBox.end[0]),
    [&](itk::SizeValueType x) { search.Plane(std::int64_t(x), from, distances); },
    nullptr);
  return distances;
}
