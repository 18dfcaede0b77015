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
#ifndef ffdpParallel_h
#define ffdpParallel_h

#include "FFDPExport.h"

#include <cstdint>
#include <functional>

namespace ffdp
{

/** The number of threads to use when `asked` is given: itself, or ITK's global default (which honors
 * ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS) when it is 0. */
FFDP_EXPORT unsigned
ResolveThreads(unsigned asked);

/** Call work(piece, worker) once for each piece in [0, pieces), on up to `threads` threads of ITK's
 * multithreader. Pieces are handed out in ascending order to whoever is free; `worker` is below
 * ResolveThreads(threads) and is never in use twice at a time, so it may index scratch memory.
 * The first exception thrown by a piece is rethrown here once all threads have stopped. */
FFDP_EXPORT void
ParallelFor(std::int64_t                                                     pieces,
            unsigned                                                         threads,
            const std::function<void(std::int64_t piece, unsigned worker)> & work);

} // namespace ffdp

#endif
