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
#include "ffdpAlignedBuffer.h"
#include "ffdpCheck.h"
#include "ffdpImageMetric.h"
#include "ffdpMetricPlanes.h"
#include "ffdpResample.h"
#include "ffdpStatistics.h"

#include <algorithm>

namespace ffdp
{

IntensityRange
MeasureIntensityRange(const MetricImage & asked, unsigned threads)
{
  Require(bool(asked.image), "the image is missing");
  MetricImage image = asked; // on its own grid
  image.map = CompositeMap();
  const Extent &              size = image.image.Domain();
  const std::int64_t          planeVoxels = size.x * size.y;
  const std::int64_t          piece = std::min(size.z, std::max<std::int64_t>(1, 262144 / planeVoxels));
  AlignedBuffer<float>        floats(image.image.floats ? 0 : std::size_t(piece * planeVoxels));
  AlignedBuffer<std::uint8_t> inside(image.mask ? std::size_t(piece * planeVoxels) : 0);
  std::vector<Statistics>     parts;
  for (std::int64_t first = 0; first < size.z; first += piece)
  {
    const std::int64_t       count = std::min(piece, size.z - first);
    VolumeView<const float>  values;
    VolumeView<std::uint8_t> mask;
    if (image.image.floats)
    {
      values = image.image.floats.Planes(first, count);
    }
    else
    {
      const VolumeView<float> converted(floats.Data(), size, first, count);
      Resample(ConstPixelView(image.image.doubles), CompositeMap(), WarpInput(), PixelView(converted), {}, threads);
      values = converted;
    }
    if (image.mask)
    {
      mask = VolumeView<std::uint8_t>(inside.Data(), size, first, count);
      SampleMask(image, {}, mask, threads);
    }
    parts.push_back(CombineStatistics(PlaneStatistics(values, mask, threads)));
  }
  const Statistics whole = CombineStatistics(parts);
  IntensityRange   range;
  range.low = whole.minimum;
  range.high = whole.maximum;
  return range;
}

} // namespace ffdp
