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
#ifndef ffdpMeanSquares_h
#define ffdpMeanSquares_h

#include "FFDPExport.h"
#include "ffdpPlaneSums.h"
#include "ffdpVolume.h"

#include <cstdint>

namespace ffdp
{

/** Sums of (moving - fixed)^2. */
struct MeanSquaresResult : PlaneSums
{
  /** Their mean, for a result that covers the whole volume. Smaller is more similar. */
  double
  Loss() const
  {
    return this->Mean();
  }
};

/** Mean squares: L = 1/N sum over x of (moving(x) - fixed(x))^2, on the planes that `moving` holds.
 *
 * Gradients that are asked for (views that are given) are written on the same planes:
 * dL/dmoving(x) = 2/N (moving(x) - fixed(x)), dL/dfixed(x) = -dL/dmoving(x), both 0 where the mask is 0.
 * Adding the gradient makes the images less similar. A gradient may share its memory with its image.
 *
 * \param normalizer  N of the gradients; 0 means the number of unmasked voxels in the planes given, so a
 *                    slab must be told the number of the whole volume.
 *
 * No halo. Extra memory: two numbers per 32 rows. Differences are float, their squares and sums double. */
FFDP_EXPORT MeanSquaresResult
MeanSquares(const VolumeView<const float> &        moving,
            const VolumeView<const float> &        fixed,
            const VolumeView<const std::uint8_t> & mask = {},
            const VolumeView<float> &              movingGradient = {},
            const VolumeView<float> &              fixedGradient = {},
            std::int64_t                           normalizer = 0,
            unsigned                               threads = 0);

} // namespace ffdp

#endif
