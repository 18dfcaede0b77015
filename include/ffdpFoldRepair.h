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
#ifndef ffdpFoldRepair_h
#define ffdpFoldRepair_h

#include "FFDPExport.h"
#include "ffdpVolume.h"

#include <cstdint>

namespace ffdp
{

/** Irons a warp where it folds, or nearly: each voxel that has, among itself and its neighbors (up to 27), a Jacobian
 * determinant below `least`, moves 0.85 of the way to the mean of their displacements. Others stay as they are.
 * Repeated with a new determinant each time, this takes the slope out of a fold and leaves the rest of the warp alone.
 * Another measure that is small where a warp is too steep does as well as the determinant: see InverseError().
 *
 * Planes [firstOwned, firstOwned + ownedPlanes) of a planar warp are changed; the warp and the determinant hold
 * them and one plane more on both sides, where the volume goes on. Returns how many voxels were changed. Extra memory:
 * five numbers for each of these in 32 planes (on a device, four for each of all), and a byte for each row. */
FFDP_EXPORT std::int64_t
            IronFolds(const WarpView<float> &         u,
                      std::int64_t                    firstOwned,
                      std::int64_t                    ownedPlanes,
                      const VolumeView<const float> & determinant,
                      float                           least,
                      unsigned                        threads = 0);

} // namespace ffdp

#endif
