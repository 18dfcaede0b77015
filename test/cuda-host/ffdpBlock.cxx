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
#include "ffdpBlock.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <sstream>

namespace cudahost
{
namespace
{

std::string
Position(const uint3 & index)
{
  return '(' + std::to_string(index.x) + ", " + std::to_string(index.y) + ", " + std::to_string(index.z) + ')';
}

std::string
Place(const Site & site)
{
  return std::string(site.file) + ':' + std::to_string(site.line);
}

bool
Has(unsigned lanes, unsigned lane)
{
  return (lanes >> lane & 1u) != 0;
}

} // namespace

void
Block::BeginLaunch(const dim3 & shape)
{
  const unsigned threads = shape.x * shape.y * shape.z;
  m_Threads.resize(threads);
  m_Indices.resize(threads);
  m_Order.resize(threads);
  m_Warps.resize((threads + 31) / 32);
  for (unsigned i = 0; i < threads; ++i)
  {
    m_Indices[i] = { i % shape.x, i / shape.x % shape.y, i / shape.x / shape.y };
  }
  std::iota(m_Order.begin(), m_Order.end(), 0u);
  m_Shuffled = ScheduleSeed() != 0;
  m_Failure.clear();
}

void
Block::BeginBlock()
{
  std::fill(m_Threads.begin(), m_Threads.end(), Thread());
  for (std::size_t w = 0; w < m_Warps.size(); ++w)
  {
    const std::size_t lanes = std::min<std::size_t>(32, m_Threads.size() - 32 * w);
    m_Warps[w] = { 0xffffffffu >> (32 - lanes), 0 };
  }
  if (m_Shuffled)
  {
    for (std::size_t i = m_Order.size(); i > 1; --i)
    {
      std::swap(m_Order[i - 1], m_Order[Draws().Below(i)]);
    }
  }
  m_Started = 0;
  m_Ready.clear();
  m_NextReady = 0;
  m_AtBlockMeeting = 0;
  m_Finished = 0;
}

bool
Block::TakeReady(unsigned & thread)
{
  const std::size_t ready = m_Ready.size() - m_NextReady;
  if (ready == 0)
  {
    return false;
  }
  if (m_Shuffled)
  {
    const std::size_t drawn = Draws().Below(ready + m_Order.size() - m_Started);
    if (drawn >= ready)
    {
      return false; // one that has not started
    }
    std::swap(m_Ready[m_NextReady], m_Ready[m_NextReady + drawn]);
  }
  thread = m_Ready[m_NextReady++];
  if (m_NextReady == m_Ready.size())
  {
    m_Ready.clear();
    m_NextReady = 0;
  }
  return true;
}

bool
Block::TakeNotStarted(unsigned & thread)
{
  if (m_Started == m_Order.size())
  {
    return false;
  }
  thread = m_Order[m_Started++];
  m_Threads[thread].state = State::Runs;
  return true;
}

void
Block::MakeReady(unsigned thread)
{
  m_Threads[thread].state = State::Runs;
  m_Ready.push_back(thread);
}

void
Block::Yield(unsigned thread)
{
  this->MakeReady(thread);
}

bool
Block::SamePlace(const Thread & a, const Thread & b)
{
  return a.state == b.state &&
         (a.state == State::Finished || (a.meeting == b.meeting && a.mask == b.mask && a.site.line == b.site.line &&
                                         (a.site.file == b.site.file || std::strcmp(a.site.file, b.site.file) == 0)));
}

bool
Block::ArriveAtBlock(unsigned thread, BlockMeeting meeting, int vote, Site site)
{
  Thread & self = m_Threads[thread];
  self.state = State::AtBlockMeeting;
  self.meeting = int(meeting);
  self.site = site;
  self.mask = 0;
  self.value = vote != 0 ? 1 : 0;
  ++m_AtBlockMeeting;
  return m_AtBlockMeeting < m_Threads.size() || this->CompleteBlockMeeting();
}

bool
Block::CompleteBlockMeeting()
{
  const Thread & first = m_Threads.front();
  std::size_t    votes = 0;
  for (const Thread & thread : m_Threads)
  {
    if (!SamePlace(thread, first))
    {
      this->Fail("threads stand at different barriers" + this->WhoWaitsWhere());
      return false;
    }
    votes += thread.value;
  }
  const auto meeting = BlockMeeting(first.meeting);
  if (meeting == BlockMeeting::And)
  {
    votes = votes == m_Threads.size() ? 1 : 0;
  }
  else if (meeting == BlockMeeting::Or)
  {
    votes = votes > 0 ? 1 : 0;
  }
  m_AtBlockMeeting = 0;
  for (unsigned i = 0; i < m_Threads.size(); ++i)
  {
    m_Threads[i].value = votes;
    this->MakeReady(i);
  }
  return true;
}

bool
Block::ArriveAtWarp(unsigned      thread,
                    WarpMeeting   meeting,
                    unsigned      mask,
                    std::uint64_t value,
                    unsigned      source,
                    Site          site)
{
  Thread & self = m_Threads[thread];
  self.state = State::AtWarpMeeting;
  self.meeting = int(meeting);
  self.site = site;
  self.mask = mask;
  self.source = source;
  self.value = value;
  if (!Has(mask, thread % 32))
  {
    this->Fail("thread " + Position(m_Indices[thread]) + " is not among the lanes it waits for, " + Place(site));
    return false;
  }
  m_Warps[thread / 32].waits |= 1u << thread % 32;
  return this->CompleteWarpMeeting(thread);
}

/** Lanes that have returned are not waited for: CUDA asks only those that have not to take part. */
bool
Block::CompleteWarpMeeting(unsigned thread)
{
  const Thread & self = m_Threads[thread];
  const unsigned firstOfWarp = thread & ~31u;
  Warp &         warp = m_Warps[thread / 32];
  const unsigned lanes = self.mask & warp.live;
  if ((lanes & ~warp.waits) != 0)
  {
    return true; // not all are here
  }
  for (unsigned lane = 0; lane < 32; ++lane)
  {
    const Thread * const other = Has(lanes, lane) ? &m_Threads[firstOfWarp + lane] : nullptr;
    if (other && (other->meeting != self.meeting || other->mask != self.mask))
    {
      return true; // it waits for others first
    }
  }
  if (!this->GiveResults(firstOfWarp, lanes, WarpMeeting(self.meeting)))
  {
    return false;
  }
  warp.waits &= ~lanes;
  for (unsigned lane = 0; lane < 32; ++lane)
  {
    if (Has(lanes, lane))
    {
      this->MakeReady(firstOfWarp + lane);
    }
  }
  return true;
}

std::uint64_t
Block::LanesWith(unsigned firstOfWarp, unsigned lanes, std::uint64_t value) const
{
  unsigned same = 0;
  for (unsigned lane = 0; lane < 32; ++lane)
  {
    same |= Has(lanes, lane) && m_Threads[firstOfWarp + lane].value == value ? 1u << lane : 0u;
  }
  return same;
}

bool
Block::GiveResults(unsigned firstOfWarp, unsigned lanes, WarpMeeting meeting)
{
  if (meeting == WarpMeeting::Synchronize)
  {
    return true;
  }
  std::uint64_t       results[32] = {};
  const std::uint64_t voted = meeting == WarpMeeting::Ballot ? this->LanesWith(firstOfWarp, lanes, 1) : 0;
  for (unsigned lane = 0; lane < 32; ++lane)
  {
    if (Has(lanes, lane))
    {
      const Thread & taker = m_Threads[firstOfWarp + lane];
      if (!Has(lanes, taker.source))
      {
        this->Fail("thread " + Position(m_Indices[firstOfWarp + lane]) + " takes a value from lane " +
                   std::to_string(taker.source) + ", which has no part in it, " + Place(taker.site));
        return false;
      }
      results[lane] = meeting == WarpMeeting::Ballot     ? voted
                      : meeting == WarpMeeting::MatchAny ? this->LanesWith(firstOfWarp, lanes, taker.value)
                                                         : m_Threads[firstOfWarp + taker.source].value;
    }
  }
  for (unsigned lane = 0; lane < 32; ++lane)
  {
    if (Has(lanes, lane))
    {
      m_Threads[firstOfWarp + lane].value = results[lane];
    }
  }
  return true;
}

bool
Block::Finish(unsigned thread)
{
  m_Threads[thread].state = State::Finished;
  ++m_Finished;
  Warp & warp = m_Warps[thread / 32];
  warp.live &= ~(1u << thread % 32);
  for (unsigned lane = 0; lane < 32 && warp.waits != 0; ++lane)
  {
    if (Has(warp.waits, lane) && !this->CompleteWarpMeeting((thread & ~31u) + lane))
    {
      return false;
    }
  }
  return true;
}

std::string
Block::Describe(const Thread & thread) const
{
  static const char * const ofBlock[] = {
    "__syncthreads", "__syncthreads_count", "__syncthreads_and", "__syncthreads_or"
  };
  static const char * const ofWarp[] = { "__syncwarp", "a shuffle", "a vote", "__match_any_sync" };
  std::ostringstream        text;
  if (thread.state == State::Finished)
  {
    text << "returned from the kernel";
  }
  else if (thread.state == State::AtBlockMeeting)
  {
    text << "at " << ofBlock[thread.meeting] << ", " << Place(thread.site);
  }
  else if (thread.state == State::AtWarpMeeting)
  {
    text << "at " << ofWarp[thread.meeting] << " of lanes 0x" << std::hex << thread.mask << ", " << Place(thread.site);
  }
  return text.str();
}

std::string
Block::WhoWaitsWhere() const
{
  std::string       text;
  std::vector<bool> told(m_Threads.size(), false);
  for (std::size_t i = 0; i < m_Threads.size(); ++i)
  {
    std::size_t same = 0;
    for (std::size_t j = i; j < m_Threads.size() && !told[i]; ++j)
    {
      same += SamePlace(m_Threads[i], m_Threads[j]) ? 1 : 0;
    }
    for (std::size_t j = m_Threads.size(); j > i && same > 0; --j)
    {
      told[j - 1] = told[j - 1] || SamePlace(m_Threads[i], m_Threads[j - 1]);
    }
    if (same > 0)
    {
      text += "\n  " + std::to_string(same) + (same == 1 ? " thread, " : " threads, the first is ") +
              Position(m_Indices[i]) + ": " + this->Describe(m_Threads[i]);
    }
  }
  return text;
}

void
Block::FailBecauseNobodyCanRun()
{
  this->Fail("threads wait for others that never come" + this->WhoWaitsWhere());
}

void
Block::Fail(const std::string & what)
{
  m_Failure = "block " + Position(blockIdx) + ": " + what;
}

} // namespace cudahost
