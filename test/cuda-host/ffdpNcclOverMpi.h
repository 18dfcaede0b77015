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
#ifndef ffdpNcclOverMpi_h
#define ffdpNcclOverMpi_h

#include <nccl.h>

#include <cstddef>
#include <mpi.h>

/** NCCL's calls over MPI, for the harness: processes take the place of devices.
 *
 * A call puts its work into the stream and returns, as with NCCL. Messages start when the stream gets to them, and the
 * stream goes on when they have arrived; nothing waits for another process before someone waits for the stream. Devices
 * go on while the host waits elsewhere, so messages start as early as they can: when they are put into the stream, if
 * nothing before them is on its way, and else while the process waits, for a stream or in one of MPI's calls of
 * ffdpMpiProgress.cxx.
 *
 * Group calls, several streams, calls on a part of the processes and sizes above 2^31 work as with NCCL. The order in
 * which sums are made is MPI's. */
namespace ncclovermpi
{

/** The processes among which ncclCommInitRank() finds its ranks; MPI_COMM_WORLD unless said otherwise. */
void
SetProcesses(MPI_Comm processes);

/** The most elements of one call to MPI, 2^30 unless said otherwise: longer messages go in pieces. */
void
SetLongestPiece(std::size_t elements);

/** From now on, the next message that starts fails: its stream goes on without it, and ncclCommGetAsyncError() says so.
 */
void
FailNextMessage();

} // namespace ncclovermpi

#endif
