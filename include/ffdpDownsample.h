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
#ifndef ffdpDownsample_h
#define ffdpDownsample_h

#include "FFDPExport.h"
#include "ffdpGridMap.h"
#include "ffdpVolume.h"

namespace ffdp
{

struct DownsampleParameters
{
  double sigma[3] = { -1, -1, -1 }; ///< of the Gaussian, fine voxels; negative: N/(2n), or 0 where n = N
  double truncation = 2;            ///< the Gaussian ends at this many sigmas
};

/** Gaussian smoothing and resampling on the coarse grid in one pass: on the planes that `coarse` holds,
 *
 *   coarse(i) = sum over j of w_i(j) fine(j),   w_i(j) = product over the axes of
 *   w(j - c_i),  w = (Gaussian cut at R = truncation * sigma) convolved with the hat of linear interpolation,
 *
 * where c_i = scale * i + offset, cut to the fine grid, is where the coarse sample lies. So this is the
 * linear interpolation of the smoothed image at c_i, and sigma = 0 is linear interpolation alone (the
 * identity where grids are equal). Weights are positive and sum to 1: constants stay, and values stay
 * within the range of the input. Inside, linear functions stay linear. Taps that fall off the fine grid
 * are left out and the others sum to 1 again, so nothing is darkened at the border.
 *
 * `fine` must hold the planes that DownsamplePlanes() names. Memory: 2 (R + 1) rows per thread, and tables
 * of as many weights for each row, column and plane of the result. */
FFDP_EXPORT void
Downsample(const VolumeView<const float> & fine,
           const VolumeView<float> &       coarse,
           const GridMap &                 map,
           const DownsampleParameters &    parameters = {},
           unsigned                        threads = 0);

/** The planes of the fine volume that the planes [planes.first, planes.end) of the coarse one depend on. */
FFDP_EXPORT PlaneRange
DownsamplePlanes(const Extent &               fine,
                 const Extent &               coarse,
                 const GridMap &              map,
                 const PlaneRange &           planes,
                 const DownsampleParameters & parameters = {});

} // namespace ffdp

#endif
