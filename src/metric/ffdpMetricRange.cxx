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
#include "ffdpParallel.h"
#include "ffdpResample.h"

#include <algorithm>
#include <limits>

#define FFDP_KERNEL_FILE "ffdpMetricPlanesKernel.h"
#include "ffdpForEachInstructionSet.h"

namespace ffdp
{
namespace
{

/** Widens the range to the values of some planes. */
void
Widen(const VolumeView<const float> &        values,
      const VolumeView<const std::uint8_t> & mask,
      unsigned                               threads,
      IntensityRange &                       range)
{
  const auto         kernel = mask ? FFDP_SELECT_KERNEL(WidenRange<true>) : FFDP_SELECT_KERNEL(WidenRange<false>);
  const float        none = std::numeric_limits<float>::infinity();
  std::vector<float> ranges(std::size_t(2 * values.planes));
  ParallelFor(values.planes, threads, [&](std::int64_t plane, unsigned) {
    const std::int64_t z = values.firstPlane + plane;
    float * const      mine = ranges.data() + 2 * plane;
    mine[0] = none;
    mine[1] = -none;
    for (std::int64_t y = 0; y < values.domain.y; ++y)
    {
      kernel(values.Row(y, z), mask ? mask.Row(y, z) : nullptr, values.domain.x, mine);
    }
  });
  for (std::size_t i = 0; i < ranges.size(); i += 2)
  {
    range.low = std::min(range.low, double(ranges[i]));
    range.high = std::max(range.high, double(ranges[i + 1]));
  }
}

} // namespace

IntensityRange
MeasureIntensityRange(const MetricImage & asked, unsigned threads)
{
  Require(bool(asked.image), "the image is missing");
  MetricImage image = asked; // on its own grid
  image.map = CompositeMap();
  const Extent &       size = image.image.Domain();
  const std::int64_t   planeVoxels = size.x * size.y;
  const bool           inPlace = image.image.floats && !image.mask;
  const std::int64_t   piece = inPlace ? size.z : std::min(size.z, std::max<std::int64_t>(1, 262144 / planeVoxels));
  AlignedBuffer<float> floats(image.image.floats ? 0 : std::size_t(piece * planeVoxels));
  AlignedBuffer<std::uint8_t> inside(image.mask ? std::size_t(piece * planeVoxels) : 0);
  IntensityRange              range;
  range.low = std::numeric_limits<double>::infinity();
  range.high = -range.low;
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
    Widen(values, mask, threads, range);
  }
  return range;
}

} // namespace ffdp
