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
#include "ffdpCudaSampler.h"

#include "ffdpCudaAdjointGather.h"
#include "ffdpCudaRadixSort.h"
#include "ffdpCudaSamplerTile.h"

#include <algorithm>

/** Every voxel of the image receives its terms in raster order of x, as on the processor. So nothing is scattered: the
 * voxels of the output, here called points, are sorted by the cell of the image that they fall into, those of a cell
 * keep their order, and voxels of the image gather them; see ffdpCudaAdjointGather.h. Points come in batches, in raster
 * order, whose terms are added one batch after the other: the memory does not depend on the size of the volumes.
 *
 * Bytes per point: 16 read (warp and g), 28 written (cell, number, fractions and g), 40 for each 8 bits of the number
 * of cells to sort (four times at 256^3), and 8 x 20 to gather, most of it from the caches because neighbors read the
 * same points; 8 for each voxel of the image rows that a batch reaches. Points are found in the tiles of
 * ffdpCudaSamplerTile.h. */
namespace ffdp
{
namespace cuda
{
namespace
{

template <bool TEdge, bool TNearest, typename T>
__global__ void
LocatePointsKernel(SamplerBox              box,
                   ImagePlanes             image,
                   MapTerms                map,
                   WarpView<const T>       u,
                   VolumeView<const float> g,
                   CellGrid                grid,
                   Points                  points)
{
  ForEachPosition(box, map, u, [&](std::int64_t x, std::int64_t y, std::int64_t z, const CellPosition & p) {
    std::int32_t cell[3];
    bool         valid = TNearest || IsValid<TEdge>(image, p);
    for (int c = 0; c < 3; ++c)
    {
      cell[c] = TNearest ? NearestVoxelOnAxis<TEdge>(p.index[c], p.fraction[c], image.size[c]) : p.index[c];
      valid = valid && (!TNearest || cell[c] >= 0);
    }
    const std::int64_t rows = box.endRow - box.firstRow;
    const std::int64_t number = ((z - box.firstPlane) * rows + (y - box.firstRow)) * box.width + x;
    points.cells[number] = valid ? grid.Number(cell[0], cell[1], cell[2]) : std::uint64_t(grid.Count());
    points.numbers[number] = std::uint32_t(number);
    points.terms[number] = { { p.fraction[0], p.fraction[1], p.fraction[2] }, g.Row(y, z)[x] };
  });
}

/** Nearest: the first point of each voxel adds all that the voxel gets. */
__global__ void
AddToNearestKernel(Points points, CellGrid grid, VolumeView<float> image)
{
  const std::int64_t first = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (first >= points.count)
  {
    return;
  }
  const std::uint64_t voxel = points.cells[first];
  if (voxel == std::uint64_t(grid.Count()) || (first > 0 && points.cells[first - 1] == voxel))
  {
    return;
  }
  const std::int64_t row = std::int64_t(voxel) / grid.size[0];
  float * const      to = image.Row(row % grid.size[1], image.firstPlane + row / grid.size[1]) + voxel % grid.size[0];
  float              sum = *to;
  for (std::int64_t i = first; i < points.count && points.cells[i] == voxel; ++i)
  {
    sum += points.terms[points.numbers[i]].g;
  }
  *to = sum;
}

__global__ void
ClearKernel(VolumeView<float> image)
{
  ForEachVoxel(image, [&](std::int64_t x, std::int64_t y, std::int64_t z) { image.Row(y, z)[x] = 0.0f; });
}

template <typename T>
auto
SelectLocateKernel(const SamplerParameters & parameters)
{
  const bool edge = parameters.border == Border::Edge;
  return parameters.interpolation == Interpolation::Nearest
           ? (edge ? LocatePointsKernel<true, true, T> : LocatePointsKernel<false, true, T>)
           : (edge ? LocatePointsKernel<true, false, T> : LocatePointsKernel<false, false, T>);
}

/** Calls body(box) for parts of the box that have at most `points` voxels, or one row, in raster order. */
template <typename TBody>
void
ForEachBatch(const SamplerBox & box, std::int64_t points, const TBody & body)
{
  const std::int64_t rows = std::max<std::int64_t>(1, points / box.width);
  const std::int64_t planes = std::max<std::int64_t>(1, rows / box.endRow);
  for (std::int64_t z = box.firstPlane; z < box.endPlane; z += planes)
  {
    for (std::int64_t y = 0; y < box.endRow; y += rows)
    {
      body({ box.width, y, std::min(y + rows, box.endRow), z, std::min(z + planes, box.endPlane) });
    }
  }
}

std::int64_t
VoxelsOf(const SamplerBox & box)
{
  return box.width * (box.endRow - box.firstRow) * (box.endPlane - box.firstPlane);
}

int
BitsOf(std::int64_t number)
{
  int bits = 0;
  for (; number > 0; number /= 2)
  {
    ++bits;
  }
  return bits;
}

} // namespace

void
SampleAdjoint(Device &                        device,
              const VolumeView<const float> & outputGradient,
              const CompositeMap &            map,
              const WarpInput &               u,
              const VolumeView<float> &       imageGradient,
              const SamplerParameters &       parameters,
              std::int64_t                    pointsAtOnce)
{
  CheckSampleAdjoint(u, outputGradient);
  const SamplerPlan plan = MakeSamplerPlan(imageGradient, "the gradient of the image", map, parameters);
  const MapTerms    terms = MakeMapTerms(plan.map, false);
  const bool        edge = parameters.border == Border::Edge;
  const bool        nearest = parameters.interpolation == Interpolation::Nearest;
  const CellGrid    grid = MakeCellGrid(plan.image, nearest);
  const SamplerBox  all = BoxOf(outputGradient);
  if (imageGradient.planes > 0 && !parameters.accumulate)
  {
    Launch(device, RowsOf(imageGradient), ClearKernel, imageGradient);
  }
  if (imageGradient.planes == 0 || outputGradient.planes == 0)
  {
    return;
  }
  const std::int64_t most = std::min(VoxelsOf(all), std::max(pointsAtOnce, all.width));
  LaunchShape        gather;
  gather.block = dim3(GatherWidth);
  gather.grid = dim3(unsigned(std::min<std::int64_t>(imageGradient.planes * imageGradient.domain.y,
                                                     std::int64_t(device.Multiprocessors()) * 16)));
  RadixSort                sort(device, most);
  DeviceBuffer<PointTerms> pointTerms(device, most);
  ForEachBatch(all, pointsAtOnce, [&](const SamplerBox & box) {
    const std::int64_t count = VoxelsOf(box);
    Points             points{ sort.Keys(), sort.Values(), pointTerms.Data(), std::uint32_t(count) };
    WithElementsOf(u, [&](const auto & view) {
      const auto kernel = SelectLocateKernel<ElementOf<decltype(view)>>(parameters);
      Launch(device, TilesOf(box), kernel, box, plan.image, terms, view, outputGradient, grid, points);
    });
    sort.Sort(count, BitsOf(grid.Count()));
    points.cells = sort.Keys();
    points.numbers = sort.Values();
    if (nearest)
    {
      LaunchShape shape;
      shape.block = dim3(GatherWidth);
      shape.grid = dim3(BlocksFor(count, GatherWidth));
      Launch(device, shape, AddToNearestKernel, points, grid, imageGradient);
    }
    else
    {
      const auto kernel = edge ? GatherKernel<true> : GatherKernel<false>;
      Launch(device, gather, kernel, points, grid, plan.image, imageGradient);
    }
  });
}

} // namespace cuda
} // namespace ffdp
