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
#include "ffdpAdamComposition.h"

#include "ffdpAdamArguments.h"

#define FFDP_KERNEL_FILE "ffdpAdamDirectionKernel.h"
#include "ffdpForEachInstructionSet.h"

namespace ffdp
{

void
ComposeAdamStep(const WarpView<float> &           u,
                std::int64_t                      firstOwned,
                std::int64_t                      ownedPlanes,
                const WarpView<const float> &     firstMoment,
                const VolumeView<const float> &   secondMoment,
                const AdamParameters &            adam,
                const AdamCompositionParameters & parameters,
                unsigned                          threads)
{
  CheckAdamComposition(u, firstOwned, ownedPlanes, firstMoment, secondMoment, parameters);
  const AdamFactors factors = MakeAdamFactors(adam);
  if (ownedPlanes == 0)
  {
    return;
  }

  WarpSweep   sweep = DescribeAdamComposition(u, firstOwned, ownedPlanes, parameters);
  const auto  directions = FFDP_SELECT_KERNEL(AdamDirectionsOfRow);
  const float downhill[3] = { float(-parameters.stepScale[0]),
                              float(-parameters.stepScale[1]),
                              float(-parameters.stepScale[2]) };
  sweep.provide = [&](std::int64_t y, std::int64_t z, float * const * rows) {
    const float * const first[3] = { firstMoment.Row(0, y, z), firstMoment.Row(1, y, z), firstMoment.Row(2, y, z) };
    directions(factors, first, secondMoment.Row(y, z), downhill, u.domain.x, rows);
  };
  RunWarpSweep(sweep, false, threads);
}

} // namespace ffdp
