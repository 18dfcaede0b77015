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
#ifndef ffdpCudaLaunch_h
#define ffdpCudaLaunch_h

#include "ffdpCudaDevice.h"

#include <cstdint>

/** How kernels are started, and what they ask for where they are: the one place in which NVIDIA's compiler and the
 * harness of test/cuda-host differ. Kernels are otherwise plain CUDA C++.
 *
 * Kernel files include no ITK. Shared memory of a size that is known when compiling is `__shared__`; what the
 * launch decides comes from DynamicShared(). */
namespace ffdp
{
namespace cuda
{

struct LaunchShape
{
  dim3        grid;
  dim3        block;
  std::size_t sharedBytes = 0; ///< dynamic shared memory of a block; above 48 KiB the kernel is told so first
};

template <typename T>
struct Same // keeps the arguments of Launch() from being deduced: they convert to the kernel's parameters
{
  using Type = T;
};

#ifdef FFDP_CUDA_ON_HOST

/** Runs all blocks of the grid; see test/cuda-host/ffdpCudaHost.h. */
template <typename... TParameters>
void
Launch(Device &            device,
       const LaunchShape & shape,
       void (*kernel)(TParameters...),
       typename Same<TParameters>::Type... arguments)
{
  device.Activate();
  FFDP_CUDA_CHECK(
    cudahost::RunGrid(shape.grid, shape.block, shape.sharedBytes, device.Stream(), [=] { kernel(arguments...); }));
}

template <typename T>
T *
DynamicShared()
{
  return static_cast<T *>(cudahost::DynamicSharedMemory());
}

#else

template <typename... TParameters>
void
Launch(Device &            device,
       const LaunchShape & shape,
       void (*kernel)(TParameters...),
       typename Same<TParameters>::Type... arguments)
{
  device.Activate();
  if (shape.sharedBytes > 48 * 1024)
  {
    FFDP_CUDA_CHECK(cudaFuncSetAttribute(
      reinterpret_cast<const void *>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize, int(shape.sharedBytes)));
  }
  void * pointers[] = { const_cast<void *>(static_cast<const void *>(&arguments))... };
  FFDP_CUDA_CHECK(cudaLaunchKernel(
    reinterpret_cast<const void *>(kernel), shape.grid, shape.block, pointers, shape.sharedBytes, device.Stream()));
}

#  ifdef __CUDACC__
template <typename T>
__device__ T *
DynamicShared()
{
  extern __shared__ __align__(16) unsigned char ffdpDynamicShared[];
  return reinterpret_cast<T *>(ffdpDynamicShared);
}
#  endif

#endif

/** Blocks that cover `count` items with `perBlock` items each. */
inline unsigned
BlocksFor(std::int64_t count, std::int64_t perBlock)
{
  return unsigned((count + perBlock - 1) / perBlock);
}

} // namespace cuda
} // namespace ffdp

#endif
