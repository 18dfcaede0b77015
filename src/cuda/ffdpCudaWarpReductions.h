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
#ifndef ffdpCudaWarpReductions_h
#define ffdpCudaWarpReductions_h

#include "ffdpCudaLaunch.h"

/** What the 32 threads of a warp do together. All of them must call. */
namespace ffdp
{
namespace cuda
{

constexpr unsigned FullWarp = 0xffffffffu;

/** The sum over the warp, in thread 0 of it. For integers: their order does not matter. */
template <typename T>
__device__ __forceinline__ T
WarpSum(T value)
{
  for (int step = 16; step > 0; step /= 2)
  {
    value += __shfl_down_sync(FullWarp, value, step);
  }
  return value;
}

/** The largest over the warp, in thread 0 of it. */
__device__ __forceinline__ float
WarpMaximum(float value)
{
  for (int step = 16; step > 0; step /= 2)
  {
    const float other = __shfl_down_sync(FullWarp, value, step);
    value = other > value ? other : value;
  }
  return value;
}

/** The total of a RowSum whose lane k is in thread k of the warp, added as RowSum::Total() does; in thread 0. */
__device__ __forceinline__ double
RowSumTotal(double lane)
{
  for (int half = 8; half > 0; half /= 2)
  {
    lane += __shfl_down_sync(FullWarp, lane, half);
  }
  return lane;
}

/** The total of a RowExtreme whose lane k is in thread k < 16 of the warp; in thread 0. Of equal values the one of the
 * lower lane wins, as there: a zero keeps its sign. */
template <bool VLargest>
__device__ __forceinline__ float
RowExtremeTotal(float lane)
{
  for (int step = 1; step < 16; step *= 2)
  {
    const float other = __shfl_down_sync(FullWarp, lane, step);
    lane = (VLargest ? other > lane : other < lane) ? other : lane;
  }
  return lane;
}

/** Adds 1 to counts[slot], or nothing where slot is negative. The threads that share the slot of the first of them add
 * together: most voxels of an image are background, and would wait for each other. */
template <typename TCount>
__device__ __forceinline__ void
CountTogether(TCount * counts, std::int32_t slot)
{
  const unsigned counting = __ballot_sync(FullWarp, slot >= 0);
  if (counting == 0)
  {
    return;
  }
  const int          first = __ffs(int(counting)) - 1;
  const std::int32_t firstSlot = __shfl_sync(FullWarp, slot, first);
  const unsigned     together = __ballot_sync(FullWarp, slot == firstSlot);
  if (int(threadIdx.x % 32) == first)
  {
    atomicAdd(&counts[slot], TCount(__popc(together)));
  }
  else if (slot >= 0 && slot != firstSlot)
  {
    atomicAdd(&counts[slot], TCount(1));
  }
}

} // namespace cuda
} // namespace ffdp

#endif
