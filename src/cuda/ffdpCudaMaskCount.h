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
#ifndef ffdpCudaMaskCount_h
#define ffdpCudaMaskCount_h

#include "ffdpCudaDevice.h"
#include "ffdpVolume.h"

#include <cstdint>
#include <vector>

namespace ffdp
{
namespace cuda
{

/** How many voxels count in each of the planes [firstPlane, firstPlane + planes): those where the mask is not 0, or all
 * of a volume of size `domain` if there is no mask. Counting starts with construction; the host waits when it asks. */
class PlaneCounts
{
public:
  PlaneCounts(Device &                               device,
              const VolumeView<const std::uint8_t> & mask,
              const Extent &                         domain,
              std::int64_t                           firstPlane,
              std::int64_t                           planes);

  std::vector<std::int64_t>
  PerPlane() const;

  std::int64_t
  Total() const;

private:
  std::int64_t                     m_Planes;
  std::int64_t                     m_VoxelsPerPlane;
  DeviceBuffer<unsigned long long> m_Counts; ///< none without a mask
};

} // namespace cuda
} // namespace ffdp

#endif
