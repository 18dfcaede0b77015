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
#include "ffdpParallel.h"

#include "ffdpTestSupport.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

TEST(ParallelFor, CallsEachPieceOnceAndNeverSharesAWorker)
{
  for (const unsigned threads : ffdp::test::ThreadCounts())
  {
    std::vector<std::atomic<int>> calls(101);
    std::vector<std::atomic<int>> busy(threads);
    ffdp::ParallelFor(101, threads, [&](std::int64_t piece, unsigned worker) {
      ASSERT_LT(worker, threads);
      EXPECT_EQ(busy[worker].fetch_add(1), 0);
      ++calls[std::size_t(piece)];
      --busy[worker];
    });
    for (const auto & count : calls)
    {
      EXPECT_EQ(count.load(), 1);
    }
  }
}

TEST(ParallelFor, WithoutPiecesCallsNothing)
{
  ffdp::ParallelFor(0, 3, [](std::int64_t, unsigned) { FAIL(); });
}

TEST(ParallelFor, RethrowsTheErrorOfAPiece)
{
  for (const unsigned threads : ffdp::test::ThreadCounts())
  {
    EXPECT_THROW(ffdp::ParallelFor(20,
                                   threads,
                                   [](std::int64_t piece, unsigned) {
                                     if (piece == 7)
                                     {
                                       throw std::runtime_error("seven");
                                     }
                                   }),
                 std::runtime_error);
  }
}

TEST(InstructionSet, CanBeLimitedAndRestored)
{
  const ffdp::InstructionSet best = ffdp::LimitInstructionSet(ffdp::InstructionSet::AVX512);
  EXPECT_EQ(ffdp::LimitInstructionSet(ffdp::InstructionSet::Baseline), ffdp::InstructionSet::Baseline);
  EXPECT_EQ(ffdp::GetInstructionSet(), ffdp::InstructionSet::Baseline);
  EXPECT_STREQ(ffdp::GetInstructionSetName(ffdp::GetInstructionSet()), "baseline");
  EXPECT_EQ(ffdp::LimitInstructionSet(ffdp::InstructionSet::AVX512), best);
}
