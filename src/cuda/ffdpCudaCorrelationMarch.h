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
#ifndef ffdpCudaCorrelationMarch_h
#define ffdpCudaCorrelationMarch_h

#include "ffdpCudaCorrelationLaunch.h"

namespace ffdp
{
namespace cuda
{

/** The two stages for the planes of a batch; radii are those of the task, which CorrelationTiles (ffdpCudaMemory.h)
 * found to be for these kernels. */
void
MarchTerms(Device & device, const CorrelationLaunch & launch);
void
MarchGradient(Device & device, const CorrelationLaunch & launch, const CorrelationGradient & gradient);

} // namespace cuda
} // namespace ffdp

#endif
