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
#ifndef ffdpCudaVoxelwise_h
#define ffdpCudaVoxelwise_h

#include "ffdpCudaDevice.h"
#include "ffdpRangeGuard.h"
#include "ffdpVolume.h"

#include <cstdint>

/** What is done to each voxel by itself; see Backend for what each computes. Views point to memory of the device. */
namespace ffdp
{
namespace cuda
{

void
Scale(Device & device, const VolumeView<float> & volume, float factor);

void
Add(Device & device, const VolumeView<float> & to, const VolumeView<const float> & from);

void
CombineMasks(Device &                         device,
             const VolumeView<const float> &  fixed,
             const VolumeView<const float> &  moved,
             const VolumeView<std::uint8_t> & mask);

std::vector<std::int64_t>
FindValid(Device &                         device,
          const VolumeView<const float> &  fixed,
          const VolumeView<const float> &  moving,
          const VolumeView<const float> &  fixedMask,
          const VolumeView<const float> &  movingMask,
          const VolumeView<std::uint8_t> & valid);

void
PullIntoRange(Device & device, const VolumeView<float> & volume, const RangeGuard & guard);

} // namespace cuda
} // namespace ffdp

#endif
