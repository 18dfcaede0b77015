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
#ifndef ffdpCudaMutualInformation_h
#define ffdpCudaMutualInformation_h

#include "ffdpCudaDevice.h"
#include "ffdpMutualInformation.h"

/** Mutual information on a device; see Backend for what each computes. Views point to memory of the device. The joint
 * histogram is counted in integers that are rounded as on the processor, and the gradient is the same operations in the
 * same order: both have the bytes of the CPU backend. */
namespace ffdp
{
namespace cuda
{

JointHistogram
ComputeJointHistogram(Device &                               device,
                      const MutualInformationParameters &    parameters,
                      const VolumeView<const float> &        fixed,
                      const VolumeView<const float> &        moving,
                      const VolumeView<const std::uint8_t> & mask);

void
MutualInformationGradient(Device &                               device,
                          const MutualInformation &              information,
                          const VolumeView<const float> &        fixed,
                          const VolumeView<const float> &        moving,
                          const VolumeView<const std::uint8_t> & mask,
                          const VolumeView<float> &              gradientMoving,
                          const VolumeView<float> &              gradientFixed);

} // namespace cuda
} // namespace ffdp

#endif
