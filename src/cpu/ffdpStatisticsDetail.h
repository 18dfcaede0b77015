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
#ifndef ffdpStatisticsDetail_h
#define ffdpStatisticsDetail_h

#include "ffdpCheck.h"
#include "ffdpStatistics.h"
#include "ffdpStatisticsTerms.h"

#include <cmath>
#include <cstdint>
#include <vector>

/** What the statistics of every device share. */
namespace ffdp
{

constexpr std::int64_t StatisticsRun = 1024; ///< voxels of a row that are summed before they are joined

/** Chan's formula for the mean and the deviations of two sets. */
FFDP_VOXEL_INLINE void
JoinStatistics(Statistics & whole, const Statistics & part)
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
  whole.minimum = part.minimum < whole.minimum ? part.minimum : whole.minimum;
  whole.maximum = part.maximum > whole.maximum ? part.maximum : whole.maximum;
}

inline void
RequireStatisticsInputs(const VolumeView<const float> & image, const VolumeView<const std::uint8_t> & mask)
{
  RequireUsable(image, "the image");
  if (mask)
  {
    RequirePlanes(mask, image.firstPlane, image.EndPlane(), 0, "the mask");
    RequireSameDomain(image.domain, mask.domain, "the image and the mask");
  }
}

/** Throws std::invalid_argument if there is no such histogram. */
inline HistogramBins
MakeHistogramBins(float low, float high, std::int64_t bins)
{
  Require(std::isfinite(low) && std::isfinite(high) && low <= high, "the range of a histogram is empty or not finite");
  Require(bins >= 1 && bins <= 1 << 20, "a histogram has between 1 and 1048576 bins");
  const double width = double(high) - double(low);
  const double perUnit = width > 0 ? double(bins) / width : 0.0;
  return HistogramBins{ low, high, std::isfinite(float(perUnit)) ? float(perUnit) : 0.0f, std::int32_t(bins) };
}

/** From the counts of all slots. */
template <typename TCount>
IntensityHistogram
MakeIntensityHistogram(const HistogramBins & range, const std::vector<TCount> & slots)
{
  IntensityHistogram histogram;
  histogram.low = range.low;
  histogram.high = range.high;
  histogram.counts.assign(slots.begin(), slots.begin() + range.bins);
  histogram.below = std::int64_t(slots[std::size_t(range.Below())]);
  histogram.above = std::int64_t(slots[std::size_t(range.Above())]);
  return histogram;
}

} // namespace ffdp

#endif
