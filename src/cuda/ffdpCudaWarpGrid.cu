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
#include "ffdpCudaWarpGrid.h"

#include "ffdpCudaRows.h"
#include "ffdpCudaWarpReductions.h"
#include "ffdpRowPieces.h"
#include "ffdpWarpGridPlan.h"
#include "ffdpWarpGridTerms.h"

#include <algorithm>
#include <cstring>

/** UpsampleWarp, bytes per fine voxel: 12 written, and 12 / 8 read for a factor of 2; each coarse value is read by some
 * 64 fine voxels, from the caches. The rows of ffdpCudaRows.h: threads side by side write side by side, and read a
 * coarse row together.
 *
 * MeasureWarp, bytes per voxel: 12 read. A block goes through pieces of 32 rows and keeps its maxima in registers; then
 * they are joined by shuffles, and one atomic maximum per block and number. 256 threads: 8 rows at once, so that
 * narrow volumes leave few threads idle. */
namespace ffdp
{
namespace cuda
{
namespace
{

struct UpsampleTask
{
  WarpView<const float> coarse;
  WarpView<float>       fine;
  int                   components;
  const std::int32_t *  lowerX;
  const float *         fractionX;
  const UpsamplePlace * y;
  const UpsamplePlace * z; ///< begins at the first plane of `fine`
  float                 scale[3];
};

__global__ void
UpsampleKernel(UpsampleTask task)
{
  ForEachVoxel(task.fine, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    const UpsamplePlace & alongY = task.y[y];
    const UpsamplePlace & alongZ = task.z[z - task.fine.firstPlane];
    const std::int64_t    lower = task.lowerX[x];
    const std::int64_t    upper = lower + 1 < task.coarse.domain.x ? lower + 1 : lower;
    const float           fraction = task.fractionX[x];
    for (int c = 0; c < task.components; ++c)
    {
      const float * a = task.coarse.Row(c, alongY.lower, alongZ.lower);
      const float * b = task.coarse.Row(c, alongY.upper, alongZ.lower);
      const float * p = task.coarse.Row(c, alongY.lower, alongZ.upper);
      const float * q = task.coarse.Row(c, alongY.upper, alongZ.upper);
      const auto    line = [&](std::int64_t at) {
        return InterpolateBetween(InterpolateBetween(a[at], p[at], alongZ.fraction),
                                  InterpolateBetween(b[at], q[at], alongZ.fraction),
                                  alongY.fraction);
      };
      task.fine.Row(c, y, z)[x] = task.scale[c] * InterpolateBetween(line(lower), line(upper), fraction);
    }
  });
}

constexpr unsigned MeasureThreads = 256;

struct MeasureTask
{
  WarpView<const float> warp;
  RowPieces             pieces;
  int                   components;
  float                 axisWeight[3];
};

/** What a block finds: floats that are not negative, whose bits are ordered like themselves. */
enum MeasuredNumber
{
  SquaredNorm,
  LargestX,
  LargestY,
  LargestZ,
  NotFinite,
  MeasuredNumbers
};

__device__ __forceinline__ void
Raise(float & largest, float value)
{
  largest = value > largest ? value : largest;
}

__device__ __forceinline__ void
MeasureVoxel(const MeasureTask & task, std::int64_t x, std::int64_t y, std::int64_t z, float (&found)[MeasuredNumbers])
{
  float squaredNorm = 0;
#pragma unroll
  for (int c = 0; c < 3; ++c)
  {
    if (c < task.components)
    {
      const float v = task.warp.Row(c, y, z)[x];
      squaredNorm += WeightedSquare(v, task.axisWeight[c]);
      Raise(found[LargestX + c], FiniteMagnitude(v));
      Raise(found[NotFinite], v - v == 0.0f ? 0.0f : 1.0f);
    }
  }
  Raise(found[SquaredNorm], squaredNorm - squaredNorm == 0.0f ? squaredNorm : 0.0f);
}

__global__ void
__launch_bounds__(MeasureThreads) MeasureKernel(MeasureTask task, std::uint32_t * maxima)
{
  float found[MeasuredNumbers] = {};
  for (std::int64_t piece = blockIdx.x; piece < task.pieces.Count(); piece += gridDim.x)
  {
    const std::int64_t z = task.pieces.Plane(piece);
    for (std::int64_t y = task.pieces.FirstRow(piece) + threadIdx.x / 32; y < task.pieces.EndRow(piece);
         y += MeasureThreads / 32)
    {
      for (std::int64_t x = threadIdx.x % 32; x < task.warp.domain.x; x += 32)
      {
        MeasureVoxel(task, x, y, z, found);
      }
    }
  }
  __shared__ float warpFound[MeasuredNumbers][MeasureThreads / 32];
#pragma unroll
  for (int k = 0; k < MeasuredNumbers; ++k)
  {
    const float largest = WarpMaximum(found[k]);
    if (threadIdx.x % 32 == 0)
    {
      warpFound[k][threadIdx.x / 32] = largest;
    }
  }
  __syncthreads();
  if (threadIdx.x < MeasuredNumbers)
  {
    float largest = 0;
    for (unsigned warp = 0; warp < MeasureThreads / 32; ++warp)
    {
      Raise(largest, warpFound[threadIdx.x][warp]);
    }
    std::uint32_t bits;
    std::memcpy(&bits, &largest, sizeof(bits));
    atomicMax(&maxima[threadIdx.x], bits);
  }
}

} // namespace

void
UpsampleWarp(Device & device, const WarpView<const float> & coarse, const WarpView<float> & fine, const GridMap & map)
{
  const UpsamplePlan plan(coarse, fine, map);
  if (fine.planes == 0)
  {
    return;
  }
  const DeviceBuffer<std::int32_t>  lowerX(device, plan.lowerX);
  const DeviceBuffer<float>         fractionX(device, plan.fractionX);
  const DeviceBuffer<UpsamplePlace> placesY(device, plan.placesY);
  const DeviceBuffer<UpsamplePlace> placesZ(device, plan.placesZ);
  Launch(device,
         RowsOf(fine),
         UpsampleKernel,
         UpsampleTask{ coarse,
                       fine,
                       fine.component[2] ? 3 : 2,
                       lowerX.Data(),
                       fractionX.Data(),
                       placesY.Data(),
                       placesZ.Data(),
                       { float(map.scale[0]), float(map.scale[1]), float(map.scale[2]) } });
}

WarpSize
MeasureWarp(Device & device, const WarpView<const float> & warp, const double (&axisScale)[3])
{
  RequirePlanarWarp(warp, "the warp");
  MeasurePartial whole;
  if (warp.planes > 0)
  {
    const MeasureTask           task{ warp,
                            RowPieces{ warp.domain.y, warp.firstPlane, warp.planes },
                            warp.component[2] ? 3 : 2,
                            { float(axisScale[0]), float(axisScale[1]), float(axisScale[2]) } };
    DeviceBuffer<std::uint32_t> maxima(device, MeasuredNumbers);
    maxima.FillZero();
    LaunchShape shape;
    shape.block = dim3(MeasureThreads);
    shape.grid = dim3(unsigned(std::min<std::int64_t>(task.pieces.Count(), 16 * device.Multiprocessors())));
    Launch(device, shape, MeasureKernel, task, maxima.Data());
    float found[MeasuredNumbers];
    std::memcpy(found, maxima.ToHost().data(), sizeof(found));
    whole.squaredNorm = found[SquaredNorm];
    whole.finite = found[NotFinite] == 0.0f;
    std::copy_n(found + LargestX, 3, whole.largest);
  }
  return MakeWarpSize(whole, axisScale);
}

} // namespace cuda
} // namespace ffdp
