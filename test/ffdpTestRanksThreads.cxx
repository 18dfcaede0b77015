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
#include "ffdpTestRanks.h"
#include "ffdpThreadRanks.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ffdp
{
namespace test
{
namespace
{

/** Sanitizers see on few ranks what they see on many, and take their time. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
const std::vector<int> RankCounts = { 1, 3 };
#else
const std::vector<int> RankCounts = { 1, 2, 3, 4, 5, 8 };
#endif

} // namespace

void
OnRanks(const std::function<void(Communicator &)> & body)
{
  for (const int ranks : RankCounts)
  {
    RunRanks(ranks, [&](Communicator & communicator) {
      const testing::ScopedTrace trace(__FILE__, __LINE__, "ranks: " + std::to_string(ranks));
      body(communicator);
    });
  }
}

} // namespace test
} // namespace ffdp
