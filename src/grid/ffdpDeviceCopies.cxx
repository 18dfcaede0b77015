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
#include "ffdpDeviceCopies.h"

#include <algorithm>

namespace ffdp
{

void
DeviceCopies::KeepOnly(const std::vector<Key> & keys)
{
  for (auto copy = m_Copies.begin(); copy != m_Copies.end();)
  {
    const bool isKept = std::get<1>(copy->first) != 0 && std::find(keys.begin(), keys.end(), copy->first) != keys.end();
    copy = isKept ? std::next(copy) : m_Copies.erase(copy);
  }
}

void *
DeviceCopies::Hold(const Key & key, const std::function<void(void *)> & fill)
{
  const auto known = m_Copies.find(key);
  if (known != m_Copies.end())
  {
    return known->second.Data();
  }
  DeviceArray<char> copy(m_Backend, std::get<2>(key));
  fill(copy.Data());
  m_UploadedBytes += std::uint64_t(std::get<2>(key));
  return m_Copies.emplace(key, std::move(copy)).first->second.Data();
}

void *
DeviceCopies::Hold(const Key & key)
{
  return this->Hold(key, [&](void * to) {
    if (std::get<2>(key) > 0)
    {
      m_Backend.CopyFromHost(to, std::get<0>(key), std::size_t(std::get<2>(key)));
    }
  });
}

} // namespace ffdp
