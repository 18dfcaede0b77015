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

#include <array>
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

/** While one lives, large blocks of scratch memory that its thread frees are kept, a few of them, for the next that it
 * asks for of about their size: fresh memory comes from the system a page at a time, which takes longer than many a
 * primitive. */
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
    for (const ScratchBlock & block : m_Kept)
    {
      Free(block);
    }
  }

  /** A block of at least so many bytes; `isNew` tells if it has just been allocated. */
  static ScratchBlock
  Take(std::size_t bytes, bool & isNew)
  {
    if (ScratchScope * const scope = Current())
    {
      for (ScratchBlock & block : scope->m_Kept)
      {
        if (block.bytes >= bytes && block.bytes / 2 <= bytes)
        {
          isNew = false;
          return std::exchange(block, ScratchBlock());
        }
      }
    }
    isNew = true;
    return ScratchBlock{ ::operator new(bytes, ScratchBlock::Alignment), bytes };
  }

  /** The block that was kept longest is freed if there are too many. */
  static void
  Return(ScratchBlock block)
  {
    ScratchScope * const scope = Current();
    if (scope && block.bytes >= LargeBytes)
    {
      for (ScratchBlock & kept : scope->m_Kept)
      {
        std::swap(kept, block);
        if (!block.memory)
        {
          return;
        }
      }
    }
    Free(block);
  }

private:
  static constexpr std::size_t LargeBytes = std::size_t(1) << 20;
  static constexpr std::size_t MostBlocks = 3;

  static void
  Free(const ScratchBlock & block)
  {
    ::operator delete(block.memory, ScratchBlock::Alignment);
  }

  static ScratchScope *&
  Current()
  {
    static thread_local ScratchScope * current = nullptr;
    return current;
  }

  ScratchScope *                       m_Outer;
  std::array<ScratchBlock, MostBlocks> m_Kept; ///< the first one was kept last
};

} // namespace ffdp

#endif
