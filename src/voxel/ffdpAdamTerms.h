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
#ifndef ffdpAdamTerms_h
#define ffdpAdamTerms_h

#include "ffdpVoxelInline.h"

#include <cmath>

namespace ffdp
{

/** AdamParameters as the factors that a voxel needs. */
struct AdamFactors
{
  float gradientScale = 1;
  float keepFirst = 0;     ///< beta1
  float addFirst = 0;      ///< 1 - beta1
  float keepSecond = 0;    ///< beta2
  float addSecond = 0;     ///< 1 - beta2
  float correctFirst = 1;  ///< 1 / (1 - beta1^t)
  float correctSecond = 1; ///< 1 / (1 - beta2^t)
  float epsilon = 0;
};

/** The direction that the moments of one component give. */
FFDP_VOXEL_INLINE float
AdamDirectionOfMoments(const AdamFactors & factors, float first, float second)
{
  return (factors.correctFirst * first) / (std::sqrt(factors.correctSecond * second) + factors.epsilon);
}

/** Updates both moments of one component and returns its direction. */
FFDP_VOXEL_INLINE float
AdamDirection(const AdamFactors & factors, float gradient, float & first, float & second)
{
  const float g = factors.gradientScale * gradient;
  first = factors.keepFirst * first + factors.addFirst * g;
  second = factors.keepSecond * second + factors.addSecond * (g * g);
  return AdamDirectionOfMoments(factors, first, second);
}

} // namespace ffdp

#endif
