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

/** Bytes per voxel: Scale 8 (read, write), Add 12, CombineMasks 9, FindValid 9 to 17, PullIntoRange 8. Nothing is
 * reused, so the rows of ffdpCudaRows.h are the block shape: they coalesce, which is all there is to gain. */
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

/** Counts go to their plane as integers, which no order of addition changes: one atomic per warp. */
__global__ void
FindValidKernel(VolumeView<const float>  fixed,
                VolumeView<const float>  moving,
                VolumeView<const float>  fixedMask,
                VolumeView<const float>  movingMask,
                VolumeView<std::uint8_t> valid,
                unsigned long long *     counts)
{
  const std::int64_t x = std::int64_t(blockIdx.x) * RowBlockWidth + threadIdx.x;
  for (std::int64_t z = valid.firstPlane + blockIdx.z; z < valid.EndPlane(); z += gridDim.z)
  {
    for (std::int64_t y = blockIdx.y; y < valid.domain.y; y += gridDim.y)
    {
      bool isValid = false;
      if (x < valid.domain.x)
      {
        const float f = fixed.Row(y, z)[x], m = moving.Row(y, z)[x];
        isValid = f == f && m == m && (!fixedMask || fixedMask.Row(y, z)[x] >= 0.5f) &&
                  (!movingMask || movingMask.Row(y, z)[x] >= 0.5f);
        valid.Row(y, z)[x] = isValid ? 1 : 0;
      }
      const unsigned votes = __ballot_sync(0xffffffffu, isValid);
      if (threadIdx.x % 32 == 0 && votes != 0)
      {
        atomicAdd(counts + (z - valid.firstPlane), static_cast<unsigned long long>(__popc(votes)));
      }
    }
  }
}

__global__ void
PullIntoRangeKernel(VolumeView<float> volume, RangeGuard guard)
{
  ForEachVoxel(volume, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    float &     voxel = volume.Row(y, z)[x];
    const float value = voxel;
    const bool  justBelow = value < guard.low && value >= guard.lowest;
    const bool  justAbove = value > guard.high && value <= guard.highest;
    voxel = justBelow ? guard.low : justAbove ? guard.high : value;
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

std::vector<std::int64_t>
FindValid(Device &                         device,
          const VolumeView<const float> &  fixed,
          const VolumeView<const float> &  moving,
          const VolumeView<const float> &  fixedMask,
          const VolumeView<const float> &  movingMask,
          const VolumeView<std::uint8_t> & valid)
{
  DeviceBuffer<unsigned long long> counts(device, valid.planes);
  if (valid.planes > 0)
  {
    counts.FillZero();
    Launch(device, RowsOf(valid), FindValidKernel, fixed, moving, fixedMask, movingMask, valid, counts.Data());
  }
  const std::vector<unsigned long long> found = counts.ToHost();
  return std::vector<std::int64_t>(found.begin(), found.end());
}

void
PullIntoRange(Device & device, const VolumeView<float> & volume, const RangeGuard & guard)
{
  if (volume.planes > 0)
  {
    Launch(device, RowsOf(volume), PullIntoRangeKernel, volume, guard);
  }
}

} // namespace cuda
} // namespace ffdp
