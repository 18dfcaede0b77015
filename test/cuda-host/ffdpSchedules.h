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
#ifndef ffdpSchedules_h
#define ffdpSchedules_h

#include "ffdpCudaHost.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace ffdp
{
namespace test
{

/** Seed 0 for as long as this lives: for tests of what only the natural order promises. */
class NaturalOrder
{
public:
  NaturalOrder() { cudahost::SetScheduleSeed(0); }
  ~NaturalOrder() { cudahost::SetScheduleSeed(m_Before); }
  NaturalOrder(const NaturalOrder &) = delete;
  NaturalOrder &
  operator=(const NaturalOrder &) = delete;

private:
  const std::uint64_t m_Before = cudahost::ScheduleSeed();
};

/** Runs `body`, which returns a std::vector of results that were copied from the device, in natural order and then with
 * seeds 1 to `schedules`: each draws an order of threads, blocks and streams. All must give the same bytes.
 * Returns the first result; `differing` counts the others that were not the same. */
template <typename TBody>
auto
CountDifferentSchedules(const TBody & body, int schedules, int & differing)
{
  const NaturalOrder order;
  const auto         natural = body();
  differing = 0;
  for (int seed = 1; seed <= schedules; ++seed)
  {
    cudahost::SetScheduleSeed(std::uint64_t(seed));
    const auto drawn = body();
    differing +=
      drawn.size() == natural.size() &&
          (natural.empty() || std::memcmp(drawn.data(), natural.data(), natural.size() * sizeof(natural[0])) == 0)
        ? 0
        : 1;
  }
  return natural;
}

/** As above, and expects that none differs. */
template <typename TBody>
auto
ForEachSchedule(const TBody & body, int schedules = 20)
{
  int        differing = 0;
  const auto natural = CountDifferentSchedules(body, schedules, differing);
  EXPECT_EQ(differing, 0) << "of " << schedules << " schedules give other bytes";
  return natural;
}

} // namespace test
} // namespace ffdp

#endif
