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
#ifndef ffdpWarpGridTerms_h
#define ffdpWarpGridTerms_h

#include "ffdpVoxelInline.h"

namespace ffdp
{

/** Between `lower` (fraction 0) and `upper` (fraction 1). Equal values are kept to the bit. */
FFDP_VOXEL_INLINE float
InterpolateBetween(float lower, float upper, float fraction)
{
  return lower + fraction * (upper - lower);
}

/** |v|, or 0 where v is not finite. */
FFDP_VOXEL_INLINE float
FiniteMagnitude(float v)
{
  return v - v == 0.0f ? (v < 0 ? -v : v) : 0.0f;
}

/** (weight v)^2, or not a number where v is not finite. */
FFDP_VOXEL_INLINE float
WeightedSquare(float v, float weight)
{
  const float weighted = weight * v;
  return weighted * weighted + (v - v);
}

} // namespace ffdp

#endif
