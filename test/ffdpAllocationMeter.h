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
#ifndef ffdpAllocationMeter_h
#define ffdpAllocationMeter_h

#include <cstddef>

namespace ffdp
{
namespace test
{

std::size_t
BytesInUse();
void
ResetPeak();
std::size_t
PeakBytes();

/** Starts ITK's threads. Their pool allocates on first use: that memory is the process's, and would otherwise
 * be counted for whichever primitive happens to come first. */
void
StartThreads();

/** Measures what is allocated through operator new, anywhere in the process, while `body` runs: the peak
 * above what was in use before. Link ffdpAllocationMeter.cxx, which replaces operator new. */
template <typename TBody>
std::size_t
MeasurePeakAllocation(TBody && body)
{
  StartThreads();
  const std::size_t before = BytesInUse();
  ResetPeak();
  body();
  // A thread of the pool may still be releasing what an earlier call gave it.
  return PeakBytes() > before ? PeakBytes() - before : 0;
}

} // namespace test
} // namespace ffdp

#endif
