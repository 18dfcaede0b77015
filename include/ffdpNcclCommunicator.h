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
#ifndef ffdpNcclCommunicator_h
#define ffdpNcclCommunicator_h

#include "ffdpMpiCommunicator.h"

/** As ffdpMpiCommunicator.h: declares something only where FFDP was built with NCCL. */
#ifdef FFDP_USE_NCCL

#  include "ffdpBackend.h"

namespace ffdp
{

/** The place of this process among those of `comm` that share its host: which of the host's GPUs is its own. */
FFDP_EXPORT int
RankOnHost(MPI_Comm comm);

/** The processes of `comm`, one per GPU, for a registration on CUDA backends: planes go from device to device by NCCL,
 * on a stream of their own, so that kernels that do not need them run meanwhile. Messages are of memory of `backend`,
 * which must outlive the communicator. The few numbers that ranks agree on go by MPI. All processes of `comm` make this
 * call. Throws what MakeMpiCommunicator() throws, std::invalid_argument if the backend is not CUDA's, and
 * std::runtime_error where NCCL reports an error, as when two ranks share a GPU. */
FFDP_EXPORT std::unique_ptr<Communicator>
            MakeNcclCommunicator(MPI_Comm comm, Backend & backend);

} // namespace ffdp

#endif

#endif
