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
#include "ffdpBlockMarks.h"
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

/** Which differences of a warp stand for its derivatives at a voxel. */
enum class JacobianDifferences
{
  Central, ///< between the neighbors on both sides, as most programs do
  /** To the neighbor on one side, along each axis, in all eight ways: the least of the eight determinants. These are
   * those of the interpolated warp in the corners of cells, which may fold while central differences, the mean of the
   * eight, do not. */
  LeastOneSided
};

struct JacobianParameters
{
  JacobianDifferences differences = JacobianDifferences::Central;
  const BlockMarks *  marks = nullptr; ///< only their blocks are looked at; others get a 1 and do not count
};

/** The determinant of d(x + u(x))/dx, for the planes [firstPlane, firstPlane + planes).
 *
 * u is planar, in voxels of its own grid, so 1 means that volume is kept, and the identity (u = 0) gives
 * exactly 1. Differences reach inwards at the faces of the volume, and are 0 along an axis of one voxel: a 2-D field
 * (third component null or not) has its 2-D determinant.
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
                    const JacobianParameters &             parameters = {},
                    unsigned                               threads = 0);

} // namespace ffdp

#endif
