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
#include "ffdpDeviceImages.h"

namespace ffdp
{

DeviceImages::DeviceImages(Backend & backend, const std::vector<ImagePair> & pairs)
  : m_Pairs(pairs)
  , m_Copies(backend)
{
  if (backend.SharesHostMemory())
  {
    return;
  }
  for (ImagePair & pair : m_Pairs)
  {
    for (VolumeView<const float> * volume :
         { &pair.fixed.voxels, &pair.moving.voxels, &pair.fixedMask, &pair.movingMask })
    {
      this->Upload(*volume);
    }
  }
}

void
DeviceImages::Upload(VolumeView<const float> & volume)
{
  if (!volume)
  {
    return;
  }
  constexpr std::uint64_t Version = 1; // images stay as they are while a registration runs
  const std::int64_t      count = volume.planes > 0 ? (volume.planes - 1) * volume.planeStride +
                                                   (volume.domain.y - 1) * volume.rowStride + volume.domain.x
                                                    : 0;
  volume.data =
    static_cast<const float *>(m_Copies.Hold({ volume.data, Version, count * std::int64_t(sizeof(float)) }));
}

} // namespace ffdp
