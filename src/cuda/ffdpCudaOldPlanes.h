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
#ifndef ffdpCudaOldPlanes_h
#define ffdpCudaOldPlanes_h

#include "ffdpCudaMemory.h"
#include "ffdpCudaRows.h"

#include <algorithm>

/** For what overwrites a field plane by plane although new planes depend on old ones around them: the planes are
 * done in groups, and those old planes that are overwritten before they were last read are copied. The copies are a
 * ring, so their number depends on the group and on how far planes reach, not on the volume. */
namespace ffdp
{
namespace cuda
{

/** One of three pointers. Not by an index that is only known when the kernel runs: to have something to index, the
 * compiler would copy the kernel's parameters to memory. */
template <typename T>
__device__ T *
PointerOf(T * const (&pointers)[3], unsigned c)
{
  return c == 0 ? pointers[0] : (c == 1 ? pointers[1] : pointers[2]);
}

/** Old planes as kernels see them: copies of [copiedFirst, copiedEnd), and the field itself for the others. */
struct OldPlanes
{
  WarpView<const float> field;
  float *               copies[3] = { nullptr, nullptr, nullptr };
  std::int64_t          copiedFirst = 0;
  std::int64_t          copiedEnd = 0;
  std::int64_t          firstSlot = 0; ///< where the copy of plane copiedFirst is
  std::int64_t          slots = 1;
  std::int64_t          planeVoxels = 0;

  FFDP_HOST_DEVICE bool
  IsCopied(std::int64_t z) const
  {
    return z >= copiedFirst && z < copiedEnd;
  }
  /** Of the first voxel of a copied plane, from that of slot 0. */
  FFDP_HOST_DEVICE std::int64_t
                   OffsetOfCopy(std::int64_t z) const
  {
    const std::int64_t slot = firstSlot + (z - copiedFirst);
    return (slot < slots ? slot : slot - slots) * planeVoxels;
  }
};

/** Owns the ring of copies of a planar field's planes; a scalar volume is a field whose other components are null. */
class PlaneCopies
{
public:
  PlaneCopies(Device & device, const WarpView<float> & field, std::int64_t slots)
    : m_Device(device)
    , m_Field(field)
    , m_Components(field.component[1] ? 3 : 1)
    , m_Slots(slots)
    , m_PlaneVoxels(field.domain.x * field.domain.y)
    , m_Copies(device, m_Components * slots * m_PlaneVoxels)
  {}

  /** Copies the planes [first, end), at most as many as there are slots, over those that came first. */
  void
  Copy(std::int64_t first, std::int64_t end);

  /** What a kernel reads while the planes [first, end), copied last, are the only ones that may have changed. */
  OldPlanes
  Describe(std::int64_t first, std::int64_t end) const
  {
    OldPlanes planes;
    planes.field = m_Field;
    for (int c = 0; c < m_Components; ++c)
    {
      planes.copies[c] = m_Copies.Data() + c * m_Slots * m_PlaneVoxels;
    }
    planes.copiedFirst = first;
    planes.copiedEnd = end;
    planes.slots = m_Slots;
    planes.firstSlot = m_Slots > 0 ? first % m_Slots : 0;
    planes.planeVoxels = m_PlaneVoxels;
    return planes;
  }

private:
  Device &            m_Device;
  WarpView<float>     m_Field;
  int                 m_Components;
  std::int64_t        m_Slots;
  std::int64_t        m_PlaneVoxels;
  DeviceBuffer<float> m_Copies;
};

} // namespace cuda
} // namespace ffdp

#endif
