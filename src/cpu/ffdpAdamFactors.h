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
#ifndef ffdpAdamFactors_h
#define ffdpAdamFactors_h

#include "ffdpAdam.h"
#include "ffdpAdamTerms.h"
#include "ffdpCheck.h"

#include <cmath>

namespace ffdp
{

/** Checks the parameters and turns them into what a voxel needs. */
inline AdamFactors
MakeAdamFactors(const AdamParameters & parameters)
{
  const auto isMemory = [](double beta) { return beta >= 0 && beta < 1; };
  Require(isMemory(parameters.beta1) && isMemory(parameters.beta2), "Adam's betas must be in [0, 1)");
  Require(parameters.epsilon > 0 && float(parameters.epsilon) > 0, "Adam's epsilon must be positive");
  Require(parameters.step >= 1, "Adam's steps are counted from 1");
  Require(std::isfinite(parameters.gradientScale), "Adam's scale of the gradient must be finite");

  AdamFactors factors;
  for (int c = 0; c < 3; ++c)
  {
    factors.gradientScale[c] = float(parameters.gradientScale * parameters.axisScale[c]);
  }
  factors.keepFirst = float(parameters.beta1);
  factors.addFirst = float(1 - parameters.beta1);
  factors.keepSecond = float(parameters.beta2);
  factors.addSecond = float(1 - parameters.beta2);
  factors.correctFirst = float(1 / (1 - std::pow(parameters.beta1, double(parameters.step))));
  factors.correctSecond = float(1 / (1 - std::pow(parameters.beta2, double(parameters.step))));
  factors.epsilon = float(parameters.epsilon);
  return factors;
}

} // namespace ffdp

#endif
