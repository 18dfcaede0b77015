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

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace ffdp
{
namespace test
{
namespace
{

/** Thrown by the waits of a rank when another one has failed. */
class OtherRankFailed : public std::runtime_error
{
public:
  OtherRankFailed()
    : std::runtime_error("another rank has failed")
  {}
};

/** One side of a message. */
struct Post
{
  std::vector<MemoryBlock> blocks;
  int                      other = 0;
  bool                     done = false;
  bool                     abandoned = false; ///< its memory may be gone
  bool                     refused = false;   ///< the other side was abandoned
};
using PostPointer = std::shared_ptr<Post>;

/** One call of a collective function, from the first rank that makes it to the last that leaves it. */
struct Round
{
  std::string                      kind;
  std::map<int, std::vector<char>> parts;
  int                              left = 0;
};

/** What the ranks share. All of it is read and written under the mutex. */
struct Team
{
  explicit Team(int ranks)
    : size(ranks)
  {}

  const int                                              size;
  std::mutex                                             mutex;
  std::condition_variable                                changed;
  bool                                                   failed = false;
  std::set<int>                                          ended;
  std::map<std::uint64_t, Round>                         rounds;
  std::map<std::pair<int, int>, std::deque<PostPointer>> sends, receives; ///< by sender and receiver, not yet matched

  template <typename TReady, typename TStuck>
  void
  Wait(std::unique_lock<std::mutex> & lock, const TReady & ready, const TStuck & stuck)
  {
    changed.wait(lock, [&] { return failed || ready() || stuck(); });
    if (failed)
    {
      throw OtherRankFailed();
    }
    if (!ready())
    {
      throw std::logic_error("a rank waits for one that has ended");
    }
  }

  void
  Copy(const Post & send, const Post & receive)
  {
    const auto sameSize = [](const MemoryBlock & a, const MemoryBlock & b) { return a.bytes == b.bytes; };
    if (!std::equal(send.blocks.begin(), send.blocks.end(), receive.blocks.begin(), receive.blocks.end(), sameSize))
    {
      throw std::logic_error("sender and receiver cut a message into different blocks");
    }
    for (std::size_t i = 0; i < send.blocks.size(); ++i)
    {
      if (send.blocks[i].bytes > 0)
      {
        std::memcpy(receive.blocks[i].data, send.blocks[i].data, send.blocks[i].bytes);
      }
    }
  }

  /** Brings messages of a pair of ranks together as far as both sides are there. */
  void
  Match(const std::pair<int, int> & pair)
  {
    auto & from = sends[pair];
    auto & to = receives[pair];
    while (!from.empty() && !to.empty())
    {
      const PostPointer send = from.front(), receive = to.front();
      from.pop_front();
      to.pop_front();
      send->refused = receive->abandoned;
      receive->refused = send->abandoned;
      if (!send->abandoned && !receive->abandoned)
      {
        this->Copy(*send, *receive);
      }
      send->done = receive->done = true;
    }
    changed.notify_all();
  }
};

class ThreadTransfer : public PendingTransfer
{
public:
  ThreadTransfer(Team & team, std::vector<PostPointer> posts)
    : m_Team(team)
    , m_Posts(std::move(posts))
  {}
  ~ThreadTransfer() override
  {
    const std::lock_guard<std::mutex> lock(m_Team.mutex);
    for (const PostPointer & post : m_Posts)
    {
      post->abandoned = true;
    }
  }
  void
  Wait() override
  {
    std::unique_lock<std::mutex> lock(m_Team.mutex);
    for (const PostPointer & post : m_Posts)
    {
      m_Team.Wait(
        lock, [&] { return post->done; }, [&] { return m_Team.ended.count(post->other) > 0; });
      if (post->refused)
      {
        throw std::logic_error("the other side has given a message up");
      }
    }
  }

private:
  Team &                         m_Team;
  const std::vector<PostPointer> m_Posts;
};

class ThreadCommunicator : public Communicator
{
public:
  ThreadCommunicator(Team & team, int rank)
    : m_Team(team)
    , m_Rank(rank)
  {}

  int
  Rank() const override
  {
    return m_Rank;
  }
  int
  Size() const override
  {
    return m_Team.size;
  }

  void
  Maximum(double * values, std::size_t count) override
  {
    for (const auto & part : this->Exchange<double>("Maximum of " + std::to_string(count), values, count))
    {
      std::transform(values, values + count, part.begin(), values, [](double a, double b) {
        return std::isnan(b) || b > a ? b : a;
      });
    }
  }

  void
  Sum(std::int64_t * values, std::size_t count) override
  {
    const auto parts = this->Exchange<std::int64_t>("Sum of " + std::to_string(count), values, count);
    std::fill_n(values, count, 0);
    for (const auto & part : parts)
    {
      std::transform(values, values + count, part.begin(), values, std::plus<>());
    }
  }

  std::vector<double>
  Gather(const std::vector<double> & own) override
  {
    std::vector<double> all;
    for (const auto & part : this->Exchange<double>("Gather", own.data(), own.size()))
    {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }

  std::unique_ptr<PendingTransfer>
  Start(const std::vector<Message> & sends, const std::vector<Message> & receives) override
  {
    this->RequireOneEach(sends);
    this->RequireOneEach(receives);
    const std::lock_guard<std::mutex> lock(m_Team.mutex);
    std::vector<PostPointer>          posts;
    const auto                        post = [&](const Message & message, auto & queues, std::pair<int, int> pair) {
      posts.push_back(std::make_shared<Post>(Post{ message.blocks, message.rank }));
      queues[pair].push_back(posts.back());
      m_Team.Match(pair);
    };
    for (const Message & message : sends)
    {
      for (const MemoryBlock & block : message.blocks)
      {
        m_SentBytes += block.bytes;
      }
      post(message, m_Team.sends, { m_Rank, message.rank });
    }
    for (const Message & message : receives)
    {
      post(message, m_Team.receives, { message.rank, m_Rank });
    }
    return std::make_unique<ThreadTransfer>(m_Team, std::move(posts));
  }

  std::uint64_t
  SentBytes() const override
  {
    return m_SentBytes;
  }

private:
  void
  RequireOneEach(const std::vector<Message> & messages) const
  {
    std::set<int> ranks;
    for (const Message & message : messages)
    {
      if (message.rank < 0 || message.rank >= m_Team.size || message.rank == m_Rank ||
          !ranks.insert(message.rank).second)
      {
        throw std::logic_error("messages are for other ranks, one for each");
      }
    }
  }

  /** What each rank gave, in the order of the ranks. */
  template <typename T>
  std::vector<std::vector<T>>
  Exchange(const std::string & kind, const T * values, std::size_t count)
  {
    std::unique_lock<std::mutex> lock(m_Team.mutex);
    const std::uint64_t          number = m_Rounds++;
    Round &                      round = m_Team.rounds[number];
    if (!round.parts.empty() && round.kind != kind)
    {
      throw std::logic_error("ranks make different calls: " + round.kind + " and " + kind);
    }
    round.kind = kind;
    std::vector<char> & own = round.parts[m_Rank];
    own.resize(count * sizeof(T));
    if (count > 0)
    {
      std::memcpy(own.data(), values, own.size());
    }
    m_Team.changed.notify_all();
    m_Team.Wait(
      lock,
      [&] { return int(round.parts.size()) == m_Team.size; },
      [&] {
        return std::any_of(
          m_Team.ended.begin(), m_Team.ended.end(), [&](int rank) { return round.parts.count(rank) == 0; });
      });
    std::vector<std::vector<T>> parts;
    for (const auto & part : round.parts)
    {
      parts.emplace_back(part.second.size() / sizeof(T));
      if (!part.second.empty())
      {
        std::memcpy(parts.back().data(), part.second.data(), part.second.size());
      }
    }
    if (++round.left == m_Team.size)
    {
      m_Team.rounds.erase(number);
    }
    return parts;
  }

  Team &        m_Team;
  const int     m_Rank;
  std::uint64_t m_Rounds = 0;
  std::uint64_t m_SentBytes = 0;
};

} // namespace

void
RunRanks(int ranks, const std::function<void(Communicator &)> & body)
{
  Team                     team(ranks);
  std::exception_ptr       first;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
  {
    threads.emplace_back([&, rank] {
      std::exception_ptr failure;
      try
      {
        ThreadCommunicator communicator(team, rank);
        body(communicator);
      }
      catch (...)
      {
        failure = std::current_exception();
      }
      const std::lock_guard<std::mutex> lock(team.mutex);
      if (failure && !team.failed)
      {
        first = failure; // those that come later follow from it
        team.failed = true;
      }
      team.ended.insert(rank);
      team.changed.notify_all();
    });
  }
  for (std::thread & thread : threads)
  {
    thread.join();
  }
  if (first)
  {
    std::rethrow_exception(first);
  }
}

} // namespace test
} // namespace ffdp
