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
#include "ffdpNcclOverMpi.h"

#include "ffdpCudaLaunch.h"
#include "ffdpDeviceStaging.h"
#include "ffdpSchedules.h"

#include <gtest/gtest.h>

#include <chrono>
#include <numeric>
#include <thread>

/** Every process of the test is a rank, with a device of its own. */
namespace
{

using ffdp::cuda::DeviceBuffer;
using ffdp::cuda::Launch;
using ffdp::test::ForEachSchedule;
using ffdp::test::TestDevice;

__global__ void
FillKernel(std::int64_t * values, std::int64_t first)
{
  values[threadIdx.x] = first + threadIdx.x;
}

__global__ void
AddKernel(std::int64_t * values, const std::int64_t * others)
{
  values[threadIdx.x] += others[threadIdx.x];
}

class NcclOverMpi : public testing::Test
{
protected:
  void
  SetUp() override
  {
    MPI_Comm_rank(MPI_COMM_WORLD, &m_Rank);
    MPI_Comm_size(MPI_COMM_WORLD, &m_Ranks);
    ncclUniqueId id;
    ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
    ASSERT_EQ(ncclCommInitRank(&m_Comm, m_Ranks, id, m_Rank), ncclSuccess);
    int rank = -1, ranks = -1;
    EXPECT_EQ(ncclCommUserRank(m_Comm, &rank), ncclSuccess);
    EXPECT_EQ(ncclCommCount(m_Comm, &ranks), ncclSuccess);
    EXPECT_EQ(rank, m_Rank);
    EXPECT_EQ(ranks, m_Ranks);
  }
  void
  TearDown() override
  {
    EXPECT_EQ(ncclCommDestroy(m_Comm), ncclSuccess);
    EXPECT_EQ(cudahost::LiveDeviceBytes(), 0u);
  }
  int
  Next() const
  {
    return (m_Rank + 1) % m_Ranks;
  }
  int
  Previous() const
  {
    return (m_Rank + m_Ranks - 1) % m_Ranks;
  }

  /** Values go once around the ring on the transfer stream, and are added on the other: `events` ties them together. */
  std::vector<std::int64_t>
  AroundTheRing(bool events)
  {
    ffdp::cuda::Device &       device = TestDevice();
    DeviceBuffer<std::int64_t> sum(device, 40), sent(device, 40), received(device, 40);
    cudaEvent_t                ready, arrived;
    EXPECT_EQ(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming), cudaSuccess);
    EXPECT_EQ(cudaEventCreateWithFlags(&arrived, cudaEventDisableTiming), cudaSuccess);
    sum.FillZero();
    received.FillZero();
    Launch(device, { dim3(1), dim3(40), 0 }, FillKernel, sent.Data(), m_Rank * 100);
    for (int step = 0; step < m_Ranks; ++step)
    {
      if (events)
      {
        EXPECT_EQ(cudaEventRecord(ready, device.Stream()), cudaSuccess);
        EXPECT_EQ(cudaStreamWaitEvent(device.TransferStream(), ready, 0), cudaSuccess);
      }
      EXPECT_EQ(ncclGroupStart(), ncclSuccess);
      EXPECT_EQ(ncclSend(sent.Data(), 40, ncclInt64, this->Next(), m_Comm, device.TransferStream()), ncclSuccess);
      EXPECT_EQ(ncclRecv(received.Data(), 40, ncclInt64, this->Previous(), m_Comm, device.TransferStream()),
                ncclSuccess);
      EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
      if (events)
      {
        EXPECT_EQ(cudaEventRecord(arrived, device.TransferStream()), cudaSuccess);
        EXPECT_EQ(cudaStreamWaitEvent(device.Stream(), arrived, 0), cudaSuccess);
      }
      Launch(device, { dim3(1), dim3(40), 0 }, AddKernel, sum.Data(), received.Data());
      EXPECT_EQ(cudaMemcpyAsync(
                  sent.Data(), received.Data(), 40 * sizeof(std::int64_t), cudaMemcpyDeviceToDevice, device.Stream()),
                cudaSuccess);
    }
    const std::vector<std::int64_t> values = sum.ToHost();
    EXPECT_EQ(cudaStreamSynchronize(device.TransferStream()), cudaSuccess);
    EXPECT_EQ(cudaEventDestroy(ready), cudaSuccess);
    EXPECT_EQ(cudaEventDestroy(arrived), cudaSuccess);
    return values;
  }

  ncclComm_t m_Comm = nullptr;
  int        m_Rank = -1;
  int        m_Ranks = 0;
};

TEST_F(NcclOverMpi, MessagesGoAroundTheRing)
{
  const auto sums = ForEachSchedule([&] { return this->AroundTheRing(true); });
  for (std::int64_t i = 0; i < 40; ++i)
  {
    EXPECT_EQ(sums[std::size_t(i)], m_Ranks * i + 100 * m_Ranks * (m_Ranks - 1) / 2);
  }
}

TEST_F(NcclOverMpi, AMissingEventIsSeen)
{
  const auto inNaturalOrder = [&](bool events) {
    int others = 0;
    return ffdp::test::CountDifferentSchedules([&] { return this->AroundTheRing(events); }, 0, others);
  };
  EXPECT_NE(inNaturalOrder(false), inNaturalOrder(true));
}

TEST_F(NcclOverMpi, SumsAndMaxima)
{
  const auto check = [&](auto zero, ncclDataType_t type) {
    using T = decltype(zero);
    const DeviceBuffer<T> from(TestDevice(), std::vector<T>{ T(m_Rank + 1), T(-m_Rank), T(7) });
    const DeviceBuffer<T> sum(TestDevice(), 3);
    const DeviceBuffer<T> most(TestDevice(), 3);
    const cudaStream_t    stream = TestDevice().Stream();
    EXPECT_EQ(ncclAllReduce(from.Data(), sum.Data(), 3, type, ncclSum, m_Comm, stream), ncclSuccess);
    EXPECT_EQ(ncclAllReduce(from.Data(), most.Data(), 3, type, ncclMax, m_Comm, stream), ncclSuccess);
    EXPECT_EQ(ncclAllReduce(from.Data(), from.Data(), 3, type, ncclMin, m_Comm, stream), ncclSuccess);
    const int others = m_Ranks * (m_Ranks - 1) / 2;
    EXPECT_EQ(sum.ToHost(), (std::vector<T>{ T(others + m_Ranks), T(-others), T(7 * m_Ranks) }));
    EXPECT_EQ(most.ToHost(), (std::vector<T>{ T(m_Ranks), T(0), T(7) }));
    EXPECT_EQ(from.ToHost(), (std::vector<T>{ T(1), T(1 - m_Ranks), T(7) }));
  };
  check(std::int64_t(0), ncclInt64);
  check(std::int32_t(0), ncclInt32);
  check(0.0f, ncclFloat);
  check(0.0, ncclDouble);
}

/** Lengths that MPI cannot count go in pieces: here of 7 elements. */
TEST_F(NcclOverMpi, LongMessagesGoInPieces)
{
  ncclovermpi::SetLongestPiece(7);
  const cudaStream_t stream = TestDevice().Stream();
  std::vector<float> mine(100);
  std::vector<float> all(std::size_t(100 * m_Ranks));
  std::iota(all.begin(), all.end(), 0.0f);
  std::copy_n(all.begin() + 100 * m_Rank, 100, mine.begin());

  const DeviceBuffer<float> from(TestDevice(), mine);
  const DeviceBuffer<float> to(TestDevice(), 100 * m_Ranks);
  EXPECT_EQ(ncclAllGather(from.Data(), to.Data(), 100, ncclFloat, m_Comm, stream), ncclSuccess);
  EXPECT_EQ(to.ToHost(), all);

  const int root = m_Ranks - 1;
  EXPECT_EQ(ncclBroadcast(from.Data(), to.Data(), 100, ncclFloat, root, m_Comm, stream), ncclSuccess);
  const std::vector<float> got = to.ToHost();
  EXPECT_TRUE(std::equal(got.begin(), got.begin() + 100, all.begin() + 100 * root));

  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  EXPECT_EQ(ncclRecv(to.Data(), 100, ncclFloat, this->Previous(), m_Comm, stream), ncclSuccess);
  EXPECT_EQ(ncclSend(from.Data(), 100, ncclFloat, this->Next(), m_Comm, stream), ncclSuccess);
  EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
  const std::vector<float> received = to.ToHost();
  EXPECT_TRUE(std::equal(received.begin(), received.begin() + 100, all.begin() + 100 * this->Previous()));
  ncclovermpi::SetLongestPiece(std::size_t(1) << 30);
}

/** Rank 0 waits for the others in a call of MPI, while the second of its messages cannot start before the first has
 * arrived; the others need both before they get to that call. */
TEST_F(NcclOverMpi, MessagesGoOnWhileTheHostWaitsElsewhere)
{
  const cudaStream_t               stream = TestDevice().Stream();
  const DeviceBuffer<std::int64_t> value(TestDevice(), std::vector<std::int64_t>{ 1 });
  if (m_Rank == 0)
  {
    for (int round = 0; round < 3; ++round)
    {
      EXPECT_EQ(ncclAllReduce(value.Data(), value.Data(), 1, ncclInt64, ncclSum, m_Comm, stream), ncclSuccess);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  else
  {
    std::this_thread::sleep_for(std::chrono::milliseconds(20)); // until rank 0 waits
    for (int round = 0; round < 3; ++round)
    {
      EXPECT_EQ(ncclAllReduce(value.Data(), value.Data(), 1, ncclInt64, ncclSum, m_Comm, stream), ncclSuccess);
      EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  EXPECT_EQ(value.ToHost()[0], std::int64_t(m_Ranks) * m_Ranks * m_Ranks);
}

TEST_F(NcclOverMpi, RanksNeedNotBeThoseOfMpi)
{
  ncclUniqueId id;
  ncclComm_t   reversed = nullptr;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  ASSERT_EQ(ncclCommInitRank(&reversed, m_Ranks, id, m_Ranks - 1 - m_Rank), ncclSuccess);
  const DeviceBuffer<std::int64_t> value(TestDevice(), std::vector<std::int64_t>{ m_Rank });
  EXPECT_EQ(ncclBroadcast(value.Data(), value.Data(), 1, ncclInt64, 0, reversed, TestDevice().Stream()), ncclSuccess);
  EXPECT_EQ(value.ToHost()[0], m_Ranks - 1);
  EXPECT_EQ(ncclCommDestroy(reversed), ncclSuccess);
}

TEST_F(NcclOverMpi, WrongArgumentsAreRefused)
{
  const cudaStream_t               stream = TestDevice().Stream();
  const DeviceBuffer<std::int64_t> values(TestDevice(), 4);
  std::int64_t                     onHost[4] = {};
  EXPECT_EQ(ncclSend(onHost, 4, ncclInt64, 0, m_Comm, stream), ncclInvalidArgument);
  EXPECT_EQ(ncclSend(values.Data(), 5, ncclInt64, 0, m_Comm, stream), ncclInvalidArgument) << "longer than the buffer";
  EXPECT_EQ(ncclRecv(values.Data(), 4, ncclInt64, m_Ranks, m_Comm, stream), ncclInvalidArgument);
  EXPECT_EQ(ncclAllReduce(onHost, values.Data(), 4, ncclInt64, ncclSum, m_Comm, stream), ncclInvalidArgument);
  EXPECT_EQ(ncclAllGather(values.Data(), values.Data(), std::size_t(1) << 40, ncclInt64, m_Comm, stream),
            ncclInvalidArgument);
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
  ncclUniqueId id = {};
  ncclComm_t   comm = nullptr;
  EXPECT_EQ(ncclCommInitRank(&comm, m_Ranks + 1, id, m_Rank), ncclInvalidArgument);
  EXPECT_EQ(ncclCommInitRank(&comm, m_Ranks, id, m_Ranks), ncclInvalidArgument);
}

TEST_F(NcclOverMpi, AMessageThatFailsIsSaidLater)
{
  const cudaStream_t               stream = TestDevice().Stream();
  const DeviceBuffer<std::int64_t> values(TestDevice(), std::vector<std::int64_t>{ 1 });
  ncclResult_t                     result = ncclInternalError;
  EXPECT_EQ(ncclCommGetAsyncError(m_Comm, &result), ncclSuccess);
  EXPECT_EQ(result, ncclSuccess);
  ncclovermpi::FailNextMessage();
  EXPECT_EQ(ncclAllReduce(values.Data(), values.Data(), 1, ncclInt64, ncclSum, m_Comm, stream), ncclSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(ncclCommGetAsyncError(m_Comm, &result), ncclSuccess);
  EXPECT_EQ(result, ncclRemoteError);
  EXPECT_EQ(ncclSend(values.Data(), 1, ncclInt64, 0, m_Comm, stream), ncclRemoteError);
}

} // namespace
