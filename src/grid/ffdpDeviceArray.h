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
#ifndef ffdpDeviceArray_h
#define ffdpDeviceArray_h

#include "ffdpBackend.h"

#include <utility>

namespace ffdp
{

/** Memory of a backend. */
template <typename T>
class DeviceArray
{
public:
  DeviceArray() = default;
  DeviceArray(Backend & backend, std::int64_t count)
    : m_Backend(&backend)
    , m_Data(count > 0 ? static_cast<T *>(backend.Allocate(std::size_t(count) * sizeof(T))) : nullptr)
    , m_Count(count)
  {}
  /** Memory of somebody else, who keeps it while this is used; for a backend that uses memory of the host. */
  DeviceArray(Backend & backend, T * memory, std::int64_t count)
    : m_Backend(&backend)
    , m_Data(memory)
    , m_Count(count)
    , m_Owner(false)
  {}
  DeviceArray(DeviceArray && other) noexcept
    : m_Backend(other.m_Backend)
    , m_Data(std::exchange(other.m_Data, nullptr))
    , m_Count(std::exchange(other.m_Count, 0))
    , m_Owner(other.m_Owner)
  {}
  DeviceArray &
  operator=(DeviceArray && other) noexcept
  {
    std::swap(m_Backend, other.m_Backend);
    std::swap(m_Data, other.m_Data);
    std::swap(m_Count, other.m_Count);
    std::swap(m_Owner, other.m_Owner);
    return *this;
  }
  ~DeviceArray()
  {
    if (m_Data && m_Owner)
    {
      m_Backend->Free(m_Data);
    }
  }
  T *
  Data() const
  {
    return m_Data;
  }
  std::int64_t
  Count() const
  {
    return m_Count;
  }
  void
  FillZero() const
  {
    m_Backend->FillZero(m_Data, std::size_t(m_Count) * sizeof(T));
  }

private:
  Backend *    m_Backend = nullptr;
  T *          m_Data = nullptr;
  std::int64_t m_Count = 0;
  bool         m_Owner = true;
};

} // namespace ffdp

#endif
