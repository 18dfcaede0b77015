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
#include "ffdpInstructionSet.h"
#include "ffdpForEachInstructionSet.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace ffdp
{
namespace
{

InstructionSet
SupportedByProcessorAndBuild()
{
#if FFDP_HAS_X86_DISPATCH
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
  {
    return InstructionSet::AVX512;
  }
  if (__builtin_cpu_supports("avx2"))
  {
    return InstructionSet::AVX2;
  }
#endif
  return InstructionSet::Baseline;
}

InstructionSet
AtMost(InstructionSet most)
{
  const InstructionSet best = SupportedByProcessorAndBuild();
  return most < best ? most : best;
}

InstructionSet
FromEnvironment()
{
  if (const char * name = std::getenv("FFDP_INSTRUCTION_SET"))
  {
    for (const auto set : { InstructionSet::Baseline, InstructionSet::AVX2, InstructionSet::AVX512 })
    {
      if (std::strcmp(name, GetInstructionSetName(set)) == 0)
      {
        return AtMost(set);
      }
    }
  }
  return SupportedByProcessorAndBuild();
}

std::atomic<InstructionSet> &
Current()
{
  static std::atomic<InstructionSet> current{ FromEnvironment() };
  return current;
}

} // namespace

InstructionSet
GetInstructionSet()
{
  return Current().load(std::memory_order_relaxed);
}

InstructionSet
LimitInstructionSet(InstructionSet most)
{
  const InstructionSet used = AtMost(most);
  Current() = used;
  return used;
}

const char *
GetInstructionSetName(InstructionSet set)
{
  switch (set)
  {
    case InstructionSet::AVX512:
      return "avx512";
    case InstructionSet::AVX2:
      return "avx2";
    case InstructionSet::Baseline:
      break;
  }
  return "baseline";
}

} // namespace ffdp
