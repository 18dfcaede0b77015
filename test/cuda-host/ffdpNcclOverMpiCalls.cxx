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

#include <algorithm>
#include <cstring>

/** The calls that move data. */
using ncclovermpi::Add;

namespace
{

struct Type
{
  std::size_t  bytes;
  MPI_Datatype mpi;
};

bool
Find(ncclDataType_t type, Type & found)
{
  switch (type)
  {
    case ncclInt8:
      found = { 1, MPI_INT8_T };
      return true;
    case ncclUint8:
      found = { 1, MPI_UINT8_T };
      return true;
    case ncclInt32:
      found = { 4, MPI_INT32_T };
      return true;
    case ncclUint32:
      found = { 4, MPI_UINT32_T };
      return true;
    case ncclInt64:
      found = { 8, MPI_INT64_T };
      return true;
    case ncclUint64:
      found = { 8, MPI_UINT64_T };
      return true;
    case ncclFloat32:
      found = { 4, MPI_FLOAT };
      return true;
    case ncclFloat64:
      found = { 8, MPI_DOUBLE };
      return true;
  }
  return false;
}

bool
Find(ncclRedOp_t operation, MPI_Op & found)
{
  switch (operation)
  {
    case ncclSum:
      found = MPI_SUM;
      return true;
    case ncclProd:
      found = MPI_PROD;
      return true;
    case ncclMax:
      found = MPI_MAX;
      return true;
    case ncclMin:
      found = MPI_MIN;
      return true;
  }
  return false;
}

/** Calls body(byte offset, elements) for each piece of a message. */
template <typename TBody>
void
ForEachPiece(std::size_t count, const Type & type, const TBody & body)
{
  for (std::size_t first = 0; first < count; first += ncclovermpi::LongestPiece())
  {
    body(first * type.bytes, int(std::min(ncclovermpi::LongestPiece(), count - first)));
  }
}

bool
IsOnDevice(const void * data, std::size_t bytes)
{
  return bytes == 0 || cudahost::DeviceBytesFrom(data) >= bytes;
}

char *
Bytes(const void * data)
{
  return static_cast<char *>(const_cast<void *>(data));
}

} // namespace

ncclResult_t
ncclSend(const void * data, std::size_t count, ncclDataType_t ncclType, int peer, ncclComm_t comm, cudaStream_t stream)
{
  Type type = {};
  if (!comm || !Find(ncclType, type) || peer < 0 || peer >= comm->ranks || !IsOnDevice(data, count * type.bytes))
  {
    return ncclInvalidArgument;
  }
  return Add({ comm, stream, [=](std::vector<MPI_Request> & requests) {
                ForEachPiece(count, type, [&](std::size_t offset, int elements) {
                  requests.emplace_back();
                  MPI_Isend(Bytes(data) + offset, elements, type.mpi, peer, 0, comm->processes, &requests.back());
                });
              } });
}

ncclResult_t
ncclRecv(void * data, std::size_t count, ncclDataType_t ncclType, int peer, ncclComm_t comm, cudaStream_t stream)
{
  Type type = {};
  if (!comm || !Find(ncclType, type) || peer < 0 || peer >= comm->ranks || !IsOnDevice(data, count * type.bytes))
  {
    return ncclInvalidArgument;
  }
  return Add({ comm, stream, [=](std::vector<MPI_Request> & requests) {
                ForEachPiece(count, type, [&](std::size_t offset, int elements) {
                  requests.emplace_back();
                  MPI_Irecv(Bytes(data) + offset, elements, type.mpi, peer, 0, comm->processes, &requests.back());
                });
              } });
}

ncclResult_t
ncclAllReduce(const void *   from,
              void *         to,
              std::size_t    count,
              ncclDataType_t ncclType,
              ncclRedOp_t    ncclOperation,
              ncclComm_t     comm,
              cudaStream_t   stream)
{
  Type   type = {};
  MPI_Op operation = MPI_OP_NULL;
  if (!comm || !Find(ncclType, type) || !Find(ncclOperation, operation) || !IsOnDevice(from, count * type.bytes) ||
      !IsOnDevice(to, count * type.bytes))
  {
    return ncclInvalidArgument;
  }
  return Add({ comm, stream, [=](std::vector<MPI_Request> & requests) {
                ForEachPiece(count, type, [&](std::size_t offset, int elements) {
                  requests.emplace_back();
                  MPI_Iallreduce(from == to ? MPI_IN_PLACE : Bytes(from) + offset,
                                 Bytes(to) + offset,
                                 elements,
                                 type.mpi,
                                 operation,
                                 comm->processes,
                                 &requests.back());
                });
              } });
}

ncclResult_t
ncclBroadcast(const void *   from,
              void *         to,
              std::size_t    count,
              ncclDataType_t ncclType,
              int            root,
              ncclComm_t     comm,
              cudaStream_t   stream)
{
  Type type = {};
  if (!comm || !Find(ncclType, type) || root < 0 || root >= comm->ranks || !IsOnDevice(to, count * type.bytes) ||
      (comm->rank == root && !IsOnDevice(from, count * type.bytes)))
  {
    return ncclInvalidArgument;
  }
  return Add({ comm, stream, [=](std::vector<MPI_Request> & requests) {
                if (comm->rank == root && from != to)
                {
                  std::memmove(to, from, count * type.bytes);
                }
                ForEachPiece(count, type, [&](std::size_t offset, int elements) {
                  requests.emplace_back();
                  MPI_Ibcast(Bytes(to) + offset, elements, type.mpi, root, comm->processes, &requests.back());
                });
              } });
}

/** A broadcast from each rank: pieces of an all-gather would not be where they belong. */
ncclResult_t
ncclAllGather(const void *   from,
              void *         to,
              std::size_t    countOfEach,
              ncclDataType_t ncclType,
              ncclComm_t     comm,
              cudaStream_t   stream)
{
  Type type = {};
  if (!comm || !Find(ncclType, type))
  {
    return ncclInvalidArgument;
  }
  const std::size_t bytes = countOfEach * type.bytes;
  if (!IsOnDevice(from, bytes) || !IsOnDevice(to, bytes * std::size_t(comm->ranks)))
  {
    return ncclInvalidArgument;
  }
  ncclResult_t result = ncclGroupStart();
  for (int rank = 0; rank < comm->ranks && result == ncclSuccess; ++rank)
  {
    result = ncclBroadcast(from, Bytes(to) + bytes * std::size_t(rank), countOfEach, ncclType, rank, comm, stream);
  }
  const ncclResult_t ended = ncclGroupEnd();
  return result != ncclSuccess ? result : ended;
}
