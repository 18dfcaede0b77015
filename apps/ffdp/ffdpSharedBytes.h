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
#ifndef ffdpSharedBytes_h
#define ffdpSharedBytes_h

#include <cstddef>

/** Memory that processes share: zeros at first; what `work` of RunApart() writes there is seen here. Throws
 * std::bad_alloc. */
class SharedBytes
{
public:
  SharedBytes() = default;
  explicit SharedBytes(std::size_t size);
  SharedBytes(SharedBytes && other) noexcept;
  SharedBytes &
  operator=(SharedBytes && other) noexcept;
  ~SharedBytes();

  char *
  data()
  {
    return m_Data;
  }
  const char *
  data() const
  {
    return m_Data;
  }
  std::size_t
  size() const
  {
    return m_Size;
  }
  bool
  empty() const
  {
    return m_Size == 0;
  }
  const char *
  begin() const
  {
    return m_Data;
  }
  const char *
  end() const
  {
    return m_Data + m_Size;
  }

private:
  char *      m_Data = nullptr;
  std::size_t m_Size = 0;
};

#endif
