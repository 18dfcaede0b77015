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
#ifndef ffdpMpiLauncher_h
#define ffdpMpiLauncher_h

#include <string>

namespace ffdp
{
namespace benchmark
{

/** Whether mpirun, or what stands for it, has started this process. */
bool
IsStartedByMpi();

/** Starts this program again as some ranks, and returns what they print. Where ranks outnumber the cores, idle ones
 * yield. Throws std::runtime_error if they fail. */
std::string
RunAsRanks(int ranks, const std::string & arguments);

} // namespace benchmark
} // namespace ffdp

#endif
