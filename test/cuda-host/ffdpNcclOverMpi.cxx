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
#include "ffdpNcclOverMpiInternal.h"

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

using cudahost::Moment;
using ncclovermpi::Call;
using ncclovermpi::Start;

namespace
{

struct Settings
{
  MPI_Comm    processes = MPI_COMM_WORLD;
  std::size_t longestPiece = std::size_t(1) << 30;
  bool        failNext = false;
};
Settings settings;

thread_local int               groupDepth = 0;
thread_local std::vector<Call> group;

/** What the calls of one group put into one stream of one communicator: they are on their way together. */
struct Batch
{
  std::vector<Start>       starts;
  std::vector<MPI_Request> requests;

  void
  Begin(ncclComm & comm)
  {
    if (std::exchange(settings.failNext, false))
    {
      comm.asyncError = ncclRemoteError;
      return;
    }
    for (const Start & start : starts)
    {
      start(requests);
    }
  }
  bool
  HasArrived()
  {
    int all = 0;
    MPI_Testall(int(requests.size()), requests.data(), &all, MPI_STATUSES_IGNORE);
    return all != 0;
  }
};

ncclResult_t
Enqueue(ncclComm_t comm, cudaStream_t stream, std::vector<Start> starts)
{
  const std::lock_guard<std::recursive_mutex> lock(cudahost::Lock());
  if (comm->asyncError != ncclSuccess)
  {
    return comm->asyncError;
  }
  auto batch = std::make_shared<Batch>();
  batch->starts = std::move(starts);
  auto started = std::make_shared<Moment>();
  cudahost::Enqueue(stream, { [comm, batch] { batch->Begin(*comm); }, false, comm->lastStarted });
  cudahost::EnqueueMoment(stream, started);
  comm->lastStarted = started;
  const cudaError_t code =
    cudahost::Enqueue(stream, { nullptr, false, nullptr, [batch] { return batch->HasArrived(); } });
  cudahost::ReachSoon(started);
  return code == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

ncclResult_t
EnqueueGroup()
{
  const std::vector<Call> calls = std::exchange(group, {});
  std::vector<bool>       done(calls.size(), false);
  for (std::size_t i = 0; i < calls.size(); ++i)
  {
    std::vector<Start> together;
    for (std::size_t j = i; j < calls.size() && !done[i]; ++j)
    {
      if (calls[j].comm == calls[i].comm && calls[j].stream == calls[i].stream && (j == i || !done[j]))
      {
        together.push_back(calls[j].start);
        done[j] = j > i;
      }
    }
    if (!together.empty())
    {
      const ncclResult_t result = Enqueue(calls[i].comm, calls[i].stream, std::move(together));
      if (result != ncclSuccess)
      {
        return result;
      }
    }
  }
  return ncclSuccess;
}

} // namespace

namespace ncclovermpi
{

void
SetProcesses(MPI_Comm processes)
{
  settings.processes = processes;
}

void
SetLongestPiece(std::size_t elements)
{
  settings.longestPiece = elements;
}

ncclResult_t
Add(Call call)
{
  group.push_back(std::move(call));
  return groupDepth > 0 ? ncclSuccess : EnqueueGroup();
}

std::size_t
LongestPiece()
{
  return settings.longestPiece;
}

void
FailNextMessage()
{
  settings.failNext = true;
}

} // namespace ncclovermpi

ncclResult_t
ncclGetVersion(int * version)
{
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

const char *
ncclGetErrorString(ncclResult_t result)
{
  switch (result)
  {
    case ncclSuccess:
      return "no error";
    case ncclUnhandledCudaError:
      return "unhandled cuda error";
    case ncclSystemError:
      return "unhandled system error";
    case ncclInternalError:
      return "internal error";
    case ncclInvalidArgument:
      return "invalid argument";
    case ncclInvalidUsage:
      return "invalid usage";
    case ncclRemoteError:
      return "remote process exited or there was a network error";
    case ncclInProgress:
      return "NCCL operation in progress";
  }
  return "unknown result code";
}

const char *
ncclGetLastError(ncclComm_t comm)
{
  return comm ? ncclGetErrorString(comm->asyncError) : "";
}

ncclResult_t
ncclGetUniqueId(ncclUniqueId * id)
{
  std::memset(id->internal, 0, sizeof(id->internal)); // MPI knows who belongs together
  return ncclSuccess;
}

ncclResult_t
ncclCommInitRank(ncclComm_t * comm, int ranks, ncclUniqueId, int rank)
{
  int size = 0;
  MPI_Comm_size(settings.processes, &size);
  if (comm == nullptr || rank < 0 || rank >= ranks || ranks != size)
  {
    return ncclInvalidArgument;
  }
  auto made = std::make_unique<ncclComm>();
  MPI_Comm_split(settings.processes, 0, rank, &made->processes); // in the order of the ranks that were asked for
  MPI_Comm_rank(made->processes, &made->rank);
  made->ranks = ranks;
  cudaGetDevice(&made->device);
  if (made->rank != rank) // two have asked for the same
  {
    MPI_Comm_free(&made->processes);
    return ncclInvalidUsage;
  }
  *comm = made.release();
  return ncclSuccess;
}

ncclResult_t
ncclCommDestroy(ncclComm_t comm)
{
  if (comm)
  {
    const std::lock_guard<std::recursive_mutex> lock(cudahost::Lock());
    cudahost::DrainAll(); // what was put into streams needs it
    MPI_Comm_free(&comm->processes);
    delete comm;
  }
  return ncclSuccess;
}

/** Does not wait for others, who may have gone: MPI keeps what it has of the communicator. */
ncclResult_t
ncclCommAbort(ncclComm_t comm)
{
  delete comm;
  return ncclSuccess;
}

ncclResult_t
ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t * result)
{
  if (comm == nullptr || result == nullptr)
  {
    return ncclInvalidArgument;
  }
  *result = comm->asyncError;
  return ncclSuccess;
}

ncclResult_t
ncclCommCount(ncclComm_t comm, int * ranks)
{
  *ranks = comm->ranks;
  return ncclSuccess;
}

ncclResult_t
ncclCommUserRank(ncclComm_t comm, int * rank)
{
  *rank = comm->rank;
  return ncclSuccess;
}

ncclResult_t
ncclCommCuDevice(ncclComm_t comm, int * device)
{
  *device = comm->device;
  return ncclSuccess;
}

ncclResult_t
ncclGroupStart()
{
  ++groupDepth;
  return ncclSuccess;
}

ncclResult_t
ncclGroupEnd()
{
  if (groupDepth == 0)
  {
    return ncclInvalidUsage;
  }
  return --groupDepth > 0 ? ncclSuccess : EnqueueGroup();
}
