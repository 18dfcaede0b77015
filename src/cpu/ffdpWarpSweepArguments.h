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
#ifndef ffdpWarpSweepArguments_h
#define ffdpWarpSweepArguments_h

#include "ffdpWarpSweep.h"

#include <cmath>
#include <sstream>

/** What composition and inversion check on every device. */
namespace ffdp
{

inline void
CheckOwned(const WarpView<const float> & u, std::int64_t first, std::int64_t count, const CompositionParameters & p)
{
  RequirePlanarWarp(u, "the warp u");
  Require(count >= 0 && first >= u.firstPlane && first + count <= u.EndPlane(),
          "the planes to compose are not all in the warp u");
  Require(std::isfinite(p.stepScale), "the scale of a composition must be finite");
  Require(!std::isnan(p.boundAlongZ), "the bound of a composition must be a number");
}

inline void
CheckComposition(const WarpView<const float> & u,
                 std::int64_t                  first,
                 std::int64_t                  count,
                 const WarpView<const float> & v,
                 const CompositionParameters & parameters)
{
  CheckOwned(u, first, count, parameters);
  RequirePlanarWarp(v, "the warp v");
  RequireSameDomain(u.domain, v.domain, "the warps of a composition");
  RequirePlanes(v, first, first + count, 0, "the warp v");
  RequireApart(u, v, "the warps of a composition");
}

inline void
CheckSweep(const WarpSweep & sweep)
{
  const Extent & domain = sweep.u.domain;
  Require(std::max({ domain.x, domain.y, domain.z }) < (1 << 24),
          "a warp of more than 2^24 voxels along an axis cannot be addressed with floats");
  RequirePlanes(sweep.u, sweep.first, sweep.end, CompositionHalo(sweep.boundAlongZ), "the warp that is sampled");
}

/** Once a sweep is done, and has found its largest finite displacement along z. */
inline void
CheckBound(float largestAlongZ, float boundAlongZ)
{
  if (largestAlongZ > boundAlongZ)
  {
    std::ostringstream message;
    message << "displacements along z reach " << largestAlongZ << " voxels, above the given bound of " << boundAlongZ
            << "; the output is spoiled";
    Require(false, message.str());
  }
}

} // namespace ffdp

#endif
