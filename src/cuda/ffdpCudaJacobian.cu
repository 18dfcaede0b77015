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
#include "ffdpCudaJacobian.h"

#include "ffdpCudaLaunch.h"
#include "ffdpCudaMarks.h"
#include "ffdpCudaWarpReductions.h"
#include "ffdpJacobianDetail.h"
#include "ffdpJacobianTerms.h"
#include "ffdpNotANumber.h"

#include <cmath>

/** Determinants of a warp. Bytes per voxel: 12 read from memory (the neighbors along y and z come from the caches) and
 * 4 written, 1 more with a mask.
 *
 * A block is a piece of 32 rows, whose sum the CPU adds in 16 lanes, value x of a row to lane x mod 16, row after row.
 * 128 threads compute 128 determinants at once, of one row or of several narrow ones, into one of two buffers in shared
 * memory; while they go on with the other, 16 threads add them to the lanes: one barrier for each 128 voxels. */
namespace ffdp
{
namespace cuda
{
namespace
{

constexpr unsigned     JacobianThreads = 128;
constexpr unsigned     JacobianWarps = JacobianThreads / 32;
constexpr unsigned     SumLanes = 16;
constexpr std::int64_t MostPieceBlocks = 1 << 20;

struct JacobianTask
{
  WarpView<const float>          warp;
  VolumeView<float>              determinant;
  VolumeView<const std::uint8_t> mask;
  const float *                  zeros; ///< a row for the component that a 2-D field lacks
  RowPieces                      pieces;
  DeviceMarks                    marks;
};

/** What 16 threads add up. */
struct LaneSums
{
  double sum = 0;
  float  least = INFINITY;

  /** Adds this thread's lane of some rows of blockDim.x values. */
  __device__ __forceinline__ void
  Add(const float * values, const float * lowest)
  {
    for (unsigned k = threadIdx.x + threadIdx.y * blockDim.x; k < JacobianThreads; k += SumLanes)
    {
      sum += values[k];
      least = lowest[k] < least ? lowest[k] : least;
    }
  }
};

struct VoxelCounts
{
  unsigned count = 0;
  unsigned notPositive = 0;
};

/** Writes the determinant at a voxel; sets what its sum and its minimum get, and counts it. */
template <bool VLeastOneSided>
__device__ __forceinline__ void
EvaluateVoxel(const JacobianTask & task,
              std::int64_t         x,
              std::int64_t         y,
              std::int64_t         z,
              float &              value,
              float &              lowest,
              VoxelCounts &        counts)
{
  if (!task.marks.At(x, y, z))
  {
    if (task.determinant)
    {
      task.determinant.Row(y, z)[x] = 1.0f;
    }
    return;
  }
  const std::int64_t width = task.warp.domain.x;
  const JacobianRows rows = JacobianRowsAt(task.warp, task.zeros, y, z);
  const std::int64_t left = x > 0 ? x - 1 : 0;
  const std::int64_t right = x + 1 < width ? x + 1 : x;
  const float        determinant = JacobianOfVoxel<VLeastOneSided>(rows, left, x, right);
  if (task.determinant)
  {
    task.determinant.Row(y, z)[x] = determinant;
  }
  if (!task.mask || task.mask.Row(y, z)[x] != 0)
  {
    value = determinant;
    lowest = -NotANumberIsInfinite(-determinant);
    counts.count += 1;
    counts.notPositive += lowest > 0 ? 0 : 1;
  }
}

/** The partial of a piece, from what its threads have. */
__device__ __forceinline__ void
FinishPiece(const LaneSums & lanes, const VoxelCounts & counts, unsigned thread, JacobianPartial & partial)
{
  __shared__ unsigned warpCounts[2][JacobianWarps];
  const unsigned      count = WarpSum(counts.count);
  const unsigned      notPositive = WarpSum(counts.notPositive);
  const double        sum = RowSumTotal(lanes.sum);
  const float         least = RowExtremeTotal<false>(lanes.least);
  if (thread % 32 == 0)
  {
    warpCounts[0][thread / 32] = count;
    warpCounts[1][thread / 32] = notPositive;
  }
  __syncthreads();
  if (thread == 0)
  {
    partial = JacobianPartial{ sum, 0, 0, least };
    for (unsigned warp = 0; warp < JacobianWarps; ++warp)
    {
      partial.count += warpCounts[0][warp];
      partial.notPositive += warpCounts[1][warp];
    }
  }
  __syncthreads(); // before the next piece counts
}

/** blockDim.x is not below the width of a row where blockDim.y is more than 1. */
template <bool VLeastOneSided>
__global__ void
__launch_bounds__(JacobianThreads) JacobianKernel(JacobianTask task, JacobianPartial * partials)
{
  __shared__ float values[2][JacobianThreads];
  __shared__ float lowest[2][JacobianThreads];
  const unsigned   thread = threadIdx.x + threadIdx.y * blockDim.x;
  int              buffer = 0;
  for (std::int64_t piece = blockIdx.x; piece < task.pieces.Count(); piece += gridDim.x)
  {
    const std::int64_t z = task.pieces.Plane(piece);
    const std::int64_t endRow = task.pieces.EndRow(piece);
    LaneSums           lanes;
    VoxelCounts        counts;
    for (std::int64_t firstRow = task.pieces.FirstRow(piece); firstRow < endRow; firstRow += blockDim.y)
    {
      for (std::int64_t begin = 0; begin < task.warp.domain.x; begin += blockDim.x)
      {
        const std::int64_t x = begin + threadIdx.x;
        const std::int64_t y = firstRow + threadIdx.y;
        float              value = 0.0f;
        float              least = INFINITY; // what does not count changes neither
        if (x < task.warp.domain.x && y < endRow)
        {
          EvaluateVoxel<VLeastOneSided>(task, x, y, z, value, least, counts);
        }
        values[buffer][thread] = value;
        lowest[buffer][thread] = least;
        __syncthreads();
        if (thread < SumLanes)
        {
          lanes.Add(values[buffer], lowest[buffer]);
        }
        buffer = 1 - buffer;
      }
    }
    FinishPiece(lanes, counts, thread, partials[piece]);
  }
}

} // namespace

JacobianResult
JacobianDeterminant(Device &                               device,
                    const WarpView<const float> &          warp,
                    std::int64_t                           firstPlane,
                    std::int64_t                           planes,
                    const VolumeView<float> &              determinant,
                    const VolumeView<const std::uint8_t> & mask,
                    const JacobianParameters &             parameters)
{
  RequireJacobianInputs(warp, firstPlane, planes, determinant, mask, parameters);
  const RowPieces pieces{ warp.domain.y, firstPlane, planes };
  if (planes == 0)
  {
    return GatherJacobian(pieces, {});
  }
  DeviceBuffer<float> zeros(device, warp.component[2] ? 0 : warp.domain.x);
  zeros.FillZero();
  DeviceBuffer<JacobianPartial> partials(device, pieces.Count());
  unsigned                      width = SumLanes;
  while (width < JacobianThreads && width < warp.domain.x)
  {
    width *= 2;
  }
  LaunchShape shape;
  shape.block = dim3(width, JacobianThreads / width);
  shape.grid = dim3(unsigned(pieces.Count() < MostPieceBlocks ? pieces.Count() : MostPieceBlocks));
  const StagedMarks  marks(device, parameters.marks);
  const JacobianTask task{ warp, determinant, mask, zeros.Data(), pieces, marks.View() };
  const bool         central = parameters.differences == JacobianDifferences::Central;
  Launch(device, shape, central ? JacobianKernel<false> : JacobianKernel<true>, task, partials.Data());
  return GatherJacobian(pieces, partials.ToHost());
}

} // namespace cuda
} // namespace ffdp
