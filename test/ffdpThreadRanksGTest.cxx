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
#include "ffdpThreadRanks.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace ffdp
{
namespace
{

struct Trouble : public std::runtime_error
{
  using std::runtime_error::runtime_error;
};

} // namespace

TEST(ThreadRanks, AnExceptionEndsTheWaitsOfOthers)
{
  for (const bool collective : { false, true })
  {
    EXPECT_THROW(test::RunRanks(4,
                                [&](Communicator & communicator) {
                                  int number = 0;
                                  if (communicator.Rank() == 2)
                                  {
                                    throw Trouble("on rank 2");
                                  }
                                  if (collective)
                                  {
                                    communicator.Gather({ 1 });
                                  }
                                  communicator.Start({}, { { 2, { { &number, sizeof(number) } } } })->Wait();
                                }),
                 Trouble);
  }
}

TEST(ThreadRanks, BlocksMustAgree)
{
  EXPECT_THROW(test::RunRanks(2,
                              [](Communicator & communicator) {
                                int       numbers[2] = { 1, 2 };
                                const int other = 1 - communicator.Rank();
                                if (communicator.Rank() == 0)
                                {
                                  communicator.Start({ { other, { { numbers, 8 } } } }, {})->Wait();
                                }
                                else
                                {
                                  communicator.Start({}, { { other, { { numbers, 4 }, { numbers + 1, 4 } } } })->Wait();
                                }
                              }),
               std::logic_error);
}

TEST(ThreadRanks, WaitingForARankThatHasEndedIsAnError)
{
  EXPECT_THROW(test::RunRanks(3,
                              [](Communicator & communicator) {
                                if (communicator.Rank() != 1)
                                {
                                  communicator.Gather({ 1 });
                                }
                              }),
               std::logic_error);
  EXPECT_THROW(test::RunRanks(2,
                              [](Communicator & communicator) {
                                int number = 0;
                                if (communicator.Rank() == 0)
                                {
                                  communicator.Start({}, { { 1, { { &number, sizeof(number) } } } })->Wait();
                                }
                              }),
               std::logic_error);
}

TEST(ThreadRanks, CollectiveCallsMustBeTheSame)
{
  EXPECT_THROW(test::RunRanks(2,
                              [](Communicator & communicator) {
                                double       value = 0;
                                std::int64_t count = 0;
                                if (communicator.Rank() == 0)
                                {
                                  communicator.Maximum(&value, 1);
                                }
                                else
                                {
                                  communicator.Sum(&count, 1);
                                }
                              }),
               std::logic_error);
}

TEST(ThreadRanks, MessagesAreForOthersOneForEach)
{
  const auto sendTo = [](const std::vector<int> & ranks) {
    return [=](Communicator & communicator) {
      std::vector<Message> sends;
      for (const int rank : ranks)
      {
        sends.push_back({ rank, {} });
      }
      if (communicator.Rank() == 0)
      {
        communicator.Start(sends, {});
      }
    };
  };
  EXPECT_THROW(test::RunRanks(2, sendTo({ 0 })), std::logic_error);
  EXPECT_THROW(test::RunRanks(2, sendTo({ 2 })), std::logic_error);
  EXPECT_THROW(test::RunRanks(2, sendTo({ 1, 1 })), std::logic_error);
  EXPECT_NO_THROW(test::RunRanks(2, sendTo({ 1 })));
}

TEST(ThreadRanks, AMessageThatWasGivenUpIsNotCopied)
{
  EXPECT_THROW(test::RunRanks(2,
                              [](Communicator & communicator) {
                                int number = 0;
                                if (communicator.Rank() == 0)
                                {
                                  communicator.Start({}, { { 1, { { &number, sizeof(number) } } } });
                                }
                                communicator.Gather({});
                                if (communicator.Rank() == 1)
                                {
                                  communicator.Start({ { 0, { { &number, sizeof(number) } } } }, {})->Wait();
                                }
                                communicator.Gather({});
                              }),
               std::logic_error);
}

} // namespace ffdp
