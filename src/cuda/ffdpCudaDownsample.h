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
#ifndef ffdpCudaDownsample_h
#define ffdpCudaDownsample_h

#include "ffdpCudaDevice.h"
#include "ffdpDownsample.h"

namespace ffdp
{
namespace cuda
{

/** Backend::Downsample on a device: the weights are the CPU's, sums go along z, then y, then x as there, so the
 * result has its bytes. Views point to memory of the device. Extra memory: the tables of weights. */
void
Downsample(Device &                        device,
           const VolumeView<const float> & fine,
           const VolumeView<float> &       coarse,
           const GridMap &                 map,
           const DownsampleParameters &    parameters);

} // namespace cuda
} // namespace ffdp

#endif
