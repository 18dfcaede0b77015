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
#include "ffdpCudaMaskCount.h"

#include "ffdpCudaRows.h"
#include "ffdpCudaWarpSum.h"

/** Bytes per voxel: 1, read once. The rows of ffdpCudaRows.h: a warp reads 32 neighboring bytes, one sector. A thread
 * counts its column over the rows that its block takes, and a warp adds to its plane's number once: integers, so the
 * order of additions does not matter. */
namespace ffdp
{
namespace cuda
{
namespace
{

constexpr std::int64_t RowsPerBlock = 32;

__global__ void
CountMaskKernel(VolumeView<const std::uint8_t> mask, unsigned long long * counts)
{
  const std::int64_t x = std::int64_t(blockIdx.x) * RowBlockWidth + threadIdx.x;
  for (std::int64_t z = blockIdx.z; z < mask.planes; z += gridDim.z)
  {
    unsigned long long count = 0;
    for (std::int64_t first = blockIdx.y * RowsPerBlock; first < mask.domain.y; first += gridDim.y * RowsPerBlock)
    {
      const std::int64_t end = first + RowsPerBlock < mask.domain.y ? first + RowsPerBlock : mask.domain.y;
      for (std::int64_t y = first; x < mask.domain.x && y < end; ++y)
      {
        count += mask.Row(y, mask.firstPlane + z)[x] != 0 ? 1 : 0;
      }
    }
    count = SumOfLanes<32>(count);
    if (threadIdx.x % 32 == 0 && count > 0)
    {
      atomicAdd(counts + z, count);
    }
  }
}

} // namespace

PlaneCounts::PlaneCounts(Device &                               device,
                         const VolumeView<const std::uint8_t> & mask,
                         const Extent &                         domain,
                         std::int64_t                           firstPlane,
                         std::int64_t                           planes)
  : m_Planes(planes)
  , m_VoxelsPerPlane(domain.x * domain.y)
  , m_Counts(device, mask ? planes : 0)
{
  if (m_Counts.Count() > 0)
  {
    m_Counts.FillZero();
    const VolumeView<const std::uint8_t> counted = mask.Planes(firstPlane, planes);
    LaunchShape                          shape = RowsOf(counted);
    shape.grid.y = BlocksFor(shape.grid.y, RowsPerBlock);
    Launch(device, shape, CountMaskKernel, counted, m_Counts.Data());
  }
}

std::vector<std::int64_t>
PlaneCounts::PerPlane() const
{
  if (m_Counts.Count() == 0)
  {
    return std::vector<std::int64_t>(std::size_t(m_Planes), m_VoxelsPerPlane);
  }
  const std::vector<unsigned long long> counts = m_Counts.ToHost();
  return std::vector<std::int64_t>(counts.begin(), counts.end());
}

std::int64_t
PlaneCounts::Total() const
{
  std::int64_t total = 0;
  for (const std::int64_t count : this->PerPlane())
  {
    total += count;
  }
  return total;
}

} // namespace cuda
} // namespace ffdp
