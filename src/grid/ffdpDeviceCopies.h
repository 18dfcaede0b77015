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
#ifndef ffdpDeviceCopies_h
#define ffdpDeviceCopies_h

#include "ffdpDeviceArray.h"

#include <functional>
#include <map>
#include <tuple>
#include <vector>

namespace ffdp
{

/** Copies of the host's memory on a device, which stay there as long as the memory and its version (an ITK object's
 * modified time) are the same. Version 0 stands for memory that may have changed: copied each time. */
class DeviceCopies
{
public:
  using Key = std::tuple<const void *, std::uint64_t, std::int64_t>; ///< memory, version, bytes on the device

  explicit DeviceCopies(Backend & backend)
    : m_Backend(backend)
  {}

  /** Frees all copies but these: before others are made, so that there is room for them. */
  void
  KeepOnly(const std::vector<Key> & keys);

  /** The copy, which `fill` writes if it is not there yet. */
  void *
  Hold(const Key & key, const std::function<void(void *)> & fill);

  /** The copy of the memory as it is. */
  void *
  Hold(const Key & key);

  /** A copy that is there. */
  void *
  Get(const Key & key) const
  {
    return m_Copies.at(key).Data();
  }

  /** Bytes of all copies that were made. */
  std::uint64_t
  UploadedBytes() const
  {
    return m_UploadedBytes;
  }

private:
  Backend &                        m_Backend;
  std::map<Key, DeviceArray<char>> m_Copies;
  std::uint64_t                    m_UploadedBytes = 0;
};

} // namespace ffdp

#endif
