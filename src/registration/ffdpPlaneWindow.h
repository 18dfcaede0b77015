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
#ifndef ffdpPlaneWindow_h
#define ffdpPlaneWindow_h

#include "ffdpCheck.h"
#include "ffdpDeviceArray.h"

#include <algorithm>

namespace ffdp
{

/** A volume that is produced and used up plane by plane: it holds the planes [First(), End()) and no others. */
template <typename T>
class PlaneWindow
{
public:
  PlaneWindow() = default;

  /** At most `capacity` planes at a time, of `channels` volumes side by side. */
  PlaneWindow(Backend & backend, const Extent & domain, int channels, std::int64_t capacity)
    : m_Backend(&backend)
    , m_Domain(domain)
    , m_Channels(channels)
    , m_Capacity(std::min(capacity, domain.z))
    , m_Memory(backend, channels * m_Capacity * domain.x * domain.y)
  {}

  std::int64_t
  Capacity() const
  {
    return m_Capacity;
  }
  std::int64_t
  First() const
  {
    return m_First;
  }
  std::int64_t
  End() const
  {
    return m_First + m_Planes;
  }

  void
  Restart(std::int64_t first)
  {
    m_First = first;
    m_Planes = 0;
  }

  /** Forgets the planes below `first`. */
  void
  Keep(std::int64_t first)
  {
    const std::int64_t dropped = std::min(first, this->End()) - m_First;
    if (dropped <= 0)
    {
      return;
    }
    m_First += dropped;
    m_Planes -= dropped;
    for (int c = 0; c < m_Channels && m_Planes > 0; ++c)
    {
      T * channel = this->Channel(c);
      m_Backend->Move(
        channel, channel + dropped * this->PlaneSize(), std::size_t(m_Planes * this->PlaneSize()) * sizeof(T));
    }
  }

  /** Makes room up to `end`; the new planes hold nothing yet. */
  void
  Grow(std::int64_t end)
  {
    Require(end - m_First <= m_Capacity, "a window of planes is too small for what it has to hold");
    m_Planes = std::max(m_Planes, end - m_First);
  }

  VolumeView<T>
  Volume(int channel = 0) const
  {
    return VolumeView<T>(this->Channel(channel), m_Domain, m_First, m_Planes);
  }
  WarpView<T>
  Warp() const
  {
    return WarpView<T>::Planar(this->Channel(0), this->Channel(1), this->Channel(2), m_Domain, m_First, m_Planes);
  }

private:
  std::int64_t
  PlaneSize() const
  {
    return m_Domain.x * m_Domain.y;
  }
  T *
  Channel(int c) const
  {
    return m_Memory.Data() + c * m_Capacity * this->PlaneSize();
  }

  Backend *      m_Backend = nullptr;
  Extent         m_Domain;
  int            m_Channels = 0;
  std::int64_t   m_Capacity = 0;
  std::int64_t   m_First = 0;
  std::int64_t   m_Planes = 0;
  DeviceArray<T> m_Memory;
};

} // namespace ffdp

#endif
