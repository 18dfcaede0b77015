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
#ifndef ffdp_cuda_host_nccl_h
#define ffdp_cuda_host_nccl_h

/** Stands in front of NVIDIA's header of this name: the calls of NCCL that a communicator uses, carried out over
 * MPI in the order of the harness's streams; see ffdpNcclOverMpi.h. Names and values are NVIDIA's. */
#include <cuda_runtime.h>

#include <cstddef>

#define NCCL_MAJOR 2
#define NCCL_MINOR 18
#define NCCL_PATCH 3
#define NCCL_VERSION_CODE 21803
#define NCCL_UNIQUE_ID_BYTES 128

enum ncclResult_t
{
  ncclSuccess = 0,
  ncclUnhandledCudaError = 1,
  ncclSystemError = 2,
  ncclInternalError = 3,
  ncclInvalidArgument = 4,
  ncclInvalidUsage = 5,
  ncclRemoteError = 6,
  ncclInProgress = 7
};

enum ncclDataType_t
{
  ncclInt8 = 0,
  ncclChar = 0,
  ncclUint8 = 1,
  ncclInt32 = 2,
  ncclInt = 2,
  ncclUint32 = 3,
  ncclInt64 = 4,
  ncclUint64 = 5,
  ncclFloat32 = 7,
  ncclFloat = 7,
  ncclFloat64 = 8,
  ncclDouble = 8
};

enum ncclRedOp_t
{
  ncclSum = 0,
  ncclProd = 1,
  ncclMax = 2,
  ncclMin = 3
};

struct ncclUniqueId
{
  char internal[NCCL_UNIQUE_ID_BYTES];
};

using ncclComm_t = struct ncclComm *;

ncclResult_t
ncclGetVersion(int * version);
const char *
ncclGetErrorString(ncclResult_t result);
const char *
ncclGetLastError(ncclComm_t comm);

ncclResult_t
ncclGetUniqueId(ncclUniqueId * id);
ncclResult_t
ncclCommInitRank(ncclComm_t * comm, int ranks, ncclUniqueId id, int rank);
ncclResult_t
ncclCommDestroy(ncclComm_t comm);
ncclResult_t
ncclCommAbort(ncclComm_t comm);
ncclResult_t
ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t * result);
ncclResult_t
ncclCommCount(ncclComm_t comm, int * ranks);
ncclResult_t
ncclCommUserRank(ncclComm_t comm, int * rank);
ncclResult_t
ncclCommCuDevice(ncclComm_t comm, int * device);

ncclResult_t
ncclGroupStart();
ncclResult_t
ncclGroupEnd();

ncclResult_t
ncclSend(const void * data, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream);
ncclResult_t
ncclRecv(void * data, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream);
ncclResult_t
ncclAllReduce(const void *   from,
              void *         to,
              std::size_t    count,
              ncclDataType_t type,
              ncclRedOp_t    operation,
              ncclComm_t     comm,
              cudaStream_t   stream);
ncclResult_t
ncclAllGather(const void *   from,
              void *         to,
              std::size_t    countOfEach,
              ncclDataType_t type,
              ncclComm_t     comm,
              cudaStream_t   stream);
ncclResult_t
ncclBroadcast(const void *   from,
              void *         to,
              std::size_t    count,
              ncclDataType_t type,
              int            root,
              ncclComm_t     comm,
              cudaStream_t   stream);

#endif
