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
#ifndef ffdpFinalWarp_h
#define ffdpFinalWarp_h

#include "ffdpStageRunner.h"

#include <functional>

namespace ffdp
{

/** What BringWarpHome() reports at most. */
constexpr int MostFinalWarpSteps = 40;

/** How many iterations at full resolution take about as long as all of it. */
constexpr double FinalWarpWork = 16;

/** The part of that which is still to do after a step, of what was before it. The first steps take longest, and how
 * many there will be is not known: about ten is usual. */
constexpr double FinalWarpWorkLeft = 0.75;

/** What the last stage leaves becomes what the caller gets: the warp at the size of the fixed image, without folds, and
 * its inverse, which agree in both orders. All ranks take part, each keeps the planes that it owns. After each step
 * `report` is told how far the two are apart, in voxels; it may throw, on all ranks, to end all this. */
void
BringWarpHome(Backend &                           backend,
              Communicator &                      communicator,
              Slab                                warp,
              const Extent &                      size,
              const std::function<void(double)> & report,
              RegistrationResult &                result);

} // namespace ffdp

#endif
