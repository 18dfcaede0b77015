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

#include "gtest/gtest.h"

#include <atomic>
#include <memory>
#include <new>

namespace
{
constexpr std::size_t megabyte = 1 << 20;

struct alignas(64) CacheLine
{
  char bytes[64];
};

// The allocator may round up, and whoever prints or locks may allocate a little.
constexpr std::size_t slack = 4096;

// A compiler may leave out a new whose memory nobody looks at.
std::atomic<void *> lookedAt;

template <typename T>
T *
Used(T * p)
{
  lookedAt = p;
  return p;
}

template <typename TAllocate>
void
ExpectMeasured(TAllocate && allocate)
{
  ffdp::test::StartThreads(); // what they keep is not ours
  const std::size_t before = ffdp::test::BytesInUse();
  const std::size_t peak = ffdp::test::MeasurePeakAllocation(allocate);
  EXPECT_GE(peak, megabyte);
  EXPECT_LE(peak, megabyte + slack);
  EXPECT_LE(ffdp::test::BytesInUse(), before + slack); // released again
}
} // namespace

// Memory promises are only as good as the meter: no form of new may go past it.
TEST(AllocationMeter, SeesEveryFormOfNew)
{
  ExpectMeasured([] { ::operator delete(Used(::operator new(megabyte))); });
  ExpectMeasured([] { ::operator delete(Used(::operator new(megabyte, std::nothrow))); });
  ExpectMeasured([] { ::operator delete(Used(::operator new(megabyte, std::align_val_t(64))), std::align_val_t(64)); });
  ExpectMeasured([] { std::unique_ptr<char[]> buffer(Used(new char[megabyte])); });
  ExpectMeasured([] { std::unique_ptr<char[]> buffer(Used(new (std::nothrow) char[megabyte])); });
  ExpectMeasured([] { std::unique_ptr<CacheLine[]> buffer(Used(new CacheLine[megabyte / sizeof(CacheLine)])); });
}

// What the library allocates on its threads counts too.
TEST(AllocationMeter, SeesOtherThreads)
{
  const std::size_t peak = ffdp::test::MeasurePeakAllocation(
    [] { ffdp::ParallelFor(2, 2, [](std::int64_t, unsigned) { ::operator delete(::operator new(megabyte)); }); });
  EXPECT_GE(peak, megabyte);
}
