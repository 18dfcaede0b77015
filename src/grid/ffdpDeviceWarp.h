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
#ifndef ffdpDeviceWarp_h
#define ffdpDeviceWarp_h

#include "ffdpBackend.h"

namespace ffdp
{

/** How a warp of the host lies in one piece of memory of a device: in its own layout. Components of a planar warp,
 * which lie anywhere, follow each other; those of an interleaved one are in one piece already. */
template <typename T>
class DeviceWarp
{
public:
  explicit DeviceWarp(const WarpView<const T> & host)
    : m_Host(host)
    , m_Planar(host.elementStride == 1)
  {
    const std::int64_t count = (host.planes - 1) * host.planeStride + (host.domain.y - 1) * host.rowStride +
                               (host.domain.x - 1) * host.elementStride + 1;
    m_Piece = m_Planar ? count : count + host.elementStride - 1;
  }

  /** Elements of the whole. */
  std::int64_t
  Count() const
  {
    return m_Planar ? 3 * m_Piece : m_Piece;
  }

  void
  Upload(Backend & backend, T * to) const
  {
    for (int c = 0; c < (m_Planar ? 3 : 1); ++c)
    {
      if (m_Host.component[c])
      {
        backend.CopyFromHost(to + c * m_Piece, m_Host.component[c], std::size_t(m_Piece) * sizeof(T));
      }
    }
  }

  WarpView<const T>
  View(const T * data) const
  {
    WarpView<const T> view = m_Host;
    for (int c = 0; c < 3; ++c)
    {
      const std::int64_t offset = m_Planar ? c * m_Piece : c;
      view.component[c] = m_Host.component[c] ? data + offset : nullptr;
    }
    return view;
  }

private:
  WarpView<const T> m_Host;
  bool              m_Planar;
  std::int64_t      m_Piece;
};

} // namespace ffdp

#endif
