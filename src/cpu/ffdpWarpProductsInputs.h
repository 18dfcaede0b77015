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
#ifndef ffdpWarpProductsInputs_h
#define ffdpWarpProductsInputs_h

#include "ffdpCheck.h"

namespace ffdp
{

/** Throws std::invalid_argument unless WarpProducts can take the two fields. */
inline void
RequireWarpProductsInputs(const WarpView<const float> & a, const WarpView<const float> & b)
{
  RequirePlanes(a, a.firstPlane, a.EndPlane(), 0, "the first field");
  RequirePlanes(b, a.firstPlane, a.EndPlane(), 0, "the second field");
  RequireSameDomain(a.domain, b.domain, "the two fields");
  Require(a.elementStride == 1 && b.elementStride == 1 && a.component[2] && b.component[2],
          "the fields must be planar with three components");
}

} // namespace ffdp

#endif
