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
#ifndef ffdpGaussianTerms_h
#define ffdpGaussianTerms_h

#include "ffdpVoxelInline.h"

#include <cstdint>

namespace ffdp
{

/** taps[0] at(0) + sum over i = 1..radius of taps[i] (at(-i) + at(i)), i ascending: one voxel of a Gaussian along an
 * axis. `at` is 0 outside. */
template <typename TAt>
FFDP_VOXEL_INLINE float
WeighWindow(const float * taps, std::int64_t radius, const TAt & at)
{
  float sum = taps[0] * at(0);
  for (std::int64_t i = 1; i <= radius; ++i)
  {
    sum += taps[i] * (at(-i) + at(i));
  }
  return sum;
}

} // namespace ffdp

#endif
