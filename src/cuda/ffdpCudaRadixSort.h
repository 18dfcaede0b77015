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
#ifndef ffdpCudaRadixSort_h
#define ffdpCudaRadixSort_h

#include "ffdpCudaDevice.h"

#include <cstdint>

/** Sorts numbers by keys on the device. Stable: what has the same key stays in order. */
namespace ffdp
{
namespace cuda
{

/** Room for `count` keys with their values, twice: sorting goes back and forth between the two. */
class RadixSort
{
public:
  RadixSort(Device & device, std::int64_t count);

  /** What is to be sorted; where Sort() leaves it. At most 2^32 - 1 pairs. */
  std::uint64_t *
  Keys() const
  {
    return m_Keys[m_Side].Data();
  }
  std::uint32_t *
  Values() const
  {
    return m_Values[m_Side].Data();
  }

  /** Sorts the first `count` pairs, whose keys are below 2^bits. */
  void
  Sort(std::int64_t count, int bits);

private:
  Device &                    m_Device;
  int                         m_Side = 0;
  DeviceBuffer<std::uint64_t> m_Keys[2];
  DeviceBuffer<std::uint32_t> m_Values[2];
  DeviceBuffer<std::uint32_t> m_Counts;
};

} // namespace cuda
} // namespace ffdp

#endif
