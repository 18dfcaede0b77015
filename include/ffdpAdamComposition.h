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
#ifndef ffdpAdamComposition_h
#define ffdpAdamComposition_h

#include "ffdpAdam.h"
#include "ffdpComposition.h"

namespace ffdp
{

struct AdamCompositionParameters
{
  double     stepScale[3] = { 1, 1, 1 }; ///< s below; 0 keeps an axis from moving
  double     largestDirection = 0;       ///< an upper bound of |d_z|: what AdamStep() returned
  WarpBorder border = WarpBorder::Zero;  ///< of u
};

/** The step of Adam, taken: u(x) <- v(x) + u(x + v(x)), v_c = -s_c d_c, for the planes [firstOwned, firstOwned +
 * ownedPlanes) of u, where d is the direction that AdamStep() found with the same parameters. d is computed again from
 * the moments, row by row, so that no field of directions has to be kept between finding its norm and taking the step.
 * All fields are planar with three components. Halo of u: CompositionHalo(s_z * largestDirection). Extra memory:
 * that of ComposeWarps() and a plane of directions per thread. */
FFDP_EXPORT void
ComposeAdamStep(const WarpView<float> &           u,
                std::int64_t                      firstOwned,
                std::int64_t                      ownedPlanes,
                const WarpView<const float> &     firstMoment,
                const VolumeView<const float> &   secondMoment,
                const AdamParameters &            adam,
                const AdamCompositionParameters & parameters,
                unsigned                          threads = 0);

} // namespace ffdp

#endif
