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
#include "ffdpCudaCorrelationMarch.h"

#include "ffdpCudaCorrelationColumns.h"
#include "ffdpCudaMemory.h"
#include "ffdpCudaWarpSum.h"

/** Box windows of radius r = 1 to 4, marching along z.
 *
 * Bytes per voxel from the device's memory: terms 8 (both images) and 4 for each output or field; gradient 12 (three
 * fields), 8 (the images at the voxel) and 4 written. A block reads 32 x 20 columns to finish (32 - 2 r)(20 - 2 r) of
 * them, and 2 r planes before its first, so a voxel is read 1.2 (r = 1) to 2.2 (r = 4) times, and more often where
 * blocks march through few planes; neighbors find most of it in the caches.
 *
 * A block is 32 x 10 threads, a thread two voxels above each other. The last 2 r + 1 planes of both are in its
 * registers; sums over planes are taken anew for each plane, with that plane's shift, and none slides. They go through
 * 15 KiB of shared memory to be summed over rows, two windows at a time, which share all rows but two. A row of the
 * block is a warp, so sums over columns are shuffles of pairs, fours and eights: 2, 3 or 4 of them instead of 2 r. 20
 * rows: with fewer, most would be halo; with more, the registers of a second block, which works while the first waits
 * at a barrier, would not be there (96 for each of twice 320 threads; the terms of radius 4 need more, and have one).
 */
namespace ffdp
{
namespace cuda
{
namespace
{

constexpr int Columns = MarchColumns;
constexpr int Rows = MarchRows;
constexpr int Warps = MarchWarps;

/** Sums over the windows that start at this lane, in the rows from `first` and in those from the next. */
template <int VRadius>
__device__ void
SumOfWindows(const float (&rows)[Rows][Columns], int first, int lane, float & upper, float & lower)
{
  float shared = rows[first + 1][lane];
#pragma unroll
  for (int j = 2; j <= 2 * VRadius; ++j)
  {
    shared += rows[first + j][lane];
  }
  upper = SumOfNextLanes<VRadius>(rows[first][lane] + shared);
  lower = SumOfNextLanes<VRadius>(shared + rows[first + 2 * VRadius + 1][lane]);
}

template <int VRadius>
__global__ void
__launch_bounds__(Columns * Warps, VRadius < 4 ? 2 : 1) MarchTermsKernel(CorrelationLaunch launch)
{
  constexpr int      Quantities = 6;
  __shared__ float   sums[Quantities][Rows][Columns];
  const int          lane = int(threadIdx.x);
  const int          warp = int(threadIdx.y);
  const unsigned     tile = blockIdx.x;
  const int          x0 = launch.TileX(tile);
  const int          y0 = launch.TileY(tile) + 2 * warp;
  const std::int64_t first = launch.firstPlane + int(blockIdx.y) * launch.planesPerBlock;
  const int          planes =
    int(launch.endPlane - first < launch.planesPerBlock ? launch.endPlane - first : launch.planesPerBlock);

  ImageColumn<VRadius> columns[2];
  for (int plane = -2 * VRadius; plane < planes; ++plane)
  {
    const std::int64_t z = first + plane;
#pragma unroll
    for (int k = 0; k < 2; ++k)
    {
      const int x = x0 + lane - VRadius;
      const int y = y0 + k - VRadius;
      columns[k].Push(launch, launch.Contains(x, y), x, y, z + VRadius);
    }
    if (plane < 0)
    {
      continue;
    }
    const CorrelationShift shift = launch.shifts[launch.TilePlane(tile, z)];
#pragma unroll
    for (int k = 0; k < 2; ++k)
    {
      const CorrelationSums<float> column = columns[k].Sums(shift);
      const int                    row = 2 * warp + k;
      sums[0][row][lane] = column.f;
      sums[1][row][lane] = column.m;
      sums[2][row][lane] = column.ff;
      sums[3][row][lane] = column.mm;
      sums[4][row][lane] = column.fm;
      if (launch.maskedWindows)
      {
        sums[5][row][lane] = columns[k].Weight();
      }
    }
    __syncthreads();
    if (warp < Warps - VRadius)
    {
      CorrelationSums<float> upper, lower;
      float                  weight = 0, lowerWeight = 0;
      SumOfWindows<VRadius>(sums[0], 2 * warp, lane, upper.f, lower.f);
      SumOfWindows<VRadius>(sums[1], 2 * warp, lane, upper.m, lower.m);
      SumOfWindows<VRadius>(sums[2], 2 * warp, lane, upper.ff, lower.ff);
      SumOfWindows<VRadius>(sums[3], 2 * warp, lane, upper.mm, lower.mm);
      SumOfWindows<VRadius>(sums[4], 2 * warp, lane, upper.fm, lower.fm);
      if (launch.maskedWindows)
      {
        SumOfWindows<VRadius>(sums[5], 2 * warp, lane, weight, lowerWeight);
      }
      double value = 0;
#pragma unroll 1 // one after the other: together they need more registers than there are for two blocks
      for (int k = 0; k < 2; ++k)
      {
        if (lane < Columns - 2 * VRadius && launch.Contains(x0 + lane, y0 + k))
        {
          value += FinishWindow(launch, upper, weight, shift, x0 + lane, y0 + k, z);
        }
        upper = lower;
        weight = lowerWeight;
      }
      value = SumOfLanes<32>(value);
      if (lane == 0)
      {
        launch.partials[launch.TilePlane(tile, z) * launch.partialsPerTile + warp] = value;
      }
    }
    __syncthreads();
  }
}

template <int VRadius>
__global__ void
__launch_bounds__(Columns * Warps, 2) MarchGradientKernel(CorrelationLaunch launch, CorrelationGradient gradient)
{
  constexpr int      Fields = FieldColumn<VRadius>::Fields;
  __shared__ float   sums[Fields][Rows][Columns];
  const int          lane = int(threadIdx.x);
  const int          warp = int(threadIdx.y);
  const int          x0 = launch.TileX(blockIdx.x);
  const int          y0 = launch.TileY(blockIdx.x) + 2 * warp;
  const std::int64_t first = launch.firstPlane + int(blockIdx.y) * launch.planesPerBlock;
  const int          planes =
    int(launch.endPlane - first < launch.planesPerBlock ? launch.endPlane - first : launch.planesPerBlock);

  FieldColumn<VRadius> columns[2];
  for (int plane = -2 * VRadius; plane < planes; ++plane)
  {
    const std::int64_t z = first + plane;
#pragma unroll
    for (int k = 0; k < 2; ++k)
    {
      const int x = x0 + lane - VRadius;
      const int y = y0 + k - VRadius;
      columns[k].Push(launch, gradient.ownField, launch.Contains(x, y), x, y, z + VRadius);
    }
    if (plane < 0)
    {
      continue;
    }
#pragma unroll
    for (int f = 0; f < Fields; ++f)
    {
      sums[f][2 * warp][lane] = columns[0].Sum(f);
      sums[f][2 * warp + 1][lane] = columns[1].Sum(f);
    }
    __syncthreads();
    if (warp < Warps - VRadius)
    {
      float                    gamma[2];
      CorrelationFields<float> own[2];
      SumOfWindows<VRadius>(sums[0], 2 * warp, lane, gamma[0], gamma[1]);
      SumOfWindows<VRadius>(sums[1], 2 * warp, lane, own[0].gammaOwn, own[1].gammaOwn);
      SumOfWindows<VRadius>(sums[2], 2 * warp, lane, own[0].constant, own[1].constant);
#pragma unroll
      for (int k = 0; k < 2; ++k)
      {
        if (lane < Columns - 2 * VRadius && launch.Contains(x0 + lane, y0 + k))
        {
          FinishGradient(launch, gradient, gamma[k], own[k], x0 + lane, y0 + k, z);
        }
      }
    }
    __syncthreads();
  }
}

LaunchShape
MarchShape(const CorrelationLaunch & launch)
{
  LaunchShape shape;
  shape.block = dim3(Columns, Warps);
  shape.grid = dim3(launch.tiles, BlocksFor(launch.endPlane - launch.firstPlane, launch.planesPerBlock));
  return shape;
}

} // namespace

void
MarchTerms(Device & device, const CorrelationLaunch & launch)
{
  constexpr void (*Kernels[])(
    CorrelationLaunch) = { MarchTermsKernel<1>, MarchTermsKernel<2>, MarchTermsKernel<3>, MarchTermsKernel<4> };
  Launch(device, MarchShape(launch), Kernels[launch.task.radius[0] - 1], launch);
}

void
MarchGradient(Device & device, const CorrelationLaunch & launch, const CorrelationGradient & gradient)
{
  constexpr void (*Kernels[])(CorrelationLaunch, CorrelationGradient) = {
    MarchGradientKernel<1>, MarchGradientKernel<2>, MarchGradientKernel<3>, MarchGradientKernel<4>
  };
  Launch(device, MarchShape(launch), Kernels[launch.task.radius[0] - 1], launch, gradient);
}

} // namespace cuda
} // namespace ffdp
