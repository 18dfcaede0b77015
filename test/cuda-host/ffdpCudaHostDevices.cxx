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
#include "ffdpCudaHostInternal.h"

#include <cstdlib>
#include <cstring>
#include <utility>

namespace cudahost
{
namespace
{

struct Settings
{
  std::uint64_t seed = 0;
  Random        draws{ 0 };
  int           devices = 1;
  bool          broken = false;
  std::string   report;
  std::string   message; // what cudaGetErrorString points to

  Settings()
  {
    if (const char * const text = std::getenv("FFDP_CUDA_HOST_SEED"))
    {
      seed = std::strtoull(text, nullptr, 10);
      draws = Random(seed);
    }
  }
};

Settings &
TheSettings()
{
  static Settings settings;
  return settings;
}

thread_local cudaError_t lastError = cudaSuccess;
thread_local int         currentDevice = 0;

// A device of compute capability 8.6: the least shared memory of a block among those with more than 64 KiB.
constexpr int SharedPerBlock = 48 * 1024;
constexpr int SharedPerBlockOptIn = 99 * 1024;
constexpr int MostThreads = 1024;
constexpr int Multiprocessors = 4; // few, so that what depends on their number shows in small tests

} // namespace

std::recursive_mutex &
Lock()
{
  static std::recursive_mutex lock;
  return lock;
}

Random &
Draws()
{
  return TheSettings().draws;
}

void
SetScheduleSeed(std::uint64_t seed)
{
  const std::lock_guard<std::recursive_mutex> lock(Lock());
  TheSettings().seed = seed;
  TheSettings().draws = Random(seed);
}

std::uint64_t
ScheduleSeed()
{
  return TheSettings().seed;
}

void
SetDeviceCount(int count)
{
  TheSettings().devices = count;
}

std::string
LastReport()
{
  const std::lock_guard<std::recursive_mutex> lock(Lock());
  return TheSettings().report;
}

cudaError_t
Note(cudaError_t code)
{
  if (code != cudaSuccess)
  {
    lastError = code;
  }
  return code;
}

void
Break(const std::string & report)
{
  if (!TheSettings().broken) // what follows from the first fault says less
  {
    TheSettings().broken = true;
    TheSettings().report = report;
  }
}

cudaError_t
Broken()
{
  return TheSettings().broken ? Note(cudaErrorLaunchFailure) : cudaSuccess;
}

cudaError_t
RunGrid(dim3 grid, dim3 block, std::size_t sharedBytes, cudaStream_t stream, std::function<void()> thread)
{
  const std::lock_guard<std::recursive_mutex> lock(Lock());
  const std::uint64_t                         threads = std::uint64_t(block.x) * block.y * block.z;
  const bool fits = grid.x > 0 && grid.y > 0 && grid.z > 0 && grid.x <= 0x7fffffffu && grid.y <= 65535 &&
                    grid.z <= 65535 && threads > 0 && threads <= MostThreads && block.x <= MostThreads &&
                    block.y <= MostThreads && block.z <= 64;
  if (!fits)
  {
    return Note(cudaErrorInvalidConfiguration);
  }
  if (sharedBytes > SharedPerBlockOptIn)
  {
    return Note(cudaErrorInvalidValue);
  }
  Grid work{ grid, block, sharedBytes, std::move(thread) };
  return Enqueue(stream, { [work = std::move(work)] {
                   const std::string failure = RunBlocks(work);
                   if (!failure.empty())
                   {
                     Break(failure);
                   }
                 } });
}

} // namespace cudahost

using namespace cudahost;

const char *
cudaGetErrorName(cudaError_t code)
{
  switch (code)
  {
#define FFDP_CUDA_HOST_NAME(name)                                                                                      \
  case name:                                                                                                           \
    return #name
    FFDP_CUDA_HOST_NAME(cudaSuccess);
    FFDP_CUDA_HOST_NAME(cudaErrorInvalidValue);
    FFDP_CUDA_HOST_NAME(cudaErrorMemoryAllocation);
    FFDP_CUDA_HOST_NAME(cudaErrorInvalidConfiguration);
    FFDP_CUDA_HOST_NAME(cudaErrorInvalidMemcpyDirection);
    FFDP_CUDA_HOST_NAME(cudaErrorNoDevice);
    FFDP_CUDA_HOST_NAME(cudaErrorInvalidDevice);
    FFDP_CUDA_HOST_NAME(cudaErrorInvalidResourceHandle);
    FFDP_CUDA_HOST_NAME(cudaErrorNotReady);
    FFDP_CUDA_HOST_NAME(cudaErrorIllegalAddress);
    FFDP_CUDA_HOST_NAME(cudaErrorLaunchFailure);
    FFDP_CUDA_HOST_NAME(cudaErrorNotSupported);
    FFDP_CUDA_HOST_NAME(cudaErrorUnknown);
#undef FFDP_CUDA_HOST_NAME
  }
  return "unrecognized error code";
}

const char *
cudaGetErrorString(cudaError_t code)
{
  switch (code)
  {
    case cudaSuccess:
      return "no error";
    case cudaErrorInvalidValue:
      return "invalid argument";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorInvalidConfiguration:
      return "invalid configuration argument";
    case cudaErrorInvalidMemcpyDirection:
      return "invalid copy direction for memcpy";
    case cudaErrorNoDevice:
      return "no CUDA-capable device is detected";
    case cudaErrorInvalidDevice:
      return "invalid device ordinal";
    case cudaErrorInvalidResourceHandle:
      return "invalid resource handle";
    case cudaErrorNotReady:
      return "device not ready";
    case cudaErrorIllegalAddress:
      return "an illegal memory access was encountered";
    case cudaErrorLaunchFailure: {
      const std::lock_guard<std::recursive_mutex> lock(Lock());
      TheSettings().message = "unspecified launch failure: " + TheSettings().report;
      return TheSettings().message.c_str();
    }
    case cudaErrorNotSupported:
      return "operation not supported";
    case cudaErrorUnknown:
      return "unknown error";
  }
  return "unrecognized error code";
}

cudaError_t
cudaGetLastError()
{
  const std::lock_guard<std::recursive_mutex> lock(Lock());
  if (TheSettings().broken)
  {
    return cudaErrorLaunchFailure;
  }
  return std::exchange(lastError, cudaSuccess);
}

cudaError_t
cudaPeekAtLastError()
{
  const std::lock_guard<std::recursive_mutex> lock(Lock());
  return TheSettings().broken ? cudaErrorLaunchFailure : lastError;
}

cudaError_t
cudaDriverGetVersion(int * version)
{
  *version = TheSettings().devices > 0 ? 12080 : 0;
  return cudaSuccess;
}

cudaError_t
cudaRuntimeGetVersion(int * version)
{
  *version = 12080;
  return cudaSuccess;
}

cudaError_t
cudaGetDeviceCount(int * count)
{
  *count = TheSettings().devices;
  return *count > 0 ? cudaSuccess : Note(cudaErrorNoDevice);
}

cudaError_t
cudaSetDevice(int device)
{
  if (device < 0 || device >= TheSettings().devices)
  {
    return Note(TheSettings().devices > 0 ? cudaErrorInvalidDevice : cudaErrorNoDevice);
  }
  currentDevice = device;
  const std::lock_guard<std::recursive_mutex> lock(Lock());
  return Broken();
}

cudaError_t
cudaGetDevice(int * device)
{
  *device = currentDevice;
  return cudaSuccess;
}

cudaError_t
cudaGetDeviceProperties(cudaDeviceProp * properties, int device)
{
  if (device < 0 || device >= TheSettings().devices)
  {
    return Note(cudaErrorInvalidDevice);
  }
  *properties = {};
  std::strcpy(properties->name, "FFDP test harness (kernels run on the processor)");
  std::size_t free = 0;
  cudaMemGetInfo(&free, &properties->totalGlobalMem);
  properties->sharedMemPerBlock = SharedPerBlock;
  properties->sharedMemPerBlockOptin = SharedPerBlockOptIn;
  properties->sharedMemPerMultiprocessor = 100 * 1024;
  properties->regsPerBlock = 65536;
  properties->warpSize = 32;
  properties->maxThreadsPerBlock = MostThreads;
  properties->maxThreadsDim[0] = properties->maxThreadsDim[1] = MostThreads;
  properties->maxThreadsDim[2] = 64;
  properties->maxGridSize[0] = 0x7fffffff;
  properties->maxGridSize[1] = properties->maxGridSize[2] = 65535;
  properties->major = 8;
  properties->minor = 6;
  properties->multiProcessorCount = Multiprocessors;
  properties->pciBusID = device;
  return cudaSuccess;
}

cudaError_t
cudaDeviceGetAttribute(int * value, cudaDeviceAttr attribute, int device)
{
  cudaDeviceProp    properties;
  const cudaError_t code = cudaGetDeviceProperties(&properties, device);
  if (code != cudaSuccess)
  {
    return code;
  }
  switch (attribute)
  {
    case cudaDevAttrMaxThreadsPerBlock:
      *value = properties.maxThreadsPerBlock;
      return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = SharedPerBlock;
      return cudaSuccess;
    case cudaDevAttrWarpSize:
      *value = properties.warpSize;
      return cudaSuccess;
    case cudaDevAttrMultiProcessorCount:
      *value = properties.multiProcessorCount;
      return cudaSuccess;
    case cudaDevAttrComputeCapabilityMajor:
      *value = properties.major;
      return cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor:
      *value = properties.minor;
      return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      *value = int(properties.sharedMemPerMultiprocessor);
      return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = SharedPerBlockOptIn;
      return cudaSuccess;
    case cudaDevAttrMemoryPoolsSupported:
      *value = 1;
      return cudaSuccess;
  }
  return Note(cudaErrorInvalidValue);
}

cudaError_t
cudaFuncSetAttribute(const void *, cudaFuncAttribute attribute, int value)
{
  return attribute == cudaFuncAttributeMaxDynamicSharedMemorySize && value > SharedPerBlockOptIn
           ? Note(cudaErrorInvalidValue)
           : cudaSuccess;
}

cudaError_t
cudaDeviceSynchronize()
{
  const std::lock_guard<std::recursive_mutex> lock(Lock());
  DrainAll();
  return Broken();
}

cudaError_t
cudaDeviceReset()
{
  const std::lock_guard<std::recursive_mutex> lock(Lock());
  DrainAll();
  FreeEverything();
  TheSettings().broken = false;
  TheSettings().report.clear();
  lastError = cudaSuccess;
  return cudaSuccess;
}
