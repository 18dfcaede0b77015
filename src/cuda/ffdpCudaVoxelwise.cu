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
#include "ffdpCudaVoxelwise.h"

#include "ffdpCudaRows.h"

/** Bytes per voxel: Scale 8 (read, write), Add 12, CombineMasks 9. Nothing is reused, so the rows of
 * ffdpCudaRows.h are the block shape: they coalesce, which is all there is to gain. */
namespace ffdp
{
namespace cuda
{
namespace
{

__global__ void
ScaleKernel(VolumeView<float> volume, float factor)
{
  ForEachVoxel(volume, [&](std::int64_t x, std::int64_t y, std::int64_t z) { volume.Row(y, z)[x] *= factor; });
}

__global__ void
AddKernel(VolumeView<float> to, VolumeView<const float> from)
{
  ForEachVoxel(to, [&](std::int64_t x, std::int64_t y, std::int64_t z) { to.Row(y, z)[x] += from.Row(y, z)[x]; });
}

__global__ void
CombineMasksKernel(VolumeView<const float> fixed, VolumeView<const float> moved, VolumeView<std::uint8_t> mask)
{
  ForEachVoxel(mask, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    const bool insideFixed = !fixed || fixed.Row(y, z)[x] >= 0.5f;
    const bool insideMoved = !moved || moved.Row(y, z)[x] >= 0.5f;
    mask.Row(y, z)[x] = insideFixed && insideMoved ? 1 : 0;
  });
}

} // namespace

void
Scale(Device & device, const VolumeView<float> & volume, float factor)
{
  if (volume.planes > 0)
  {
    Launch(device, RowsOf(volume), ScaleKernel, volume, factor);
  }
}

void
Add(Device & device, const VolumeView<float> & to, const VolumeView<const float> & from)
{
  if (to.planes > 0)
  {
    Launch(device, RowsOf(to), AddKernel, to, from);
  }
}

void
CombineMasks(Device &                         device,
             const VolumeView<const float> &  fixed,
             const VolumeView<const float> &  moved,
             const VolumeView<std::uint8_t> & mask)
{
  if (mask.planes > 0)
  {
    Launch(device, RowsOf(mask), CombineMasksKernel, fixed, moved, mask);
  }
}

} // namespace cuda
} // namespace ffdp
