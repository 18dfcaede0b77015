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
#include "ffdpSharedBytes.h"

#include <new>
#include <sys/mman.h>
#include <utility>

SharedBytes::SharedBytes(std::size_t size)
  : m_Size(size)
{
  if (size > 0)
  {
    void * const place = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED)
    {
      throw std::bad_alloc();
    }
    m_Data = static_cast<char *>(place);
  }
}

SharedBytes::SharedBytes(SharedBytes && other) noexcept
  : m_Data(std::exchange(other.m_Data, nullptr))
  , m_Size(std::exchange(other.m_Size, 0))
{}

SharedBytes &
SharedBytes::operator=(SharedBytes && other) noexcept
{
  std::swap(m_Data, other.m_Data);
  std::swap(m_Size, other.m_Size);
  return *this;
}

SharedBytes::~SharedBytes()
{
  if (m_Data)
  {
    munmap(m_Data, m_Size);
  }
}
