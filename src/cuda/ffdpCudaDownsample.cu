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
#include "ffdpCudaDownsample.h"

#include "ffdpCudaLaunch.h"
#include "ffdpCudaRows.h"
#include "ffdpDownsamplePlan.h"

/** Smoothing and resampling in one kernel. A block makes 32 x 8 voxels of a coarse plane: it sums the fine voxels that
 * they depend on along z into shared memory, those along y into 8 rows, and those along x into its 32 columns. What
 * lies behind a fixed amount of shared memory (25 KiB: four blocks on the smallest multiprocessor) comes in turns, in
 * the order of the taps, so any number of taps will do.
 *
 * Bytes per fine voxel for a factor of 2 (6 taps along each axis): every fine plane is read for 3 coarse ones, mostly
 * from the second-level cache, with 68 x 20 voxels for 64 x 16 (1.3): 4 from memory and 16 from that cache. A tile is
 * wider than high because fine rows are read along x; 8 rows keep the overlap along y at a quarter. */
namespace ffdp
{
namespace cuda
{
namespace
{

constexpr int TileColumns = 32;
constexpr int TileRows = 8;
constexpr int TileThreads = TileColumns * TileRows;
constexpr int ChunkColumns = 160; ///< fine voxels along x at once
constexpr int ChunkRows = 32;     ///< and along y

/** The weights along an axis; see DownsampleWeights. */
struct DeviceAxis
{
  const std::int64_t * first;
  const std::int64_t * count;
  const float *        weights;
  std::int64_t         taps;
};

struct DownsampleTask
{
  VolumeView<const float> fine;
  VolumeView<float>       coarse;
  const std::int32_t *    columnFirst; ///< see DownsampleColumnTables
  const float *           columnWeights;
  std::int64_t            columnTaps;
  DeviceAxis              y;
  DeviceAxis              z; ///< begins at the first plane of `coarse`
};

/** Some fine voxels. */
struct FineChunk
{
  std::int64_t x;
  std::int64_t y;
  int          columns;
  int          rows;
};

/** The chunk, summed along z. */
__device__ __forceinline__ void
SumPlanes(const DownsampleTask & task, std::int64_t plane, const FineChunk & chunk, float * sums)
{
  const std::int64_t first = task.z.first[plane];
  const auto         count = int(task.z.count[plane]);
  const float *      weights = task.z.weights + plane * task.z.taps;
  for (int k = int(threadIdx.x); k < chunk.rows * chunk.columns; k += TileThreads)
  {
    const int     row = k / chunk.columns;
    const int     column = k % chunk.columns;
    const float * voxel = task.fine.Row(chunk.y + row, first) + chunk.x + column;
    float         sum = weights[0] * *voxel;
    for (int t = 1; t < count; ++t)
    {
      voxel += task.fine.planeStride;
      sum = sum + weights[t] * *voxel;
    }
    sums[row * ChunkColumns + column] = sum;
  }
}

/** Adds the rows of the chunk to the coarse rows that they belong to. */
__device__ __forceinline__ void
SumRows(const DownsampleTask & task, std::int64_t firstRow, const FineChunk & chunk, const float * sums, float * lines)
{
  for (int k = int(threadIdx.x); k < TileRows * chunk.columns; k += TileThreads)
  {
    const int          line = k / chunk.columns;
    const int          column = k % chunk.columns;
    const std::int64_t y = firstRow + line;
    if (y < task.coarse.domain.y)
    {
      const std::int64_t low = task.y.first[y];
      const std::int64_t after = chunk.y + chunk.rows - low;
      const auto         begin = int(chunk.y > low ? chunk.y - low : 0);
      const auto         end = int(after < task.y.count[y] ? after : task.y.count[y]);
      const float *      weights = task.y.weights + y * task.y.taps;
      const float *      sum = sums + (low - chunk.y) * ChunkColumns + column;
      float              total = begin > 0 && begin < end ? lines[line * ChunkColumns + column] : 0.0f;
      for (int t = begin; t < end; ++t)
      {
        const float term = weights[t] * sum[t * ChunkColumns];
        total = t == 0 ? term : total + term;
      }
      if (begin < end)
      {
        lines[line * ChunkColumns + column] = total;
      }
    }
  }
}

/** Goes on with the sum of a coarse voxel along its row. */
__device__ __forceinline__ float
SumColumns(const DownsampleTask & task, std::int64_t x, const FineChunk & chunk, const float * line, float sum)
{
  const std::int64_t first = task.columnFirst[x];
  const std::int64_t after = chunk.x + chunk.columns - first;
  const auto         begin = int(chunk.x > first ? chunk.x - first : 0);
  const auto         end = int(after < task.columnTaps ? after : task.columnTaps);
  for (int t = begin; t < end; ++t)
  {
    sum = sum + task.columnWeights[t * task.coarse.domain.x + x] * line[first - chunk.x + t];
  }
  return sum;
}

__device__ __forceinline__ void
DownsampleTile(const DownsampleTask & task, std::int64_t plane, std::int64_t firstRow, float * sums, float * lines)
{
  const Extent &     size = task.coarse.domain;
  const std::int64_t firstColumn = std::int64_t(blockIdx.x) * TileColumns;
  const std::int64_t lastColumn = firstColumn + TileColumns < size.x ? firstColumn + TileColumns - 1 : size.x - 1;
  const std::int64_t lastRow = firstRow + TileRows < size.y ? firstRow + TileRows - 1 : size.y - 1;
  const std::int64_t endX = task.columnFirst[lastColumn] + task.columnTaps;
  const std::int64_t endY = task.y.first[lastRow] + task.y.count[lastRow];
  const std::int64_t x = firstColumn + threadIdx.x % TileColumns;
  const std::int64_t y = firstRow + threadIdx.x / TileColumns;
  float              sum = 0.0f;
  FineChunk          chunk;
  for (chunk.x = task.columnFirst[firstColumn]; chunk.x < endX; chunk.x += ChunkColumns)
  {
    chunk.columns = endX - chunk.x < ChunkColumns ? int(endX - chunk.x) : ChunkColumns;
    for (chunk.y = task.y.first[firstRow]; chunk.y < endY; chunk.y += ChunkRows)
    {
      chunk.rows = endY - chunk.y < ChunkRows ? int(endY - chunk.y) : ChunkRows;
      SumPlanes(task, plane, chunk, sums);
      __syncthreads();
      SumRows(task, firstRow, chunk, sums, lines);
      __syncthreads();
    }
    if (x < size.x && y < size.y)
    {
      sum = SumColumns(task, x, chunk, lines + threadIdx.x / TileColumns * ChunkColumns, sum);
    }
  }
  if (x < size.x && y < size.y)
  {
    task.coarse.Row(y, task.coarse.firstPlane + plane)[x] = sum;
  }
}

__global__ void
__launch_bounds__(TileThreads) DownsampleKernel(DownsampleTask task)
{
  __shared__ float sums[ChunkRows * ChunkColumns];
  __shared__ float lines[TileRows * ChunkColumns];
  for (std::int64_t plane = blockIdx.z; plane < task.coarse.planes; plane += gridDim.z)
  {
    for (std::int64_t tile = blockIdx.y; tile * TileRows < task.coarse.domain.y; tile += gridDim.y)
    {
      DownsampleTile(task, plane, tile * TileRows, sums, lines);
    }
  }
}

/** The weights along an axis in the memory of the device. */
struct AxisBuffers
{
  DeviceBuffer<std::int64_t> first;
  DeviceBuffer<std::int64_t> count;
  DeviceBuffer<float>        weights;
  std::int64_t               taps;

  AxisBuffers(Device & device, const DownsampleWeights & axis)
    : first(device, axis.first)
    , count(device, axis.count)
    , weights(device, axis.weights)
    , taps(axis.taps)
  {}
  DeviceAxis
  View() const
  {
    return DeviceAxis{ first.Data(), count.Data(), weights.Data(), taps };
  }
};

} // namespace

void
Downsample(Device &                        device,
           const VolumeView<const float> & fine,
           const VolumeView<float> &       coarse,
           const GridMap &                 map,
           const DownsampleParameters &    parameters)
{
  RequireDownsample(fine, coarse, map, parameters);
  if (coarse.planes == 0)
  {
    return;
  }
  const DownsamplePlan             plan(fine, coarse, map, parameters);
  const DeviceBuffer<std::int32_t> columnFirst(device, plan.columns.first);
  const DeviceBuffer<float>        columnWeights(device, plan.columns.weights);
  const AxisBuffers                y(device, plan.y);
  const AxisBuffers                z(device, plan.z);
  const std::int64_t               tileRows = (coarse.domain.y + TileRows - 1) / TileRows;
  LaunchShape                      shape;
  shape.block = dim3(TileThreads);
  shape.grid = dim3(BlocksFor(coarse.domain.x, TileColumns),
                    unsigned(tileRows < MostBlocks ? tileRows : MostBlocks),
                    unsigned(coarse.planes < MostBlocks ? coarse.planes : MostBlocks));
  Launch(device,
         shape,
         DownsampleKernel,
         DownsampleTask{ fine, coarse, columnFirst.Data(), columnWeights.Data(), plan.x.taps, y.View(), z.View() });
}

} // namespace cuda
} // namespace ffdp
