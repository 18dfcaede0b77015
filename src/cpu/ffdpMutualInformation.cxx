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
#include "ffdpMutualInformation.h"

#include "ffdpCheck.h"
#include "ffdpMutualInformationDetail.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace ffdp
{
namespace
{

/** A matrix of bins x bins, fixed bin by moving bin. */
using BinMatrix = std::vector<double>;

/** The Gaussian of Approximate: taps -radius ... radius, sum 1. */
std::vector<double>
MakeSmoothingKernel(double sigma)
{
  const int           radius = std::max(2, int(std::ceil(4 * sigma)));
  std::vector<double> kernel(std::size_t(2 * radius + 1));
  double              sum = 0;
  for (int d = -radius; d <= radius; ++d)
  {
    kernel[std::size_t(d + radius)] = std::exp(-d * d / (2 * sigma * sigma));
    sum += kernel[std::size_t(d + radius)];
  }
  for (double & k : kernel)
  {
    k /= sum;
  }
  return kernel;
}

/** out_ab = sum_jk left(a, j) in_jk right(b, k), for banded left and right of the given half width. */
template <typename TLeft, typename TRight>
BinMatrix
MultiplyBanded(const BinMatrix & in, int bins, int radius, const TLeft & left, const TRight & right)
{
  BinMatrix half(in.size(), 0.0);
  BinMatrix out(in.size(), 0.0);
  for (int a = 0; a < bins; ++a)
    for (int j = std::max(0, a - radius); j <= std::min(bins - 1, a + radius); ++j)
      for (int k = 0; k < bins; ++k)
      {
        half[std::size_t(a * bins + k)] += left(a, j) * in[std::size_t(j * bins + k)];
      }
  for (int a = 0; a < bins; ++a)
    for (int b = 0; b < bins; ++b)
      for (int k = std::max(0, b - radius); k <= std::min(bins - 1, b + radius); ++k)
      {
        out[std::size_t(a * bins + b)] += half[std::size_t(a * bins + k)] * right(b, k);
      }
  return out;
}

/** The histogram as numbers, for Approximate after its convolution. */
BinMatrix
SmoothedCounts(const JointHistogram & histogram)
{
  BinMatrix counts(histogram.counts.begin(), histogram.counts.end());
  if (histogram.parameters.kind == MutualInformationKind::Approximate)
  {
    const std::vector<double> kernel = MakeSmoothingKernel(histogram.parameters.sigma);
    const int                 radius = int(kernel.size()) / 2;
    const auto                tap = [&](int to, int from) { return kernel[std::size_t(to - from + radius)]; };
    counts = MultiplyBanded(counts, histogram.parameters.bins, radius, tap, tap);
  }
  return counts;
}

/** Sets the value, and returns log(p_ab / (pF_a pM_b)) with half a unit in the last place for empty bins: where a
 * weight is too small to be counted, its term is too small to matter, but must not be infinite. */
BinMatrix
ComputeValue(const BinMatrix & counts, int bins, double & value)
{
  std::vector<double> fixedCounts(std::size_t(bins), 0.0);
  std::vector<double> movingCounts(std::size_t(bins), 0.0);
  double              total = 0;
  for (int a = 0; a < bins; ++a)
  {
    for (int b = 0; b < bins; ++b)
    {
      fixedCounts[std::size_t(a)] += counts[std::size_t(a * bins + b)];
      movingCounts[std::size_t(b)] += counts[std::size_t(a * bins + b)];
    }
    total += fixedCounts[std::size_t(a)];
  }
  BinMatrix logRatio(counts.size());
  double    information = 0;
  for (int a = 0; a < bins; ++a)
  {
    for (int b = 0; b < bins; ++b)
    {
      const std::size_t ab = std::size_t(a * bins + b);
      logRatio[ab] = std::log(std::max(counts[ab], 0.5)) - std::log(std::max(fixedCounts[std::size_t(a)], 0.5)) -
                     std::log(std::max(movingCounts[std::size_t(b)], 0.5)) + std::log(total);
      information += counts[ab] > 0 ? counts[ab] / total * logRatio[ab] : 0.0;
    }
  }
  value = -information;
  return logRatio;
}

/** Approximate: sum_ab w_a(i) w'_b(j) G_ab for samples at the centers of bins i, j; w' belongs to the fixed bins if
 * forFixed. */
BinMatrix
CenterDerivatives(const BinMatrix & logRatio, const MutualInformationParameters & parameters, bool forFixed)
{
  const std::vector<double> kernel = MakeSmoothingKernel(parameters.sigma);
  const int                 radius = int(kernel.size()) / 2;
  const int                 bins = parameters.bins;
  // Sums over the bins that exist around bin i: of the weights before normalization, and of weight times distance.
  std::vector<double> sum(std::size_t(bins), 0.0);
  std::vector<double> mean(std::size_t(bins), 0.0);
  for (int i = 0; i < bins; ++i)
  {
    for (int a = std::max(0, i - radius); a <= std::min(bins - 1, i + radius); ++a)
    {
      sum[std::size_t(i)] += kernel[std::size_t(a - i + radius)];
      mean[std::size_t(i)] += kernel[std::size_t(a - i + radius)] * (a - i);
    }
    mean[std::size_t(i)] /= sum[std::size_t(i)];
  }
  const double variance = parameters.sigma * parameters.sigma;
  const auto   weight = [&](int i, int a) { return kernel[std::size_t(a - i + radius)] / sum[std::size_t(i)]; };
  const auto   derivative = [&](int i, int a) { return weight(i, a) * (a - i - mean[std::size_t(i)]) / variance; };
  return forFixed ? MultiplyBanded(logRatio, bins, radius, derivative, weight)
                  : MultiplyBanded(logRatio, bins, radius, weight, derivative);
}

/** The table of the gradient step for one image, -1 / (samples * binWidth) included; its layout is what the
 * kernels of ffdpMutualInformationGradientKernel.h say. */
std::vector<float>
MakeTable(const BinMatrix & logRatio, const JointHistogram & histogram, bool forFixed)
{
  const MutualInformationParameters & parameters = histogram.parameters;
  const ParzenSetup                   setup = MakeParzenSetup(parameters);
  const IntensityRange &              range = forFixed ? parameters.fixedRange : parameters.movingRange;
  const double factor = -double(ParzenIntervals(parameters)) / (double(histogram.samples) * (range.high - range.low));
  const int    bins = parameters.bins;
  const auto   ratio = [&](int active, int other) {
    return logRatio[std::size_t(forFixed ? active * bins + other : other * bins + active)];
  };

  std::vector<float> table(MutualInformationTableSize(parameters), 0.0f);
  if (parameters.kind == MutualInformationKind::Approximate)
  {
    const BinMatrix derivatives = CenterDerivatives(logRatio, parameters, forFixed);
    std::transform(
      derivatives.begin(), derivatives.end(), table.begin(), [factor](double d) { return float(factor * d); });
    return table;
  }
  for (int other = 0; other < bins; ++other)
  {
    for (int active = 0; active < bins; ++active)
    {
      if (parameters.kind == MutualInformationKind::Gaussian)
      {
        const int padding = setup.window.taps / 2;
        table[std::size_t((other + padding) * setup.PaddedStride() + active + padding)] =
          float(factor * ratio(active, other));
      }
      else if (active + 1 < bins)
      {
        const bool        mattes = parameters.kind == MutualInformationKind::Mattes;
        const std::size_t at = std::size_t(mattes ? other * bins + active : active * bins + other);
        table[at] = float(factor * (ratio(active + 1, other) - ratio(active, other)));
      }
    }
  }
  return table;
}

} // namespace

MutualInformation
FinishMutualInformation(const JointHistogram & histogram, bool forFixed)
{
  const MutualInformationParameters & parameters = histogram.parameters;
  Require(histogram.samples > 0,
          "mutual information of no sample: the mask is empty, the images are NaN, or no intensity is in range");
  Require(!forFixed || parameters.kind != MutualInformationKind::Mattes,
          "the Mattes variant has no gradient for the fixed image: its histogram is piecewise constant in it");
  Require(histogram.counts.size() == std::size_t(parameters.bins) * std::size_t(parameters.bins),
          "a joint histogram does not fit its parameters");

  MutualInformation information;
  information.parameters = parameters;
  information.samples = histogram.samples;
  const BinMatrix logRatio = ComputeValue(SmoothedCounts(histogram), parameters.bins, information.value);
  information.movingTable = MakeTable(logRatio, histogram, false);
  if (forFixed)
  {
    information.fixedTable = MakeTable(logRatio, histogram, true);
  }
  return information;
}

double
ComputeMutualInformation(const MutualInformationParameters &    parameters,
                         const VolumeView<const float> &        fixed,
                         const VolumeView<const float> &        moving,
                         const VolumeView<const std::uint8_t> & mask,
                         const VolumeView<float> &              gradientMoving,
                         const VolumeView<float> &              gradientFixed,
                         unsigned                               threads)
{
  const MutualInformation information =
    FinishMutualInformation(ComputeJointHistogram(parameters, fixed, moving, mask, threads), bool(gradientFixed));
  if (gradientMoving || gradientFixed)
  {
    MutualInformationGradient(information, fixed, moving, mask, gradientMoving, gradientFixed, threads);
  }
  return information.value;
}

} // namespace ffdp
