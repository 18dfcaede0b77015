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
#ifndef ffdpParzenSetup_h
#define ffdpParzenSetup_h

#include "ffdpCheck.h"
#include "ffdpMutualInformation.h"
#include "ffdpParzenTerms.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

/** From the parameters of mutual information to the numbers that its loops use, on every device. */
namespace ffdp
{

/** Everything that the loops need to know about the bins. */
struct ParzenSetup
{
  int            bins = 0;
  ParzenBinning  fixed;
  ParzenBinning  moving;
  MattesBinning  mattesFixed;
  MattesBinning  mattesMoving;
  GaussianWindow window;

  /** Gaussian tables have window.taps bins of padding in all, and rows that end on a multiple of 8 taps. */
  std::int32_t
  PaddedTaps() const
  {
    return (window.taps + 7) / 8 * 8;
  }
  std::int32_t
  PaddedRows() const
  {
    return bins + window.taps;
  }
  std::int32_t
  PaddedStride() const
  {
    return bins + PaddedTaps();
  }
};

inline void
RequireRange(const IntensityRange & range, const char * name)
{
  const std::string who = std::string("the intensity range of the ") + name + " image ";
  Require(std::isfinite(float(range.low)) && std::isfinite(float(range.high)), who + "is not finite");
  Require(float(range.low) < float(range.high), who + "is empty: is the image constant?");
  Require(std::isfinite(float(range.high) - float(range.low)) &&
            std::isfinite(float(256 / (double(float(range.high)) - double(float(range.low))))),
          who + "cannot be divided into bins in single precision");
}

/** Intervals into which the range is cut: its width over the width of a bin. */
inline int
ParzenIntervals(const MutualInformationParameters & parameters)
{
  switch (parameters.kind)
  {
    case MutualInformationKind::BSpline:
      return parameters.bins - 3;
    case MutualInformationKind::Mattes:
      return parameters.bins - 4;
    default:
      return parameters.bins;
  }
}

inline ParzenBinning
MakeParzenBinning(const MutualInformationParameters & parameters, const IntensityRange & range)
{
  ParzenBinning binning;
  binning.low = float(range.low);
  binning.high = float(range.high);
  const int intervals = ParzenIntervals(parameters);
  binning.scale = float(intervals / (double(binning.high) - double(binning.low)));
  // Gaussian: bin b is centered at position b + 1, so that a position below the first center is not negative.
  const bool gaussian = parameters.kind == MutualInformationKind::Gaussian;
  binning.shift = gaussian ? 0.5f : 0.0f;
  binning.top = float(intervals) + binning.shift;
  binning.maxBase = gaussian ? intervals : intervals - 1;
  return binning;
}

inline MattesBinning
MakeMattesBinning(const MutualInformationParameters & parameters, const IntensityRange & range)
{
  constexpr int padding = 2;
  MattesBinning binning;
  binning.low = range.low;
  binning.high = range.high;
  binning.binSize = (range.high - range.low) / (parameters.bins - 2 * padding);
  binning.normalizedLow = range.low / binning.binSize - padding;
  binning.maxBin = parameters.bins - padding - 1;
  return binning;
}

inline GaussianWindow
MakeGaussianWindow(const MutualInformationParameters & parameters)
{
  GaussianWindow window;
  const double   sigma = parameters.sigma;
  const int      radius = int(std::ceil(6 * sigma));
  window.taps = 2 * radius;
  window.bins = parameters.bins;
  window.inverseVariance = float(1 / (sigma * sigma));
  for (int j = 0; j < window.taps; ++j)
  {
    const double d = j - radius + 0.5;
    window.coefficient[j] = float(std::exp(-d * d / (2 * sigma * sigma)));
  }
  return window;
}

/** Throws std::invalid_argument if the parameters cannot be used. */
inline ParzenSetup
MakeParzenSetup(const MutualInformationParameters & parameters)
{
  const bool mattes = parameters.kind == MutualInformationKind::Mattes;
  Require(parameters.bins >= (mattes ? 5 : 4) && parameters.bins <= 256,
          "mutual information takes 4 to 256 bins (Mattes 5 to 256), not " + std::to_string(parameters.bins));
  RequireRange(parameters.fixedRange, "fixed");
  RequireRange(parameters.movingRange, "moving");
  ParzenSetup setup;
  setup.bins = parameters.bins;
  if (mattes)
  {
    setup.mattesFixed = MakeMattesBinning(parameters, parameters.fixedRange);
    setup.mattesMoving = MakeMattesBinning(parameters, parameters.movingRange);
    return setup;
  }
  setup.fixed = MakeParzenBinning(parameters, parameters.fixedRange);
  setup.moving = MakeParzenBinning(parameters, parameters.movingRange);
  if (parameters.kind != MutualInformationKind::BSpline)
  {
    Require(parameters.sigma >= 0.3 && parameters.sigma <= 4,
            "the sigma of mutual information is 0.3 to 4 bins, not " + std::to_string(parameters.sigma));
    setup.window = MakeGaussianWindow(parameters);
  }
  return setup;
}

/** Entries of a table of the gradient step. */
inline std::size_t
MutualInformationTableSize(const MutualInformationParameters & parameters)
{
  const auto bins = std::size_t(parameters.bins);
  if (parameters.kind == MutualInformationKind::Gaussian)
  {
    const ParzenSetup setup = MakeParzenSetup(parameters);
    return std::size_t(setup.PaddedRows()) * std::size_t(setup.PaddedStride());
  }
  return bins * bins;
}

} // namespace ffdp

#endif
