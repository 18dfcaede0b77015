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
#ifndef ffdpImageSlopeArguments_h
#define ffdpImageSlopeArguments_h

#include "ffdpCheck.h"

namespace ffdp
{

/** What AddImageSlope() checks on every device. */
inline void
CheckImageSlope(const VolumeView<const float> &        image,
                const VolumeView<const std::uint8_t> & mask,
                const VolumeView<const float> &        weights,
                const WarpView<const float> &          gradient)
{
  RequireSameDomain(image.domain, weights.domain, "an image and the weights of its slope");
  RequireSameDomain(image.domain, gradient.domain, "an image and a gradient");
  RequirePlanes(image, weights.firstPlane, weights.EndPlane(), 1, "the image");
  if (mask)
  {
    RequireSameDomain(image.domain, mask.domain, "an image and its mask");
    RequirePlanes(mask, weights.firstPlane, weights.EndPlane(), 1, "the mask");
  }
  RequirePlanes(gradient, weights.firstPlane, weights.EndPlane(), 0, "the gradient");
  Require(gradient.elementStride == 1 && gradient.component[2], "the gradient must be planar with three components");
}

} // namespace ffdp

#endif
