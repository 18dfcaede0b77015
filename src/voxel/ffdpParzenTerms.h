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
#ifndef ffdpParzenTerms_h
#define ffdpParzenTerms_h

#include "ffdpVoxelInline.h"

#include <cstdint>

/** Where an intensity falls among the bins of a histogram, and the weights of its Parzen window. Functions that are
 * templates take a float, or a vector of floats of GCC and Clang: the same operations in the same order. */
namespace ffdp
{

/** Maps an intensity v to the position s = (v - low) * scale + shift, cut to [shift, top]. */
struct ParzenBinning
{
  float        low = 0;
  float        high = 1;
  float        scale = 1; ///< bins per unit of intensity
  float        shift = 0;
  float        top = 1;     ///< largest position
  std::int32_t maxBase = 0; ///< largest first bin; fraction 1 is possible there
};

/** The position of v, with the range's ends for what is outside and the low end for NaN. */
FFDP_VOXEL_INLINE float
ParzenPosition(const ParzenBinning & binning, float v)
{
  const float above = v > binning.low ? v : binning.low;
  const float inside = above < binning.high ? above : binning.high;
  const float s = (inside - binning.low) * binning.scale + binning.shift;
  return s < binning.top ? s : binning.top;
}

FFDP_VOXEL_INLINE std::int32_t
                  ParzenBase(const ParzenBinning & binning, float position)
{
  const auto base = static_cast<std::int32_t>(position);
  return base < binning.maxBase ? base : binning.maxBase;
}

/** ITK's position v / binSize - normalizedLow in double precision, with 2 bins of padding. */
struct MattesBinning
{
  double       low = 0;
  double       high = 1;
  double       binSize = 1;
  double       normalizedLow = 0;
  std::int32_t maxBin = 2; ///< bins - 3; the smallest is 2
};

/** The position of v, cut to where bins exist; the smallest for NaN. */
FFDP_VOXEL_INLINE double
MattesPosition(const MattesBinning & binning, double v)
{
  const double s = v / binning.binSize - binning.normalizedLow;
  const double above = s > 2.0 ? s : 2.0;
  const double last = binning.maxBin + 1;
  return above < last ? above : last;
}

FFDP_VOXEL_INLINE std::int32_t
                  MattesBin(const MattesBinning & binning, double position)
{
  const auto bin = static_cast<std::int32_t>(position);
  return bin < binning.maxBin ? bin : binning.maxBin;
}

/** Cubic B-spline weights of the four bins around a position, t in [0, 1] past the second of them. Sum 1. */
template <typename T>
FFDP_VOXEL_INLINE void
CubicBSplineWeights(const T & t, T & w0, T & w1, T & w2, T & w3)
{
  const float sixth = 1.0f / 6.0f;
  const T     r = 1.0f - t;
  const T     t2 = t * t;
  const T     r2 = r * r;
  w0 = r2 * r * sixth;
  w1 = t2 * (0.5f * t - 1.0f) + (2.0f / 3.0f);
  w2 = r2 * (0.5f * r - 1.0f) + (2.0f / 3.0f);
  w3 = t2 * t * sixth;
}

/** The derivative of sum_b w_b(t) G_b is sum_b v_b(t) (G_{b+1} - G_b) with these quadratic weights, which sum to 1: the
 * differences can be formed in double precision beforehand, so nothing cancels here. */
template <typename T>
FFDP_VOXEL_INLINE void
QuadraticBSplineWeights(const T & t, T & v0, T & v1, T & v2)
{
  const T r = 1.0f - t;
  v0 = 0.5f * (r * r);
  v2 = 0.5f * (t * t);
  v1 = t * r + 0.5f;
}

/** The gradient of BSpline: sum over c of w_c(other) * sum over r of v_r(active) * corner[r * stride + c]; the rows of
 * the table are differences of active bins. */
FFDP_VOXEL_INLINE float
BSplineTableGradient(const float * corner, std::int64_t stride, float activeFraction, float otherFraction)
{
  float v[3];
  float w[4];
  float column[4];
  QuadraticBSplineWeights(activeFraction, v[0], v[1], v[2]);
  CubicBSplineWeights(otherFraction, w[0], w[1], w[2], w[3]);
  for (int c = 0; c < 4; ++c)
  {
    column[c] = v[0] * corner[c] + v[1] * corner[stride + c] + v[2] * corner[2 * stride + c];
  }
  return (w[0] * column[0] + w[1] * column[1]) + (w[2] * column[2] + w[3] * column[3]);
}

/** The gradient of Mattes: sum over r of v_r(moving) * row[r]; the row is of differences of moving bins. */
FFDP_VOXEL_INLINE float
MattesTableGradient(const float * row, float movingFraction)
{
  float v[3];
  QuadraticBSplineWeights(movingFraction, v[0], v[1], v[2]);
  return v[0] * row[0] + v[1] * row[1] + v[2] * row[2];
}

/** The fixed-point value of a weight that was multiplied by the value of 1. */
FFDP_VOXEL_INLINE std::uint32_t
                  ToFixedPoint(float scaledWeight)
{
  return std::uint32_t(std::int32_t(scaledWeight + 0.5f));
}

/** A Gaussian window of `taps` bins; 2 * radius of them, for a position between tap radius - 1 and tap radius. */
struct GaussianWindow
{
  static constexpr int MaxTaps = 48;
  std::int32_t         taps = 6;
  std::int32_t         bins = 32;
  float                inverseVariance = 4;    ///< in bins^-2
  float                coefficient[MaxTaps]{}; ///< exp(-d^2 / (2 sigma^2)), d the distance of the tap from the middle
};

/** exp(x) for |x| < 6 by its series at x / 8: the same operations on every machine. */
FFDP_VOXEL_INLINE float
SmallExponential(float x)
{
  const float r = x * 0.125f;
  float       sum = 1.0f / 362880.0f;
  sum = sum * r + 1.0f / 40320.0f;
  sum = sum * r + 1.0f / 5040.0f;
  sum = sum * r + 1.0f / 720.0f;
  sum = sum * r + 1.0f / 120.0f;
  sum = sum * r + 1.0f / 24.0f;
  sum = sum * r + 1.0f / 6.0f;
  sum = sum * r + 0.5f;
  sum = sum * r + 1.0f;
  sum = sum * r + 1.0f;
  sum = sum * sum;
  sum = sum * sum;
  return sum * sum;
}

/** The weight of bin `bin`, before normalization, given exp(t' / sigma^2) to the power of tap - radius; 0 if there is
 * no such bin. exp(-(t' - d)^2 / (2 sigma^2)), t' being the distance of the position from the middle of the window, is
 * this up to a factor that the normalization removes: one exponential serves all taps. */
FFDP_VOXEL_INLINE float
GaussianTapWeight(const GaussianWindow & window, std::int32_t tap, std::int32_t bin, float power)
{
  const float weight = window.coefficient[tap] * power;
  const bool  exists = (bin >= 0) & (bin < window.bins); // no branch: vectors of samples take this together
  return exists ? weight : 0.0f;
}

/** The derivative of a normalized weight by the position in bins, the normalization included; mean is the sum of tap *
 * weight. */
FFDP_VOXEL_INLINE float
GaussianTapDerivative(const GaussianWindow & window, std::int32_t tap, float weight, float mean)
{
  return weight * (float(tap) - mean) * window.inverseVariance;
}

} // namespace ffdp

#endif
