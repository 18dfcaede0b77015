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
#include "ffdpAllocationMeter.h"

#include "ffdpParallel.h"

#include <atomic>
#include <cstdlib>
#include <malloc.h>
#include <new>

namespace
{
std::atomic<std::size_t> bytesInUse{ 0 };
std::atomic<std::size_t> peakBytes{ 0 };

void *
Allocate(std::size_t size, std::size_t alignment) noexcept
{
  void * p = nullptr;
  if (alignment <= alignof(std::max_align_t))
  {
    p = std::malloc(size ? size : 1);
  }
  else if (posix_memalign(&p, alignment, size ? size : 1) != 0)
  {
    p = nullptr;
  }
  if (!p)
  {
    return nullptr;
  }
  const std::size_t now = bytesInUse += malloc_usable_size(p);
  std::size_t       peak = peakBytes;
  while (now > peak && !peakBytes.compare_exchange_weak(peak, now))
  {}
  return p;
}

void *
AllocateOrThrow(std::size_t size, std::size_t alignment)
{
  void * p = Allocate(size, alignment);
  if (!p)
  {
    throw std::bad_alloc();
  }
  return p;
}

void
Release(void * p) noexcept
{
  if (p)
  {
    bytesInUse -= malloc_usable_size(p);
    std::free(p);
  }
}
} // namespace

namespace ffdp
{
namespace test
{
std::size_t
BytesInUse()
{
  return bytesInUse;
}
void
ResetPeak()
{
  peakBytes = bytesInUse.load();
}
std::size_t
PeakBytes()
{
  return peakBytes;
}
void
StartThreads()
{
  static const bool started = [] {
    constexpr unsigned most = 8; // more than any test uses
    ParallelFor(most, most, [](std::int64_t, unsigned) {});
    return true;
  }();
  static_cast<void>(started);
}
} // namespace test
} // namespace ffdp

// Every form is replaced: a sanitizer's own forms do not call each other, and would release what these
// allocated, or the other way round.
void *
operator new(std::size_t size)
{
  return AllocateOrThrow(size, 1);
}
void *
operator new[](std::size_t size)
{
  return AllocateOrThrow(size, 1);
}
void *
operator new(std::size_t size, std::align_val_t alignment)
{
  return AllocateOrThrow(size, std::size_t(alignment));
}
void *
operator new[](std::size_t size, std::align_val_t alignment)
{
  return AllocateOrThrow(size, std::size_t(alignment));
}
void *
operator new(std::size_t size, const std::nothrow_t &) noexcept
{
  return Allocate(size, 1);
}
void *
operator new[](std::size_t size, const std::nothrow_t &) noexcept
{
  return Allocate(size, 1);
}
void *
operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t &) noexcept
{
  return Allocate(size, std::size_t(alignment));
}
void *
operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t &) noexcept
{
  return Allocate(size, std::size_t(alignment));
}

void
operator delete(void * p) noexcept
{
  Release(p);
}
void
operator delete[](void * p) noexcept
{
  Release(p);
}
void
operator delete(void * p, std::size_t) noexcept
{
  Release(p);
}
void
operator delete[](void * p, std::size_t) noexcept
{
  Release(p);
}
void
operator delete(void * p, std::align_val_t) noexcept
{
  Release(p);
}
void
operator delete[](void * p, std::align_val_t) noexcept
{
  Release(p);
}
void
operator delete(void * p, std::size_t, std::align_val_t) noexcept
{
  Release(p);
}
void
operator delete[](void * p, std::size_t, std::align_val_t) noexcept
{
  Release(p);
}
void
operator delete(void * p, const std::nothrow_t &) noexcept
{
  Release(p);
}
void
operator delete[](void * p, const std::nothrow_t &) noexcept
{
  Release(p);
}
void
operator delete(void * p, std::align_val_t, const std::nothrow_t &) noexcept
{
  Release(p);
}
void
operator delete[](void * p, std::align_val_t, const std::nothrow_t &) noexcept
{
  Release(p);
}
