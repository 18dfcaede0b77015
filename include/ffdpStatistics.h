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
#ifndef ffdpStatistics_h
#define ffdpStatistics_h

#include "FFDPExport.h"
#include "ffdpVolume.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace ffdp
{

/** What is known of a set of voxels. Values that are infinite or not a number are counted and left out. */
struct Statistics
{
  std::int64_t count = 0;     ///< finite voxels
  std::int64_t notFinite = 0; ///< the others: NaN and infinite
  float        minimum = std::numeric_limits<float>::infinity();
  float        maximum = -std::numeric_limits<float>::infinity();
  double       mean = 0;
  double       squares = 0; ///< sum of squared deviations from the mean

  /** The mean squared deviation; 0 for no voxels. */
  double
  Variance() const
  {
    return count > 0 ? squares / double(count) : 0.0;
  }
};

/** The statistics of each plane that `image` holds, over the voxels where the mask, if given, is not 0.
 *
 * One pass. Means and deviations are found per run of at most 1024 voxels of a row and joined in double
 * precision, so that an image of mean 1e6 and deviation 1 loses nothing. No halo; extra memory: a Statistics
 * per 32 rows. Slabs concatenate their planes. */
FFDP_EXPORT std::vector<Statistics>
            PlaneStatistics(const VolumeView<const float> &        image,
                            const VolumeView<const std::uint8_t> & mask = {},
                            unsigned                               threads = 0);

/** Joins sets of voxels in the order given; the planes of a volume in their order give the volume's. */
FFDP_EXPORT Statistics
CombineStatistics(const std::vector<Statistics> & parts);

/** How many voxels lie in each of many equal bins of [low, high]. */
struct IntensityHistogram
{
  float                     low = 0;
  float                     high = 0;
  std::vector<std::int64_t> counts;    ///< bin b holds [low + b w, low + (b + 1) w), the last one `high` too
  std::int64_t              below = 0; ///< voxels below `low`
  std::int64_t              above = 0; ///< voxels above `high`

  /** The value below which a fraction of the voxels lies, linear within a bin: at most the width of a bin away
   * from the exact one, and within [low, high]. `low` if there are no voxels. */
  FFDP_EXPORT double
  Quantile(double fraction) const;

  /** Adds the counts of another slab, taken over the same range. */
  FFDP_EXPORT void
  Add(const IntensityHistogram & other);
};

/** Counts finite voxels where the mask, if given, is not 0. low and high usually are the minimum and maximum of
 * the whole volume (not of the slab). Where a few values far out make the bins too wide, take the histogram
 * once more between two of its quantiles: it counts what lies outside, so its quantiles stay those of all
 * voxels. Extra memory: two histograms per thread. */
FFDP_EXPORT IntensityHistogram
MeasureHistogram(const VolumeView<const float> &        image,
                 float                                  low,
                 float                                  high,
                 const VolumeView<const std::uint8_t> & mask = {},
                 std::int64_t                           bins = 4096,
                 unsigned                               threads = 0);

/** Intensities from low to high. */
struct IntensityRange
{
  double low = 0;
  double high = 1;
};

/** The range of an image without its darkest and brightest few voxels. */
FFDP_EXPORT IntensityRange
RobustRange(const IntensityHistogram & histogram, double lowerFraction = 0.005, double upperFraction = 0.995);

} // namespace ffdp

#endif
