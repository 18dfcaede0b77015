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
#ifndef ffdpCudaAdam_h
#define ffdpCudaAdam_h

#include "ffdpAdamComposition.h"
#include "ffdpCudaOldPlanes.h"

namespace ffdp
{
namespace cuda
{

/** The bits of the processor's AdamStep(). No extra memory. */
double
AdamStep(Device &                      device,
         const WarpView<const float> & gradient,
         const WarpView<float> &       firstMoment,
         const VolumeView<float> &     secondMoment,
         const AdamParameters &        parameters);

/** The bits of the processor's ComposeAdamStep(). Extra memory as for ComposeWarps(). */
void
ComposeAdamStep(Device &                          device,
                const WarpView<float> &           u,
                std::int64_t                      firstOwned,
                std::int64_t                      ownedPlanes,
                const WarpView<const float> &     firstMoment,
                const VolumeView<const float> &   secondMoment,
                const AdamParameters &            adam,
                const AdamCompositionParameters & parameters,
                std::size_t                       groupBytes = DefaultGroupBytes);

} // namespace cuda
} // namespace ffdp

#endif
