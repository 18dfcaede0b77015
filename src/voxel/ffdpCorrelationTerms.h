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

/** The smallest of the normal positive floats, rounded up. */
constexpr float SmallestCorrelationEpsilon = 1.2e-38f;

/** Constants of an evaluation. */
struct CorrelationConstants
{
  float scale;   ///< 1 / sqrt(V_F V_M): keeps products of variances in the range of a float
  float epsilon; ///< positive, since B C may underflow: at least SmallestCorrelationEpsilon
  float flatValue;
};

/** Weighted sums over a window, of a constant (the shift) minus the intensities. */
template <typename T>
struct CorrelationSums
{
  T f, m, ff, mm, fm;
};

/** What a window gives to the value and to the gradient: gamma_i = 2 A / (g n_i), where g = B C + epsilon V_F V_M
 * and n_i is the sum of the window's weights. Means are of shift minus intensity, as the sums are. */
template <typename T>
struct CorrelationTerms
{
  T correlation;
  T gamma;
  T fixedMean;
  T movingMean;
  T perFixed;  ///< A C / g: gamma times this multiplies F in the gradient for F
  T perMoving; ///< A B / g: gamma times this multiplies M in the gradient for M
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
  // The variances and the covariance times n_i.
  const T squaresF = sums.ff - sums.f * terms.fixedMean;
  const T squaresM = sums.mm - sums.m * terms.movingMean;
  const T products = sums.fm - sums.f * terms.movingMean;

  const T scaledInverse = inverseWeight * c.scale;
  const T A = products * scaledInverse;
  const T B = squaresF * scaledInverse;
  const T C = squaresM * scaledInverse;
  const T zero = T{};
  const T g = B * C + c.epsilon;

  // Written so that NaN falls to the flat side. What the division gives in flat windows is not used.
  const auto textured = (squaresF > sums.ff * CorrelationFlatRatio) & (squaresM > sums.mm * CorrelationFlatRatio);
  const T    ratio = textured ? A / g : zero;

  terms.correlation = textured ? A * ratio : zero + c.flatValue;
  terms.gamma = (ratio + ratio) * scaledInverse;
  terms.perFixed = ratio * C;
  terms.perMoving = ratio * B;
  return terms;
}

/** What a window gives to the sums of the exact gradient for one image ("own"), besides gamma. */
template <typename T>
struct CorrelationFields
{
  T gammaOwn;
  T constant;
};

/** gamma_own = gamma times perOwn, and gamma_own mean_own - gamma mean_other; the means are of intensities. */
template <typename T>
FFDP_VOXEL_INLINE CorrelationFields<T>
                  ComputeCorrelationFields(const T & gamma, const T & perOwn, const T & meanOwn, const T & meanOther)
{
  CorrelationFields<T> fields;
  fields.gammaOwn = gamma * perOwn;
  fields.constant = fields.gammaOwn * meanOwn - gamma * meanOther;
  return fields;
}

/** scale * ((other * W(gamma) - own * W(gamma_own)) + W(constant)), W being the sum over the windows of a voxel. */
template <typename T>
FFDP_VOXEL_INLINE void
ExactCorrelationGradient(const T &                    other,
                         const T &                    own,
                         const T &                    gamma,
                         const CorrelationFields<T> & sums,
                         float                        scale,
                         T &                          gradient)
{
  gradient = scale * ((other * gamma - own * sums.gammaOwn) + sums.constant);
}

/** The ANTs gradient, unscaled; own and other are the window's means minus the intensities at its center. */
template <typename T>
FFDP_VOXEL_INLINE void
AntsCorrelationGradient(const T & gamma, const T & perOwn, const T & own, const T & other, T & gradient)
{
  gradient = gamma * (perOwn * own - other);
}

} // namespace ffdp

#endif
