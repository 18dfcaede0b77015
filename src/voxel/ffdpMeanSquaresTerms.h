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
#ifndef ffdpMeanSquaresTerms_h
#define ffdpMeanSquaresTerms_h

#include "ffdpVoxelInline.h"

namespace ffdp
{

/** What a voxel's difference is: 0 where the mask excludes it, whatever the images hold there (NaN too). */
FFDP_VOXEL_INLINE float
MeanSquaresDifference(float moving, float fixed, bool inside)
{
  return inside ? moving - fixed : 0.0f;
}

/** d loss / d moving, with gradientScale = 2 / N; the fixed image's is its negative. */
FFDP_VOXEL_INLINE float
MeanSquaresGradient(float difference, float gradientScale)
{
  return gradientScale * difference;
}

} // namespace ffdp

#endif
