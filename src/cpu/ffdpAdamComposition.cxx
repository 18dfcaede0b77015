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

#include "ffdpAdamFactors.h"
#include "ffdpWarpSweep.h"

#include <cmath>

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
  RequirePlanarWarp(u, "the warp u");
  RequirePlanarWarp(firstMoment, "the first moment");
  RequireSameDomain(u.domain, firstMoment.domain, "the warp and the first moment");
  RequireSameDomain(u.domain, secondMoment.domain, "the warp and the second moment");
  RequirePlanes(u, firstOwned, firstOwned + ownedPlanes, 0, "the warp u");
  RequirePlanes(firstMoment, firstOwned, firstOwned + ownedPlanes, 0, "the first moment");
  RequirePlanes(secondMoment, firstOwned, firstOwned + ownedPlanes, 0, "the second moment");
  Require(parameters.largestDirection >= 0 && std::isfinite(parameters.largestDirection),
          "the largest direction of a step must be finite");
  const AdamFactors factors = MakeAdamFactors(adam);
  if (ownedPlanes == 0)
  {
    return;
  }

  WarpSweep sweep;
  sweep.u = u;
  sweep.output = u;
  sweep.first = firstOwned;
  sweep.end = firstOwned + ownedPlanes;
  sweep.border = parameters.border;
  // a little above, because the norm that bounds it was rounded
  sweep.boundAlongZ = float(std::abs(parameters.stepScale[2]) * parameters.largestDirection * 1.0001);

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
