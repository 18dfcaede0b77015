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

#include "ffdpDeviceStaging.h"
#include "ffdpSchedules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace
{
using namespace ffdp;

/** The numbers of `keys`, sorted on the device. */
std::vector<std::uint32_t>
SortOnDevice(const std::vector<std::uint64_t> & keys, int bits)
{
  std::vector<std::uint32_t> numbers(keys.size());
  std::iota(numbers.begin(), numbers.end(), 0u);
  cuda::Device &  device = test::TestDevice();
  const auto      count = std::int64_t(keys.size());
  cuda::RadixSort sort(device, count);
  device.CopyFromHost(sort.Keys(), keys.data(), keys.size() * sizeof(keys[0]));
  device.CopyFromHost(sort.Values(), numbers.data(), numbers.size() * sizeof(numbers[0]));
  sort.Sort(count, bits);
  device.CopyToHost(numbers.data(), sort.Values(), numbers.size() * sizeof(numbers[0]));
  return numbers;
}

std::vector<std::uint64_t>
RandomKeys(std::size_t count, std::uint64_t end)
{
  std::mt19937_64                              generator(count);
  std::uniform_int_distribution<std::uint64_t> below(0, end - 1);
  std::vector<std::uint64_t>                   keys(count);
  for (std::uint64_t & key : keys)
  {
    key = below(generator);
  }
  return keys;
}

} // namespace

TEST(CudaRadixSort, SortsAndKeepsTheOrderOfEqualKeys)
{
  for (const std::size_t count : { 1u, 31u, 512u, 4096u, 4097u, 9000u })
  {
    for (const int bits : { 1, 8, 9, 27, 40 })
    {
      const auto                 keys = RandomKeys(count, std::uint64_t(1) << bits);
      std::vector<std::uint32_t> expected(count);
      std::iota(expected.begin(), expected.end(), 0u);
      std::stable_sort(
        expected.begin(), expected.end(), [&](std::uint32_t a, std::uint32_t b) { return keys[a] < keys[b]; });
      EXPECT_EQ(SortOnDevice(keys, bits), expected) << count << " keys of " << bits << " bits";
    }
  }
}

TEST(CudaRadixSort, DoesNotDependOnTheSchedule)
{
  const auto keys = RandomKeys(5000, 300);
  test::ForEachSchedule([&] { return SortOnDevice(keys, 9); });
}
