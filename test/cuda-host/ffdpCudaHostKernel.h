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
#ifndef ffdpCudaHostKernel_h
#define ffdpCudaHostKernel_h

#include "ffdpCudaHostTypes.h"

#include <cstdint>
#include <cstring>
#include <type_traits>

/** What a kernel asks of the threads around it. The order of a device's threads is not known to a kernel, so none is
 * promised here: a thread runs until it meets others, and with a seed who runs next is drawn. */

extern uint3  threadIdx; // of the thread that runs now; blocks of all host threads run one at a time
extern uint3  blockIdx;
extern dim3   blockDim;
extern dim3   gridDim;
constexpr int warpSize = 32;

namespace cudahost
{

/** Where in the source threads meet: by this, barriers are told apart. */
struct Site
{
  const char * file;
  int          line;
};

enum class BlockMeeting
{
  Synchronize,
  Count,
  And,
  Or
};

enum class WarpMeeting
{
  Synchronize,
  Shuffle,
  Ballot,
  MatchAny
};

/** Returns when all threads of the block have come here: their votes, counted or combined. */
int
MeetBlock(BlockMeeting meeting, int vote, Site site);

/** Returns when the lanes of `mask` have come here: the value of lane `source`, or the lanes that voted. */
std::uint64_t
MeetWarp(WarpMeeting meeting, unsigned mask, std::uint64_t value, unsigned source, Site site);

unsigned
Lane();

/** Where the order of threads shows: with a seed, another thread may run first. */
void
MayYield();

template <typename T>
T
Shuffle(unsigned mask, T value, unsigned source, Site site)
{
  static_assert(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8), "what CUDA shuffles");
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  bits = MeetWarp(WarpMeeting::Shuffle, mask, bits, source, site);
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

} // namespace cudahost

#define FFDP_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()

inline void
__syncthreads(FFDP_HERE)
{
  cudahost::MeetBlock(cudahost::BlockMeeting::Synchronize, 0, { file, line });
}
inline int
__syncthreads_count(int vote, FFDP_HERE)
{
  return cudahost::MeetBlock(cudahost::BlockMeeting::Count, vote, { file, line });
}
inline int
__syncthreads_and(int vote, FFDP_HERE)
{
  return cudahost::MeetBlock(cudahost::BlockMeeting::And, vote, { file, line });
}
inline int
__syncthreads_or(int vote, FFDP_HERE)
{
  return cudahost::MeetBlock(cudahost::BlockMeeting::Or, vote, { file, line });
}

inline void
__syncwarp(unsigned mask = 0xffffffffu, FFDP_HERE)
{
  cudahost::MeetWarp(cudahost::WarpMeeting::Synchronize, mask, 0, 0, { file, line });
}
inline unsigned
__ballot_sync(unsigned mask, int vote, FFDP_HERE)
{
  return unsigned(
    cudahost::MeetWarp(cudahost::WarpMeeting::Ballot, mask, vote != 0 ? 1 : 0, cudahost::Lane(), { file, line }));
}
inline int
__any_sync(unsigned mask, int vote, FFDP_HERE)
{
  return __ballot_sync(mask, vote, file, line) != 0;
}
inline int
__all_sync(unsigned mask, int vote, FFDP_HERE)
{
  return __ballot_sync(mask, vote == 0, file, line) == 0;
}
template <typename T>
unsigned
__match_any_sync(unsigned mask, T value, FFDP_HERE)
{
  static_assert(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8), "what CUDA compares");
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return unsigned(cudahost::MeetWarp(cudahost::WarpMeeting::MatchAny, mask, bits, cudahost::Lane(), { file, line }));
}
/** A device may find no other lane beside a thread, so this is an answer it could give at any time. */
inline unsigned
__activemask()
{
  return 1u << cudahost::Lane();
}

template <typename T>
T
__shfl_sync(unsigned mask, T value, int source, int width = warpSize, FFDP_HERE)
{
  const unsigned segment = cudahost::Lane() & ~unsigned(width - 1);
  return cudahost::Shuffle(mask, value, segment | (unsigned(source) & unsigned(width - 1)), { file, line });
}
template <typename T>
T
__shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize, FFDP_HERE)
{
  const unsigned lane = cudahost::Lane();
  const unsigned inSegment = lane & unsigned(width - 1);
  return cudahost::Shuffle(mask, value, inSegment >= delta ? lane - delta : lane, { file, line });
}
template <typename T>
T
__shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize, FFDP_HERE)
{
  const unsigned lane = cudahost::Lane();
  const unsigned inSegment = lane & unsigned(width - 1);
  return cudahost::Shuffle(mask, value, inSegment + delta < unsigned(width) ? lane + delta : lane, { file, line });
}
template <typename T>
T
__shfl_xor_sync(unsigned mask, T value, int laneMask, int width = warpSize, FFDP_HERE)
{
  const unsigned lane = cudahost::Lane();
  const unsigned source = lane ^ unsigned(laneMask);
  const unsigned endOfSegment = (lane | unsigned(width - 1)) + 1;
  return cudahost::Shuffle(mask, value, source < endOfSegment ? source : lane, { file, line });
}

#undef FFDP_HERE

// Threads run one at a time, so that what one has written is there for the next.
inline void
__threadfence()
{}
inline void
__threadfence_block()
{}
inline void
__threadfence_system()
{}

namespace cudahost
{
template <typename T, typename TOperation>
T
Atomically(T * address, const TOperation & operation)
{
  MayYield();
  const T old = *address;
  *address = operation(old);
  return old;
}
} // namespace cudahost

#define FFDP_CUDA_HOST_ATOMIC(name, T, expression)                                                                     \
  inline T name(T * address, T value)                                                                                  \
  {                                                                                                                    \
    return cudahost::Atomically(address, [value](T old) -> T { return expression; });                                  \
  }
#define FFDP_CUDA_HOST_ATOMICS_OF_INTEGERS(T)                                                                          \
  FFDP_CUDA_HOST_ATOMIC(atomicMin, T, old < value ? old : value)                                                       \
  FFDP_CUDA_HOST_ATOMIC(atomicMax, T, old > value ? old : value)                                                       \
  FFDP_CUDA_HOST_ATOMIC(atomicAnd, T, old & value)                                                                     \
  FFDP_CUDA_HOST_ATOMIC(atomicOr, T, old | value)                                                                      \
  FFDP_CUDA_HOST_ATOMIC(atomicXor, T, old ^ value)

FFDP_CUDA_HOST_ATOMICS_OF_INTEGERS(int)
FFDP_CUDA_HOST_ATOMICS_OF_INTEGERS(unsigned)
FFDP_CUDA_HOST_ATOMICS_OF_INTEGERS(unsigned long long)
FFDP_CUDA_HOST_ATOMIC(atomicMin, long long, old < value ? old : value)
FFDP_CUDA_HOST_ATOMIC(atomicMax, long long, old > value ? old : value)
FFDP_CUDA_HOST_ATOMIC(atomicAdd, int, int(unsigned(old) + unsigned(value)))
FFDP_CUDA_HOST_ATOMIC(atomicAdd, unsigned, old + value)
FFDP_CUDA_HOST_ATOMIC(atomicAdd, unsigned long long, old + value)
FFDP_CUDA_HOST_ATOMIC(atomicAdd, float, old + value)
FFDP_CUDA_HOST_ATOMIC(atomicAdd, double, old + value)
FFDP_CUDA_HOST_ATOMIC(atomicSub, int, int(unsigned(old) - unsigned(value)))
FFDP_CUDA_HOST_ATOMIC(atomicSub, unsigned, old - value)
FFDP_CUDA_HOST_ATOMIC(atomicInc, unsigned, old >= value ? 0u : old + 1u)
FFDP_CUDA_HOST_ATOMIC(atomicDec, unsigned, old == 0 || old > value ? value : old - 1u)
FFDP_CUDA_HOST_ATOMIC(atomicExch, int, (static_cast<void>(old), value))
FFDP_CUDA_HOST_ATOMIC(atomicExch, unsigned, (static_cast<void>(old), value))
FFDP_CUDA_HOST_ATOMIC(atomicExch, unsigned long long, (static_cast<void>(old), value))
FFDP_CUDA_HOST_ATOMIC(atomicExch, float, (static_cast<void>(old), value))

#undef FFDP_CUDA_HOST_ATOMICS_OF_INTEGERS
#undef FFDP_CUDA_HOST_ATOMIC

#define FFDP_CUDA_HOST_COMPARE_AND_SWAP(T)                                                                             \
  inline T atomicCAS(T * address, T compare, T value)                                                                  \
  {                                                                                                                    \
    return cudahost::Atomically(address, [=](T old) -> T { return old == compare ? value : old; });                    \
  }
FFDP_CUDA_HOST_COMPARE_AND_SWAP(int)
FFDP_CUDA_HOST_COMPARE_AND_SWAP(unsigned)
FFDP_CUDA_HOST_COMPARE_AND_SWAP(unsigned long long)
FFDP_CUDA_HOST_COMPARE_AND_SWAP(unsigned short)
#undef FFDP_CUDA_HOST_COMPARE_AND_SWAP

#endif
