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
#include "ffdpStatistics.h"

#include "ffdpCheck.h"
#include "ffdpParallel.h"
#include "ffdpRowLanes.h"
#include "ffdpRowPieces.h"
#include "ffdpStatisticsTerms.h"

#include <algorithm>
#include <cmath>

namespace ffdp
{
namespace
{
constexpr std::int64_t StatisticsRun = 1024; ///< voxels of a row that are summed before they are joined
}
} // namespace ffdp

#define FFDP_KERNEL_FILE "ffdpStatisticsKernel.h"
#include "ffdpForEachInstructionSet.h"

namespace ffdp
{
namespace
{

/** Chan's formula for the mean and the deviations of two sets. */
void
Join(Statistics & whole, const Statistics & part)
{
  whole.notFinite += part.notFinite;
  if (part.count == 0)
  {
    return;
  }
  const double n = double(whole.count);
  const double m = double(part.count);
  const double difference = part.mean - whole.mean;
  whole.mean += difference * (m / (n + m));
  whole.squares += part.squares + difference * difference * (n * m / (n + m));
  whole.count += part.count;
  whole.minimum = std::min(whole.minimum, part.minimum);
  whole.maximum = std::max(whole.maximum, part.maximum);
}

void
Check(const VolumeView<const float> & image, const VolumeView<const std::uint8_t> & mask)
{
  RequireUsable(image, "the image");
  if (mask)
  {
    RequirePlanes(mask, image.firstPlane, image.EndPlane(), 0, "the mask");
    RequireSameDomain(image.domain, mask.domain, "the image and the mask");
  }
}

/** Calls work(values, mask, n) for each run of the rows of a piece. */
template <typename TWork>
void
ForEachRun(const VolumeView<const float> &        image,
           const VolumeView<const std::uint8_t> & mask,
           const RowPieces &                      pieces,
           std::int64_t                           piece,
           TWork &&                               work)
{
  const std::int64_t z = pieces.Plane(piece);
  for (std::int64_t y = pieces.FirstRow(piece); y < pieces.EndRow(piece); ++y)
  {
    const float *        values = image.Row(y, z);
    const std::uint8_t * inside = mask ? mask.Row(y, z) : nullptr;
    for (std::int64_t x = 0; x < image.domain.x; x += StatisticsRun)
    {
      work(values + x, inside ? inside + x : nullptr, std::min(StatisticsRun, image.domain.x - x));
    }
  }
}

} // namespace

std::vector<Statistics>
PlaneStatistics(const VolumeView<const float> & image, const VolumeView<const std::uint8_t> & mask, unsigned threads)
{
  Check(image, mask);
  const RowPieces pieces{ image.domain.y, image.firstPlane, image.planes };
  const auto      kernel = mask ? FFDP_SELECT_KERNEL(RunStatistics<true>) : FFDP_SELECT_KERNEL(RunStatistics<false>);
  std::vector<Statistics> partials(static_cast<std::size_t>(pieces.Count()));
  ParallelFor(pieces.Count(), threads, [&](std::int64_t piece, unsigned) {
    Statistics joined; // local: neighbors in `partials` share a cache line
    ForEachRun(image, mask, pieces, piece, [&](const float * values, const std::uint8_t * inside, std::int64_t n) {
      Join(joined, kernel(values, inside, n));
    });
    partials[std::size_t(piece)] = joined;
  });

  std::vector<Statistics> planes(static_cast<std::size_t>(image.planes));
  for (std::int64_t piece = 0; piece < pieces.Count(); ++piece)
  {
    Join(planes[std::size_t(pieces.Plane(piece) - image.firstPlane)], partials[std::size_t(piece)]);
  }
  return planes;
}

Statistics
CombineStatistics(const std::vector<Statistics> & parts)
{
  Statistics whole;
  for (const Statistics & part : parts)
  {
    Join(whole, part);
  }
  return whole;
}

IntensityHistogram
MeasureHistogram(const VolumeView<const float> &        image,
                 float                                  low,
                 float                                  high,
                 const VolumeView<const std::uint8_t> & mask,
                 std::int64_t                           bins,
                 unsigned                               threads)
{
  Check(image, mask);
  Require(std::isfinite(low) && std::isfinite(high) && low <= high, "the range of a histogram is empty or not finite");
  Require(bins >= 1 && bins <= 1 << 20, "a histogram has between 1 and 1048576 bins");
  const double        width = double(high) - double(low);
  const double        perUnit = width > 0 ? double(bins) / width : 0.0;
  const HistogramBins range{ low, high, std::isfinite(float(perUnit)) ? float(perUnit) : 0.0f, std::int32_t(bins) };

  const std::size_t         slots = std::size_t(bins + 3);
  const std::size_t         workers = ResolveThreads(threads);
  std::vector<std::int64_t> counts(workers * 2 * slots);
  const RowPieces           pieces{ image.domain.y, image.firstPlane, image.planes };
  const auto                kernel = mask ? FFDP_SELECT_KERNEL(CountRun<true>) : FFDP_SELECT_KERNEL(CountRun<false>);
  ParallelFor(pieces.Count(), threads, [&](std::int64_t piece, unsigned worker) {
    std::int64_t * own = counts.data() + worker * 2 * slots;
    ForEachRun(image, mask, pieces, piece, [&](const float * values, const std::uint8_t * inside, std::int64_t n) {
      kernel(range, values, inside, n, own, own + slots);
    });
  });

  std::vector<std::int64_t> total(slots);
  for (std::size_t i = 0; i < counts.size(); ++i)
  {
    total[i % slots] += counts[i];
  }
  IntensityHistogram histogram;
  histogram.low = low;
  histogram.high = high;
  histogram.counts.assign(total.begin(), total.begin() + bins);
  histogram.below = total[std::size_t(range.Below())];
  histogram.above = total[std::size_t(range.Above())];
  return histogram;
}

double
IntensityHistogram::Quantile(double fraction) const
{
  std::int64_t total = below + above;
  for (const std::int64_t count : counts)
  {
    total += count;
  }
  const double target = std::min(std::max(fraction, 0.0), 1.0) * double(total);
  const double width = (double(high) - double(low)) / double(std::max<std::size_t>(1, counts.size()));
  double       passed = double(below);
  double       value = low;
  for (std::size_t bin = 0; bin < counts.size(); ++bin)
  {
    const auto count = double(counts[bin]);
    if (count > 0)
    {
      const double within = std::min(std::max((target - passed) / count, 0.0), 1.0);
      value = double(low) + width * (double(bin) + within);
      passed += count;
      if (passed >= target)
      {
        return value;
      }
    }
  }
  return above > 0 ? double(high) : value;
}

void
IntensityHistogram::Add(const IntensityHistogram & other)
{
  Require(low == other.low && high == other.high && counts.size() == other.counts.size(),
          "histograms over different ranges cannot be added");
  for (std::size_t bin = 0; bin < counts.size(); ++bin)
  {
    counts[bin] += other.counts[bin];
  }
  below += other.below;
  above += other.above;
}

IntensityRange
RobustRange(const IntensityHistogram & histogram, double lowerFraction, double upperFraction)
{
  Require(lowerFraction >= 0 && lowerFraction <= upperFraction && upperFraction <= 1,
          "the fractions of a robust range must rise within [0, 1]");
  return IntensityRange{ histogram.Quantile(lowerFraction), histogram.Quantile(upperFraction) };
}

} // namespace ffdp
