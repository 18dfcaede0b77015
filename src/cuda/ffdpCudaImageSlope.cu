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
#include "ffdpCudaImageSlope.h"

#include "ffdpCudaRows.h"
#include "ffdpImageSlopeArguments.h"
#include "ffdpImageSlopeTerms.h"

/** Bytes per voxel: 32 from and to memory (weight and image once, three components read and written), and with a
 * mask 33. The six neighbors of a voxel are in rows that blocks beside this one read at the same time: they come from
 * the second level cache, and the rows of ffdpCudaRows.h, which coalesce, need no shared memory. */
namespace ffdp
{
namespace cuda
{
namespace
{

__global__ void
AddImageSlopeKernel(VolumeView<const float>        image,
                    VolumeView<const std::uint8_t> mask,
                    VolumeView<const float>        weights,
                    float                          factor,
                    WarpView<float>                gradient)
{
  ForEachVoxel(weights, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    const Extent & domain = image.domain;
    const float    weight = factor * weights.Row(y, z)[x];
    const float    own = image.Row(y, z)[x];
    const auto     at = [&](std::int64_t i, std::int64_t j, std::int64_t k) {
      const float neighbor = image.Row(j, k)[i];
      return mask ? NeighborInMask(neighbor, mask.Row(j, k)[i], own) : neighbor;
    };
    const float before[3] = { at(x > 0 ? x - 1 : 0, y, z), at(x, y > 0 ? y - 1 : 0, z), at(x, y, z > 0 ? z - 1 : 0) };
    const float after[3] = { at(x + 1 < domain.x ? x + 1 : x, y, z),
                             at(x, y + 1 < domain.y ? y + 1 : y, z),
                             at(x, y, z + 1 < domain.z ? z + 1 : z) };
    for (int c = 0; c < 3; ++c)
    {
      float & to = gradient.Row(c, y, z)[x];
      to = WithSlope(to, weight, before[c], after[c]);
    }
  });
}

} // namespace

void
AddImageSlope(Device &                               device,
              const VolumeView<const float> &        image,
              const VolumeView<const std::uint8_t> & mask,
              const VolumeView<const float> &        weights,
              float                                  factor,
              const WarpView<float> &                gradient)
{
  CheckImageSlope(image, mask, weights, gradient);
  if (weights.planes > 0)
  {
    Launch(device, RowsOf(weights), AddImageSlopeKernel, image, mask, weights, factor, gradient);
  }
}

} // namespace cuda
} // namespace ffdp
