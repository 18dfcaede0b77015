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
#include "ffdpCudaHostInternal.h"

#include <mpi.h>
#include <thread>

/** A device goes on while its host waits for other processes, and they may need what it sends. So the calls of MPI that
 * wait, as far as FFDP uses them, are defined here once more: they start, and then look after streams until they are
 * done. Programs that are linked with this file call these instead of MPI's, which are still there as PMPI_...; see
 * "Profiling Interface" in the MPI standard. */
namespace
{

template <typename TTest>
int
GoOnUntil(const TTest & test)
{
  int done = 0;
  int code = test(&done);
  while (code == MPI_SUCCESS && !done)
  {
    {
      const std::lock_guard<std::recursive_mutex> lock(cudahost::Lock());
      cudahost::GoOnForOthers();
    }
    std::this_thread::yield();
    code = test(&done);
  }
  return code;
}

/** Waits for what `code` says has started. */
int
Finish(int code, MPI_Request & request)
{
  return code != MPI_SUCCESS ? code
                             : GoOnUntil([&](int * done) { return PMPI_Test(&request, done, MPI_STATUS_IGNORE); });
}

} // namespace

#define FFDP_INSTEAD_OF_MPI extern "C" __attribute__((visibility("default"))) int

FFDP_INSTEAD_OF_MPI
MPI_Wait(MPI_Request * request, MPI_Status * status)
{
  return GoOnUntil([&](int * done) { return PMPI_Test(request, done, status); });
}

FFDP_INSTEAD_OF_MPI
MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
  return GoOnUntil([&](int * done) { return PMPI_Testall(count, requests, done, statuses); });
}

FFDP_INSTEAD_OF_MPI
MPI_Barrier(MPI_Comm comm)
{
  MPI_Request request;
  return Finish(PMPI_Ibarrier(comm, &request), request);
}

FFDP_INSTEAD_OF_MPI
MPI_Bcast(void * data, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
  MPI_Request request;
  return Finish(PMPI_Ibcast(data, count, type, root, comm, &request), request);
}

FFDP_INSTEAD_OF_MPI
MPI_Allreduce(const void * from, void * to, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm)
{
  MPI_Request request;
  return Finish(PMPI_Iallreduce(from, to, count, type, operation, comm, &request), request);
}

FFDP_INSTEAD_OF_MPI
MPI_Allgather(const void * from,
              int          fromCount,
              MPI_Datatype fromType,
              void *       to,
              int          toCount,
              MPI_Datatype toType,
              MPI_Comm     comm)
{
  MPI_Request request;
  return Finish(PMPI_Iallgather(from, fromCount, fromType, to, toCount, toType, comm, &request), request);
}

FFDP_INSTEAD_OF_MPI
MPI_Allgatherv(const void * from,
               int          fromCount,
               MPI_Datatype fromType,
               void *       to,
               const int    toCounts[],
               const int    toOffsets[],
               MPI_Datatype toType,
               MPI_Comm     comm)
{
  MPI_Request request;
  return Finish(PMPI_Iallgatherv(from, fromCount, fromType, to, toCounts, toOffsets, toType, comm, &request), request);
}
