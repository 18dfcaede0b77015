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
#ifndef ffdpCudaGaussian_h
#define ffdpCudaGaussian_h

#include "ffdpCudaOldPlanes.h"
#include "ffdpGaussian.h"

namespace ffdp
{
namespace cuda
{

/** The bits of the processor's SmoothGaussian(). Extra memory: a group of smoothed planes, of at most `groupBytes` but
 * at least a plane, and copies of GaussianRadius() old planes where the volume takes several groups; two groups where
 * the radii in a plane are too large for shared memory. */
void
SmoothGaussian(Device &                   device,
               const WarpView<float> &    warp,
               std::int64_t               firstOwned,
               std::int64_t               ownedPlanes,
               const GaussianParameters & parameters,
               std::size_t                groupBytes = DefaultGroupBytes);

void
SmoothGaussian(Device &                   device,
               const VolumeView<float> &  volume,
               std::int64_t               firstOwned,
               std::int64_t               ownedPlanes,
               const GaussianParameters & parameters,
               std::size_t                groupBytes = DefaultGroupBytes);

/** From one warp to another. */
void
SmoothGaussian(Device &                      device,
               const WarpView<const float> & warp,
               const WarpView<float> &       smoothed,
               const GaussianParameters &    parameters,
               std::size_t                   groupBytes = DefaultGroupBytes);

} // namespace cuda
} // namespace ffdp

#endif
