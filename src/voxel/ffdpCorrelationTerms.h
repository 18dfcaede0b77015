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
#ifndef ffdpCorrelationTerms_h
#define ffdpCorrelationTerms_h

#include "ffdpVoxelInline.h"

/** The arithmetic of one window of local correlation. T is float, or a vector of floats. */
namespace ffdp
{

/** Constants of an evaluation. */
struct CorrelationConstants
{
  float fixedScale;     ///< 1 / V_F
  float movingScale;    ///< 1 / V_M
  float productScale;   ///< 1 / sqrt(V_F V_M)
  float fixedPerMoving; ///< sqrt(V_F / V_M)
  float movingPerFixed; ///< sqrt(V_M / V_F)
  float epsilon;
  float flatValue;
};

/** Weighted sums over a window, of intensities minus a constant. */
template <typename T>
struct CorrelationSums
{
  T f, m, ff, mm, fm;
};

/** What a window gives to the value and to the gradient: gamma_i = 2 A / (g n_i) and its products, where
 * g = B C + epsilon and n_i is the sum of the window's weights; means are of the shifted intensities. */
template <typename T>
struct CorrelationTerms
{
  T correlation;
  T gamma;
  T gammaFixed;  ///< gamma A C / g, multiplies F in the gradient for F
  T gammaMoving; ///< gamma A B / g, multiplies M in the gradient for M
  T fixedMean;
  T movingMean;
};

/** Variances below this part of the mean square that they are computed from are rounding error: about 32
 * times the float epsilon, for sums of a few dozen terms per axis. */
constexpr float CorrelationFlatRatio = 2e-6f;

/** inverseWeight is 1 / n_i; 0 for a window that does not count. */
template <typename T>
FFDP_VOXEL_INLINE CorrelationTerms<T>
ComputeCorrelationTerms(const CorrelationSums<T> & sums, const T & inverseWeight, const CorrelationConstants & c)
{
  CorrelationTerms<T> terms;
  terms.fixedMean = sums.f * inverseWeight;
  terms.movingMean = sums.m * inverseWeight;
  const T meanSquareF = sums.ff * inverseWeight;
  const T meanSquareM = sums.mm * inverseWeight;
  const T varianceF = meanSquareF - terms.fixedMean * terms.fixedMean;
  const T varianceM = meanSquareM - terms.movingMean * terms.movingMean;
  const T covariance = sums.fm * inverseWeight - terms.fixedMean * terms.movingMean;

  const T B = varianceF * c.fixedScale;
  const T C = varianceM * c.movingScale;
  const T A = covariance * c.productScale;
  const T g = B * C + c.epsilon;

  // Written so that NaN falls to the flat side.
  const auto textured =
    (varianceF > meanSquareF * CorrelationFlatRatio) & (varianceM > meanSquareM * CorrelationFlatRatio) & (g > T{});
  const T zero = T{};
  const T inverse = (zero + 1.0f) / (textured ? g : zero + 1.0f);
  const T ratio = textured ? A * inverse : zero;

  terms.correlation = textured ? A * ratio : zero + c.flatValue;
  terms.gamma = (2.0f * c.productScale) * ratio * inverseWeight;
  terms.gammaMoving = terms.gamma * (ratio * B) * c.fixedPerMoving;
  terms.gammaFixed = terms.gamma * (ratio * C) * c.movingPerFixed;
  return terms;
}

} // namespace ffdp

#endif
