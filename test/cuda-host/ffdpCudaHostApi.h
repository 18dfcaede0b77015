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
#ifndef ffdpCudaHostApi_h
#define ffdpCudaHostApi_h

#include "ffdpCudaHostTypes.h"

#include <cstddef>

/** The calls of CUDA's runtime that the backend uses, with NVIDIA's names and values. */

enum cudaError_t : int
{
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInvalidMemcpyDirection = 21,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorNotReady = 600,
  cudaErrorIllegalAddress = 700,
  cudaErrorLaunchFailure = 719,
  cudaErrorNotSupported = 801,
  cudaErrorUnknown = 999
};

enum cudaMemcpyKind
{
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4
};

enum cudaDeviceAttr
{
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrWarpSize = 10,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
  cudaDevAttrMemoryPoolsSupported = 115
};

enum cudaFuncAttribute
{
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9
};

enum cudaMemPoolAttr
{
  cudaMemPoolAttrReleaseThreshold = 4
};

enum cudaMemoryType
{
  cudaMemoryTypeUnregistered = 0,
  cudaMemoryTypeHost = 1,
  cudaMemoryTypeDevice = 2,
  cudaMemoryTypeManaged = 3
};

struct cudaPointerAttributes
{
  cudaMemoryType type;
  int            device;
  void *         devicePointer;
  void *         hostPointer;
};

struct cudaDeviceProp
{
  char        name[256];
  std::size_t totalGlobalMem;
  std::size_t sharedMemPerBlock;
  std::size_t sharedMemPerBlockOptin;
  std::size_t sharedMemPerMultiprocessor;
  int         regsPerBlock;
  int         warpSize;
  int         maxThreadsPerBlock;
  int         maxThreadsDim[3];
  int         maxGridSize[3];
  int         major;
  int         minor;
  int         multiProcessorCount;
  int         pciDomainID;
  int         pciBusID;
  int         pciDeviceID;
  int         ECCEnabled;
};

using cudaStream_t = struct CUstream_st *;
using cudaEvent_t = struct CUevent_st *;
using cudaMemPool_t = struct CUmemPoolHandle_st *;
using cudaHostFn_t = void (*)(void *);

constexpr unsigned cudaStreamDefault = 0;
constexpr unsigned cudaStreamNonBlocking = 1;
constexpr unsigned cudaEventDefault = 0;
constexpr unsigned cudaEventBlockingSync = 1;
constexpr unsigned cudaEventDisableTiming = 2;
constexpr unsigned cudaHostAllocDefault = 0;
constexpr unsigned cudaHostAllocPortable = 1;

const char *
cudaGetErrorString(cudaError_t code);
const char *
cudaGetErrorName(cudaError_t code);
cudaError_t
cudaGetLastError();
cudaError_t
cudaPeekAtLastError();

cudaError_t
cudaDriverGetVersion(int * version);
cudaError_t
cudaRuntimeGetVersion(int * version);
cudaError_t
cudaGetDeviceCount(int * count);
cudaError_t
cudaGetDeviceProperties(cudaDeviceProp * properties, int device);
cudaError_t
cudaDeviceGetAttribute(int * value, cudaDeviceAttr attribute, int device);
cudaError_t
cudaSetDevice(int device);
cudaError_t
cudaGetDevice(int * device);
cudaError_t
cudaDeviceSynchronize();
cudaError_t
cudaDeviceReset();
cudaError_t
cudaFuncSetAttribute(const void * function, cudaFuncAttribute attribute, int value);

cudaError_t
cudaMalloc(void ** memory, std::size_t bytes);
cudaError_t
cudaFree(void * memory);
cudaError_t
cudaMallocAsync(void ** memory, std::size_t bytes, cudaStream_t stream);
cudaError_t
cudaFreeAsync(void * memory, cudaStream_t stream);
cudaError_t
cudaMallocHost(void ** memory, std::size_t bytes);
cudaError_t
cudaHostAlloc(void ** memory, std::size_t bytes, unsigned flags);
cudaError_t
cudaFreeHost(void * memory);
cudaError_t
cudaMemGetInfo(std::size_t * free, std::size_t * total);
cudaError_t
cudaPointerGetAttributes(cudaPointerAttributes * attributes, const void * pointer);
cudaError_t
cudaDeviceGetDefaultMemPool(cudaMemPool_t * pool, int device);
cudaError_t
cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void * value);
cudaError_t
cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t bytesToKeep);

cudaError_t
cudaMemcpy(void * to, const void * from, std::size_t bytes, cudaMemcpyKind kind);
cudaError_t
cudaMemcpyAsync(void * to, const void * from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream = nullptr);
cudaError_t
cudaMemcpy2D(void *         to,
             std::size_t    toPitch,
             const void *   from,
             std::size_t    fromPitch,
             std::size_t    width,
             std::size_t    height,
             cudaMemcpyKind kind);
cudaError_t
cudaMemcpy2DAsync(void *         to,
                  std::size_t    toPitch,
                  const void *   from,
                  std::size_t    fromPitch,
                  std::size_t    width,
                  std::size_t    height,
                  cudaMemcpyKind kind,
                  cudaStream_t   stream = nullptr);
cudaError_t
cudaMemset(void * memory, int value, std::size_t bytes);
cudaError_t
cudaMemsetAsync(void * memory, int value, std::size_t bytes, cudaStream_t stream = nullptr);

cudaError_t
cudaStreamCreate(cudaStream_t * stream);
cudaError_t
cudaStreamCreateWithFlags(cudaStream_t * stream, unsigned flags);
cudaError_t
cudaStreamDestroy(cudaStream_t stream);
cudaError_t
cudaStreamSynchronize(cudaStream_t stream);
cudaError_t
cudaStreamQuery(cudaStream_t stream);
cudaError_t
cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t
cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void * argument);

cudaError_t
cudaEventCreate(cudaEvent_t * event);
cudaError_t
cudaEventCreateWithFlags(cudaEvent_t * event, unsigned flags);
cudaError_t
cudaEventDestroy(cudaEvent_t event);
cudaError_t
cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t
cudaEventSynchronize(cudaEvent_t event);
cudaError_t
cudaEventQuery(cudaEvent_t event);
cudaError_t
cudaEventElapsedTime(float * milliseconds, cudaEvent_t start, cudaEvent_t end);

// CUDA has these templates, too, so that callers need no casts.
template <typename T>
cudaError_t
cudaMalloc(T ** memory, std::size_t bytes)
{
  return cudaMalloc(reinterpret_cast<void **>(memory), bytes);
}
template <typename T>
cudaError_t
cudaMallocAsync(T ** memory, std::size_t bytes, cudaStream_t stream)
{
  return cudaMallocAsync(reinterpret_cast<void **>(memory), bytes, stream);
}
template <typename T>
cudaError_t
cudaMallocHost(T ** memory, std::size_t bytes)
{
  return cudaMallocHost(reinterpret_cast<void **>(memory), bytes);
}

#endif
