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
#include "ffdpCudaJacobian.h"
#include "ffdpDeviceStaging.h"

/** What the CPU's test bodies call, on the device. */
namespace ffdp
{

JacobianResult
JacobianDeterminant(const WarpView<const float> &          warp,
                    std::int64_t                           firstPlane,
                    std::int64_t                           planes,
                    const VolumeView<float> &              determinant,
                    const VolumeView<const std::uint8_t> & mask,
                    const JacobianParameters &             parameters,
                    unsigned)
{
  const test::StagedVolume<float>              stagedDeterminant(determinant);
  const test::StagedVolume<const std::uint8_t> stagedMask(mask);
  if (warp.elementStride != 1) // is refused before it is read, and what lies behind it cannot be copied
  {
    return cuda::JacobianDeterminant(
      test::TestDevice(), warp, firstPlane, planes, stagedDeterminant, stagedMask, parameters);
  }
  const test::StagedWarp<const float> stagedWarp(warp);
  return cuda::JacobianDeterminant(
    test::TestDevice(), stagedWarp, firstPlane, planes, stagedDeterminant, stagedMask, parameters);
}

} // namespace ffdp
