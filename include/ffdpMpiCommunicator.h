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
#ifndef ffdpMpiCommunicator_h
#define ffdpMpiCommunicator_h

#include "itkFFDPConfiguration.h"

/** Installed with every FFDP, so that code may include it and ask whether FFDP_USE_MPI is defined; it declares
 * something only where FFDP was built with MPI. */
#ifdef FFDP_USE_MPI

#  include "FFDPExport.h"
#  include "ffdpCommunicator.h"

// Only the C interface is used. The C++ one of older MPIs would ask for a library that we do not link.
#  ifndef OMPI_SKIP_MPICXX
#    define OMPI_SKIP_MPICXX 1
#  endif
#  ifndef MPICH_SKIP_MPICXX
#    define MPICH_SKIP_MPICXX 1
#  endif
#  include <mpi.h>

namespace ffdp
{

/** The processes of `comm`, all of which make this call. The caller initializes MPI and finalizes it, after the last
 * communicator is destroyed. Messages have a context of their own (a duplicate of `comm`), so the caller may go on to
 * use `comm`. One thread at a time uses a communicator; MPI_THREAD_FUNNELED is enough if it is the main thread.
 * A message may have more than 2^31 bytes and any number of blocks.
 * Throws std::invalid_argument if MPI is not initialized or `comm` is null. Where MPI reports an error, its functions
 * throw std::runtime_error that names the call; other ranks are not told, so the program should then end all of them.
 */
FFDP_EXPORT std::unique_ptr<Communicator>
            MakeMpiCommunicator(MPI_Comm comm);

} // namespace ffdp

#endif

#endif
