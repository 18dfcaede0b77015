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
#include "ffdpCudaRadixSort.h"

#include "ffdpCudaLaunch.h"

#include <algorithm>

/** Eight bits at a time, the lowest first. In each pass a block counts the digits of its tile of keys; the counts of
 * all tiles, digit by digit, are added up to where each tile puts the keys of each digit; then keys and values go
 * there. Bytes per pair and pass: 8 to count, 20 read (keys twice) and 12 written to move.
 *
 * A tile is 4096 keys, 512 for each of eight warps: a warp takes 32 at a time, in order, and finds the rank of a key
 * among those of the same digit by a match of its lanes, so that keys of the same digit keep their order. */
namespace ffdp
{
namespace cuda
{
namespace
{

constexpr int      DigitBits = 8;
constexpr int      Digits = 1 << DigitBits;
constexpr int      SortThreads = 256;
constexpr int      SortWarps = SortThreads / 32;
constexpr int      KeysOfWarp = 512;
constexpr int      KeysOfTile = SortWarps * KeysOfWarp;
constexpr unsigned AllLanes = 0xffffffffu;

__device__ unsigned
DigitOf(std::uint64_t key, int shift)
{
  return unsigned(key >> shift) & (Digits - 1);
}

/** counts[digit * tiles + tile]. */
__global__ void
CountDigitsKernel(const std::uint64_t * keys, std::uint32_t count, int shift, std::uint32_t * counts)
{
  __shared__ std::uint32_t tileCounts[Digits];
  tileCounts[threadIdx.x] = 0;
  __syncthreads();
  const std::uint64_t begin = std::uint64_t(blockIdx.x) * KeysOfTile;
  for (int i = int(threadIdx.x); i < KeysOfTile && begin + i < count; i += SortThreads)
  {
    atomicAdd(tileCounts + DigitOf(keys[begin + i], shift), 1u);
  }
  __syncthreads();
  counts[std::uint64_t(threadIdx.x) * gridDim.x + blockIdx.x] = tileCounts[threadIdx.x];
}

/** Replaces each count by the sum of those before it; one block. */
__global__ void
AddCountsKernel(std::uint32_t * counts, std::uint64_t number)
{
  __shared__ std::uint32_t warpSums[SortWarps];
  const int                lane = int(threadIdx.x) % 32;
  const int                warp = int(threadIdx.x) / 32;
  std::uint32_t            before = 0;
  for (std::uint64_t begin = 0; begin < number; begin += SortThreads)
  {
    const std::uint64_t i = begin + threadIdx.x;
    const std::uint32_t own = i < number ? counts[i] : 0;
    std::uint32_t       sum = own;
    for (int distance = 1; distance < 32; distance *= 2)
    {
      const std::uint32_t lower = __shfl_up_sync(AllLanes, sum, unsigned(distance));
      sum += lane >= distance ? lower : 0;
    }
    if (lane == 31)
    {
      warpSums[warp] = sum;
    }
    __syncthreads();
    std::uint32_t beforeWarp = before;
    for (int w = 0; w < SortWarps; ++w)
    {
      beforeWarp += w < warp ? warpSums[w] : 0;
      before += warpSums[w];
    }
    if (i < number)
    {
      counts[i] = beforeWarp + sum - own;
    }
    __syncthreads();
  }
}

/** Moves the pairs of a tile to where their digits begin; `begins` are the added counts. */
__global__ void
MovePairsKernel(const std::uint64_t * keys,
                const std::uint32_t * values,
                std::uint32_t         count,
                int                   shift,
                const std::uint32_t * begins,
                std::uint64_t *       toKeys,
                std::uint32_t *       toValues)
{
  __shared__ std::uint32_t next[SortWarps][Digits]; // first how many a warp has, then where its next goes
  const int                lane = int(threadIdx.x) % 32;
  const int                warp = int(threadIdx.x) / 32;
  const std::uint64_t      first = std::uint64_t(blockIdx.x) * KeysOfTile + std::uint64_t(warp) * KeysOfWarp;
  for (int w = 0; w < SortWarps; ++w)
  {
    next[w][threadIdx.x] = 0;
  }
  __syncthreads();
  for (int i = lane; i < KeysOfWarp && first + i < count; i += 32)
  {
    atomicAdd(&next[warp][DigitOf(keys[first + i], shift)], 1u);
  }
  __syncthreads();
  std::uint32_t begin = begins[std::uint64_t(threadIdx.x) * gridDim.x + blockIdx.x];
  for (int w = 0; w < SortWarps; ++w)
  {
    const std::uint32_t ofWarp = next[w][threadIdx.x];
    next[w][threadIdx.x] = begin;
    begin += ofWarp;
  }
  __syncthreads();
  for (int round = 0; round < KeysOfWarp / 32; ++round)
  {
    const std::uint64_t i = first + std::uint64_t(round) * 32 + lane;
    const bool          present = i < count;
    const std::uint64_t key = present ? keys[i] : 0;
    const unsigned      digit = DigitOf(key, shift);
    const unsigned      lanes = __match_any_sync(AllLanes, present ? digit : unsigned(Digits));
    const int           rank = __popc(lanes & ((1u << lane) - 1));
    const std::uint32_t to = next[warp][digit] + std::uint32_t(rank);
    __syncwarp();
    if (present)
    {
      toKeys[to] = key;
      toValues[to] = values[i];
      if (rank == 0)
      {
        next[warp][digit] += std::uint32_t(__popc(lanes));
      }
    }
    __syncwarp();
  }
}

std::int64_t
TilesFor(std::int64_t count)
{
  return (count + KeysOfTile - 1) / KeysOfTile;
}

} // namespace

RadixSort::RadixSort(Device & device, std::int64_t count)
  : m_Device(device)
  , m_Keys{ { device, count }, { device, count } }
  , m_Values{ { device, count }, { device, count } }
  , m_Counts(device, Digits * TilesFor(count))
{}

void
RadixSort::Sort(std::int64_t count, int bits)
{
  const std::int64_t tiles = TilesFor(count);
  LaunchShape        shape;
  shape.block = dim3(SortThreads);
  shape.grid = dim3(unsigned(tiles));
  LaunchShape oneBlock = shape;
  oneBlock.grid = dim3(1);
  const auto number = std::uint32_t(count);
  for (int shift = 0; shift < bits && count > 0; shift += DigitBits)
  {
    const int other = 1 - m_Side;
    Launch(m_Device, shape, CountDigitsKernel, Keys(), number, shift, m_Counts.Data());
    Launch(m_Device, oneBlock, AddCountsKernel, m_Counts.Data(), std::uint64_t(tiles * Digits));
    Launch(m_Device,
           shape,
           MovePairsKernel,
           Keys(),
           Values(),
           number,
           shift,
           m_Counts.Data(),
           m_Keys[other].Data(),
           m_Values[other].Data());
    m_Side = other;
  }
}

} // namespace cuda
} // namespace ffdp
