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
  float gradientScale[3] = { 1, 1, 1 };
  float keepFirst = 0;     ///< beta1
  float addFirst = 0;      ///< 1 - beta1
  float keepSecond = 0;    ///< beta2
  float addSecond = 0;     ///< 1 - beta2
  float correctFirst = 1;  ///< 1 / (1 - beta1^t)
  float correctSecond = 1; ///< 1 / (1 - beta2^t)
  float epsilon = 0;
};

/** What the first moments of a voxel are multiplied with to give its direction. */
FFDP_VOXEL_INLINE float
AdamGain(const AdamFactors & factors, float second)
{
  return factors.correctFirst / (std::sqrt(factors.correctSecond * second) + factors.epsilon);
}

/** The second moment of a voxel, updated with the square of its scaled gradient. */
FFDP_VOXEL_INLINE float
AdamSecondMoment(const AdamFactors & factors, float second, float squaredGradient)
{
  return factors.keepSecond * second + factors.addSecond * squaredGradient;
}

/** The first moment of a component, updated with its scaled gradient. */
FFDP_VOXEL_INLINE float
AdamFirstMoment(const AdamFactors & factors, float first, float scaledGradient)
{
  return factors.keepFirst * first + factors.addFirst * scaledGradient;
}

} // namespace ffdp

#endif
