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
#include "ffdpCudaHostInternal.h"
#include "ffdpCudaHostKernel.h"
#include "ffdpFiber.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <memory>
#include <numeric>
#include <sstream>
#include <vector>

uint3 threadIdx;
uint3 blockIdx;
dim3  blockDim;
dim3  gridDim;

namespace cudahost
{
namespace
{

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
  Site          site = {};
  int           meeting = 0;
  unsigned      mask = 0;
  unsigned      source = 0;
  std::uint64_t value = 0; // what it brought, then what it gets
};

/** One block at a time: its threads, and who of them can run. */
struct Block
{
  const Grid *          grid = nullptr;
  std::vector<Thread>   threads;
  std::vector<unsigned> order; // in which threads start
  std::size_t           started = 0;
  std::vector<unsigned> ready;         // met the others, and may go on
  std::size_t           nextReady = 0; // before it, `ready` was taken
  unsigned              current = 0;
  unsigned              finished = 0;
  unsigned              atBlockMeeting = 0;
  unsigned char *       dynamicShared = nullptr;
  std::string           failure;
  bool                  shuffled = false;
  bool                  runs = false;
};

Block block;

struct Fibers
{
  std::vector<std::unique_ptr<Fiber>> all;
  std::vector<Fiber *>                idle;
  Fiber                               host; // the stack of who launched
  Fiber *                             current = &host;
};

Fibers &
TheFibers()
{
  static Fibers fibers;
  return fibers;
}

void
Switch(Fiber & to)
{
  Fibers &      fibers = TheFibers();
  Fiber * const from = fibers.current;
  fibers.current = &to;
  if (from != &to)
  {
    from->SwitchTo(to);
  }
}

[[noreturn]] void
LeaveBlock()
{
  Switch(TheFibers().host);
  std::abort(); // a block that was left does not go on
}

std::string
Position(const uint3 & index)
{
  std::ostringstream text;
  text << '(' << index.x << ", " << index.y << ", " << index.z << ')';
  return text.str();
}

uint3
IndexOf(unsigned thread)
{
  const dim3 & size = block.grid->threads;
  return { thread % size.x, thread / size.x % size.y, thread / size.x / size.y };
}

/** Then LeaveBlock(): apart, because what is on a stack that is left is not destroyed. */
void
Report(const std::string & what)
{
  block.failure = "block " + Position(blockIdx) + ": " + what;
}

const char *
Name(State state, int meeting)
{
  if (state == State::AtBlockMeeting)
  {
    static const char * const names[] = {
      "__syncthreads", "__syncthreads_count", "__syncthreads_and", "__syncthreads_or"
    };
    return names[meeting];
  }
  static const char * const names[] = { "__syncwarp", "a shuffle", "a vote", "__match_any_sync" };
  return names[meeting];
}

/** Which threads stand where: for when they do not meet. */
std::string
WhoWaitsWhere()
{
  std::ostringstream text;
  std::vector<bool>  told(block.threads.size(), false);
  for (unsigned i = 0; i < block.threads.size(); ++i)
  {
    const Thread & first = block.threads[i];
    if (told[i])
    {
      continue;
    }
    unsigned same = 0;
    for (unsigned j = i; j < block.threads.size(); ++j)
    {
      const Thread & other = block.threads[j];
      if (other.state == first.state &&
          (first.state == State::Finished ||
           (other.meeting == first.meeting && other.mask == first.mask && other.site.line == first.site.line &&
            std::string(other.site.file) == first.site.file)))
      {
        told[j] = true;
        ++same;
      }
    }
    text << "\n  " << same << (same == 1 ? " thread, " : " threads, the first is ") << Position(IndexOf(i)) << ": ";
    if (first.state == State::Finished)
    {
      text << "returned from the kernel";
    }
    else
    {
      text << "at " << Name(first.state, first.meeting);
      if (first.state == State::AtWarpMeeting)
      {
        text << " of lanes 0x" << std::hex << first.mask << std::dec;
      }
      text << ", " << first.site.file << ':' << first.site.line;
    }
  }
  return text.str();
}

bool
TakeReady(unsigned & thread)
{
  const std::size_t waiting = block.ready.size() - block.nextReady;
  if (waiting == 0)
  {
    return false;
  }
  if (block.shuffled)
  {
    const std::size_t drawn = Draws().Below(waiting + block.order.size() - block.started);
    if (drawn >= waiting)
    {
      return false; // one that has not started
    }
    std::swap(block.ready[block.nextReady], block.ready[block.nextReady + drawn]);
  }
  thread = block.ready[block.nextReady++];
  if (block.nextReady == block.ready.size())
  {
    block.ready.clear();
    block.nextReady = 0;
  }
  return true;
}

void
BecomeCurrent(unsigned thread)
{
  block.current = thread;
  threadIdx = IndexOf(thread);
}

void
ThreadLoop();

/** Lets another thread run; returns when the current one may go on. */
void
LetOthersRun()
{
  Fibers &       fibers = TheFibers();
  const unsigned self = block.current;
  unsigned       next = 0;
  if (TakeReady(next))
  {
    BecomeCurrent(next);
    if (next != self)
    {
      Switch(*block.threads[next].fiber);
    }
  }
  else if (block.started < block.order.size())
  {
    if (fibers.idle.empty())
    {
      fibers.all.push_back(std::make_unique<Fiber>(&ThreadLoop));
      fibers.idle.push_back(fibers.all.back().get());
    }
    Fiber * const idle = fibers.idle.back();
    fibers.idle.pop_back();
    Switch(*idle); // it starts the next thread
  }
  else
  {
    Report("threads wait for others that never come" + WhoWaitsWhere());
    LeaveBlock();
  }
}

void
MakeReady(unsigned thread)
{
  block.threads[thread].state = State::Runs;
  block.ready.push_back(thread);
}

/** Lanes of `thread`'s warp that exist and have not returned. */
unsigned
LiveLanes(unsigned firstOfWarp)
{
  unsigned       live = 0;
  const unsigned end = std::min(firstOfWarp + 32u, unsigned(block.threads.size()));
  for (unsigned i = firstOfWarp; i < end; ++i)
  {
    live |= block.threads[i].state != State::Finished ? 1u << (i - firstOfWarp) : 0u;
  }
  return live;
}

std::uint64_t
LanesWith(unsigned firstOfWarp, unsigned lanes, std::uint64_t value)
{
  std::uint64_t same = 0;
  for (unsigned lane = 0; lane < 32; ++lane)
  {
    same |= (lanes >> lane & 1u) != 0 && block.threads[firstOfWarp + lane].value == value ? 1u << lane : 0u;
  }
  return same;
}

/** Gives each lane what it gets, if all lanes that `thread` waits for are here. */
bool
CompleteWarpMeeting(unsigned thread)
{
  const Thread & asked = block.threads[thread];
  const unsigned firstOfWarp = thread & ~31u;
  const unsigned lanes = asked.mask & LiveLanes(firstOfWarp);
  for (unsigned lane = 0; lane < 32; ++lane)
  {
    if ((lanes >> lane & 1u) != 0)
    {
      const Thread & other = block.threads[firstOfWarp + lane];
      if (other.state != State::AtWarpMeeting || other.meeting != asked.meeting || other.mask != asked.mask)
      {
        return false;
      }
    }
  }
  const auto    meeting = WarpMeeting(asked.meeting);
  std::uint64_t results[32] = {};
  for (unsigned lane = 0; lane < 32; ++lane)
  {
    if ((lanes >> lane & 1u) != 0 && meeting != WarpMeeting::Synchronize)
    {
      const Thread & taker = block.threads[firstOfWarp + lane];
      if ((lanes >> taker.source & 1u) == 0)
      {
        BecomeCurrent(firstOfWarp + lane);
        Report("thread " + Position(threadIdx) + " shuffles from lane " + std::to_string(taker.source) +
               ", which takes no part, " + taker.site.file + ':' + std::to_string(taker.site.line));
        LeaveBlock();
      }
      results[lane] = meeting == WarpMeeting::Shuffle  ? block.threads[firstOfWarp + taker.source].value
                      : meeting == WarpMeeting::Ballot ? LanesWith(firstOfWarp, lanes, 1)
                                                       : LanesWith(firstOfWarp, lanes, taker.value);
    }
  }
  for (unsigned lane = 0; lane < 32; ++lane)
  {
    if ((lanes >> lane & 1u) != 0)
    {
      block.threads[firstOfWarp + lane].value = results[lane];
      MakeReady(firstOfWarp + lane);
    }
  }
  return true;
}

void
CompleteBlockMeeting()
{
  const Thread & first = block.threads.front();
  std::uint64_t  votes = 0;
  for (const Thread & thread : block.threads)
  {
    if (thread.site.line != first.site.line || thread.meeting != first.meeting ||
        (thread.site.file != first.site.file && std::string(thread.site.file) != first.site.file))
    {
      Report("threads stand at different barriers" + WhoWaitsWhere());
      LeaveBlock();
    }
    votes += thread.value;
  }
  const auto          meeting = BlockMeeting(first.meeting);
  const std::uint64_t all = block.threads.size();
  const std::uint64_t result = meeting == BlockMeeting::And  ? votes == all
                               : meeting == BlockMeeting::Or ? votes > 0
                                                             : votes;
  block.atBlockMeeting = 0;
  for (unsigned i = 0; i < block.threads.size(); ++i)
  {
    block.threads[i].value = result;
    MakeReady(i);
  }
}

/** A thread has returned: those of its warp that waited for it alone go on. */
void
Finish(unsigned thread)
{
  block.threads[thread].state = State::Finished;
  ++block.finished;
  const unsigned firstOfWarp = thread & ~31u;
  const unsigned end = std::min(firstOfWarp + 32u, unsigned(block.threads.size()));
  for (unsigned i = firstOfWarp; i < end; ++i)
  {
    if (block.threads[i].state == State::AtWarpMeeting)
    {
      CompleteWarpMeeting(i);
    }
  }
}

/** What a fiber does: it starts threads that have not started, as long as none that waits is to go on first. */
void
ThreadLoop()
{
  Fibers &      fibers = TheFibers();
  Fiber * const self = fibers.current;
  for (;;)
  {
    const unsigned thread = block.order[block.started++];
    BecomeCurrent(thread);
    block.threads[thread].fiber = self;
    block.threads[thread].state = State::Runs;
    try
    {
      block.grid->thread();
    }
    catch (const std::exception & error)
    {
      Report("thread " + Position(threadIdx) + " threw: " + error.what());
    }
    if (!block.failure.empty())
    {
      LeaveBlock();
    }
    Finish(thread);
    unsigned next = 0;
    if (block.finished == block.threads.size())
    {
      fibers.idle.push_back(self);
      Switch(fibers.host);
    }
    else if (TakeReady(next))
    {
      fibers.idle.push_back(self);
      BecomeCurrent(next);
      Switch(*block.threads[next].fiber);
    }
    else if (block.started == block.order.size())
    {
      Report("threads wait for others that never come" + WhoWaitsWhere());
      LeaveBlock();
    }
  }
}

void
RunBlock()
{
  std::fill(block.threads.begin(), block.threads.end(), Thread());
  block.started = 0;
  block.ready.clear();
  block.nextReady = 0;
  block.finished = 0;
  block.atBlockMeeting = 0;
  if (block.shuffled)
  {
    for (std::size_t i = block.order.size(); i > 1; --i)
    {
      std::swap(block.order[i - 1], block.order[Draws().Below(i)]);
    }
  }
  Fibers & fibers = TheFibers();
  if (fibers.idle.empty())
  {
    fibers.all.push_back(std::make_unique<Fiber>(&ThreadLoop));
    fibers.idle.push_back(fibers.all.back().get());
  }
  Fiber * const first = fibers.idle.back();
  fibers.idle.pop_back();
  Switch(*first);
  if (!block.failure.empty()) // fibers stopped in the middle of a kernel
  {
    fibers.idle.clear();
    for (const auto & fiber : fibers.all)
    {
      fiber->Rewind();
      fibers.idle.push_back(fiber.get());
    }
  }
}

/** i-th block to run, of `count`: i -> (factor i + offset) mod count goes through all of them. */
struct BlockOrder
{
  std::uint64_t count;
  std::uint64_t factor = 1;
  std::uint64_t offset = 0;

  explicit BlockOrder(std::uint64_t blocks)
    : count(blocks)
  {
    if (ScheduleSeed() != 0 && count > 1)
    {
      offset = Draws().Below(count);
      do
      {
        factor = 1 + Draws().Below(count - 1);
      } while (std::gcd(factor, count) != 1);
    }
  }
  std::uint64_t
  operator()(std::uint64_t i) const
  {
    return std::uint64_t((static_cast<unsigned __int128>(factor) * i + offset) % count);
  }
};

} // namespace

std::string
RunBlocks(const Grid & grid)
{
  if (block.runs)
  {
    return "a kernel was launched from a kernel";
  }
  const unsigned threads = grid.threads.x * grid.threads.y * grid.threads.z;
  block.grid = &grid;
  block.shuffled = ScheduleSeed() != 0;
  block.threads.resize(threads);
  block.order.resize(threads);
  std::iota(block.order.begin(), block.order.end(), 0u);
  block.failure.clear();
  block.runs = true;
  // Of exactly this size, and by itself, so that address sanitizer sees what is beyond.
  block.dynamicShared = grid.sharedBytes > 0 ? static_cast<unsigned char *>(std::malloc(grid.sharedBytes)) : nullptr;
  SharedVariables variables;
  variables.BeginLaunch();

  gridDim = grid.blocks;
  blockDim = grid.threads;
  const std::uint64_t blocks = std::uint64_t(gridDim.x) * gridDim.y * gridDim.z;
  const BlockOrder    order(blocks);
  for (std::uint64_t i = 0; i < blocks && block.failure.empty(); ++i)
  {
    const std::uint64_t b = order(i);
    blockIdx = { unsigned(b % gridDim.x), unsigned(b / gridDim.x % gridDim.y), unsigned(b / gridDim.x / gridDim.y) };
    variables.BeginBlock();
    if (block.dynamicShared)
    {
      std::memset(block.dynamicShared, PoisonByte, grid.sharedBytes);
    }
    RunBlock();
  }
  std::free(block.dynamicShared);
  block.dynamicShared = nullptr;
  block.runs = false;
  return block.failure;
}

void *
DynamicSharedMemory()
{
  return block.dynamicShared;
}

int
MeetBlock(BlockMeeting meeting, int vote, Site site)
{
  const unsigned self = block.current;
  Thread &       thread = block.threads[self];
  thread.state = State::AtBlockMeeting;
  thread.meeting = int(meeting);
  thread.mask = 0;
  thread.site = site;
  thread.value = vote != 0 ? 1 : 0;
  ++block.atBlockMeeting;
  if (block.atBlockMeeting == block.threads.size())
  {
    CompleteBlockMeeting();
  }
  LetOthersRun();
  return int(thread.value);
}

std::uint64_t
MeetWarp(WarpMeeting meeting, unsigned mask, std::uint64_t value, unsigned source, Site site)
{
  const unsigned self = block.current;
  Thread &       thread = block.threads[self];
  thread.state = State::AtWarpMeeting;
  thread.meeting = int(meeting);
  thread.mask = mask;
  thread.source = source;
  thread.site = site;
  thread.value = value;
  if ((mask >> (self & 31u) & 1u) == 0)
  {
    Report("thread " + Position(threadIdx) + " is not in its own mask, " + site.file + ':' + std::to_string(site.line));
    LeaveBlock();
  }
  CompleteWarpMeeting(self);
  LetOthersRun();
  return thread.value;
}

unsigned
Lane()
{
  return block.current & 31u;
}

void
MayYield()
{
  if (block.runs && block.shuffled && Draws().Below(4) == 0)
  {
    MakeReady(block.current);
    LetOthersRun();
  }
}

} // namespace cudahost
