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
#ifndef ffdpDownsampleWeights_h
#define ffdpDownsampleWeights_h

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace ffdp
{

/** The Gaussian of `sigma`, cut at `radius` and scaled to area 1, integrated twice from the left. Its second
 * difference over a step of 1 is the Gaussian convolved with the hat function of linear interpolation. */
inline double
TwiceIntegratedGaussian(double t, double sigma, double radius)
{
  if (t <= -radius)
  {
    return 0;
  }
  if (t >= radius)
  {
    return t; // area 1, centered at 0
  }
  const auto   density = [](double s) { return std::exp(-0.5 * s * s) * 0.3989422804014327; };
  const auto   cumulative = [](double s) { return 0.5 * std::erfc(-s * 0.7071067811865476); };
  const double s = t / sigma;
  const double r = radius / sigma;
  const double area = cumulative(r) - cumulative(-r);
  return sigma * (s * (cumulative(s) - cumulative(-r)) + density(s) - density(r)) / area;
}

/** For each coarse index along one axis, the fine indices it is made of and their weights. */
struct DownsampleWeights
{
  std::vector<std::int64_t> first;    ///< the first tap of each coarse index
  std::vector<std::int64_t> count;    ///< how many taps it has
  std::vector<float>        weights;  ///< `taps` per coarse index; 0 beyond count
  std::int64_t              taps = 0; ///< the largest count

  /** For the coarse indices [begin, end). */
  DownsampleWeights(std::int64_t begin,
                    std::int64_t end,
                    std::int64_t fineSize,
                    double       scale,
                    double       offset,
                    double       sigma,
                    double       truncation)
  {
    const double        radius = sigma * truncation;
    const auto          reach = std::int64_t(std::min(std::ceil(radius) + 1, double(fineSize)));
    std::vector<double> tap;
    taps = std::min(fineSize, 2 * reach + 1);
    weights.assign(std::size_t((end - begin) * taps), 0.0f);
    for (std::int64_t i = begin; i < end; ++i)
    {
      const double center = std::min(std::max(scale * double(i) + offset, 0.0), double(fineSize - 1));
      const auto   nearest = std::int64_t(center + 0.5);
      std::int64_t low = std::max<std::int64_t>(0, nearest - reach);
      std::int64_t high = std::min(fineSize - 1, nearest + reach);
      const auto   weight = [&](std::int64_t j) {
        const double t = double(j) - center;
        return TwiceIntegratedGaussian(t + 1, sigma, radius) - 2 * TwiceIntegratedGaussian(t, sigma, radius) +
               TwiceIntegratedGaussian(t - 1, sigma, radius);
      };
      // What is as small as the rounding of the positions is no tap: it would cost a plane of halo.
      const double nothing = 1e-9;
      while (low < high && weight(low) < nothing)
      {
        ++low;
      }
      while (low < high && weight(high) < nothing)
      {
        --high;
      }
      tap.clear();
      double sum = 0;
      for (std::int64_t j = low; j <= high; ++j)
      {
        tap.push_back(std::max(0.0, weight(j)));
        sum += tap.back();
      }
      Store(i - begin, low, tap, sum);
    }
    Pack();
  }

private:
  void
  Store(std::int64_t row, std::int64_t low, const std::vector<double> & tap, double sum)
  {
    float * out = weights.data() + row * taps;
    double  missing = 1;
    for (std::size_t t = 0; t < tap.size(); ++t)
    {
      out[t] = float(tap[t] / sum);
      missing -= double(out[t]);
    }
    // Rounding of the weights must not brighten or darken: the largest one takes it.
    float & largest = *std::max_element(out, out + tap.size());
    largest = float(double(largest) + missing);
    first.push_back(low);
    count.push_back(std::int64_t(tap.size()));
  }

  /** Keeps no more taps per coarse index than the one with the most of them has. */
  void
  Pack()
  {
    const std::int64_t most = count.empty() ? 0 : *std::max_element(count.begin(), count.end());
    for (std::size_t row = 0; row < count.size(); ++row)
    {
      std::copy_n(weights.begin() + std::int64_t(row) * taps, most, weights.begin() + std::int64_t(row) * most);
    }
    weights.resize(count.size() * std::size_t(most));
    taps = most;
  }
};

} // namespace ffdp

#endif
