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
#ifndef ffdpCudaAdjointGather_h
#define ffdpCudaAdjointGather_h

#include "ffdpCudaLaunch.h"
#include "ffdpSamplerPlan.h"

#include <cstdint>

/** Points of the output sorted by the cell of the image that they fall into, and what a voxel of the image gets from
 * them: the points of its eight cells in the order of their numbers, which is a merge of eight sorted lists.
 *
 * The gather has a block for a row of the image at a time, 128 voxels side by side: together they search where their
 * cells begin, and they share the lists through the first-level cache. */
namespace ffdp
{
namespace cuda
{

/** Cells, or for the nearest voxel those voxels: counted along x, y, z from the first that reaches the image's planes.
 */
struct CellGrid
{
  std::int64_t size[3];
  std::int32_t first[3];

  __host__ __device__ std::int64_t
                      Count() const
  {
    return size[0] * size[1] * size[2];
  }
  /** The number of a cell; Count() if it does not belong to the grid. */
  __device__ std::uint64_t
             Number(std::int32_t ix, std::int32_t iy, std::int32_t iz) const
  {
    const std::int64_t x = ix - first[0], y = iy - first[1], z = iz - first[2];
    const bool         inside = x >= 0 && x < size[0] && y >= 0 && y < size[1] && z >= 0 && z < size[2];
    return std::uint64_t(inside ? (z * size[1] + y) * size[0] + x : Count());
  }
};

/** Linear: cell i lies between the voxels i and i + 1, of which one may be missing. */
inline CellGrid
MakeCellGrid(const ImagePlanes & image, bool nearest)
{
  const std::int32_t planes = image.endPlane - image.firstPlane;
  const int          more = nearest ? 0 : 1;
  return { { image.size[0] + more, image.size[1] + more, planes + more }, { -more, -more, image.firstPlane - more } };
}

/** What a point brings along. */
struct alignas(16) PointTerms
{
  float fraction[3];
  float g;
};

struct Points
{
  std::uint64_t * cells;
  std::uint32_t * numbers; ///< in raster order
  PointTerms *    terms;   ///< by number
  std::uint32_t   count;
};

/** The first of the sorted points [begin, end) whose cell is not below `cell`. */
__device__ std::uint32_t
           FirstNotBelow(const Points & points, std::uint32_t begin, std::uint32_t end, std::uint64_t cell)
{
  while (begin < end)
  {
    const std::uint32_t middle = begin + (end - begin) / 2;
    const bool          below = points.cells[middle] < cell;
    begin = below ? middle + 1 : begin;
    end = below ? end : middle;
  }
  return begin;
}

/** True if the corner on `side` of the cell that is at voxel - 1 + offset along an axis is that voxel. */
template <bool TEdge>
__device__ bool
IsCorner(int side, int offset, std::int32_t voxel, std::int32_t size)
{
  const std::int32_t corner = voxel - 1 + offset + side;
  return (TEdge ? ClampIndex(corner, size) : corner) == voxel;
}

/** Adds the terms of a point of one of the voxel's eight cells, in the order of the corners. */
template <bool TEdge>
__device__ float
AddTermsOfPoint(float              sum,
                const PointTerms & point,
                int                list,
                const std::int32_t (&voxel)[3],
                const ImagePlanes & image)
{
  const CellPosition p{ { 0, 0, 0 }, { point.fraction[0], point.fraction[1], point.fraction[2] } };
  for (int corner = 0; corner < 8; ++corner)
  {
    const int sx = corner & 1, sy = corner >> 1 & 1, sz = corner >> 2;
    if (IsCorner<TEdge>(sx, list & 1, voxel[0], image.size[0]) &&
        IsCorner<TEdge>(sy, list >> 1 & 1, voxel[1], image.size[1]) &&
        IsCorner<TEdge>(sz, list >> 2, voxel[2], image.size[2]))
    {
      sum += CornerShare(point.g, p, sy, sz) * SideWeight(point.fraction[0], sx);
    }
  }
  return sum;
}

constexpr int           GatherWidth = 128;
constexpr int           CellRows = 4; ///< around a row of voxels: y - 1 and y in planes z - 1 and z
constexpr std::uint32_t NoPoint = 0xffffffffu;

/** The sum of a voxel and the points of its cells; begins[r][0..2] is where its cells in row r begin and end. */
template <bool TEdge>
__device__ float
MergePoints(float          sum,
            const Points & points,
            const std::uint32_t (&begins)[CellRows][GatherWidth + 2],
            int k,
            const std::int32_t (&voxel)[3],
            const ImagePlanes & image)
{
  std::uint32_t at[8], head[8];
#pragma unroll
  for (int list = 0; list < 8; ++list)
  {
    at[list] = begins[list >> 1][k + (list & 1)];
    head[list] = at[list] < begins[list >> 1][k + (list & 1) + 1] ? points.numbers[at[list]] : NoPoint;
  }
  while (true)
  {
    std::uint32_t next = NoPoint;
    int           from = 0;
#pragma unroll
    for (int list = 0; list < 8; ++list)
    {
      from = head[list] < next ? list : from;
      next = head[list] < next ? head[list] : next;
    }
    if (next == NoPoint)
    {
      return sum;
    }
    sum = AddTermsOfPoint<TEdge>(sum, points.terms[next], from, voxel, image);
#pragma unroll
    for (int list = 0; list < 8; ++list)
    {
      if (list == from)
      {
        ++at[list];
        head[list] = at[list] < begins[list >> 1][k + (list & 1) + 1] ? points.numbers[at[list]] : NoPoint;
      }
    }
  }
}

/** Linear: one block for a row of voxels at a time, of those planes that the sorted points reach. */
template <bool TEdge>
__global__ void
GatherKernel(Points points, CellGrid grid, ImagePlanes planes, VolumeView<float> image)
{
  __shared__ std::uint32_t pointsWithCell;
  __shared__ std::uint32_t rowBegin[CellRows][2]; // and end
  __shared__ std::uint32_t begins[CellRows][GatherWidth + 2];

  const int k = int(threadIdx.x);
  if (k == 0)
  {
    pointsWithCell = FirstNotBelow(points, 0, points.count, std::uint64_t(grid.Count()));
  }
  __syncthreads();
  const std::uint32_t used = pointsWithCell;
  if (used == 0)
  {
    return;
  }
  const std::int64_t cellsOfPlane = grid.size[0] * grid.size[1];
  const std::int64_t lowest = std::int64_t(points.cells[0]) / cellsOfPlane;
  const std::int64_t highest = std::int64_t(points.cells[used - 1]) / cellsOfPlane;
  const std::int64_t first = lowest > 0 ? lowest - 1 : 0;
  const std::int64_t end = highest + 1 < image.planes ? highest + 1 : image.planes;
  for (std::int64_t row = first * image.domain.y + blockIdx.x; row < end * image.domain.y; row += gridDim.x)
  {
    const std::int64_t y = row % image.domain.y, z = row / image.domain.y; // z counts from the view's first plane
    if (k < 2 * CellRows)
    {
      const std::int64_t cellRow = (z + (k >> 2)) * grid.size[1] + y + (k >> 1 & 1);
      rowBegin[k >> 1][k & 1] = FirstNotBelow(points, 0, used, std::uint64_t((cellRow + (k & 1)) * grid.size[0]));
    }
    __syncthreads();
    std::uint32_t pointsOfRow = 0;
    for (int r = 0; r < CellRows; ++r)
    {
      pointsOfRow += rowBegin[r][1] - rowBegin[r][0];
    }
    for (std::int64_t begin = 0; pointsOfRow > 0 && begin < image.domain.x; begin += GatherWidth)
    {
      for (int i = k; i < CellRows * (GatherWidth + 2); i += GatherWidth)
      {
        const int          r = i / (GatherWidth + 2), cell = i % (GatherWidth + 2);
        const std::int64_t cellRow = (z + (r >> 1)) * grid.size[1] + y + (r & 1);
        const std::int64_t column = begin + cell < grid.size[0] ? begin + cell : grid.size[0];
        begins[r][cell] =
          FirstNotBelow(points, rowBegin[r][0], rowBegin[r][1], std::uint64_t(cellRow * grid.size[0] + column));
      }
      __syncthreads();
      if (begin + k < image.domain.x)
      {
        const std::int32_t voxel[3] = { std::int32_t(begin + k), std::int32_t(y), std::int32_t(image.firstPlane + z) };
        float * const      to = image.Row(y, image.firstPlane + z) + begin + k;
        *to = MergePoints<TEdge>(*to, points, begins, k, voxel, planes);
      }
      __syncthreads(); // the next voxels have other cells
    }
    __syncthreads(); // the next row has other cells
  }
}

} // namespace cuda
} // namespace ffdp

#endif
