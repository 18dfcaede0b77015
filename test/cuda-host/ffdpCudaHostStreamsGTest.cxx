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

/** Streams do their work as late as a device may, or with a seed at any time that a device may: who does not wait for
 * it has other results than who does. Memory is accounted for, and copies know which side a pointer is on. */
namespace
{

using ffdp::cuda::DeviceBuffer;
using ffdp::cuda::Launch;
using ffdp::test::CountDifferentSchedules;
using ffdp::test::TestDevice;

__global__ void
AddKernel(int * values, int number)
{
  values[threadIdx.x] = values[threadIdx.x] * 10 + number;
}

class CudaHostStreams : public testing::Test
{
protected:
  void
  SetUp() override
  {
    ASSERT_EQ(cudaStreamCreateWithFlags(&m_First, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaStreamCreateWithFlags(&m_Second, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaEventCreateWithFlags(&m_Event, cudaEventDefault), cudaSuccess);
    ASSERT_EQ(cudaMalloc(&m_Device, Bytes), cudaSuccess);
    ASSERT_EQ(cudaMallocHost(&m_Pinned, Bytes), cudaSuccess);
  }
  void
  TearDown() override
  {
    EXPECT_EQ(cudaFree(m_Device), cudaSuccess);
    EXPECT_EQ(cudaFreeHost(m_Pinned), cudaSuccess);
    EXPECT_EQ(cudaEventDestroy(m_Event), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(m_First), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(m_Second), cudaSuccess);
    EXPECT_EQ(cudahost::LivePinnedBytes(), 0u);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  }

  void
  Add(int number, cudaStream_t stream)
  {
    int * const values = m_Device;
    EXPECT_EQ(cudahost::RunGrid(dim3(1), dim3(Count), 0, stream, [=] { AddKernel(values, number); }), cudaSuccess);
  }

  /** 1 in the first stream, then 2 in the second: 12, if the second waits. */
  int
  OneThenTwo(bool wait)
  {
    EXPECT_EQ(cudaMemset(m_Device, 0, Bytes), cudaSuccess);
    this->Add(1, m_First);
    EXPECT_EQ(cudaEventRecord(m_Event, m_First), cudaSuccess);
    if (wait)
    {
      EXPECT_EQ(cudaStreamWaitEvent(m_Second, m_Event, 0), cudaSuccess);
    }
    this->Add(2, m_Second);
    EXPECT_EQ(cudaMemcpyAsync(m_Pinned, m_Device, Bytes, cudaMemcpyDeviceToHost, m_Second), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(m_Second), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(m_First), cudaSuccess);
    return m_Pinned[0];
  }

  const ffdp::test::DrawnSchedule m_Order; // when work is done is then known
  static constexpr int            Count = 4;
  static constexpr std::size_t    Bytes = Count * sizeof(int);
  cudaStream_t                    m_First = nullptr;
  cudaStream_t                    m_Second = nullptr;
  cudaEvent_t                     m_Event = nullptr;
  int *                           m_Device = nullptr;
  int *                           m_Pinned = nullptr;
};

TEST_F(CudaHostStreams, AMissingEventIsSeen)
{
  EXPECT_EQ(this->OneThenTwo(true), 12);
  EXPECT_EQ(this->OneThenTwo(false), 2) << "in natural order, a stream that nobody waits for comes last";
  int differing = 0;
  CountDifferentSchedules([&] { return std::vector<int>{ this->OneThenTwo(true) }; }, 20, differing);
  EXPECT_EQ(differing, 0);
  CountDifferentSchedules([&] { return std::vector<int>{ this->OneThenTwo(false) }; }, 20, differing);
  EXPECT_GE(differing, 3);
}

TEST_F(CudaHostStreams, WorkIsDoneWhenSomeoneWaitsForIt)
{
  ASSERT_EQ(cudaMemset(m_Device, 0, Bytes), cudaSuccess);
  this->Add(1, m_First);
  EXPECT_EQ(cudaStreamQuery(m_First), cudaErrorNotReady);
  EXPECT_EQ(cudaStreamQuery(m_First), cudaSuccess) << "who asks again gets there";
  this->Add(2, m_First);
  ASSERT_EQ(cudaEventRecord(m_Event, m_First), cudaSuccess);
  this->Add(3, m_First);
  EXPECT_EQ(cudaEventQuery(m_Event), cudaErrorNotReady);
  ASSERT_EQ(cudaEventSynchronize(m_Event), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(m_Event), cudaSuccess);
  int value = 0;
  ASSERT_EQ(cudaMemcpy(&value, m_Device, sizeof(int), cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(value, 12) << "a copy that waits does not wait for streams that were created as non-blocking";
  ASSERT_EQ(cudaMemcpyAsync(&value, m_Device, sizeof(int), cudaMemcpyDeviceToHost, m_First), cudaSuccess);
  EXPECT_EQ(value, 123) << "memory that is not pinned is written when the call returns";
}

TEST_F(CudaHostStreams, PinnedMemoryIsReadLate)
{
  std::vector<int> pageable(Count, 1);
  std::fill_n(m_Pinned, Count, 1);
  int values[Count] = {};
  ASSERT_EQ(cudaMemcpyAsync(m_Device, pageable.data(), Bytes, cudaMemcpyHostToDevice, m_First), cudaSuccess);
  pageable.assign(Count, 2);
  ASSERT_EQ(cudaMemcpyAsync(values, m_Device, Bytes, cudaMemcpyDeviceToHost, m_First), cudaSuccess);
  EXPECT_EQ(values[0], 1);
  ASSERT_EQ(cudaMemcpyAsync(m_Device, m_Pinned, Bytes, cudaMemcpyHostToDevice, m_First), cudaSuccess);
  std::fill_n(m_Pinned, Count, 3); // too early: the copy has not been done
  ASSERT_EQ(cudaMemcpyAsync(values, m_Device, Bytes, cudaMemcpyDeviceToHost, m_First), cudaSuccess);
  EXPECT_EQ(values[0], 3);
}

TEST_F(CudaHostStreams, BlockingStreamsWaitForStream0)
{
  cudaStream_t blocking = nullptr;
  ASSERT_EQ(cudaStreamCreate(&blocking), cudaSuccess);
  ASSERT_EQ(cudaMemset(m_Device, 0, Bytes), cudaSuccess);
  this->Add(1, blocking);
  this->Add(2, nullptr);
  this->Add(3, blocking);
  int value = 0;
  ASSERT_EQ(cudaMemcpy(&value, m_Device, sizeof(int), cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(value, 123);
  EXPECT_EQ(cudaStreamDestroy(blocking), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(blocking), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidResourceHandle);
}

TEST_F(CudaHostStreams, CopiesKnowWhichSideAPointerIsOn)
{
  int host[Count + 1] = {};
  EXPECT_EQ(cudaMemcpy(host, m_Device, Bytes, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(m_Device, host, Bytes, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(host, host + 1, sizeof(int), cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(m_Device, host, Bytes + 1, cudaMemcpyHostToDevice), cudaErrorInvalidValue) << "too long";
  EXPECT_EQ(cudaMemcpy(m_Device + 1, host, Bytes, cudaMemcpyHostToDevice), cudaErrorInvalidValue) << "too long";
  EXPECT_EQ(cudaMemset(host, 0, Bytes), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(m_Device, host, Bytes, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(host, m_Device, Bytes, cudaMemcpyDefault), cudaSuccess);
}

TEST_F(CudaHostStreams, RowsAreCopied)
{
  const int host[6] = { 1, 2, 3, 4, 5, 6 };
  int       back[4] = {};
  ASSERT_EQ(cudaMemcpy2D(m_Device, 8, host, 12, 8, 2, cudaMemcpyHostToDevice), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(back, m_Device, Bytes, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(std::vector<int>(back, back + 4), (std::vector<int>{ 1, 2, 4, 5 }));
  EXPECT_EQ(cudaMemcpy2D(m_Device, 12, host, 12, 8, 2, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
}

TEST_F(CudaHostStreams, CopiesAreAccountedFor)
{
  int                 host[Count] = {};
  const std::uint64_t toDevices = cudahost::BytesCopiedToDevices();
  const std::uint64_t toHost = cudahost::BytesCopiedToHost();
  ASSERT_EQ(cudaMemcpy2D(m_Device, 8, host, 8, 4, 2, cudaMemcpyHostToDevice), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(m_Device, host, 4, cudaMemcpyDefault, m_First), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(m_Device + 1, m_Device, 4, cudaMemcpyDeviceToDevice), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(host, m_Device, Bytes, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(host, m_Device, Bytes, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudahost::BytesCopiedToDevices(), toDevices + 12);
  EXPECT_EQ(cudahost::BytesCopiedToHost(), toHost + Bytes);
}

TEST_F(CudaHostStreams, MemoryIsAccountedFor)
{
  const std::size_t before = cudahost::LiveDeviceBytes();
  void *            memory = nullptr;
  ASSERT_EQ(cudaMallocAsync(&memory, 1000, m_First), cudaSuccess);
  EXPECT_EQ(cudahost::LiveDeviceBytes(), before + 1000);
  cudaPointerAttributes attributes;
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, static_cast<char *>(memory) + 999), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, &memory), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
  EXPECT_EQ(cudaFree(static_cast<char *>(memory) + 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(&memory), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeAsync(memory, m_First), cudaSuccess);
  EXPECT_EQ(cudahost::LiveDeviceBytes(), before);
  EXPECT_EQ(cudaFreeAsync(memory, m_First), cudaErrorInvalidValue) << "freed twice";
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);

  cudahost::SetMemoryLimit(before + 1000);
  EXPECT_EQ(cudaMalloc(&memory, 1001), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  EXPECT_THROW(DeviceBuffer<char>(TestDevice(), 1001), std::bad_alloc);
  EXPECT_NO_THROW(DeviceBuffer<char>(TestDevice(), 1000));
  cudahost::SetMemoryLimit(std::size_t(8) << 30);
}

TEST_F(CudaHostStreams, NewMemoryIsNotZero)
{
  const std::vector<float> values = DeviceBuffer<float>(TestDevice(), 5).ToHost();
  for (const float value : values)
  {
    EXPECT_TRUE(std::isnan(value));
  }
}

TEST_F(CudaHostStreams, EventsTellTheTimeBetweenThem)
{
  cudaEvent_t end = nullptr;
  float       milliseconds = -1;
  ASSERT_EQ(cudaEventCreate(&end), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(m_Event, m_First), cudaSuccess);
  this->Add(1, m_First);
  ASSERT_EQ(cudaEventRecord(end, m_First), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, m_Event, end), cudaErrorNotReady);
  ASSERT_EQ(cudaEventSynchronize(end), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, m_Event, end), cudaSuccess);
  EXPECT_GT(milliseconds, 0);
  EXPECT_EQ(cudaEventDestroy(end), cudaSuccess);
}

TEST(CudaHostDevices, NoDeviceIsSaid)
{
  int count = -1;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(cudaSetDevice(1), cudaErrorInvalidDevice);
  cudahost::SetDeviceCount(0);
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaErrorNoDevice);
  EXPECT_EQ(count, 0);
  EXPECT_THROW(ffdp::cuda::Device(0), ffdp::cuda::Error);
  cudahost::SetDeviceCount(1);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNoDevice);
}

} // namespace
