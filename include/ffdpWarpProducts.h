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
#ifndef ffdpWarpProducts_h
#define ffdpWarpProducts_h

#include "FFDPExport.h"
#include "ffdpVolume.h"

#include <array>
#include <vector>

namespace ffdp
{

/** For each plane that two planar fields hold, the sum over its voxels of a_i b_j, row major: with a the gradient for a
 * displacement b, what b contributes to the gradient for a matrix that multiplies it. Sums are in double, row after
 * row, so they do not depend on threads or slabs. Extra memory: nine numbers per plane. */
FFDP_EXPORT std::vector<std::array<double, 9>>
            WarpProducts(const WarpView<const float> & a, const WarpView<const float> & b, unsigned threads = 0);

} // namespace ffdp

#endif
