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

namespace
{
using ffdp::cuda::DeviceBuffer;
using ffdp::cuda::Launch;
using ffdp::cuda::LaunchShape;
using ffdp::test::TestDevice;

/** Sums 256 values per block: shuffles in each warp, then shared memory. */
template <int Warps>
__global__ void
ReduceKernel(const int * values, int * sums)
{
  __shared__ int perWarp[Warps];
  int            value = values[blockIdx.x * blockDim.x + threadIdx.x];
  for (int offset = 16; offset > 0; offset /= 2)
  {
    value += __shfl_down_sync(0xffffffffu, value, unsigned(offset));
  }
  if (threadIdx.x % 32 == 0)
  {
    perWarp[threadIdx.x / 32] = value;
  }
  __syncthreads();
  if (threadIdx.x == 0)
  {
    int sum = 0;
    for (int w = 0; w < Warps; ++w)
    {
      sum += perWarp[w];
    }
    sums[blockIdx.x] = sum;
  }
}

__global__ void
MissingArrivalKernel(int * values)
{
  if (threadIdx.x != 5)
  {
    __syncthreads();
  }
  values[threadIdx.x] = 1;
}

TEST(CudaHost, ReducesByShufflesAndSharedMemory)
{
  std::vector<int> values(10 * 256);
  for (std::size_t i = 0; i < values.size(); ++i)
  {
    values[i] = int(i % 97);
  }
  const auto sums = ffdp::test::ForEachSchedule([&] {
    const DeviceBuffer<int> in(TestDevice(), values);
    const DeviceBuffer<int> out(TestDevice(), 10);
    Launch(TestDevice(), { dim3(10), dim3(256), 0 }, ReduceKernel<8>, in.Data(), out.Data());
    return out.ToHost();
  });
  for (int b = 0; b < 10; ++b)
  {
    int expected = 0;
    for (int i = 0; i < 256; ++i)
    {
      expected += values[std::size_t(b * 256 + i)];
    }
    EXPECT_EQ(sums[std::size_t(b)], expected);
  }
}

TEST(CudaHost, ReportsMissingArrival)
{
  int * values = nullptr;
  ASSERT_EQ(cudaMalloc(&values, 64 * sizeof(int)), cudaSuccess);
  ASSERT_EQ(cudahost::RunGrid(dim3(1), dim3(64), 0, nullptr, [=] { MissingArrivalKernel(values); }),
            cudaErrorLaunchFailure);
  EXPECT_NE(cudahost::LastReport().find("1 thread, (5, 0, 0): returned from the kernel"), std::string::npos);
  cudaDeviceReset();
}

} // namespace
