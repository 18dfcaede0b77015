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
#ifndef ffdpAlignedBuffer_h
#define ffdpAlignedBuffer_h

#include "ffdpLargePages.h"
#include "ffdpScratchScope.h"

#include <cstddef>
#include <type_traits>
#include <utility>

namespace ffdp
{

/** Scratch memory on a cache line boundary, not initialized. Allocated through operator new, so that a
 * program that replaces operator new sees every byte that a primitive uses (unless a ScratchScope has kept them). */
template <typename T>
class AlignedBuffer
{
  static_assert(std::is_trivial<T>::value, "elements are neither constructed nor destroyed");

public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(std::size_t count)
    : m_Count(count)
  {
    if (count > 0)
    {
      bool isNew = false;
      m_Block = ScratchScope::Take(count * sizeof(T), isNew);
      if (isNew)
      {
        AdviseLargePages(m_Block.memory, m_Block.bytes); // most of it comes and goes with every call of a primitive
      }
    }
  }
  AlignedBuffer(AlignedBuffer && other) noexcept
    : m_Block(std::exchange(other.m_Block, ScratchBlock()))
    , m_Count(std::exchange(other.m_Count, 0))
  {}
  AlignedBuffer &
  operator=(AlignedBuffer && other) noexcept
  {
    std::swap(m_Block, other.m_Block);
    std::swap(m_Count, other.m_Count);
    return *this;
  }
  ~AlignedBuffer()
  {
    if (m_Block.memory)
    {
      ScratchScope::Return(m_Block);
    }
  }

  T *
  Data() const
  {
    return static_cast<T *>(m_Block.memory);
  }
  std::size_t
  Count() const
  {
    return m_Count;
  }
  T &
  operator[](std::size_t i) const
  {
    return this->Data()[i];
  }

private:
  ScratchBlock m_Block;
  std::size_t  m_Count = 0;
};

} // namespace ffdp

#endif
