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
#include "ffdpCudaEdgeStrength.h"

#include "ffdpCudaRows.h"
#include "ffdpEdgeStrengthArguments.h"
#include "ffdpEdgeStrengthTerms.h"

/** Done once per image, so the 125 voxels of a window are read one by one: neighbors along x share cache lines, and
 * those in other rows come from the caches. */
namespace ffdp
{
namespace cuda
{
namespace
{

__device__ inline std::int64_t
Inside(std::int64_t i, std::int64_t size)
{
  return i < 0 ? 0 : i < size ? i : size - 1;
}

__global__ void
EdgeStrengthKernel(VolumeView<const float> image, float noise, VolumeView<float> edges)
{
  ForEachVoxel(edges, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    const Extent & domain = image.domain;
    const float    own = image.Row(y, z)[x];
    EdgeSums       sums = {};
    for (int dz = -EdgeWindowRadius; dz <= EdgeWindowRadius; ++dz)
    {
      for (int dy = -EdgeWindowRadius; dy <= EdgeWindowRadius; ++dy)
      {
        const float * row = image.Row(Inside(y + dy, domain.y), Inside(z + dz, domain.z));
        for (int dx = -EdgeWindowRadius; dx <= EdgeWindowRadius; ++dx)
        {
          AddToEdgeWindow(own, row[Inside(x + dx, domain.x)], sums.difference, sums.square);
        }
        if (dy >= -1 && dy <= 1 && dz >= -1 && dz <= 1)
        {
          AddToEdgeSlopes(dy,
                          dz,
                          row[Inside(x - 1, domain.x)],
                          row[x],
                          row[Inside(x + 1, domain.x)],
                          sums.slope[0],
                          sums.slope[1],
                          sums.slope[2]);
        }
      }
    }
    edges.Row(y, z)[x] = FinishEdge(sums.difference, sums.square, sums.slope[0], sums.slope[1], sums.slope[2], noise);
  });
}

} // namespace

void
EdgeStrength(Device & device, const VolumeView<const float> & image, float noise, const VolumeView<float> & edges)
{
  CheckEdgeStrength(image, noise, edges);
  if (edges.planes > 0)
  {
    Launch(device, RowsOf(edges), EdgeStrengthKernel, image, noise, edges);
  }
}

} // namespace cuda
} // namespace ffdp
