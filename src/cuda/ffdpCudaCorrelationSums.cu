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
#include "ffdpCudaCorrelationLaunch.h"

#include "ffdpCudaWarpSum.h"

/** Bytes per voxel: shifts read every fourth row of both images, 2 bytes; the partial sums are 8 bytes per 64 voxels.
 * A warp does a tile, whose rows are no longer than a warp, so that it reads a row at once; four warps make a block. */
namespace ffdp
{
namespace cuda
{
namespace
{

constexpr unsigned WarpsPerBlock = 4;
constexpr int      RowStep = 4;
constexpr unsigned SumThreads = 256;

__device__ float
MeanOrZero(double sum, std::int64_t count)
{
  const auto mean = float(sum / double(count));
  return mean - mean == 0.0f ? mean : 0.0f; // not finite: NaN stays where it is
}

__global__ void
ShiftKernel(CorrelationLaunch launch)
{
  const std::int64_t item = std::int64_t(blockIdx.x) * WarpsPerBlock + threadIdx.y;
  if (item >= (launch.endPlane - launch.firstPlane) * launch.tiles)
  {
    return; // a warp as a whole
  }
  const auto         tile = unsigned(item % launch.tiles);
  const std::int64_t z = launch.firstPlane + item / launch.tiles;
  const int          x = launch.TileX(tile) + int(threadIdx.x);
  const Extent &     size = launch.task.fixed.domain;
  const int          below = launch.TileY(tile) + launch.tileHeight;
  const int          endRow = below < size.y ? below : int(size.y);
  double             fixed = 0;
  double             moving = 0;
  std::int64_t       count = 0;
  if (int(threadIdx.x) < launch.tileWidth && x < size.x)
  {
    for (int y = launch.TileY(tile); y < endRow; y += RowStep)
    {
      fixed += launch.task.fixed.Row(y, z)[x];
      moving += launch.task.moving.Row(y, z)[x];
      ++count;
    }
  }
  fixed = SumOfLanes<32>(fixed);
  moving = SumOfLanes<32>(moving);
  count = SumOfLanes<32>(count);
  if (threadIdx.x == 0)
  {
    launch.shifts[item].fixed = MeanOrZero(fixed, count);
    launch.shifts[item].moving = MeanOrZero(moving, count);
  }
}

/** One plane for each block: thread t adds partial sums t, t + 256, ..., then halves are added to halves. */
__global__ void
__launch_bounds__(SumThreads) PlaneSumKernel(CorrelationLaunch launch, std::int64_t first, double * planeSums)
{
  __shared__ double  sums[SumThreads];
  const std::int64_t z = first + blockIdx.x;
  const std::int64_t count = std::int64_t(launch.tiles) * launch.partialsPerTile;
  const double *     partials = launch.partials + (z - launch.firstPlane) * count;
  double             sum = 0;
  for (std::int64_t i = threadIdx.x; i < count; i += SumThreads)
  {
    sum += partials[i];
  }
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned half = SumThreads / 2; half > 0; half /= 2)
  {
    if (threadIdx.x < half)
    {
      sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0)
  {
    planeSums[z - launch.firstOwned] = sums[0];
  }
}

} // namespace

void
ComputeCorrelationShifts(Device & device, const CorrelationLaunch & launch)
{
  LaunchShape shape;
  shape.block = dim3(32, WarpsPerBlock);
  shape.grid = dim3(BlocksFor((launch.endPlane - launch.firstPlane) * launch.tiles, WarpsPerBlock));
  Launch(device, shape, ShiftKernel, launch);
}

void
SumCorrelationPlanes(Device & device, const CorrelationLaunch & launch, double * planeSums)
{
  const std::int64_t first = launch.firstPlane > launch.firstOwned ? launch.firstPlane : launch.firstOwned;
  const std::int64_t end = launch.endPlane < launch.endOwned ? launch.endPlane : launch.endOwned;
  if (first < end)
  {
    LaunchShape shape;
    shape.block = dim3(SumThreads);
    shape.grid = dim3(unsigned(end - first));
    Launch(device, shape, PlaneSumKernel, launch, first, planeSums);
  }
}

} // namespace cuda
} // namespace ffdp
