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
#ifndef ffdpDeviceImages_h
#define ffdpDeviceImages_h

#include "ffdpDeviceCopies.h"
#include "ffdpRegistration.h"

#include <vector>

namespace ffdp
{

/** The pairs of a registration where the backend can reach them: the caller's memory itself, or copies on the device,
 * one of each image whatever the number of pairs that it is in. They stay there from the first stage to the last. */
class DeviceImages
{
public:
  DeviceImages(Backend & backend, const std::vector<ImagePair> & pairs);

  const std::vector<ImagePair> &
  Pairs() const
  {
    return m_Pairs;
  }

private:
  void
  Upload(VolumeView<const float> & volume);

  std::vector<ImagePair> m_Pairs;
  DeviceCopies           m_Copies;
};

} // namespace ffdp

#endif
