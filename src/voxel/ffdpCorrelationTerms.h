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
  int   power; ///< n_i counts to this power, at least 1
};

/** Weighted sums over a window, of a constant (the shift) minus the intensities. */
template <typename T>
struct CorrelationSums
{
  T f, m, ff, mm, fm;
};

/** What a window gives to the value and to the gradient: gamma_i = 2 A / (g w_i) times the derivative of the power of
 * the correlation, where g = B C + epsilon V_F V_M and w_i is the sum of the window's weights. Means are of shift minus
 * intensity, as the sums are. */
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

/** A window before it is asked whether it is flat. */
template <typename T>
struct CorrelationWindow
{
  T fixedMean;
  T movingMean;
  T squaresF; ///< the variance of F times w_i
  T squaresM;
  T flatF; ///< squaresF up to this is rounding error
  T flatM;
  T scaledInverse;
  T A, B, C, g;
};

/** inverseWeight is 1 / w_i; 0 for a window that does not count. */
template <typename T>
FFDP_VOXEL_INLINE CorrelationWindow<T>
ComputeCorrelationWindow(const CorrelationSums<T> & sums, const T & inverseWeight, const CorrelationConstants & c)
{
  CorrelationWindow<T> window;
  window.fixedMean = sums.f * inverseWeight;
  window.movingMean = sums.m * inverseWeight;
  window.squaresF = sums.ff - sums.f * window.fixedMean;
  window.squaresM = sums.mm - sums.m * window.movingMean;
  window.flatF = sums.ff * CorrelationFlatRatio;
  window.flatM = sums.mm * CorrelationFlatRatio;
  const T products = sums.fm - sums.f * window.movingMean; // the covariance times w_i

  window.scaledInverse = inverseWeight * c.scale;
  window.A = products * window.scaledInverse;
  window.B = window.squaresF * window.scaledInverse;
  window.C = window.squaresM * window.scaledInverse;
  window.g = window.B * window.C + c.epsilon;
  return window;
}

/** A correlation n = A^2 / g to a power above 1, and the derivative of that power for n. */
template <typename T>
struct RaisedCorrelation
{
  T value;
  T derivative;
};

/** Correlations up to this (r = 0.01) are 0 to any power above 1: powers of less would leave the range of a float. */
constexpr float SmallestRaisedCorrelation = 1e-4f;

/** `n` is 0 where it is at most SmallestRaisedCorrelation. */
template <typename T>
FFDP_VOXEL_INLINE RaisedCorrelation<T>
                  RaiseCorrelation(const T & n, int power)
{
  T below = n; // n to the power minus 1
  for (int k = 2; k < power; ++k)
  {
    below = below * n;
  }
  return { below * n, below * float(power) };
}

/** The ratio is A / g; the correlation A^2 / g to the power asked for; the slope is the ratio times the derivative of
 * that power. In a flat window: 0, the value of flat ones, and 0. */
template <typename T>
FFDP_VOXEL_INLINE CorrelationTerms<T>
FinishCorrelationTerms(const CorrelationWindow<T> & window, const T & ratio, const T & correlation, const T & slope)
{
  CorrelationTerms<T> terms;
  terms.correlation = correlation;
  terms.gamma = (slope + slope) * window.scaledInverse;
  terms.fixedMean = window.fixedMean;
  terms.movingMean = window.movingMean;
  terms.perFixed = ratio * window.C;
  terms.perMoving = ratio * window.B;
  return terms;
}

/** Of one window. (With vectors, processors choose in ways of their own: see ffdpCorrelationRowsKernel.h.) Written so
 * that NaN falls to the flat side. */
FFDP_VOXEL_INLINE CorrelationTerms<float>
ComputeCorrelationTerms(const CorrelationSums<float> & sums, float inverseWeight, const CorrelationConstants & c)
{
  const CorrelationWindow<float> window = ComputeCorrelationWindow<float>(sums, inverseWeight, c);
  const bool                     textured = (window.squaresF > window.flatF) & (window.squaresM > window.flatM);
  const float                    ratio = textured ? window.A / window.g : 0.0f;
  float                          correlation = window.A * ratio;
  float                          slope = ratio;
  if (c.power > 1)
  {
    const RaisedCorrelation<float> raised =
      RaiseCorrelation<float>(correlation > SmallestRaisedCorrelation ? correlation : 0.0f, c.power);
    correlation = raised.value;
    slope = ratio * raised.derivative;
  }
  return FinishCorrelationTerms<float>(window, ratio, textured ? correlation : c.flatValue, slope);
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
