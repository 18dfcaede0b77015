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
#ifndef ffdpCudaLargest_h
#define ffdpCudaLargest_h

#include "ffdpCudaDevice.h"
#include "ffdpCudaRows.h"

#include <cstring>

/** The largest of numbers that many threads find. Floats that are not negative are in the order of their bits, so
 * a maximum of integers is one of floats, and does not depend on which block comes first. */
namespace ffdp
{
namespace cuda
{

__device__ inline unsigned
BitsOf(float value)
{
  return __float_as_uint(value);
}

__device__ inline unsigned long long
BitsOf(double value)
{
  return static_cast<unsigned long long>(__double_as_longlong(value));
}

/** Raises *largest to the largest `value` of this block's threads; what is negative or not a number counts as 0. All
 * threads of the block call it, whole warps of them. */
template <typename TFloat, typename TBits>
__device__ void
RaiseToLargest(TFloat value, TBits * largest)
{
  __shared__ TFloat ofWarps[32];
  value = value > 0 ? value : 0;
  for (int offset = 16; offset > 0; offset /= 2)
  {
    const TFloat other = __shfl_xor_sync(0xffffffffu, value, offset);
    value = other > value ? other : value;
  }
  const unsigned thread = threadIdx.x + blockDim.x * threadIdx.y;
  __syncthreads(); // an earlier call may still be reading
  if (thread % 32 == 0)
  {
    ofWarps[thread / 32] = value;
  }
  __syncthreads();
  if (thread == 0)
  {
    for (unsigned warp = 1; warp < blockDim.x * blockDim.y / 32; ++warp)
    {
      value = ofWarps[warp] > value ? ofWarps[warp] : value;
    }
    if (value > 0)
    {
      atomicMax(largest, BitsOf(value));
    }
  }
}

/** Some of these maxima on the device, 0 at first. */
template <typename TFloat, typename TBits>
class Maxima
{
public:
  static_assert(sizeof(TFloat) == sizeof(TBits), "a maximum is kept as the bits of its float");

  Maxima(Device & device, std::int64_t count)
    : m_Bits(device, count)
  {
    m_Bits.FillZero();
  }
  TBits *
  Bits() const
  {
    return m_Bits.Data();
  }
  /** Waits for the kernels that find them. */
  std::vector<TFloat>
  ToHost() const
  {
    const std::vector<TBits> bits = m_Bits.ToHost();
    std::vector<TFloat>      values(bits.size());
    std::memcpy(values.data(), bits.data(), bits.size() * sizeof(TFloat));
    return values;
  }

private:
  DeviceBuffer<TBits> m_Bits;
};

using FloatMaxima = Maxima<float, unsigned>;
using DoubleMaxima = Maxima<double, unsigned long long>;

/** RowsOf(), but with blocks enough to fill the device and no more: each then does many rows, and ends in one atomic.
 */
template <typename TView>
LaunchShape
FewRowsOf(const Device & device, const TView & view)
{
  LaunchShape        shape = RowsOf(view);
  const std::int64_t most = 32 * std::int64_t(device.Multiprocessors());
  const std::int64_t rows = most / shape.grid.x > 1 ? most / shape.grid.x : 1;
  const std::int64_t planes = rows / shape.grid.y > 1 ? rows / shape.grid.y : 1;
  shape.grid.y = unsigned(rows < shape.grid.y ? rows : shape.grid.y);
  shape.grid.z = unsigned(planes < shape.grid.z ? planes : shape.grid.z);
  return shape;
}

} // namespace cuda
} // namespace ffdp

#endif
