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
#ifndef ffdpFoldRepairArguments_h
#define ffdpFoldRepairArguments_h

#include "ffdpCheck.h"

namespace ffdp
{

/** What IronFolds() checks on every device. */
inline void
CheckFoldRepair(const WarpView<const float> &   u,
                std::int64_t                    firstOwned,
                std::int64_t                    ownedPlanes,
                const VolumeView<const float> & determinant)
{
  RequirePlanes(u, firstOwned, firstOwned + ownedPlanes, 1, "the warp");
  RequirePlanes(determinant, firstOwned, firstOwned + ownedPlanes, 1, "the determinant");
  RequireSameDomain(u.domain, determinant.domain, "the warp and the determinant");
  Require(u.elementStride == 1 && u.component[2], "the warp must be planar with three components");
}

} // namespace ffdp

#endif
