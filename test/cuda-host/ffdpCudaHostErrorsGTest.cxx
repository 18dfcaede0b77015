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

/** What is wrong in a kernel is seen: races as different results over schedules, meetings that fail as errors, reads
 * and writes beyond a buffer by address sanitizer. */
namespace
{

using cudahost::LastReport;
using ffdp::cuda::DeviceBuffer;
using ffdp::cuda::DynamicShared;
using ffdp::cuda::Launch;
using ffdp::cuda::LaunchShape;
using ffdp::test::CountDifferentSchedules;
using ffdp::test::TestDevice;

class CudaHostErrors : public testing::Test
{
protected:
  void
  TearDown() override
  {
    cudaDeviceReset();
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  }

  /** The report of a kernel that goes wrong; all calls after it fail, too. */
  template <typename... TParameters>
  static std::string
  ReportOf(const LaunchShape & shape, void (*kernel)(TParameters...))
  {
    try
    {
      Launch(TestDevice(), shape, kernel);
      TestDevice().Synchronize();
    }
    catch (const ffdp::cuda::Error & error)
    {
      EXPECT_NE(std::string(error.what()).find(LastReport()), std::string::npos) << error.what();
      EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
      EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure) << "is not forgotten";
      EXPECT_THROW(DeviceBuffer<int>(TestDevice(), 1), ffdp::cuda::Error);
      return LastReport();
    }
    return "";
  }

private:
  const ffdp::test::DrawnSchedule m_Order; // who is first to be wrong is then known
};

#define EXPECT_REPORT(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

/** A tree in shared memory; `Barriers` false leaves out those between its levels. */
template <bool Barriers>
__global__ void
TreeKernel(const int * values, int * sum)
{
  __shared__ int partial[128];
  partial[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  for (unsigned width = 64; width > 0; width /= 2)
  {
    if (threadIdx.x < width)
    {
      partial[threadIdx.x] += partial[threadIdx.x + width];
    }
    if (Barriers)
    {
      __syncthreads();
    }
  }
  if (threadIdx.x == 0)
  {
    *sum = partial[0];
  }
}

template <typename TKernel>
int
DifferingSums(TKernel kernel)
{
  std::vector<int> values(128);
  for (int i = 0; i < 128; ++i)
  {
    values[std::size_t(i)] = i * i % 19;
  }
  int differing = 0;
  CountDifferentSchedules(
    [&] {
      const DeviceBuffer<int> in(TestDevice(), values);
      const DeviceBuffer<int> out(TestDevice(), 1);
      Launch(TestDevice(), { dim3(1), dim3(128), 0 }, kernel, in.Data(), out.Data());
      return out.ToHost();
    },
    20,
    differing);
  return differing;
}

TEST_F(CudaHostErrors, AReductionWithoutBarriersDependsOnTheSchedule)
{
  EXPECT_EQ(DifferingSums(TreeKernel<true>), 0);
  EXPECT_GE(DifferingSums(TreeKernel<false>), 15);
}

/** The last block to come adds what the others left; `Wrong`: it believes that it is the one with the last number. */
template <bool Wrong>
__global__ void
LastBlockKernel(const int * values, int * partials, unsigned * arrived, int * sum)
{
  partials[blockIdx.x] = values[blockIdx.x];
  __threadfence();
  const bool last = Wrong ? blockIdx.x == gridDim.x - 1 : atomicAdd(arrived, 1u) == gridDim.x - 1;
  if (last)
  {
    *sum = 0;
    for (unsigned b = 0; b < gridDim.x; ++b)
    {
      *sum += partials[b];
    }
  }
}

template <typename TKernel>
int
DifferingBlockSums(TKernel kernel)
{
  int differing = 0;
  CountDifferentSchedules(
    [&] {
      const DeviceBuffer<int> values(TestDevice(), std::vector<int>{ 1, 2, 3, 4, 5, 6, 7 });
      const DeviceBuffer<int> partials(TestDevice(), 7);
      const DeviceBuffer<int> sum(TestDevice(), 1);
      DeviceBuffer<unsigned>  arrived(TestDevice(), 1);
      arrived.FillZero();
      Launch(TestDevice(), { dim3(7), dim3(1), 0 }, kernel, values.Data(), partials.Data(), arrived.Data(), sum.Data());
      return sum.ToHost();
    },
    20,
    differing);
  return differing;
}

TEST_F(CudaHostErrors, ABlockThatReliesOnTheOrderOfBlocksIsSeen)
{
  EXPECT_EQ(DifferingBlockSums(LastBlockKernel<false>), 0);
  EXPECT_GE(DifferingBlockSums(LastBlockKernel<true>), 10);
}

__global__ void
UninitializedSharedKernel(float * out)
{
  __shared__ float tile[32];
  float * const    dynamic = DynamicShared<float>();
  out[blockIdx.x * 2] = tile[3];
  out[blockIdx.x * 2 + 1] = dynamic[1];
  tile[3] = 1.0f; // which the next block must not see
  dynamic[1] = 1.0f;
}

TEST_F(CudaHostErrors, SharedMemoryHasNothingOfTheBlockBefore)
{
  const DeviceBuffer<float> out(TestDevice(), 20 * 2);
  Launch(TestDevice(), { dim3(20), dim3(1), 2 * sizeof(float) }, UninitializedSharedKernel, out.Data());
  const std::vector<float> values = out.ToHost();
  for (const float value : values)
  {
    EXPECT_TRUE(std::isnan(value));
  }
}

__global__ void
MissingArrivalKernel()
{
  if (threadIdx.x != 5)
  {
    __syncthreads();
  }
}

__global__ void
DifferentBarriersKernel()
{
  if (threadIdx.x < 32)
  {
    __syncthreads();
  }
  else
  {
    __syncthreads();
  }
}

__global__ void
BarrierAgainstShuffleKernel()
{
  if (threadIdx.x < 10)
  {
    __syncthreads();
  }
  else
  {
    __shfl_sync(0xffffffffu, 1.0f, 0);
  }
}

__global__ void
MissingLaneKernel()
{
  if (threadIdx.x < 16)
  {
    __syncwarp(0xffffffffu);
  }
  __syncthreads();
}

TEST_F(CudaHostErrors, ABarrierThatAThreadNeverReachesIsReported)
{
  const std::string report = ReportOf({ dim3(2, 1, 3), dim3(64), 0 }, MissingArrivalKernel);
  EXPECT_REPORT(report, "block (0, 0, 0): threads wait for others that never come");
  EXPECT_REPORT(report, "63 threads, the first is (0, 0, 0): at __syncthreads, ");
  EXPECT_REPORT(report, "ffdpCudaHostErrorsGTest.cxx:");
  EXPECT_REPORT(report, "1 thread, (5, 0, 0): returned from the kernel");
}

TEST_F(CudaHostErrors, DifferentBarriersAreReported)
{
  EXPECT_REPORT(ReportOf({ dim3(1), dim3(64), 0 }, DifferentBarriersKernel), "threads stand at different barriers");
}

TEST_F(CudaHostErrors, ABarrierAndAShuffleDoNotMeet)
{
  const std::string report = ReportOf({ dim3(1), dim3(32), 0 }, BarrierAgainstShuffleKernel);
  EXPECT_REPORT(report, "10 threads, the first is (0, 0, 0): at __syncthreads, ");
  EXPECT_REPORT(report, "22 threads, the first is (10, 0, 0): at a shuffle of lanes 0xffffffff, ");
}

TEST_F(CudaHostErrors, ALaneThatNeverComesIsReported)
{
  EXPECT_REPORT(ReportOf({ dim3(1), dim3(32), 0 }, MissingLaneKernel),
                "16 threads, the first is (0, 0, 0): at __syncwarp");
}

__global__ void
ForeignLaneKernel()
{
  if (threadIdx.x < 4)
  {
    __shfl_sync(0xfu, 1, 4);
  }
}

__global__ void
ReturnedLaneKernel()
{
  if (threadIdx.x < 31)
  {
    __shfl_down_sync(0xffffffffu, 1, 1);
  }
}

__global__ void
NotInItsMaskKernel()
{
  __syncwarp(1u);
}

__global__ void
ThrowingKernel()
{
  throw std::runtime_error("from a kernel");
}

TEST_F(CudaHostErrors, AShuffleFromALaneWithoutPartIsReported)
{
  EXPECT_REPORT(ReportOf({ dim3(1), dim3(32), 0 }, ForeignLaneKernel),
                "(0, 0, 0) takes a value from lane 4, which has no part");
}

TEST_F(CudaHostErrors, AShuffleFromALaneThatReturnedIsReported)
{
  EXPECT_REPORT(ReportOf({ dim3(1), dim3(32), 0 }, ReturnedLaneKernel), "takes a value from lane 31");
}

TEST_F(CudaHostErrors, AThreadOutsideItsMaskIsReported)
{
  EXPECT_REPORT(ReportOf({ dim3(1), dim3(32), 0 }, NotInItsMaskKernel),
                "(1, 0, 0) is not among the lanes it waits for");
}

TEST_F(CudaHostErrors, AnExceptionInAKernelIsReported)
{
  EXPECT_REPORT(ReportOf({ dim3(1), dim3(32), 0 }, ThrowingKernel), "a thread threw: from a kernel");
}

__global__ void
EmptyKernel()
{}

TEST_F(CudaHostErrors, LaunchesBeyondTheLimitsAreRefused)
{
  const auto launch = [](dim3 grid, dim3 block, std::size_t shared) {
    return cudahost::RunGrid(grid, block, shared, TestDevice().Stream(), EmptyKernel);
  };
  EXPECT_EQ(launch(dim3(1), dim3(1024), 99 * 1024), cudaSuccess);
  EXPECT_EQ(launch(dim3(1), dim3(8, 8, 16), 0), cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(launch(dim3(1), dim3(1025), 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(dim3(1), dim3(32, 33), 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(dim3(1), dim3(1, 1, 65), 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(dim3(1), dim3(0), 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(dim3(0), dim3(1), 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(dim3(1, 65536), dim3(1), 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(dim3(1, 1, 65536), dim3(1), 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(dim3(0x80000000u), dim3(1), 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "a refused launch is forgotten when it was asked for";
  EXPECT_EQ(launch(dim3(1), dim3(1), 99 * 1024 + 1), cudaErrorInvalidValue);
  cudaGetLastError();
  EXPECT_EQ(launch(dim3(1), dim3(1), 0), cudaSuccess);
}

#if defined(__SANITIZE_ADDRESS__)

__global__ void
ReadKernel(const float * values, float * sum, int count)
{
  *sum = 0;
  for (int i = 0; i < count; ++i)
  {
    *sum += values[i];
  }
}

__global__ void
SharedWriteKernel(int index)
{
  __shared__ volatile float tile[32] __attribute__((unused)); // nobody reads it
  tile[index + int(threadIdx.x)] = 1.0f;
}

__global__ void
DynamicSharedWriteKernel(int index)
{
  DynamicShared<float>()[index] = 1.0f;
}

TEST(CudaHostErrorsDeathTest, AccessesBeyondTheEndAreSeen)
{
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto read = [](int count) {
    const DeviceBuffer<float> values(TestDevice(), 33);
    const DeviceBuffer<float> sum(TestDevice(), 1);
    Launch(TestDevice(), { dim3(1), dim3(1), 0 }, ReadKernel, values.Data(), sum.Data(), count);
    TestDevice().Synchronize();
  };
  const auto writeShared = [](int index) {
    Launch(TestDevice(), { dim3(1), dim3(32), 0 }, SharedWriteKernel, index);
    TestDevice().Synchronize();
  };
  const auto writeDynamicShared = [](int index) {
    Launch(TestDevice(), { dim3(1), dim3(1), 5 * sizeof(float) }, DynamicSharedWriteKernel, index);
    TestDevice().Synchronize();
  };
  const auto useAfterFree = [] {
    const DeviceBuffer<float> sum(TestDevice(), 1);
    float *                   freed = DeviceBuffer<float>(TestDevice(), 1).Data();
    TestDevice().Synchronize();
    Launch(TestDevice(), { dim3(1), dim3(1), 0 }, ReadKernel, freed, sum.Data(), 1);
    TestDevice().Synchronize();
  };
  read(33);
  writeShared(0);
  writeDynamicShared(4);
  EXPECT_DEATH(read(34), "heap-buffer-overflow");
  EXPECT_DEATH(writeShared(1),
               "global-buffer-overflow|out of bounds"); // the latter if undefined behavior is looked for
  EXPECT_DEATH(writeDynamicShared(5), "heap-buffer-overflow");
  EXPECT_DEATH(useAfterFree(), "heap-use-after-free");
}

#endif

} // namespace
