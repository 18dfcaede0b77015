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
#include "ffdpNcclCommunicator.h"

#include "ffdpCudaBackendDevice.h"

#include <nccl.h>

#include <stdexcept>
#include <string>

namespace ffdp
{
namespace
{

void
CheckMpi(int code, const char * call)
{
  if (code != MPI_SUCCESS)
  {
    throw std::runtime_error(std::string("ffdp: ") + call + " failed");
  }
}

void
CheckNccl(ncclResult_t code, const char * call)
{
  if (code != ncclSuccess && code != ncclInProgress)
  {
    throw std::runtime_error(std::string("ffdp: ") + call + " failed: " + ncclGetErrorString(code));
  }
}

/** A mark in a stream. */
class Event
{
public:
  Event() { FFDP_CUDA_CHECK(cudaEventCreateWithFlags(&m_Event, cudaEventDisableTiming)); }
  Event(const Event &) = delete;
  Event &
  operator=(const Event &) = delete;
  ~Event() { cudaEventDestroy(m_Event); }

  void
  Record(cudaStream_t stream)
  {
    FFDP_CUDA_CHECK(cudaEventRecord(m_Event, stream));
  }
  cudaError_t
  HoldBack(cudaStream_t stream) const
  {
    return cudaStreamWaitEvent(stream, m_Event, 0);
  }

private:
  cudaEvent_t m_Event = nullptr;
};

/** Messages on the second stream. Wait() does not stop the host: what the first stream is given from then on comes
 * after them, and so does the release of memory, which is ordered by that stream, too. */
class NcclTransfer : public PendingTransfer
{
public:
  NcclTransfer(cuda::Device & device, ncclComm_t comm)
    : m_Device(device)
    , m_Comm(comm)
  {}
  ~NcclTransfer() override
  {
    if (m_UnderWay)
    {
      m_Complete.HoldBack(m_Device.Stream());
    }
  }

  void
  Start(const std::vector<Message> & sends, const std::vector<Message> & receives)
  {
    const cudaStream_t stream = m_Device.TransferStream();
    m_Device.Activate();
    Event ready;
    ready.Record(m_Device.Stream()); // what is sent has been computed, what is received into is no longer read
    FFDP_CUDA_CHECK(ready.HoldBack(stream));
    CheckNccl(ncclGroupStart(), "ncclGroupStart");
    for (const Message & message : receives)
    {
      for (const MemoryBlock & block : message.blocks)
      {
        CheckNccl(ncclRecv(block.data, block.bytes, ncclInt8, message.rank, m_Comm, stream), "ncclRecv");
      }
    }
    for (const Message & message : sends)
    {
      for (const MemoryBlock & block : message.blocks)
      {
        CheckNccl(ncclSend(block.data, block.bytes, ncclInt8, message.rank, m_Comm, stream), "ncclSend");
      }
    }
    CheckNccl(ncclGroupEnd(), "ncclGroupEnd");
    m_Complete.Record(stream);
    m_UnderWay = true;
  }

  void
  Wait() override
  {
    ncclResult_t state = ncclSuccess;
    CheckNccl(ncclCommGetAsyncError(m_Comm, &state), "ncclCommGetAsyncError");
    CheckNccl(state, "a transfer by NCCL");
    m_Device.Activate();
    FFDP_CUDA_CHECK(m_Complete.HoldBack(m_Device.Stream()));
    m_UnderWay = false;
  }

private:
  cuda::Device & m_Device;
  ncclComm_t     m_Comm;
  Event          m_Complete;
  bool           m_UnderWay = false;
};

class NcclCommunicator : public Communicator
{
public:
  NcclCommunicator(MPI_Comm comm, cuda::Device & device)
    : m_Numbers(MakeMpiCommunicator(comm))
    , m_Device(device)
  {
    ncclUniqueId id{};
    if (m_Numbers->Rank() == 0)
    {
      CheckNccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
    }
    CheckMpi(MPI_Bcast(&id, int(sizeof(id)), MPI_BYTE, 0, comm), "MPI_Bcast");
    m_Device.Activate();
    CheckNccl(ncclCommInitRank(&m_Comm, m_Numbers->Size(), id, m_Numbers->Rank()), "ncclCommInitRank");
  }
  NcclCommunicator(const NcclCommunicator &) = delete;
  NcclCommunicator &
  operator=(const NcclCommunicator &) = delete;
  ~NcclCommunicator() override
  {
    cudaSetDevice(m_Device.Index());
    ncclCommDestroy(m_Comm);
  }

  int
  Rank() const override
  {
    return m_Numbers->Rank();
  }
  int
  Size() const override
  {
    return m_Numbers->Size();
  }
  void
  Maximum(double * values, std::size_t count) override
  {
    m_Numbers->Maximum(values, count);
  }
  void
  Sum(std::int64_t * values, std::size_t count) override
  {
    m_Numbers->Sum(values, count);
  }
  std::vector<double>
  Gather(const std::vector<double> & own) override
  {
    return m_Numbers->Gather(own);
  }

  std::unique_ptr<PendingTransfer>
  Start(const std::vector<Message> & sends, const std::vector<Message> & receives) override
  {
    auto transfer = std::make_unique<NcclTransfer>(m_Device, m_Comm);
    transfer->Start(sends, receives);
    for (const Message & message : sends)
    {
      for (const MemoryBlock & block : message.blocks)
      {
        m_SentBytes += block.bytes;
      }
    }
    return transfer;
  }

  std::uint64_t
  SentBytes() const override
  {
    return m_SentBytes;
  }

private:
  std::unique_ptr<Communicator> m_Numbers; ///< for what is not on the device
  cuda::Device &                m_Device;
  ncclComm_t                    m_Comm = nullptr;
  std::uint64_t                 m_SentBytes = 0;
};

} // namespace

int
RankOnHost(MPI_Comm comm)
{
  MPI_Comm host = MPI_COMM_NULL;
  CheckMpi(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host), "MPI_Comm_split_type");
  int       rank = 0;
  const int code = MPI_Comm_rank(host, &rank);
  MPI_Comm_free(&host);
  CheckMpi(code, "MPI_Comm_rank");
  return rank;
}

std::unique_ptr<Communicator>
MakeNcclCommunicator(MPI_Comm comm, Backend & backend)
{
  return std::make_unique<NcclCommunicator>(comm, cuda::DeviceOf(backend));
}

} // namespace ffdp
