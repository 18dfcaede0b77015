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

#include <algorithm>

/** The histogram of an image. Bytes per voxel: 4 read, 5 with a mask. A block counts in shared memory (16 KiB for the
 * usual 4096 bins, 48 KiB at most) and adds its counts to the 64-bit totals once; of more bins than fit, each is so
 * rarely hit that the totals are counted in at once. 512 threads, so that three blocks with 16 KiB fill a
 * multiprocessor; two are promised to the compiler, which otherwise saves registers for more of them, and spills. */
namespace ffdp
{
namespace cuda
{
namespace
{

constexpr unsigned    HistogramThreads = 512;
constexpr std::size_t MostSharedBytes = 48 * 1024;

using Total = unsigned long long; // the type of 64-bit atomics

/** Counts the rows of the pieces of this block: slots of `bins` that are not ignored. */
template <typename TCount>
__device__ __forceinline__ void
CountRows(const HistogramBins &                  bins,
          const VolumeView<const float> &        image,
          const VolumeView<const std::uint8_t> & mask,
          const RowPieces &                      pieces,
          TCount *                               counts)
{
  const int lane = int(threadIdx.x % 32);
  for (std::int64_t piece = blockIdx.x; piece < pieces.Count(); piece += gridDim.x)
  {
    const std::int64_t z = pieces.Plane(piece);
    for (std::int64_t y = pieces.FirstRow(piece) + threadIdx.x / 32; y < pieces.EndRow(piece);
         y += HistogramThreads / 32)
    {
      const float *        row = image.Row(y, z);
      const std::uint8_t * inside = mask ? mask.Row(y, z) : nullptr;
      for (std::int64_t begin = 0; begin < image.domain.x; begin += 32)
      {
        const std::int64_t x = begin + lane;
        const std::int32_t slot =
          x < image.domain.x ? HistogramSlot(bins, row[x], !inside || inside[x] != 0) : bins.Ignored();
        CountTogether(counts, slot == bins.Ignored() ? -1 : slot);
      }
    }
  }
}

template <bool VShared>
__global__ void
__launch_bounds__(HistogramThreads, 2) HistogramKernel(HistogramBins                  bins,
                                                       VolumeView<const float>        image,
                                                       VolumeView<const std::uint8_t> mask,
                                                       RowPieces                      pieces,
                                                       Total *                        totals)
{
  if (!VShared)
  {
    CountRows(bins, image, mask, pieces, totals);
    return;
  }
  auto * counts = DynamicShared<std::uint32_t>();
  for (auto k = std::int32_t(threadIdx.x); k < bins.Ignored(); k += HistogramThreads)
  {
    counts[k] = 0;
  }
  __syncthreads();
  CountRows(bins, image, mask, pieces, counts);
  __syncthreads();
  for (auto k = std::int32_t(threadIdx.x); k < bins.Ignored(); k += HistogramThreads)
  {
    if (counts[k] > 0)
    {
      atomicAdd(&totals[k], Total(counts[k]));
    }
  }
}

} // namespace

IntensityHistogram
MeasureHistogram(Device &                               device,
                 const VolumeView<const float> &        image,
                 float                                  low,
                 float                                  high,
                 std::int64_t                           bins,
                 const VolumeView<const std::uint8_t> & mask)
{
  RequireStatisticsInputs(image, mask);
  const HistogramBins range = MakeHistogramBins(low, high, bins);
  DeviceBuffer<Total> totals(device, range.Ignored());
  totals.FillZero();
  if (image.planes > 0)
  {
    const RowPieces   pieces{ image.domain.y, image.firstPlane, image.planes };
    const std::size_t sharedBytes = std::size_t(range.Ignored()) * sizeof(std::uint32_t);
    const bool        inShared = sharedBytes <= MostSharedBytes;
    // Few blocks, as each has counts to add at its end; but a block counts no more than 2^31 voxels.
    const std::int64_t piecesPerBlock =
      std::max<std::int64_t>(1, (std::int64_t(1) << 31) / (RowPieces::RowsPerPiece * image.domain.x));
    const std::int64_t needed = pieces.Count() / piecesPerBlock + 1;
    LaunchShape        shape;
    shape.block = dim3(HistogramThreads);
    shape.grid = dim3(unsigned(std::min(pieces.Count(), std::max<std::int64_t>(4 * device.Multiprocessors(), needed))));
    shape.sharedBytes = inShared ? sharedBytes : 0;
    Launch(device,
           shape,
           inShared ? HistogramKernel<true> : HistogramKernel<false>,
           range,
           image,
           mask,
           pieces,
           totals.Data());
  }
  return MakeIntensityHistogram(range, totals.ToHost());
}

} // namespace cuda
} // namespace ffdp
