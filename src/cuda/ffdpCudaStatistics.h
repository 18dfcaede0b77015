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
#ifndef ffdpCudaStatistics_h
#define ffdpCudaStatistics_h

#include "ffdpCudaDevice.h"
#include "ffdpStatistics.h"

#include <cstdint>
#include <vector>

/** Statistics and histograms on a device; see Backend for what each computes. Views point to memory of the device.
 * Both have the bytes of the CPU backend: runs of voxels are summed in its lanes and joined in its order. */
namespace ffdp
{
namespace cuda
{

std::vector<Statistics>
PlaneStatistics(Device &                               device,
                const VolumeView<const float> &        image,
                const VolumeView<const std::uint8_t> & mask = {});

IntensityHistogram
MeasureHistogram(Device &                               device,
                 const VolumeView<const float> &        image,
                 float                                  low,
                 float                                  high,
                 std::int64_t                           bins,
                 const VolumeView<const std::uint8_t> & mask = {});

} // namespace cuda
} // namespace ffdp

#endif
