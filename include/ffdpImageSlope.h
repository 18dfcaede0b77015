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
#ifndef ffdpImageSlope_h
#define ffdpImageSlope_h

#include "FFDPExport.h"
#include "ffdpVolume.h"

namespace ffdp
{

/** Adds factor * w(x) dI/dx to a gradient: what the slope of an image on the grid of a warp itself says about where the
 * warp should move, w being the derivative of a loss by that image. The slope is the central difference, in voxels; at
 * the border of the volume, and of a mask if there is one, the voxel there stands for the one beyond.
 *
 * Works on the planes that `weights` holds; the gradient holds them, too, and the image and the mask one more on either
 * side, where the volume has it. No extra memory. */
FFDP_EXPORT void
AddImageSlope(const VolumeView<const float> &        image,
              const VolumeView<const std::uint8_t> & mask,
              const VolumeView<const float> &        weights,
              float                                  factor,
              const WarpView<float> &                gradient,
              unsigned                               threads = 0);

} // namespace ffdp

#endif
