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
#ifndef ffdpCudaMarks_h
#define ffdpCudaMarks_h

#include "ffdpBlockMarksTerms.h"
#include "ffdpCudaDevice.h"

namespace ffdp
{
namespace cuda
{

/** Marks on the device; none stands for all blocks. */
struct DeviceMarks
{
  Extent               blocks;
  const std::uint8_t * marks;

  __device__ bool
  At(std::int64_t x, std::int64_t y, std::int64_t z) const
  {
    return !marks || marks[BlockOfVoxel(x, y, z, blocks)] != 0;
  }
};

/** A copy of marks, or of none, for as long as it lives. */
class StagedMarks
{
public:
  StagedMarks(Device & device, const BlockMarks * marks)
    : m_Blocks(marks ? marks->blocks : Extent{})
    , m_Bytes(marks ? DeviceBuffer<std::uint8_t>(device, marks->marks) : DeviceBuffer<std::uint8_t>(device, 0))
  {}

  DeviceMarks
  View() const
  {
    return DeviceMarks{ m_Blocks, m_Bytes.Data() };
  }

private:
  Extent                     m_Blocks;
  DeviceBuffer<std::uint8_t> m_Bytes;
};

} // namespace cuda
} // namespace ffdp

#endif
