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
#include "ffdpImageIntensities.h"

#include "ffdpCheck.h"

namespace ffdp
{

Statistics
MeasureImage(Backend & backend, Communicator & communicator, const VolumeView<const float> & image)
{
  constexpr std::size_t Numbers = 6;
  std::vector<double>   own;
  if (image.planes > 0)
  {
    for (const Statistics & plane : backend.PlaneStatistics(image))
    {
      own.insert(own.end(),
                 { double(plane.count),
                   double(plane.notFinite),
                   double(plane.minimum),
                   double(plane.maximum),
                   plane.mean,
                   plane.squares });
    }
  }
  const std::vector<double> all = communicator.Gather(own);
  std::vector<Statistics>   planes;
  for (std::size_t i = 0; i + Numbers <= all.size(); i += Numbers)
  {
    planes.push_back(
      { std::int64_t(all[i]), std::int64_t(all[i + 1]), float(all[i + 2]), float(all[i + 3]), all[i + 4], all[i + 5] });
  }
  const Statistics statistics = CombineStatistics(planes);
  Require(statistics.notFinite == 0, "an image holds values that are infinite or not a number");
  Require(statistics.count > 0 && statistics.maximum > statistics.minimum,
          "an image is constant: there is nothing to align");
  return statistics;
}

IntensityHistogram
MeasureHistogram(Backend &                       backend,
                 Communicator &                  communicator,
                 const VolumeView<const float> & image,
                 const Statistics &              statistics)
{
  constexpr std::int64_t Bins = 4096;
  IntensityHistogram     histogram;
  histogram.low = statistics.minimum;
  histogram.high = statistics.maximum;
  histogram.counts.assign(std::size_t(Bins), 0);
  if (image.planes > 0)
  {
    histogram = backend.MeasureHistogram(image, statistics.minimum, statistics.maximum, Bins);
  }
  communicator.Sum(histogram.counts.data(), histogram.counts.size());
  return histogram;
}

IntensityRange
RangeOf(const IntensityHistogram & histogram)
{
  const IntensityRange range = RobustRange(histogram, 0.001, 0.999);
  return range.low < range.high ? range : IntensityRange{ histogram.low, histogram.high };
}

IntensityRange
MeasureRange(Backend &                       backend,
             Communicator &                  communicator,
             const VolumeView<const float> & image,
             const Statistics &              statistics)
{
  return RangeOf(MeasureHistogram(backend, communicator, image, statistics));
}

} // namespace ffdp
