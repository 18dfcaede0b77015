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
#include "ffdpCudaMutualInformation.h"
#include "ffdpDeviceStaging.h"

/** What the CPU's test bodies call, on the device. */
namespace ffdp
{

using test::StagedVolume;
using test::TestDevice;

JointHistogram
ComputeJointHistogram(const MutualInformationParameters &    parameters,
                      const VolumeView<const float> &        fixed,
                      const VolumeView<const float> &        moving,
                      const VolumeView<const std::uint8_t> & mask,
                      unsigned)
{
  return cuda::ComputeJointHistogram(TestDevice(),
                                     parameters,
                                     StagedVolume<const float>(fixed),
                                     StagedVolume<const float>(moving),
                                     StagedVolume<const std::uint8_t>(mask));
}

void
MutualInformationGradient(const MutualInformation &              information,
                          const VolumeView<const float> &        fixed,
                          const VolumeView<const float> &        moving,
                          const VolumeView<const std::uint8_t> & mask,
                          const VolumeView<float> &              gradientMoving,
                          const VolumeView<float> &              gradientFixed,
                          unsigned)
{
  cuda::MutualInformationGradient(TestDevice(),
                                  information,
                                  StagedVolume<const float>(fixed),
                                  StagedVolume<const float>(moving),
                                  StagedVolume<const std::uint8_t>(mask),
                                  StagedVolume<float>(gradientMoving),
                                  StagedVolume<float>(gradientFixed));
}

double
ComputeMutualInformation(const MutualInformationParameters &    parameters,
                         const VolumeView<const float> &        fixed,
                         const VolumeView<const float> &        moving,
                         const VolumeView<const std::uint8_t> & mask,
                         const VolumeView<float> &              gradientMoving,
                         const VolumeView<float> &              gradientFixed,
                         unsigned                               threads)
{
  const MutualInformation information =
    FinishMutualInformation(ComputeJointHistogram(parameters, fixed, moving, mask, threads), bool(gradientFixed));
  if (gradientMoving || gradientFixed)
  {
    MutualInformationGradient(information, fixed, moving, mask, gradientMoving, gradientFixed, threads);
  }
  return information.value;
}

} // namespace ffdp
