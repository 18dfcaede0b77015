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
#include "ffdpImageSlope.h"

#include "ffdpImageSlopeArguments.h"
#include "ffdpImageSlopeTerms.h"
#include "ffdpParallel.h"

#include <algorithm>

namespace ffdp
{
namespace
{

/** One component of a row, along an axis whose neighbors are in other rows. */
void
AddAcross(const float * weights,
          float         factor,
          const float * before,
          const float * after,
          std::int64_t  count,
          float *       to)
{
  for (std::int64_t x = 0; x < count; ++x)
  {
    to[x] = WithSlope(to[x], factor * weights[x], before[x], after[x]);
  }
}

void
AddAlong(const float * weights, float factor, const float * row, std::int64_t count, float * to)
{
  const std::int64_t last = count - 1;
  to[0] = WithSlope(to[0], factor * weights[0], row[0], row[std::min<std::int64_t>(1, last)]);
  if (last > 1)
  {
    AddAcross(weights + 1, factor, row, row + 2, last - 1, to + 1);
  }
  if (last > 0)
  {
    to[last] = WithSlope(to[last], factor * weights[last], row[last - 1], row[last]);
  }
}

} // namespace

void
AddImageSlope(const VolumeView<const float> & image,
              const VolumeView<const float> & weights,
              float                           factor,
              const WarpView<float> &         gradient,
              unsigned                        threads)
{
  CheckImageSlope(image, weights, gradient);
  const Extent & domain = image.domain;
  const auto     beside = [](std::int64_t at, std::int64_t shift, std::int64_t size) {
    return std::max<std::int64_t>(0, std::min(size - 1, at + shift));
  };
  ParallelFor(weights.planes, threads, [&](std::int64_t plane, unsigned) {
    const std::int64_t z = weights.firstPlane + plane;
    for (std::int64_t y = 0; y < domain.y; ++y)
    {
      const float * const w = weights.Row(y, z);
      const auto          row = [&](std::int64_t dy, std::int64_t dz) {
        return image.Row(beside(y, dy, domain.y), beside(z, dz, domain.z));
      };
      AddAlong(w, factor, row(0, 0), domain.x, gradient.Row(0, y, z));
      AddAcross(w, factor, row(-1, 0), row(1, 0), domain.x, gradient.Row(1, y, z));
      AddAcross(w, factor, row(0, -1), row(0, 1), domain.x, gradient.Row(2, y, z));
    }
  });
}

} // namespace ffdp
