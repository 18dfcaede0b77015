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
#ifndef ffdpThreadRanks_h
#define ffdpThreadRanks_h

#include "ffdpCommunicator.h"

#include <functional>

namespace ffdp
{
namespace test
{

/** Runs `body` on each of `ranks` threads of this process, with a communicator of its own: the ranks of a cluster,
 * where a debugger and a sanitizer see all of them.
 *
 * It is strict, where MPI would hang or go on: a rank waits for one that has ended its body, two ranks make different
 * collective calls, or sender and receiver cut a message into different blocks. These throw std::logic_error.
 * An exception on one rank ends the waits of the others, and is thrown again here. */
void
RunRanks(int ranks, const std::function<void(Communicator &)> & body);

} // namespace test
} // namespace ffdp

#endif
