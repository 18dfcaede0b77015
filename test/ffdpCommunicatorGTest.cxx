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
#include "ffdpCommunicator.h"

#include "ffdpTestRanks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace ffdp
{
namespace
{

/** A block that covers a vector. */
template <typename T>
MemoryBlock
BlockOf(std::vector<T> & values)
{
  return { values.data(), values.size() * sizeof(T) };
}

/** Numbers that say who sent them to whom, and in which call. */
std::vector<int>
Letter(int from, int to, int call, std::size_t length)
{
  std::vector<int> letter(length);
  std::iota(letter.begin(), letter.end(), 1000000 * call + 10000 * from + 100 * to);
  return letter;
}

} // namespace

TEST(Communicator, RanksAreNumbered)
{
  test::OnRanks([](Communicator & communicator) {
    const std::vector<double> ranks = communicator.Gather({ double(communicator.Rank()) });
    ASSERT_EQ(ranks.size(), std::size_t(communicator.Size()));
    for (std::size_t i = 0; i < ranks.size(); ++i)
    {
      EXPECT_EQ(ranks[i], double(i));
    }
  });
}

TEST(Communicator, GathersDifferentLengthsInOrderOfRanks)
{
  test::OnRanks([](Communicator & communicator) {
    // Even ranks give nothing, which is what a rank without planes has.
    const auto numbersOf = [](int rank) { return std::vector<double>(std::size_t(rank % 2 * (rank + 2)), rank + 0.5); };
    std::vector<double> expected;
    for (int rank = 0; rank < communicator.Size(); ++rank)
    {
      const std::vector<double> numbers = numbersOf(rank);
      expected.insert(expected.end(), numbers.begin(), numbers.end());
    }
    EXPECT_EQ(communicator.Gather(numbersOf(communicator.Rank())), expected);
    EXPECT_TRUE(communicator.Gather({}).empty());
  });
}

TEST(Communicator, MaximumAndSumAreElementwise)
{
  test::OnRanks([](Communicator & communicator) {
    const double rank = communicator.Rank(), last = communicator.Size() - 1;
    double       values[3] = { rank, -rank, -5 };
    communicator.Maximum(values, 3);
    EXPECT_EQ(values[0], last);
    EXPECT_EQ(values[1], 0);
    EXPECT_EQ(values[2], -5);

    const std::int64_t large = std::int64_t(1) << 53; // a sum in double would lose the one
    std::int64_t       counts[2] = { communicator.Rank() == 0 ? large : 1, -1 };
    communicator.Sum(counts, 2);
    EXPECT_EQ(counts[0], large + communicator.Size() - 1);
    EXPECT_EQ(counts[1], -communicator.Size());

    communicator.Maximum(nullptr, 0);
    communicator.Sum(nullptr, 0);
  });
}

TEST(Communicator, NotANumberIsTheMaximumOnAllRanks)
{
  test::OnRanks([](Communicator & communicator) {
    for (int bad = 0; bad < communicator.Size(); ++bad)
    {
      double value = communicator.Rank() == bad ? std::numeric_limits<double>::quiet_NaN() : communicator.Rank();
      communicator.Maximum(&value, 1);
      EXPECT_TRUE(std::isnan(value));
    }
  });
}

TEST(Communicator, EachRankWritesToEach)
{
  test::OnRanks([](Communicator & communicator) {
    const int                     self = communicator.Rank();
    std::vector<std::vector<int>> out, in;
    std::vector<Message>          sends, receives;
    for (int other = 0; other < communicator.Size(); ++other)
    {
      out.push_back(Letter(self, other, 0, 5));
      in.emplace_back(5);
    }
    for (int other = 0; other < communicator.Size(); ++other)
    {
      if (other != self)
      {
        sends.push_back({ other, { BlockOf(out[std::size_t(other)]) } });
        receives.push_back({ other, { BlockOf(in[std::size_t(other)]) } });
      }
    }
    const std::uint64_t before = communicator.SentBytes();
    communicator.Start(sends, receives)->Wait();
    for (int other = 0; other < communicator.Size(); ++other)
    {
      EXPECT_EQ(in[std::size_t(other)], other == self ? std::vector<int>(5) : Letter(other, self, 0, 5));
    }
    EXPECT_EQ(communicator.SentBytes() - before, sends.size() * 5 * sizeof(int));
  });
}

TEST(Communicator, BlocksArriveInTheirOwnPlaces)
{
  test::OnRanks([](Communicator & communicator) {
    const int        size = communicator.Size(), self = communicator.Rank();
    const int        next = (self + 1) % size, previous = (self + size - 1) % size;
    std::vector<int> out = Letter(self, next, 0, 8), in(8, -1);
    if (size > 1)
    {
      // Blocks of 3, 0 and 2 numbers, in another order in memory on the receiving side; the rest stays as it is.
      const Message send{ next, { { &out[0], 3 * sizeof(int) }, { nullptr, 0 }, { &out[5], 2 * sizeof(int) } } };
      const Message receive{ previous, { { &in[5], 3 * sizeof(int) }, { nullptr, 0 }, { &in[1], 2 * sizeof(int) } } };
      communicator.Start({ send }, { receive })->Wait();
      const std::vector<int> letter = Letter(previous, self, 0, 8);
      EXPECT_EQ(in, (std::vector<int>{ -1, letter[5], letter[6], -1, -1, letter[0], letter[1], letter[2] }));
    }
  });
}

TEST(Communicator, MessagesMatchInOrderOfCallsAndMayBeAwaitedInAnother)
{
  test::OnRanks([](Communicator & communicator) {
    const int                                     size = communicator.Size(), self = communicator.Rank();
    const int                                     next = (self + 1) % size, previous = (self + size - 1) % size;
    constexpr int                                 Calls = 6;
    std::vector<std::vector<int>>                 out, in;
    std::vector<std::unique_ptr<PendingTransfer>> pending;
    for (int call = 0; call < Calls; ++call)
    {
      // Small ones and ones that MPI sends by another protocol; in and out stay where they are when a vector grows.
      const std::size_t length = call % 2 ? 7 : 100000;
      out.push_back(Letter(self, next, call, length));
      in.emplace_back(length);
      const std::vector<Message> sends{ { next, { BlockOf(out.back()) } } };
      const std::vector<Message> receives{ { previous, { BlockOf(in.back()) } } };
      pending.push_back(size > 1 ? communicator.Start(sends, receives) : communicator.Start({}, {}));
    }
    for (int call = Calls - 1; call >= 0; --call)
    {
      pending[std::size_t(call)]->Wait();
      EXPECT_TRUE(size == 1 || in[std::size_t(call)] == Letter(previous, self, call, in[std::size_t(call)].size()));
    }
  });
}

TEST(Communicator, StartDoesNotWaitForTheOtherSide)
{
  test::OnRanks([](Communicator & communicator) {
    const int size = communicator.Size(), self = communicator.Rank();
    // Rank 0 is past its Start() when the others have not yet made theirs: the collective call is between.
    std::vector<char>                out(1 << 20, char(self + 1)), in(1 << 20);
    std::unique_ptr<PendingTransfer> pending;
    const auto                       start = [&] {
      const std::vector<Message> toNext{ { 1, { BlockOf(out) } } }, fromFirst{ { 0, { BlockOf(in) } } };
      pending = communicator.Start(self == 0 && size > 1 ? toNext : std::vector<Message>{},
                                   self == 1 ? fromFirst : std::vector<Message>{});
    };
    if (self == 0)
    {
      start();
    }
    communicator.Gather({});
    if (self != 0)
    {
      start();
    }
    pending->Wait();
    EXPECT_EQ(in.back(), self == 1 ? 1 : 0);
  });
}

TEST(Communicator, RanksWithoutMessagesTakePart)
{
  test::OnRanks([](Communicator & communicator) {
    // Only the last rank writes to the first: what a coarse level looks like.
    const int        last = communicator.Size() - 1;
    std::vector<int> out = Letter(last, 0, 3, 11), in(11);
    for (int repeat = 0; repeat < 3; ++repeat)
    {
      std::vector<Message> sends, receives;
      if (last > 0 && communicator.Rank() == last)
      {
        sends.push_back({ 0, { BlockOf(out) } });
      }
      if (last > 0 && communicator.Rank() == 0)
      {
        receives.push_back({ last, { BlockOf(in) } });
      }
      communicator.Start(sends, receives)->Wait();
    }
    EXPECT_EQ(in, last > 0 && communicator.Rank() == 0 ? Letter(last, 0, 3, 11) : std::vector<int>(11));
  });
}

} // namespace ffdp
