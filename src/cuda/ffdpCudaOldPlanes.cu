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
#include "ffdpCudaOldPlanes.h"

/** Bytes per voxel and component: 8 (read, write). Nothing is reused: rows, as in ffdpCudaRows.h. */
namespace ffdp
{
namespace cuda
{
namespace
{

__global__ void
CopyPlanesKernel(OldPlanes planes, WarpView<const float> copied, int components)
{
  ForEachVoxel(copied, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    const std::int64_t offset = planes.OffsetOfCopy(z) + y * copied.domain.x + x;
#pragma unroll
    for (int c = 0; c < 3; ++c)
    {
      if (c < components)
      {
        planes.copies[c][offset] = copied.Row(c, y, z)[x];
      }
    }
  });
}

} // namespace

void
PlaneCopies::Copy(std::int64_t first, std::int64_t end)
{
  if (first < end)
  {
    const WarpView<const float> copied = m_Field.Planes(first, end - first);
    Launch(m_Device, RowsOf(copied), CopyPlanesKernel, this->Describe(first, end), copied, m_Components);
  }
}

} // namespace cuda
} // namespace ffdp
