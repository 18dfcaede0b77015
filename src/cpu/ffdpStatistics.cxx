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
#include "ffdpStatisticsDetail.h"

#include <algorithm>
#include <cmath>

#define FFDP_KERNEL_FILE "ffdpStatisticsKernel.h"
#include "ffdpForEachInstructionSet.h"

namespace ffdp
{
namespace
{

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
  RequireStatisticsInputs(image, mask);
  const RowPieces pieces{ image.domain.y, image.firstPlane, image.planes };
  const auto      kernel = mask ? FFDP_SELECT_KERNEL(RunStatistics<true>) : FFDP_SELECT_KERNEL(RunStatistics<false>);
  std::vector<Statistics> partials(static_cast<std::size_t>(pieces.Count()));
  ParallelFor(pieces.Count(), threads, [&](std::int64_t piece, unsigned) {
    Statistics joined; // local: neighbors in `partials` share a cache line
    ForEachRun(image, mask, pieces, piece, [&](const float * values, const std::uint8_t * inside, std::int64_t n) {
      JoinStatistics(joined, kernel(values, inside, n));
    });
    partials[std::size_t(piece)] = joined;
  });

  std::vector<Statistics> planes(static_cast<std::size_t>(image.planes));
  for (std::int64_t piece = 0; piece < pieces.Count(); ++piece)
  {
    JoinStatistics(planes[std::size_t(pieces.Plane(piece) - image.firstPlane)], partials[std::size_t(piece)]);
  }
  return planes;
}

Statistics
CombineStatistics(const std::vector<Statistics> & parts)
{
  Statistics whole;
  for (const Statistics & part : parts)
  {
    JoinStatistics(whole, part);
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
  RequireStatisticsInputs(image, mask);
  const HistogramBins       range = MakeHistogramBins(low, high, bins);
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
  return MakeIntensityHistogram(range, total);
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
