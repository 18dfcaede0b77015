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
#ifndef ffdpCudaGaussianTaps_h
#define ffdpCudaGaussianTaps_h

#include "ffdpCudaLaunch.h"
#include "ffdpParzenTerms.h"

#include <cstdint>

namespace ffdp
{
namespace cuda
{

/** What all Gaussian weights of a sample are made of. There are up to 48 of them, too many for registers: they are
 * computed again where they are used, two multiplications each. */
struct GaussianTaps
{
  std::int32_t base;
  float        factor;  ///< from a tap to the next one up
  float        inverse; ///< and down
};

/** Calls body(tap, weight before normalization) in the order of the CPU: from the middle up, then down. */
template <typename TBody>
__device__ __forceinline__ void
ForEachTap(const GaussianWindow & window, const GaussianTaps & taps, const TBody & body)
{
  const std::int32_t radius = window.taps / 2;
  float              power = 1.0f;
  for (std::int32_t tap = radius; tap < window.taps; ++tap)
  {
    body(tap, GaussianTapWeight(window, tap, taps.base + tap - radius, power));
    power *= taps.factor;
  }
  power = taps.inverse;
  for (std::int32_t tap = radius - 1; tap >= 0; --tap)
  {
    body(tap, GaussianTapWeight(window, tap, taps.base + tap - radius, power));
    power *= taps.inverse;
  }
}

__device__ __forceinline__ GaussianTaps
MakeGaussianTaps(const GaussianWindow & window, const ParzenBinning & binning, float value)
{
  const float  position = ParzenPosition(binning, value);
  GaussianTaps taps;
  taps.base = ParzenBase(binning, position);
  taps.factor = SmallExponential((position - float(taps.base) - 0.5f) * window.inverseVariance);
  taps.inverse = 1.0f / taps.factor;
  return taps;
}

/** What a weight is multiplied with, so that all of them sum to 1. */
__device__ __forceinline__ float
GaussianNormalizer(const GaussianWindow & window, const GaussianTaps & taps)
{
  float sum = 0.0f;
  ForEachTap(window, taps, [&](std::int32_t, float weight) { sum += weight; });
  return 1.0f / sum;
}

} // namespace cuda
} // namespace ffdp

#endif
