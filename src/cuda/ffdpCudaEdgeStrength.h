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
#ifndef ffdpCudaEdgeStrength_h
#define ffdpCudaEdgeStrength_h

#include "ffdpCudaDevice.h"
#include "ffdpVolume.h"

namespace ffdp
{
namespace cuda
{

/** As ffdp::EdgeStrength(); the bits are those of the processor. */
void
EdgeStrength(Device & device, const VolumeView<const float> & image, float noise, const VolumeView<float> & edges);

} // namespace cuda
} // namespace ffdp

#endif
