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
#ifndef ffdpCudaJacobian_h
#define ffdpCudaJacobian_h

#include "ffdpCudaDevice.h"
#include "ffdpJacobian.h"

#include <cstdint>

namespace ffdp
{
namespace cuda
{

/** Backend::JacobianDeterminant on a device, with the mask that the CPU's takes. Determinants and sums have the bytes
 * of the CPU backend: sums are added in its lanes. Views point to memory of the device. */
JacobianResult
JacobianDeterminant(Device &                               device,
                    const WarpView<const float> &          warp,
                    std::int64_t                           firstPlane,
                    std::int64_t                           planes,
                    const VolumeView<float> &              determinant,
                    const VolumeView<const std::uint8_t> & mask = {},
                    const JacobianParameters &             parameters = {});

} // namespace cuda
} // namespace ffdp

#endif
