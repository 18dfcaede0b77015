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
#ifndef ffdpBlock_h
#define ffdpBlock_h

#include "ffdpCudaHostInternal.h"
#include "ffdpCudaHostKernel.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cudahost
{

class Fiber;

/** The threads of the block that runs: who may go on, who waits where, and what they get when they have met. Knows
 * nothing of how a thread is stopped and goes on. */
class Block
{
public:
  /** The shape of all blocks of a launch. */
  void
  BeginLaunch(const dim3 & shape);
  void
  BeginBlock();

  std::size_t
  Size() const
  {
    return m_Threads.size();
  }
  bool
  IsDone() const
  {
    return m_Finished == m_Threads.size();
  }
  uint3
  IndexOf(unsigned thread) const
  {
    return m_Indices[thread];
  }
  Fiber *&
  FiberOf(unsigned thread)
  {
    return m_Threads[thread].fiber;
  }

  /** Who runs next: a thread that has met the others, or one that has not started. With a seed, one of all is drawn;
   * else those that have met go first, in their order. Both false: nobody can. */
  bool
  TakeReady(unsigned & thread);
  bool
  TakeNotStarted(unsigned & thread);

  /** `thread` waits. When it was the last to come, all that have met are ready. False: Failure() says what is wrong. */
  bool
  ArriveAtBlock(unsigned thread, BlockMeeting meeting, int vote, Site site);
  bool
  ArriveAtWarp(unsigned thread, WarpMeeting meeting, unsigned mask, std::uint64_t value, unsigned source, Site site);
  /** `thread` lets others go first. */
  void
  Yield(unsigned thread);
  /** `thread` has returned; lanes that waited for it alone go on. */
  bool
  Finish(unsigned thread);
  /** What the last meeting gave `thread`. */
  std::uint64_t
  ResultOf(unsigned thread) const
  {
    return m_Threads[thread].value;
  }

  void
  FailBecauseNobodyCanRun();
  void
  Fail(const std::string & what);
  const std::string &
  Failure() const
  {
    return m_Failure;
  }

private:
  enum class State
  {
    NotStarted,
    Runs, // or could
    AtBlockMeeting,
    AtWarpMeeting,
    Finished
  };
  struct Thread
  {
    Fiber *       fiber = nullptr;
    State         state = State::NotStarted;
    int           meeting = 0;
    Site          site = {};
    unsigned      mask = 0;
    unsigned      source = 0;
    std::uint64_t value = 0; // what it brings, then what it gets
  };
  struct Warp // a bit for each lane
  {
    unsigned live = 0;
    unsigned waits = 0;
  };

  static bool
  SamePlace(const Thread & a, const Thread & b);
  bool
  CompleteBlockMeeting();
  bool
  CompleteWarpMeeting(unsigned thread);
  bool
  GiveResults(unsigned firstOfWarp, unsigned lanes, WarpMeeting meeting);
  std::uint64_t
  LanesWith(unsigned firstOfWarp, unsigned lanes, std::uint64_t value) const;
  void
  MakeReady(unsigned thread);
  std::string
  Describe(const Thread & thread) const;
  std::string
  WhoWaitsWhere() const;

  std::vector<uint3>    m_Indices;
  std::vector<Thread>   m_Threads;
  std::vector<Warp>     m_Warps;
  std::vector<unsigned> m_Order; // in which threads start
  std::size_t           m_Started = 0;
  std::vector<unsigned> m_Ready;
  std::size_t           m_NextReady = 0; // those before it were taken
  std::size_t           m_AtBlockMeeting = 0;
  std::size_t           m_Finished = 0;
  bool                  m_Shuffled = false;
  std::string           m_Failure;
};

} // namespace cudahost

#endif
