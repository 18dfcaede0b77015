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
#ifndef ffdpNcclOverMpiInternal_h
#define ffdpNcclOverMpiInternal_h

#include "ffdpCudaHostInternal.h"
#include "ffdpNcclOverMpi.h"

#include <functional>
#include <memory>
#include <vector>

struct ncclComm
{
  MPI_Comm                          processes = MPI_COMM_NULL;
  int                               ranks = 0;
  int                               rank = 0;
  int                               device = 0;
  ncclResult_t                      asyncError = ncclSuccess;
  std::shared_ptr<cudahost::Moment> lastStarted; // messages of one communicator start in the order of the calls
};

namespace ncclovermpi
{

/** Starts what one call asks for: all of it is on its way when it returns. */
using Start = std::function<void(std::vector<MPI_Request> & requests)>;

struct Call
{
  ncclComm_t   comm;
  cudaStream_t stream;
  Start        start;
};

/** Puts the call into its stream, or into the group that was started. */
ncclResult_t
Add(Call call);

std::size_t
LongestPiece();

} // namespace ncclovermpi

#endif
