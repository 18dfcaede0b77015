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
#ifndef ffdpScratchScope_h
#define ffdpScratchScope_h

#include <cstddef>
#include <new>
#include <utility>

namespace ffdp
{

/** Memory on a cache line boundary. */
struct ScratchBlock
{
  void *      memory = nullptr;
  std::size_t bytes = 0;

  static constexpr std::align_val_t Alignment{ 64 };
};

/** While one lives, one large block of scratch memory that its thread frees is kept for the next that it asks for: of
 * the same primitive, called again and again. New memory has to be cleared by the system, page by page, and that takes
 * longer than some sweeps over it. Peaks stay what they are if nothing else that is large is allocated meanwhile. */
class ScratchScope
{
public:
  ScratchScope()
    : m_Outer(std::exchange(Current(), this))
  {}
  ScratchScope(const ScratchScope &) = delete;
  ScratchScope &
  operator=(const ScratchScope &) = delete;
  ~ScratchScope()
  {
    Current() = m_Outer;
    ::operator delete(m_Kept.memory, ScratchBlock::Alignment);
  }

  /** A block of at least so many bytes; `isNew` tells if it has just been allocated. */
  static ScratchBlock
  Take(std::size_t bytes, bool & isNew)
  {
    ScratchScope * const scope = Current();
    isNew = !(scope && scope->m_Kept.bytes >= bytes && scope->m_Kept.bytes / 2 <= bytes);
    if (!isNew)
    {
      return std::exchange(scope->m_Kept, ScratchBlock());
    }
    if (scope && bytes >= LargeBytes) // what does not fit is not kept beside what does
    {
      ::operator delete(std::exchange(scope->m_Kept, ScratchBlock()).memory, ScratchBlock::Alignment);
    }
    return ScratchBlock{ ::operator new(bytes, ScratchBlock::Alignment), bytes };
  }

  static void
  Return(ScratchBlock block)
  {
    ScratchScope * const scope = Current();
    if (scope && block.bytes >= LargeBytes)
    {
      std::swap(scope->m_Kept, block);
    }
    ::operator delete(block.memory, ScratchBlock::Alignment);
  }

private:
  static constexpr std::size_t LargeBytes = std::size_t(1) << 20;

  static ScratchScope *&
  Current()
  {
    static thread_local ScratchScope * current = nullptr;
    return current;
  }

  ScratchScope * m_Outer;
  ScratchBlock   m_Kept;
};

} // namespace ffdp

#endif
