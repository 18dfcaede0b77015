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
#include "ffdpCudaLocalCorrelation.h"
#include "ffdpDeviceStaging.h"

/** The functions of ffdpLocalCorrelation.h, on the device of the tests. */
namespace ffdp
{

LocalCorrelationResult
LocalCorrelation(const VolumeView<const float> &        fixed,
                 const VolumeView<const float> &        moving,
                 const VolumeView<const std::uint8_t> & mask,
                 std::int64_t                           firstPlane,
                 std::int64_t                           planes,
                 const LocalCorrelationParameters &     parameters,
                 const LocalCorrelationOutputs &        outputs,
                 unsigned)
{
  const test::StagedVolume<const float>        fixedOnDevice(fixed), movingOnDevice(moving);
  const test::StagedVolume<const std::uint8_t> maskOnDevice(mask);
  const test::StagedVolume<float> movingGradient(outputs.movingGradient), fixedGradient(outputs.fixedGradient);
  const test::StagedVolume<float> map(outputs.map);
  const LocalCorrelationOutputs   outputsOnDevice{ movingGradient, fixedGradient, map };
  return cuda::LocalCorrelation(
    test::TestDevice(), fixedOnDevice, movingOnDevice, maskOnDevice, firstPlane, planes, parameters, outputsOnDevice);
}

LocalCorrelationResult
LocalCorrelation(const VolumeView<const float> &        fixed,
                 const VolumeView<const float> &        moving,
                 const VolumeView<const std::uint8_t> & mask,
                 const LocalCorrelationParameters &     parameters,
                 const LocalCorrelationOutputs &        outputs,
                 unsigned                               threads)
{
  return LocalCorrelation(fixed, moving, mask, 0, fixed.domain.z, parameters, outputs, threads);
}

} // namespace ffdp
