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
#include <map>
#include <memory>
#include <vector>

namespace cudahost
{
namespace
{

enum class Place
{
  Device,
  Pinned
};

struct Allocation
{
  std::size_t bytes;
  Place       place;
  int         device;
  bool        freed = false; // by a call whose turn in its stream has not come
};

struct Memory
{
  std::map<char *, Allocation> allocations;
  std::size_t                  deviceBytes = 0;
  std::size_t                  pinnedBytes = 0;
  std::size_t                  freedLater = 0; // what still waits for its stream
  std::size_t                  limit = std::size_t(8) << 30;
};

Memory &
TheMemory()
{
  static Memory memory;
  return memory;
}

constexpr std::size_t MostFreedLater = std::size_t(256) << 20;

std::map<char *, Allocation>::iterator
Find(const void * pointer)
{
  auto & allocations = TheMemory().allocations;
  char * address = static_cast<char *>(const_cast<void *>(pointer));
  auto   after = allocations.upper_bound(address);
  if (after == allocations.begin())
  {
    return allocations.end();
  }
  --after;
  return address < after->first + after->second.bytes ? after : allocations.end();
}

cudaError_t
Allocate(void ** memory, std::size_t bytes, Place place)
{
  const std::lock_guard<std::recursive_mutex> lock(Lock());
  if (Broken() != cudaSuccess)
  {
    return cudaErrorLaunchFailure;
  }
  Memory & all = TheMemory();
  *memory = nullptr;
  if (bytes == 0)
  {
    return cudaSuccess;
  }
  if (place == Place::Device && (bytes > all.limit || all.deviceBytes > all.limit - bytes))
  {
    return Note(cudaErrorMemoryAllocation);
  }
  // Of this size and by itself; aligned as on a device.
  if (posix_memalign(memory, 256, bytes) != 0)
  {
    return Note(cudaErrorMemoryAllocation);
  }
  std::memset(*memory, PoisonByte, bytes);
  int device = 0;
  cudaGetDevice(&device);
  all.allocations.emplace(static_cast<char *>(*memory), Allocation{ bytes, place, device });
  (place == Place::Device ? all.deviceBytes : all.pinnedBytes) += bytes;
  return cudaSuccess;
}

/** What the free of `memory` would give back; end when it is not what an allocation of this place returned. */
std::map<char *, Allocation>::iterator
FindToFree(void * memory, Place place)
{
  auto       found = TheMemory().allocations.find(static_cast<char *>(memory));
  const bool valid = found != TheMemory().allocations.end() && found->second.place == place && !found->second.freed;
  return valid ? found : TheMemory().allocations.end();
}

void
Release(void * memory)
{
  Memory & all = TheMemory();
  auto     found = all.allocations.find(static_cast<char *>(memory));
  if (found != all.allocations.end()) // else FreeEverything() came first
  {
    if (found->second.freed)
    {
      all.freedLater -= found->second.bytes;
    }
    all.allocations.erase(found);
    std::free(memory);
  }
}

cudaError_t
FreeNow(void * memory, Place place)
{
  const std::lock_guard<std::recursive_mutex> lock(Lock());
  if (memory == nullptr)
  {
    return Broken();
  }
  DrainAll(); // as CUDA does: nothing that runs may still use it
  const auto found = FindToFree(memory, place);
  if (found == TheMemory().allocations.end())
  {
    return Note(cudaErrorInvalidValue);
  }
  (place == Place::Device ? TheMemory().deviceBytes : TheMemory().pinnedBytes) -= found->second.bytes;
  Release(memory);
  return Broken();
}

} // namespace

std::size_t
DeviceBytesFrom(const void * memory)
{
  const auto found = Find(memory);
  if (found == TheMemory().allocations.end() || found->second.place != Place::Device || found->second.freed)
  {
    return 0;
  }
  return std::size_t(found->first + found->second.bytes - static_cast<const char *>(memory));
}

bool
IsPinned(const void * memory)
{
  const auto found = Find(memory);
  return found != TheMemory().allocations.end() && found->second.place == Place::Pinned;
}

void
FreeEverything()
{
  Memory & all = TheMemory();
  for (const auto & allocation : all.allocations)
  {
    std::free(allocation.first);
  }
  all.allocations.clear();
  all.deviceBytes = 0;
  all.pinnedBytes = 0;
  all.freedLater = 0;
}

void
SetMemoryLimit(std::size_t bytes)
{
  TheMemory().limit = bytes;
}

std::size_t
LiveDeviceBytes()
{
  const std::lock_guard<std::recursive_mutex> lock(Lock());
  return TheMemory().deviceBytes;
}

std::size_t
LivePinnedBytes()
{
  const std::lock_guard<std::recursive_mutex> lock(Lock());
  return TheMemory().pinnedBytes;
}

} // namespace cudahost

using namespace cudahost;

cudaError_t
cudaMalloc(void ** memory, std::size_t bytes)
{
  return Allocate(memory, bytes, Place::Device);
}

cudaError_t
cudaFree(void * memory)
{
  return FreeNow(memory, Place::Device);
}

cudaError_t
cudaMallocAsync(void ** memory, std::size_t bytes, cudaStream_t)
{
  return bytes == 0 ? Note(cudaErrorInvalidValue) : Allocate(memory, bytes, Place::Device);
}

cudaError_t
cudaFreeAsync(void * memory, cudaStream_t stream)
{
  const std::lock_guard<std::recursive_mutex> lock(Lock());
  const auto                                  found = FindToFree(memory, Place::Device);
  if (found == TheMemory().allocations.end())
  {
    return Note(cudaErrorInvalidValue);
  }
  found->second.freed = true;
  TheMemory().freedLater += found->second.bytes;
  TheMemory().deviceBytes -= found->second.bytes;
  const cudaError_t code = Enqueue(stream, { [memory] { Release(memory); }, true });
  if (code == cudaErrorInvalidResourceHandle)
  {
    found->second.freed = false;
    TheMemory().freedLater -= found->second.bytes;
    TheMemory().deviceBytes += found->second.bytes;
  }
  else if (TheMemory().freedLater > MostFreedLater)
  {
    Drain(stream);
  }
  return code;
}

cudaError_t
cudaMallocHost(void ** memory, std::size_t bytes)
{
  return Allocate(memory, bytes, Place::Pinned);
}

cudaError_t
cudaHostAlloc(void ** memory, std::size_t bytes, unsigned)
{
  return Allocate(memory, bytes, Place::Pinned);
}

cudaError_t
cudaFreeHost(void * memory)
{
  return FreeNow(memory, Place::Pinned);
}

cudaError_t
cudaMemGetInfo(std::size_t * free, std::size_t * total)
{
  const std::lock_guard<std::recursive_mutex> lock(Lock());
  *total = TheMemory().limit;
  *free = *total - std::min(*total, TheMemory().deviceBytes);
  return Broken();
}

cudaError_t
cudaPointerGetAttributes(cudaPointerAttributes * attributes, const void * pointer)
{
  const std::lock_guard<std::recursive_mutex> lock(Lock());
  const auto                                  found = Find(pointer);
  void * const                                address = const_cast<void *>(pointer);
  if (found == TheMemory().allocations.end())
  {
    *attributes = { cudaMemoryTypeUnregistered, -1, nullptr, address };
  }
  else if (found->second.place == Place::Device)
  {
    *attributes = { cudaMemoryTypeDevice, found->second.device, address, nullptr };
  }
  else
  {
    *attributes = { cudaMemoryTypeHost, found->second.device, address, address };
  }
  return Broken();
}

cudaError_t
cudaDeviceGetDefaultMemPool(cudaMemPool_t * pool, int)
{
  *pool = reinterpret_cast<cudaMemPool_t>(&TheMemory());
  return cudaSuccess;
}

cudaError_t
cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void *)
{
  return cudaSuccess; // what is freed is given back at once, so that its use is seen
}

cudaError_t
cudaMemPoolTrimTo(cudaMemPool_t, std::size_t)
{
  return cudaSuccess;
}
