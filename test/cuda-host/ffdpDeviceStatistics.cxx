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
#include "ffdpCudaStatistics.h"
#include "ffdpDeviceStaging.h"

/** What the CPU's test bodies call, on the device. */
namespace ffdp
{

using test::StagedVolume;
using test::TestDevice;

std::vector<Statistics>
PlaneStatistics(const VolumeView<const float> & image, const VolumeView<const std::uint8_t> & mask, unsigned)
{
  return cuda::PlaneStatistics(TestDevice(), StagedVolume<const float>(image), StagedVolume<const std::uint8_t>(mask));
}

IntensityHistogram
MeasureHistogram(const VolumeView<const float> &        image,
                 float                                  low,
                 float                                  high,
                 const VolumeView<const std::uint8_t> & mask,
                 std::int64_t                           bins,
                 unsigned)
{
  return cuda::MeasureHistogram(
    TestDevice(), StagedVolume<const float>(image), low, high, bins, StagedVolume<const std::uint8_t>(mask));
}

} // namespace ffdp
