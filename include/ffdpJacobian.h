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
#ifndef ffdpJacobian_h
#define ffdpJacobian_h

#include "FFDPExport.h"
#include "ffdpPlaneSums.h"
#include "ffdpVolume.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace ffdp
{

/** Where a warp stretches, shrinks and folds. */
struct JacobianResult : PlaneSums ///< of the determinants
{
  /** The smallest determinant of an unmasked voxel; -infinity if one is not a number, +infinity if there is none. */
  double              minimum = std::numeric_limits<double>::infinity();
  std::int64_t        notPositive = 0; ///< unmasked voxels whose determinant is not above 0: folds (and NaN)
  std::vector<double> planeMinima;     ///< `minimum` of each plane
};

/** The determinant of d(x + u(x))/dx, for the planes [firstPlane, firstPlane + planes).
 *
 * u is planar, in voxels of its own grid, so 1 means that volume is kept, and the identity (u = 0) gives
 * exactly 1. Derivatives are central differences, one-sided at the faces of the volume, and 0 along an
 * axis of one voxel: a 2-D field (third component null or not) has its 2-D determinant.
 *
 * The warp must hold one more plane on each side, where its volume goes on. `determinant` may be left out;
 * it is written in all voxels, also where the mask, which selects voxels for the statistics only, is 0.
 * Extra memory: a few numbers per 32 rows. Slabs concatenate their planes and combine the rest. */
FFDP_EXPORT JacobianResult
JacobianDeterminant(const WarpView<const float> &          warp,
                    std::int64_t                           firstPlane,
                    std::int64_t                           planes,
                    const VolumeView<float> &              determinant = {},
                    const VolumeView<const std::uint8_t> & mask = {},
                    unsigned                               threads = 0);

} // namespace ffdp

#endif
