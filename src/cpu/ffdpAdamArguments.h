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
#ifndef ffdpAdamArguments_h
#define ffdpAdamArguments_h

#include "ffdpAdamComposition.h"
#include "ffdpAdamFactors.h"
#include "ffdpWarpSweep.h"

#include <cmath>

/** What the steps of Adam check and prepare on every device. */
namespace ffdp
{

inline void
CheckAdamStep(const WarpView<const float> &   gradient,
              const WarpView<const float> &   firstMoment,
              const VolumeView<const float> & secondMoment)
{
  const std::int64_t first = gradient.firstPlane, end = gradient.EndPlane();
  const struct
  {
    const WarpView<const float> & view;
    const char *                  name;
  } vectors[] = { { gradient, "the gradient" }, { firstMoment, "the first moment" } };
  for (const auto & field : vectors)
  {
    RequirePlanes(field.view, first, end, 0, field.name);
    RequireSameDomain(gradient.domain, field.view.domain, "the gradient and the moments");
    Require(field.view.elementStride == 1, std::string(field.name) + " is not planar");
    Require(field.view.component[1] && !field.view.component[2] == !gradient.component[2],
            std::string(field.name) + " has too few components");
  }
  RequirePlanes(secondMoment, first, end, 0, "the second moment");
  RequireSameDomain(gradient.domain, secondMoment.domain, "the gradient and the moments");
}

inline void
CheckAdamComposition(const WarpView<const float> &     u,
                     std::int64_t                      firstOwned,
                     std::int64_t                      ownedPlanes,
                     const WarpView<const float> &     firstMoment,
                     const VolumeView<const float> &   secondMoment,
                     const AdamCompositionParameters & parameters)
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
}

/** All but where v comes from. */
inline WarpSweep
DescribeAdamComposition(const WarpView<float> &           u,
                        std::int64_t                      firstOwned,
                        std::int64_t                      ownedPlanes,
                        const AdamCompositionParameters & parameters)
{
  WarpSweep sweep;
  sweep.u = u;
  sweep.output = u;
  sweep.first = firstOwned;
  sweep.end = firstOwned + ownedPlanes;
  sweep.border = parameters.border;
  // a little above, because the norm that bounds it was rounded
  sweep.boundAlongZ = float(std::abs(parameters.stepScale[2]) * parameters.largestDirection * 1.0001);
  return sweep;
}

} // namespace ffdp

#endif
