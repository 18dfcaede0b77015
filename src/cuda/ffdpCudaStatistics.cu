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
#include "ffdpCudaStatistics.h"

#include "ffdpCudaWarpReductions.h"
#include "ffdpRowPieces.h"
#include "ffdpStatisticsDetail.h"

#include <cmath>

/** Statistics of planes. Bytes per voxel: 4 read, 5 with a mask: each voxel once.
 *
 * A warp takes a run of at most 1024 voxels, 32 of them in the registers of each thread, so that the deviations from
 * the run's mean need no second read. The CPU adds value i of a run to lane i mod 16: thread k of the warp is lane k,
 * and adds its own value and then that of thread k + 16. A block is the CPU's piece of 32 rows: 8 warps find 32 runs,
 * which one thread joins in their order. 256 threads, so that 32 values each and the sums stay in registers without
 * spills. */
namespace ffdp
{
namespace cuda
{
namespace
{

constexpr unsigned     StatisticsThreads = 256;
constexpr unsigned     StatisticsWarps = StatisticsThreads / 32;
constexpr int          RunsAtOnce = 32;
constexpr int          PerThread = int(StatisticsRun / 32);
constexpr std::int64_t MostPieceBlocks = 1 << 20;

/** A run whose values that count are in `value`, the others not a number; thread k has voxels k, k + 32, ... . The
 * result is in thread 0. */
__device__ __forceinline__ Statistics
RunStatistics(const float (&value)[PerThread], unsigned selected, int rounds)
{
  unsigned   finite = 0;
  double     sum = 0;
  Statistics result;
#pragma unroll
  for (int i = 0; i < PerThread; ++i)
  {
    if (i < rounds)
    {
      const float own = value[i];
      const float other = __shfl_down_sync(FullWarp, own, 16);
      finite += own == own ? 1 : 0;
      sum += own == own ? own : 0.0f;
      sum += other == other ? other : 0.0f;
      result.minimum = own < result.minimum ? own : result.minimum;
      result.minimum = other < result.minimum ? other : result.minimum;
      result.maximum = own > result.maximum ? own : result.maximum;
      result.maximum = other > result.maximum ? other : result.maximum;
    }
  }
  result.count = __shfl_sync(FullWarp, WarpSum(finite), 0);
  result.notFinite = std::int64_t(WarpSum(selected)) - result.count;
  result.minimum = RowExtremeTotal<false>(result.minimum);
  result.maximum = RowExtremeTotal<true>(result.maximum);
  if (result.count > 0) // the same for all threads of the warp
  {
    const double mean = __shfl_sync(FullWarp, RowSumTotal(sum) / double(result.count), 0);
    double       squares = 0;
#pragma unroll
    for (int i = 0; i < PerThread; ++i)
    {
      if (i < rounds)
      {
        const double deviation = value[i] - mean;
        const double square = deviation * deviation;
        const double own = square == square ? square : 0.0;
        squares += own;
        squares += __shfl_down_sync(FullWarp, own, 16);
      }
    }
    result.mean = mean;
    result.squares = RowSumTotal(squares);
  }
  return result;
}

__global__ void
__launch_bounds__(StatisticsThreads) StatisticsKernel(VolumeView<const float>        image,
                                                      VolumeView<const std::uint8_t> mask,
                                                      RowPieces                      pieces,
                                                      Statistics *                   partials)
{
  Statistics *       found = DynamicShared<Statistics>(); // RunsAtOnce of them
  const auto         lane = int(threadIdx.x % 32);
  const std::int64_t runsPerRow = (image.domain.x + StatisticsRun - 1) / StatisticsRun;
  for (std::int64_t piece = blockIdx.x; piece < pieces.Count(); piece += gridDim.x)
  {
    const std::int64_t runs = (pieces.EndRow(piece) - pieces.FirstRow(piece)) * runsPerRow;
    Statistics         joined; // of thread 0
    for (std::int64_t firstRun = 0; firstRun < runs; firstRun += RunsAtOnce)
    {
      const int runsNow = runs - firstRun < RunsAtOnce ? int(runs - firstRun) : RunsAtOnce;
      for (int r = int(threadIdx.x / 32); r < runsNow; r += StatisticsWarps)
      {
        const std::int64_t   run = firstRun + r;
        const std::int64_t   y = pieces.FirstRow(piece) + run / runsPerRow;
        const std::int64_t   x = run % runsPerRow * StatisticsRun;
        const float *        row = image.Row(y, pieces.Plane(piece)) + x;
        const std::uint8_t * inside = mask ? mask.Row(y, pieces.Plane(piece)) + x : nullptr;
        const int            n = image.domain.x - x < StatisticsRun ? int(image.domain.x - x) : int(StatisticsRun);
        float                value[PerThread];
        unsigned             selected = 0;
#pragma unroll
        for (int i = 0; i < PerThread; ++i)
        {
          const int   at = 32 * i + lane;
          const bool  counts = at < n && (!inside || inside[at] != 0);
          const float v = counts ? row[at] : NAN;
          value[i] = IsFinite(v) ? v : NAN;
          selected += counts ? 1 : 0;
        }
        const Statistics result = RunStatistics(value, selected, (n + 31) / 32);
        if (lane == 0)
        {
          found[r] = result;
        }
      }
      __syncthreads();
      for (int r = 0; threadIdx.x == 0 && r < runsNow; ++r)
      {
        JoinStatistics(joined, found[r]);
      }
      __syncthreads();
    }
    if (threadIdx.x == 0)
    {
      partials[piece] = joined;
    }
  }
}

} // namespace

std::vector<Statistics>
PlaneStatistics(Device & device, const VolumeView<const float> & image, const VolumeView<const std::uint8_t> & mask)
{
  RequireStatisticsInputs(image, mask);
  std::vector<Statistics> planes(static_cast<std::size_t>(image.planes));
  if (image.planes == 0)
  {
    return planes;
  }
  const RowPieces          pieces{ image.domain.y, image.firstPlane, image.planes };
  DeviceBuffer<Statistics> partials(device, pieces.Count());
  LaunchShape              shape;
  shape.block = dim3(StatisticsThreads);
  shape.grid = dim3(unsigned(pieces.Count() < MostPieceBlocks ? pieces.Count() : MostPieceBlocks));
  shape.sharedBytes = RunsAtOnce * sizeof(Statistics);
  Launch(device, shape, StatisticsKernel, image, mask, pieces, partials.Data());
  std::int64_t piece = 0;
  for (const Statistics & partial : partials.ToHost())
  {
    JoinStatistics(planes[std::size_t(pieces.Plane(piece++) - image.firstPlane)], partial);
  }
  return planes;
}

} // namespace cuda
} // namespace ffdp
