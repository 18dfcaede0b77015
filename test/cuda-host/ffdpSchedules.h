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

#ifdef FFDP_CUDA_ON_HOST
#  include "ffdpCudaHost.h"
#endif

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace ffdp
{
namespace test
{

/** Until it is destroyed, the natural order, or schedules that are drawn from the seed that is set. A GPU draws its
 * own. */
class DrawnSchedule
{
public:
  DrawnSchedule() { this->SetSeed(0); }
  DrawnSchedule(const DrawnSchedule &) = delete;
  DrawnSchedule &
  operator=(const DrawnSchedule &) = delete;

#ifdef FFDP_CUDA_ON_HOST
  ~DrawnSchedule()
  {
    cudahost::SetScheduleSeed(m_Before);
  }
  void
  SetSeed(std::uint64_t seed)
  {
    cudahost::SetScheduleSeed(seed);
  }

private:
  const std::uint64_t m_Before = cudahost::ScheduleSeed();
#else
  void
  SetSeed(std::uint64_t)
  {}
#endif
};

/** Runs `body`, which returns a std::vector of results that were copied from the device, in natural order and then with
 * seeds 1 to `schedules`: each draws an order of threads, blocks and streams. All must give the same bytes.
 * Returns the first result; `differing` counts the others that were not the same. */
template <typename TBody>
auto
CountDifferentSchedules(const TBody & body, int schedules, int & differing)
{
  DrawnSchedule schedule;
  const auto    natural = body();
  differing = 0;
  for (int seed = 1; seed <= schedules; ++seed)
  {
    schedule.SetSeed(std::uint64_t(seed));
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
