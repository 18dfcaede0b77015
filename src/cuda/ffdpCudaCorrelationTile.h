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
#ifndef ffdpCudaCorrelationTile_h
#define ffdpCudaCorrelationTile_h

#include "ffdpCudaCorrelationLaunch.h"

namespace ffdp
{
namespace cuda
{

/** The two stages for the planes of a batch, for windows of any radius. The task has taps, also for a box. `scratch` is
 * CorrelationBuffers' (ffdpCudaMemory.h). */
void
TermsOfTiles(Device & device, const CorrelationLaunch & launch, float * scratch);
void
GradientOfTiles(Device &                    device,
                const CorrelationLaunch &   launch,
                const CorrelationGradient & gradient,
                float *                     scratch);

} // namespace cuda
} // namespace ffdp

#endif
