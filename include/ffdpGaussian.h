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
#ifndef ffdpGaussian_h
#define ffdpGaussian_h

#include "FFDPExport.h"
#include "ffdpVolume.h"

#include <cstdint>
#include <vector>

/** Gaussian smoothing, in place or from one warp to another.
 *
 * Along each axis
 *
 *   r    = int(max(truncate sigma, 0.5) + 0.5)                 (0 where sigma is 0: that axis is left alone)
 *   k[i] = (erf((i + 0.5) / (sigma sqrt 2)) - erf((i - 0.5) / (sigma sqrt 2))) / 2,   |i| <= r, sum 1
 *   out[p] = sum over the p + i inside of k[i] in[p + i]       (divided by the sum of these k[i]: Renormalize)
 *
 * first along z, then y, then x, in float. Direct sums only, so a voxel's value does not depend on which
 * slab or thread it is in.
 *
 * Extra memory in place, per component: 3 r_z + 1 planes for each of T threads, 2 r_z + 8 T for all of them, or one
 * copy of the planes that are read, whichever is least.
 */
namespace ffdp
{

enum class SmoothingBorder
{
  Renormalize, ///< weights inside sum to 1: a constant stays constant
  Zero         ///< outside counts as 0: the operator is self-adjoint, and damps near the border
};

struct GaussianParameters
{
  double          sigma[3] = { 1, 1, 1 }; ///< along x, y, z, in voxels
  double          truncate = 2;           ///< where the kernel ends, in sigmas
  SmoothingBorder border = SmoothingBorder::Renormalize;
};

/** r above: the planes of halo that a slab needs (with the sigma along z). */
FFDP_EXPORT std::int64_t
            GaussianRadius(double sigma, double truncate = 2);

/** k[0] to k[r] above, normalized such that k[0] + 2 (k[1] + ... + k[r]) = 1. */
FFDP_EXPORT std::vector<double>
            GaussianTaps(double sigma, double truncate = 2);

/** Smooth the planes [firstOwned, firstOwned + ownedPlanes). The view holds them and, where the volume
 * goes on, GaussianRadius() planes of halo on both sides, which are only read. */
FFDP_EXPORT void
SmoothGaussian(const VolumeView<float> &  volume,
               std::int64_t               firstOwned,
               std::int64_t               ownedPlanes,
               const GaussianParameters & parameters,
               unsigned                   threads = 0);

/** The same for the three components of a planar warp. */
FFDP_EXPORT void
SmoothGaussian(const WarpView<float> &    warp,
               std::int64_t               firstOwned,
               std::int64_t               ownedPlanes,
               const GaussianParameters & parameters,
               unsigned                   threads = 0);

/** Not in place: the planes that `smoothed` holds, from `warp`, which holds as many more on both sides as above and
 * stays as it is. Both are planar; rows of `warp` follow each other. The bytes are those of the functions above. Extra
 * memory: some rows per thread. */
FFDP_EXPORT void
SmoothGaussian(const WarpView<const float> & warp,
               const WarpView<float> &       smoothed,
               const GaussianParameters &    parameters,
               unsigned                      threads = 0);

/** All planes that the view holds; for a whole volume or warp. */
FFDP_EXPORT void
SmoothGaussian(const VolumeView<float> & volume, const GaussianParameters & parameters, unsigned threads = 0);
FFDP_EXPORT void
SmoothGaussian(const WarpView<float> & warp, const GaussianParameters & parameters, unsigned threads = 0);

} // namespace ffdp

#endif
