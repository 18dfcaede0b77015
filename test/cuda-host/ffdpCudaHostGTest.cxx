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
#include "ffdpCudaLaunch.h"
#include "ffdpDeviceStaging.h"
#include "ffdpSchedules.h"

#include <gtest/gtest.h>

#include <numeric>

/** Kernels of every textbook give on the harness what they give on a device, in whatever order threads run. */
namespace
{

using ffdp::cuda::DeviceBuffer;
using ffdp::cuda::DynamicShared;
using ffdp::cuda::Launch;
using ffdp::test::ForEachSchedule;
using ffdp::test::TestDevice;

constexpr unsigned All = 0xffffffffu;

std::vector<int>
Numbers(int count, int modulus)
{
  std::vector<int> values(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
  {
    values[std::size_t(i)] = (i * 7919 + 13) % modulus;
  }
  return values;
}

/** Shuffles in each warp, then shared memory between warps. */
template <int Warps>
__global__ void
ReduceKernel(const int * values, int * sums)
{
  __shared__ int perWarp[Warps];
  int            value = values[blockIdx.x * blockDim.x + threadIdx.x];
  for (int offset = 16; offset > 0; offset /= 2)
  {
    value += __shfl_down_sync(All, value, unsigned(offset));
  }
  if (threadIdx.x % 32 == 0)
  {
    perWarp[threadIdx.x / 32] = value;
  }
  __syncthreads();
  if (threadIdx.x < 32)
  {
    value = threadIdx.x < Warps ? perWarp[threadIdx.x] : 0;
    for (int offset = 16; offset > 0; offset /= 2)
    {
      value += __shfl_xor_sync(All, value, offset);
    }
    if (threadIdx.x == 0)
    {
      sums[blockIdx.x] = value;
    }
  }
}

TEST(CudaHost, ReducesByShufflesAndSharedMemory)
{
  const std::vector<int> values = Numbers(10 * 256, 97);
  const auto             sums = ForEachSchedule([&] {
    const DeviceBuffer<int> in(TestDevice(), values);
    const DeviceBuffer<int> out(TestDevice(), 10);
    Launch(TestDevice(), { dim3(10), dim3(256), 0 }, ReduceKernel<8>, in.Data(), out.Data());
    return out.ToHost();
  });
  for (int b = 0; b < 10; ++b)
  {
    EXPECT_EQ(sums[std::size_t(b)], std::accumulate(values.begin() + 256 * b, values.begin() + 256 * (b + 1), 0));
  }
}

/** Tiles of 32 x 32 through dynamic shared memory, with a column more against bank conflicts; 8 rows of threads. */
__global__ void
TransposeKernel(const float * from, float * to, int width, int height)
{
  float * const tile = DynamicShared<float>();
  int           x = int(blockIdx.x * 32 + threadIdx.x);
  int           y = int(blockIdx.y * 32 + threadIdx.y);
  for (unsigned row = 0; row < 32; row += blockDim.y)
  {
    if (x < width && y + int(row) < height)
    {
      tile[(threadIdx.y + row) * 33 + threadIdx.x] = from[(y + int(row)) * width + x];
    }
  }
  __syncthreads();
  x = int(blockIdx.y * 32 + threadIdx.x);
  y = int(blockIdx.x * 32 + threadIdx.y);
  for (unsigned row = 0; row < 32; row += blockDim.y)
  {
    if (x < height && y + int(row) < width)
    {
      to[(y + int(row)) * height + x] = tile[threadIdx.x * 33 + threadIdx.y + row];
    }
  }
}

TEST(CudaHost, TransposesThroughDynamicSharedMemory)
{
  constexpr int      width = 70, height = 45;
  std::vector<float> image(width * height);
  std::iota(image.begin(), image.end(), 1.0f);
  const auto turned = ForEachSchedule([&] {
    const DeviceBuffer<float> in(TestDevice(), image);
    const DeviceBuffer<float> out(TestDevice(), width * height);
    Launch(TestDevice(),
           { dim3(3, 2), dim3(32, 8), 32 * 33 * sizeof(float) },
           TransposeKernel,
           in.Data(),
           out.Data(),
           width,
           height);
    return out.ToHost();
  });
  for (int y = 0; y < height; ++y)
  {
    for (int x = 0; x < width; ++x)
    {
      ASSERT_EQ(turned[std::size_t(x * height + y)], image[std::size_t(y * width + x)]);
    }
  }
}

/** A histogram for each block in shared memory, then all added. */
__global__ void
HistogramKernel(const int * values, int count, unsigned long long * histogram)
{
  __shared__ unsigned bins[16];
  if (threadIdx.x < 16)
  {
    bins[threadIdx.x] = 0;
  }
  __syncthreads();
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < unsigned(count); i += gridDim.x * blockDim.x)
  {
    atomicAdd(&bins[values[i]], 1u);
  }
  __syncthreads();
  if (threadIdx.x < 16)
  {
    atomicAdd(&histogram[threadIdx.x], static_cast<unsigned long long>(bins[threadIdx.x]));
  }
}

TEST(CudaHost, CountsWithAtomics)
{
  const std::vector<int> values = Numbers(5000, 16);
  const auto             histogram = ForEachSchedule([&] {
    const DeviceBuffer<int>          in(TestDevice(), values);
    DeviceBuffer<unsigned long long> out(TestDevice(), 16);
    out.FillZero();
    Launch(TestDevice(), { dim3(7), dim3(96), 0 }, HistogramKernel, in.Data(), 5000, out.Data());
    return out.ToHost();
  });
  for (int bin = 0; bin < 16; ++bin)
  {
    EXPECT_EQ(histogram[std::size_t(bin)],
              static_cast<unsigned long long>(std::count(values.begin(), values.end(), bin)));
  }
}

/** Sums up to each value: by shuffles in a warp, then by the first warp over warps. */
__global__ void
ScanKernel(int * values)
{
  __shared__ int ends[32];
  const unsigned lane = threadIdx.x % 32;
  int            value = values[threadIdx.x];
  for (unsigned offset = 1; offset < 32; offset *= 2)
  {
    const int before = __shfl_up_sync(All, value, offset);
    value += lane >= offset ? before : 0;
  }
  if (lane == 31)
  {
    ends[threadIdx.x / 32] = value;
  }
  __syncthreads();
  if (threadIdx.x < 32)
  {
    int end = lane < blockDim.x / 32 ? ends[lane] : 0;
    for (unsigned offset = 1; offset < 32; offset *= 2)
    {
      const int before = __shfl_up_sync(All, end, offset);
      end += lane >= offset ? before : 0;
    }
    ends[lane] = end;
  }
  __syncthreads();
  values[threadIdx.x] = value + (threadIdx.x >= 32 ? ends[threadIdx.x / 32 - 1] : 0);
}

TEST(CudaHost, Scans)
{
  const std::vector<int> values = Numbers(1024, 31);
  const auto             sums = ForEachSchedule([&] {
    const DeviceBuffer<int> buffer(TestDevice(), values);
    Launch(TestDevice(), { dim3(1), dim3(1024), 0 }, ScanKernel, buffer.Data());
    return buffer.ToHost();
  });
  std::vector<int>       expected(1024);
  std::partial_sum(values.begin(), values.end(), expected.begin());
  EXPECT_EQ(sums, expected);
}

/** One of each: votes, segments of shuffles, 64-bit values, parts of a warp. */
__global__ void
WarpKernel(double * doubles, unsigned * words)
{
  const unsigned lane = threadIdx.x;
  doubles[lane] = __shfl_sync(All, 0.5 + lane, 3, 8); // lane 3 of each eight
  words[lane] = __ballot_sync(All, lane % 3 == 0);
  words[32 + lane] = unsigned(__any_sync(All, lane == 31) + 2 * __all_sync(All, lane < 32) + 4 * __all_sync(All, lane));
  words[64 + lane] = __match_any_sync(All, lane / 8);
  if (lane < 8)
  {
    words[96 + lane] = __shfl_down_sync(0xffu, lane, 4, 8);
    __syncwarp(0xffu);
  }
  else
  {
    words[96 + lane] = __shfl_xor_sync(0xffffff00u, lane, 1);
  }
}

TEST(CudaHost, LanesOfAWarpExchange)
{
  const auto words = ForEachSchedule([&] {
    const DeviceBuffer<double>   doubles(TestDevice(), 32);
    const DeviceBuffer<unsigned> out(TestDevice(), 128);
    Launch(TestDevice(), { dim3(1), dim3(32), 0 }, WarpKernel, doubles.Data(), out.Data());
    const std::vector<double> values = doubles.ToHost();
    for (unsigned lane = 0; lane < 32; ++lane)
    {
      EXPECT_EQ(values[lane], 3.5 + lane / 8 * 8);
    }
    return out.ToHost();
  });
  for (unsigned lane = 0; lane < 32; ++lane)
  {
    EXPECT_EQ(words[lane], 0x49249249u);
    EXPECT_EQ(words[32 + lane], 3u);
    EXPECT_EQ(words[64 + lane], 0xffu << lane / 8 * 8);
    EXPECT_EQ(words[96 + lane], lane < 4 ? lane + 4 : lane < 8 ? lane : lane ^ 1u);
  }
}

__global__ void
VoteKernel(int * counts)
{
  const int count = __syncthreads_count(threadIdx.x % 3 == 0);
  const int all = __syncthreads_and(threadIdx.x < 50);
  const int any = __syncthreads_or(threadIdx.x == 49);
  counts[threadIdx.x] = count + 100 * all + 1000 * any;
}

TEST(CudaHost, BlocksVote)
{
  const auto counts = ForEachSchedule([&] {
    const DeviceBuffer<int> out(TestDevice(), 50);
    Launch(TestDevice(), { dim3(1), dim3(50), 0 }, VoteKernel, out.Data());
    return out.ToHost();
  });
  EXPECT_EQ(counts, std::vector<int>(50, 17 + 100 + 1000));
}

__global__ void
PositionKernel(unsigned * positions)
{
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  positions[block * blockDim.x * blockDim.y * blockDim.z + thread] += block * 1000 + thread;
}

TEST(CudaHost, EachThreadOfEachBlockRunsOnce)
{
  const auto positions = ForEachSchedule([&] {
    DeviceBuffer<unsigned> out(TestDevice(), 3 * 4 * 5 * 2 * 3 * 4);
    out.FillZero();
    Launch(TestDevice(), { dim3(3, 4, 5), dim3(2, 3, 4), 0 }, PositionKernel, out.Data());
    return out.ToHost();
  });
  for (unsigned i = 0; i < positions.size(); ++i)
  {
    ASSERT_EQ(positions[i], i / 24 * 1000 + i % 24);
  }
}

} // namespace
