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
#ifndef ffdpCudaComposition_h
#define ffdpCudaComposition_h

#include "ffdpComposition.h"
#include "ffdpCudaOldPlanes.h"

namespace ffdp
{
namespace cuda
{

/** The bits of the processor's ComposeWarps(). Extra memory: copies of a group of planes of u, of at most `groupBytes`
 * but at least a plane, and of CompositionHalo() planes where u takes several groups. */
void
ComposeWarps(Device &                      device,
             const WarpView<float> &       u,
             std::int64_t                  firstOwned,
             std::int64_t                  ownedPlanes,
             const WarpView<const float> & v,
             const CompositionParameters & parameters,
             std::size_t                   groupBytes = DefaultGroupBytes);

/** The largest finite magnitude of the planes that the volume holds. */
float
LargestMagnitude(Device & device, const VolumeView<const float> & volume);

} // namespace cuda
} // namespace ffdp

#endif
