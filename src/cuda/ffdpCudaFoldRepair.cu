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
#include "ffdpCudaFoldRepair.h"

#include "ffdpCudaLargest.h"
#include "ffdpFoldRepairArguments.h"
#include "ffdpFoldRepairTerms.h"

/** Bytes per voxel: 4 where there is no fold; where there are some, 4 more, and for each voxel that is changed the
 * displacements around it and 52 (its entry in a list, written and read, and what it becomes). The 27 determinants
 * around a voxel come from cache: rows, as in ffdpCudaRows.h, share theirs with the rows beside them.
 *
 * Changed voxels are counted first, so that the list has room for them and no more. In which order they enter it does
 * not show: each is written back to its own place. */
namespace ffdp
{
namespace cuda
{
namespace
{

constexpr unsigned ChangesPerBlock = 128;
constexpr unsigned FewestBlocks = 8; // on a multiprocessor: 64 registers per thread, so that none has to be spilled

struct Folds
{
  WarpView<float>         u; ///< its planes are done
  VolumeView<const float> determinant;
  float                   least;

  __device__ bool
  AreNear(std::int64_t x, std::int64_t y, std::int64_t z, const Neighborhood & around) const
  {
    return HasFoldNear(determinant.Row(y, z) + x, determinant.rowStride, determinant.planeStride, around, least);
  }
};

/** Voxels to change, as offsets from the first of u's, and what becomes of them. */
struct ChangeList
{
  std::int64_t * offsets;
  float *        displacements; ///< component after component
  std::int64_t   count;
};

__global__ void
__launch_bounds__(RowBlockWidth) CountFoldsKernel(Folds folds, unsigned long long * count)
{
  unsigned found = 0;
  ForEachVoxel(folds.u, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    found += folds.AreNear(x, y, z, NeighborhoodOf(x, y, z, folds.u.domain)) ? 1 : 0;
  });
  for (int offset = 16; offset > 0; offset /= 2)
  {
    found += __shfl_xor_sync(0xffffffffu, found, offset);
  }
  if (threadIdx.x % 32 == 0 && found > 0)
  {
    atomicAdd(count, static_cast<unsigned long long>(found));
  }
}

__global__ void
__launch_bounds__(RowBlockWidth, FewestBlocks)
  ListFoldsKernel(Folds folds, ChangeList changes, unsigned long long * listed)
{
  const WarpView<float> & u = folds.u;
  ForEachVoxel(u, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    const Neighborhood around = NeighborhoodOf(x, y, z, u.domain);
    if (folds.AreNear(x, y, z, around))
    {
      const std::int64_t entry = std::int64_t(atomicAdd(listed, 1ull));
      const std::int64_t offset = (z - u.firstPlane) * u.planeStride + y * u.rowStride + x;
      changes.offsets[entry] = offset;
#pragma unroll
      for (int c = 0; c < 3; ++c)
      {
        changes.displacements[c * changes.count + entry] =
          IronedDisplacement(u.component[c] + offset, u.rowStride, u.planeStride, around);
      }
    }
  });
}

__global__ void
__launch_bounds__(ChangesPerBlock) ApplyChangesKernel(ChangeList changes, WarpView<float> u)
{
  const std::int64_t entry = std::int64_t(blockIdx.x) * ChangesPerBlock + threadIdx.x;
  if (entry < changes.count)
  {
#pragma unroll
    for (int c = 0; c < 3; ++c)
    {
      u.component[c][changes.offsets[entry]] = changes.displacements[c * changes.count + entry];
    }
  }
}

} // namespace

std::int64_t
IronFolds(Device &                        device,
          const WarpView<float> &         u,
          std::int64_t                    firstOwned,
          std::int64_t                    ownedPlanes,
          const VolumeView<const float> & determinant,
          float                           least)
{
  CheckFoldRepair(u, firstOwned, ownedPlanes, determinant);
  if (ownedPlanes <= 0)
  {
    return 0;
  }
  const Folds                      folds{ u.Planes(firstOwned, ownedPlanes), determinant, least };
  DeviceBuffer<unsigned long long> counts(device, 2); // found, and listed so far
  counts.FillZero();
  Launch(device, FewRowsOf(device, folds.u), CountFoldsKernel, folds, counts.Data());
  const std::int64_t count = std::int64_t(counts.ToHost()[0]);
  if (count > 0)
  {
    const DeviceBuffer<std::int64_t> offsets(device, count);
    const DeviceBuffer<float>        displacements(device, 3 * count);
    const ChangeList                 changes{ offsets.Data(), displacements.Data(), count };
    Launch(device, RowsOf(folds.u), ListFoldsKernel, folds, changes, counts.Data() + 1);
    LaunchShape entries;
    entries.block = dim3(ChangesPerBlock);
    entries.grid = dim3(BlocksFor(count, ChangesPerBlock));
    Launch(device, entries, ApplyChangesKernel, changes, folds.u);
  }
  return count;
}

} // namespace cuda
} // namespace ffdp
