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
#ifndef ffdpCudaHost_h
#define ffdpCudaHost_h

#include "ffdpCudaHostApi.h"

#if defined(__has_feature) // Clang's way to say it
#  if __has_feature(address_sanitizer)
#    define __SANITIZE_ADDRESS__ 1
#  endif
#endif

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

/** Executes CUDA kernels on the processor, so that they are tested where there is no GPU.
 *
 * The threads of a block are fibers: each runs until it meets the others (barriers, shuffles, votes). Blocks run one
 * after the other. What a device leaves open is drawn from a seed: the order of threads between meetings and at
 * atomics, the order of blocks, and the order of streams as far as events allow. Shared memory is filled with
 * NaNs before each block, memory of the device when it is allocated; each buffer is an allocation of its own, so that
 * address sanitizer sees what is read or written beyond it.
 *
 * What goes wrong in a kernel (a barrier that not all threads reach, a shuffle from a lane that does not take part) is
 * an error of the stream, as a fault is on a device: all later calls return cudaErrorLaunchFailure until
 * cudaDeviceReset(), and cudaGetErrorString() has the report. */
namespace cudahost
{

/** A launch: `thread` is called once for each thread of the grid, when the stream's turn has come. */
cudaError_t
RunGrid(dim3 grid, dim3 block, std::size_t sharedBytes, cudaStream_t stream, std::function<void()> thread);

/** The dynamic shared memory of the block that runs now. */
void *
DynamicSharedMemory();

/** 0: natural order. Others draw an order each. The environment variable FFDP_CUDA_HOST_SEED is the first value. */
void
SetScheduleSeed(std::uint64_t seed);
std::uint64_t
ScheduleSeed();

/** The devices that are there from now on; 1 unless said otherwise. */
void
SetDeviceCount(int count);

/** How much the devices have together: cudaMalloc fails beyond. */
void
SetMemoryLimit(std::size_t bytes);

/** What is allocated on the devices, or pinned on the host, and was not freed. */
std::size_t
LiveDeviceBytes();
std::size_t
LivePinnedBytes();

/** What was copied from the host to the devices, and back, since the program began. */
std::uint64_t
BytesCopiedToDevices();
std::uint64_t
BytesCopiedToHost();

/** The report of the last thing that went wrong in a kernel; empty when nothing did. */
std::string
LastReport();

} // namespace cudahost

#endif
