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
#include "ffdpCudaMeanSquares.h"
#include "ffdpDeviceStaging.h"

/** The function of ffdpMeanSquares.h, on the device of the tests. */
namespace ffdp
{

MeanSquaresResult
MeanSquares(const VolumeView<const float> &        moving,
            const VolumeView<const float> &        fixed,
            const VolumeView<const std::uint8_t> & mask,
            const VolumeView<float> &              movingGradient,
            const VolumeView<float> &              fixedGradient,
            std::int64_t                           normalizer,
            unsigned)
{
  const test::StagedVolume<const float>        movingOnDevice(moving), fixedOnDevice(fixed);
  const test::StagedVolume<const std::uint8_t> maskOnDevice(mask);
  const test::StagedVolume<float>              movingGradientOnDevice(movingGradient);
  const test::StagedVolume<float>              fixedGradientOnDevice(fixedGradient);
  return cuda::MeanSquares(test::TestDevice(),
                           movingOnDevice,
                           fixedOnDevice,
                           maskOnDevice,
                           movingGradientOnDevice,
                           fixedGradientOnDevice,
                           normalizer);
}

} // namespace ffdp
