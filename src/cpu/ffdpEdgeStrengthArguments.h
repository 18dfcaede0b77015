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
#ifndef ffdpEdgeStrengthArguments_h
#define ffdpEdgeStrengthArguments_h

#include "ffdpCheck.h"
#include "ffdpEdgeStrength.h"

namespace ffdp
{

/** What EdgeStrength() checks on every device. */
inline void
CheckEdgeStrength(const VolumeView<const float> & image, float noise, const VolumeView<float> & edges)
{
  RequireSameDomain(image.domain, edges.domain, "an image and its edges");
  RequirePlanes(image, edges.firstPlane, edges.EndPlane(), EdgeStrengthReach, "the image");
  Require(noise > 0, "the contrast that counts as noise must be positive");
}

} // namespace ffdp

#endif
