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
#ifndef ffdpInstructionSet_h
#define ffdpInstructionSet_h

#include "FFDPExport.h"

/** Which machine instructions the hot loops use.
 *
 * One binary holds every hot loop several times and picks at run time what the processor has. All of
 * them give the same bytes: floating-point contraction is off, sums have a fixed order, and the width
 * of a vector register never decides what is added to what.
 */
namespace ffdp
{

enum class InstructionSet
{
  Baseline, ///< what the compiler assumes for the platform (x86-64: SSE2; arm64: NEON)
  AVX2,
  AVX512
};

/** The set in use: the best one that processor and build support, unless it was limited by
 * LimitInstructionSet() or by the environment variable FFDP_INSTRUCTION_SET (baseline, avx2, avx512). */
FFDP_EXPORT InstructionSet
GetInstructionSet();

/** Use at most this set from now on; for tests and for finding faults. Returns what is then in use. */
FFDP_EXPORT InstructionSet
LimitInstructionSet(InstructionSet most);

/** "baseline", "avx2" or "avx512". */
FFDP_EXPORT const char *
GetInstructionSetName(InstructionSet set);

} // namespace ffdp

#endif
