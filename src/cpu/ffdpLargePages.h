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
#ifndef ffdpLargePages_h
#define ffdpLargePages_h

#include <cstddef>
#include <cstdint>

#if defined(__linux__)
#  include <sys/mman.h>
#endif

namespace ffdp
{

/** Tells the system that a large piece of memory, just allocated, is better made of pages of 2 MiB: sweeps go through
 * many volumes at once, and each needs entries for addresses of its own. Only a wish: nothing depends on it. */
inline void
AdviseLargePages(void * memory, std::size_t bytes)
{
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr std::uintptr_t LargePage = std::uintptr_t(1) << 21;
  const std::uintptr_t     first = (reinterpret_cast<std::uintptr_t>(memory) + LargePage - 1) / LargePage * LargePage;
  const std::uintptr_t     end = (reinterpret_cast<std::uintptr_t>(memory) + bytes) / LargePage * LargePage;
  if (first < end)
  {
    madvise(reinterpret_cast<void *>(first), end - first, MADV_HUGEPAGE);
  }
#else
  (void)memory;
  (void)bytes;
#endif
}

} // namespace ffdp

#endif
