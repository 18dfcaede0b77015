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
/** Compiles a kernel file once per instruction set.
 *
 *   #define FFDP_KERNEL_FILE "ffdpAdamKernel.h"
 *   #include "ffdpForEachInstructionSet.h"
 *   ...
 *   const auto kernel = FFDP_SELECT_KERNEL(AdamRow);   // once per call of the primitive
 *
 * The kernel file has no include guard and no #include. It puts its functions into
 * `namespace ffdp { namespace FFDP_ISA { ... } }` and may test FFDP_ISA_AVX2 and FFDP_ISA_AVX512 (0 or 1;
 * AVX512 implies AVX2) before it uses intrinsics. Whatever it needs is included before this file, so
 * that code shared with the rest of the program is compiled for the baseline only: a function of a
 * standard header compiled with AVX-512 must never be the copy that the linker keeps.
 */
#ifndef ffdpForEachInstructionSet_h
#define ffdpForEachInstructionSet_h

#include "ffdpInstructionSet.h"

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#  define FFDP_HAS_X86_DISPATCH 1
#  include <immintrin.h>
#else
#  define FFDP_HAS_X86_DISPATCH 0
#endif

/** Vectorize the loop that follows: its iterations are independent. */
#if defined(__GNUC__) || defined(__clang__)
#  define FFDP_SIMD _Pragma("omp simd")
#else
#  define FFDP_SIMD
#endif

namespace ffdp
{
template <typename TFunction>
TFunction *
SelectKernel(TFunction * baseline, TFunction * avx2, TFunction * avx512)
{
  switch (GetInstructionSet())
  {
    case InstructionSet::AVX512:
      return avx512;
    case InstructionSet::AVX2:
      return avx2;
    case InstructionSet::Baseline:
      break;
  }
  return baseline;
}
} // namespace ffdp

#if FFDP_HAS_X86_DISPATCH
/** Variadic, because a template argument list may hold commas. */
#  define FFDP_SELECT_KERNEL(...)                                                                                      \
    ::ffdp::SelectKernel(&::ffdp::baseline::__VA_ARGS__, &::ffdp::avx2::__VA_ARGS__, &::ffdp::avx512::__VA_ARGS__)
#else
#  define FFDP_SELECT_KERNEL(...) (&::ffdp::baseline::__VA_ARGS__)
#endif

#endif // ffdpForEachInstructionSet_h

#ifdef FFDP_KERNEL_FILE

#define FFDP_ISA baseline
#define FFDP_ISA_AVX2 0
#define FFDP_ISA_AVX512 0
#include FFDP_KERNEL_FILE
#undef FFDP_ISA
#undef FFDP_ISA_AVX2
#undef FFDP_ISA_AVX512

#if FFDP_HAS_X86_DISPATCH

#  ifdef __clang__
#    pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#  else
#    pragma GCC push_options
#    pragma GCC target("avx2")
#  endif
#  define FFDP_ISA avx2
#  define FFDP_ISA_AVX2 1
#  define FFDP_ISA_AVX512 0
#  include FFDP_KERNEL_FILE
#  undef FFDP_ISA
#  undef FFDP_ISA_AVX2
#  undef FFDP_ISA_AVX512
#  ifdef __clang__
#    pragma clang attribute pop
#  else
#    pragma GCC pop_options
#  endif

#  ifdef __clang__
#    pragma clang attribute push(__attribute__((target("avx2,avx512f,avx512bw,avx512dq,avx512vl"))),                   \
                                 apply_to = function)
#  else
#    pragma GCC push_options
#    pragma GCC target("avx2,avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")
#  endif
#  define FFDP_ISA avx512
#  define FFDP_ISA_AVX2 1
#  define FFDP_ISA_AVX512 1
#  include FFDP_KERNEL_FILE
#  undef FFDP_ISA
#  undef FFDP_ISA_AVX2
#  undef FFDP_ISA_AVX512
#  ifdef __clang__
#    pragma clang attribute pop
#  else
#    pragma GCC pop_options
#  endif

#endif

#undef FFDP_KERNEL_FILE
#endif
