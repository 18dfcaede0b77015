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

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace ffdp
{

/** Scratch memory on a cache line boundary, not initialized. Allocated through operator new, so that a
 * program that replaces operator new sees every byte that a primitive uses. */
template <typename T>
class AlignedBuffer
{
  static_assert(std::is_trivial<T>::value, "elements are neither constructed nor destroyed");

public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(std::size_t count)
    : m_Data(count ? static_cast<T *>(::operator new(count * sizeof(T), Alignment)) : nullptr)
    , m_Count(count)
  {
    AdviseLargePages(m_Data, count * sizeof(T)); // it comes and goes with every call of a primitive
  }
  AlignedBuffer(AlignedBuffer && other) noexcept
    : m_Data(std::exchange(other.m_Data, nullptr))
    , m_Count(std::exchange(other.m_Count, 0))
  {}
  AlignedBuffer &
  operator=(AlignedBuffer && other) noexcept
  {
    std::swap(m_Data, other.m_Data);
    std::swap(m_Count, other.m_Count);
    return *this;
  }
  ~AlignedBuffer() { ::operator delete(m_Data, Alignment); }

  T *
  Data() const
  {
    return m_Data;
  }
  std::size_t
  Count() const
  {
    return m_Count;
  }
  T &
  operator[](std::size_t i) const
  {
    return m_Data[i];
  }

private:
  static constexpr std::align_val_t Alignment{ 64 };

  T *         m_Data = nullptr;
  std::size_t m_Count = 0;
};

} // namespace ffdp

#endif
