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
#include "ffdpCudaCorrelationTile.h"

#include "ffdpCudaMemory.h"
#include "ffdpCudaWarpSum.h"

#include <algorithm>

/** Windows of any radius along each axis, with weights: Gaussian ones, boxes that are not cubes, those of 2-D images.
 *
 * Bytes per voxel from the device's memory: as ffdpCudaCorrelationMarch.cu, but the 2 r + 1 planes of a window are read
 * for each plane, from the caches where these hold them.
 *
 * A block takes a tile of 32 x 16 voxels of a plane after the other. Sums over planes of the tile widened by the radius
 * are left in scratch memory, then the sums of these over rows, then 256 threads finish two voxels each. Rows of 32 so
 * that a warp reads and writes one; 16 of them so that the scratch of a window of seven voxels (29 KiB, 35 with masked
 * windows) fits into shared memory. Where it does not fit, blocks that stay (one per multiprocessor) have it in the
 * device's memory, which is then as large as their windows are. */
namespace ffdp
{
namespace cuda
{
namespace
{

constexpr int TileWidth = WindowTileWidth;
constexpr int TileHeight = WindowTileHeight;
constexpr int Threads = WindowTileThreads;
constexpr int GradientFields = 3;

/** The shape of what a block sums, and where. */
struct WindowTile
{
  float *      scratch; ///< null: shared memory
  std::int64_t floats;  ///< of a block
  int          width;   ///< of the tile widened by the radius
  int          height;

  WindowTile(const CorrelationTask & task, int quantities, float * memory)
    : floats(WindowTileFloats(task.radius, quantities))
    , width(TileWidth + 2 * task.radius[0])
    , height(TileHeight + 2 * task.radius[1])
  {
    scratch = FitsSharedMemory(floats) ? nullptr : memory;
  }
};

/** Sums over the windows of a tile in plane z: sumPlanes(x, y, sums) gives the sums over planes at a voxel of the
 * volume, finish(x, y, sums) gets those over windows. All threads of the block must call it. */
template <int VQuantities, typename TSumPlanes, typename TFinish>
__device__ void
SumWindows(const CorrelationLaunch & launch,
           const WindowTile &        shape,
           unsigned                  tile,
           const TSumPlanes &        sumPlanes,
           const TFinish &           finish)
{
  const int * radius = launch.task.radius;
  float *     overPlanes = shape.scratch ? shape.scratch + blockIdx.x * shape.floats : DynamicShared<float>();
  const int   planeFloats = shape.width * shape.height;
  float *     overRows = overPlanes + std::int64_t(VQuantities) * planeFloats;
  const int   rowFloats = shape.width * TileHeight;
  const int   x0 = launch.TileX(tile);
  const int   y0 = launch.TileY(tile);
  float       sums[VQuantities];
  for (int i = int(threadIdx.x); i < planeFloats; i += Threads)
  {
    const int x = x0 - radius[0] + i % shape.width;
    const int y = y0 - radius[1] + i / shape.width;
#pragma unroll
    for (int q = 0; q < VQuantities; ++q)
    {
      sums[q] = 0.0f;
    }
    if (launch.Contains(x, y))
    {
      sumPlanes(x, y, sums);
    }
#pragma unroll
    for (int q = 0; q < VQuantities; ++q)
    {
      overPlanes[std::int64_t(q) * planeFloats + i] = sums[q];
    }
  }
  __syncthreads();
  const auto weigh = [&](const float * from, int pitch, std::int64_t stride, int axis) {
    const float * taps = launch.task.taps[axis];
    const float   first = taps[0];
#pragma unroll
    for (int q = 0; q < VQuantities; ++q)
    {
      sums[q] = first * from[q * stride];
    }
    for (int j = 1; j <= 2 * radius[axis]; ++j)
    {
      const float tap = taps[j];
#pragma unroll
      for (int q = 0; q < VQuantities; ++q)
      {
        sums[q] += tap * from[q * stride + std::int64_t(j) * pitch];
      }
    }
  };
  for (int i = int(threadIdx.x); i < rowFloats; i += Threads)
  {
    weigh(overPlanes + i, shape.width, planeFloats, 1);
#pragma unroll
    for (int q = 0; q < VQuantities; ++q)
    {
      overRows[std::int64_t(q) * rowFloats + i] = sums[q];
    }
  }
  __syncthreads();
  for (int i = int(threadIdx.x); i < TileWidth * TileHeight; i += Threads)
  {
    const int x = i % TileWidth;
    const int y = i / TileWidth;
    if (launch.Contains(x0 + x, y0 + y))
    {
      weigh(overRows + y * shape.width + x, 1, rowFloats, 0);
      finish(x0 + x, y0 + y, sums);
    }
  }
  __syncthreads();
}

/** Sums over the planes of a window of f, m, f*f, m*m, f*m and, if windows are masked, of the weights. */
template <bool VMasked>
__device__ void
SumProducts(const CorrelationTask & task, const CorrelationShift & shift, int x, int y, std::int64_t z, float * sums)
{
  const int          r = task.radius[2];
  const std::int64_t first = z - r > 0 ? z - r : 0;
  const std::int64_t end = z + r + 1 < task.fixed.domain.z ? z + r + 1 : task.fixed.domain.z;
  for (std::int64_t plane = first; plane < end; ++plane)
  {
    if (VMasked && task.mask.Row(y, plane)[x] == 0)
    {
      continue;
    }
    const float tap = task.taps[2][plane - (z - r)];
    const float f = shift.fixed - task.fixed.Row(y, plane)[x];
    const float m = shift.moving - task.moving.Row(y, plane)[x];
    sums[0] += tap * f;
    sums[1] += tap * m;
    sums[2] += tap * (f * f);
    sums[3] += tap * (m * m);
    sums[4] += tap * (f * m);
    if (VMasked)
    {
      sums[5] += tap;
    }
  }
}

template <bool VMasked>
__global__ void
__launch_bounds__(Threads) TileTermsKernel(CorrelationLaunch launch, WindowTile shape)
{
  constexpr int      Quantities = CorrelationQuantities(VMasked);
  const std::int64_t items = (launch.endPlane - launch.firstPlane) * launch.tiles;
  for (std::int64_t item = blockIdx.x; item < items; item += gridDim.x)
  {
    const auto             tile = unsigned(item % launch.tiles);
    const std::int64_t     z = launch.firstPlane + item / launch.tiles;
    const CorrelationShift shift = launch.shifts[item];
    double                 value = 0;
    SumWindows<Quantities>(
      launch,
      shape,
      tile,
      [&](int x, int y, float * sums) { SumProducts<VMasked>(launch.task, shift, x, y, z, sums); },
      [&](int x, int y, const float * sums) {
        const CorrelationSums<float> window{ sums[0], sums[1], sums[2], sums[3], sums[4] };
        value += FinishWindow(launch, window, VMasked ? sums[Quantities - 1] : 0.0f, shift, x, y, z);
      });
    value = SumOfLanes<32>(value);
    if (threadIdx.x % 32 == 0)
    {
      launch.partials[item * launch.partialsPerTile + threadIdx.x / 32] = value;
    }
  }
}

__global__ void
__launch_bounds__(Threads) TileGradientKernel(CorrelationLaunch launch, CorrelationGradient gradient, WindowTile shape)
{
  const int          r = launch.task.radius[2];
  const std::int64_t items = (launch.endPlane - launch.firstPlane) * launch.tiles;
  for (std::int64_t item = blockIdx.x; item < items; item += gridDim.x)
  {
    const auto         tile = unsigned(item % launch.tiles);
    const std::int64_t z = launch.firstPlane + item / launch.tiles;
    const auto         sumPlanes = [&](int x, int y, float * sums) {
      for (int j = -r; j <= r; ++j)
      {
        if (launch.ContainsPlane(z + j))
        {
          const float tap = launch.task.taps[2][j + r];
          sums[0] += tap * launch.Field(0, x, y, z + j);
          sums[1] += tap * launch.Field(gradient.ownField, x, y, z + j);
          sums[2] += tap * launch.Field(gradient.ownField + 1, x, y, z + j);
        }
      }
    };
    const auto finish = [&](int x, int y, const float * sums) {
      FinishGradient(launch, gradient, sums[0], { sums[1], sums[2] }, x, y, z);
    };
    SumWindows<GradientFields>(launch, shape, tile, sumPlanes, finish);
  }
}

/** One block for each tile and plane where shared memory is enough, otherwise as many as have scratch memory. */
LaunchShape
TileShape(const Device & device, const CorrelationLaunch & launch, const WindowTile & tile)
{
  constexpr std::int64_t MostBlocks = 1 << 20;
  const std::int64_t     items = (launch.endPlane - launch.firstPlane) * launch.tiles;
  LaunchShape            shape;
  shape.block = dim3(Threads);
  shape.grid = dim3(unsigned(std::min<std::int64_t>(items, tile.scratch ? device.Multiprocessors() : MostBlocks)));
  shape.sharedBytes = tile.scratch ? 0 : std::size_t(tile.floats) * sizeof(float);
  return shape;
}

} // namespace

void
TermsOfTiles(Device & device, const CorrelationLaunch & launch, float * scratch)
{
  const WindowTile tile(launch.task, CorrelationQuantities(launch.maskedWindows), scratch);
  Launch(device,
         TileShape(device, launch, tile),
         launch.maskedWindows ? TileTermsKernel<true> : TileTermsKernel<false>,
         launch,
         tile);
}

void
GradientOfTiles(Device &                    device,
                const CorrelationLaunch &   launch,
                const CorrelationGradient & gradient,
                float *                     scratch)
{
  const WindowTile tile(launch.task, GradientFields, scratch);
  Launch(device, TileShape(device, launch, tile), TileGradientKernel, launch, gradient, tile);
}

} // namespace cuda
} // namespace ffdp
