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
#include "ffdpFiber.h"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <numeric>
#include <vector>

uint3 threadIdx;
uint3 blockIdx;
dim3  blockDim;
dim3  gridDim;

/** Runs the threads of a block as fibers. A fiber that has run a thread to its end starts the next one, so that a
 * kernel without barriers needs one fiber, and hardly a switch; a thread that waits keeps its fiber. */
namespace cudahost
{
namespace
{

struct Runner
{
  Block           block;
  const Grid *    grid = nullptr;
  unsigned        thread = 0; // that runs
  bool            runs = false;
  unsigned char * dynamicShared = nullptr;

  Fiber                               host; // the stack of who launched
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::vector<Fiber *>                idle;
  Fiber *                             current = &host;
};

Runner runner;

void
Switch(Fiber & to)
{
  Fiber * const from = runner.current;
  runner.current = &to;
  from->SwitchTo(to);
}

/** After a failure. What is on the stacks is not destroyed, so nothing there may own memory. */
[[noreturn]] void
LeaveBlock()
{
  Switch(runner.host);
  std::abort(); // a block that was left does not go on
}

void
Become(unsigned thread)
{
  runner.thread = thread;
  threadIdx = runner.block.IndexOf(thread);
}

void
StartThreads();

Fiber &
TakeIdleFiber()
{
  if (runner.idle.empty())
  {
    runner.fibers.push_back(std::make_unique<Fiber>(&StartThreads));
    return *runner.fibers.back();
  }
  Fiber * const fiber = runner.idle.back();
  runner.idle.pop_back();
  return *fiber;
}

void
GoOnWith(unsigned thread)
{
  Become(thread);
  Fiber & fiber = *runner.block.FiberOf(thread);
  if (&fiber != runner.current)
  {
    Switch(fiber);
  }
}

/** Called where a thread waits; returns when it may go on. */
void
LetOthersRun()
{
  unsigned next = 0;
  if (runner.block.TakeReady(next))
  {
    GoOnWith(next);
  }
  else if (runner.block.TakeNotStarted(next))
  {
    Become(next);
    Switch(TakeIdleFiber());
  }
  else
  {
    runner.block.FailBecauseNobodyCanRun();
    LeaveBlock();
  }
}

void
RunThread()
{
  runner.block.FiberOf(runner.thread) = runner.current;
  try
  {
    runner.grid->thread();
  }
  catch (const std::exception & error)
  {
    runner.block.Fail(std::string("a thread threw: ") + error.what());
  }
  if (!runner.block.Failure().empty() || !runner.block.Finish(runner.thread))
  {
    LeaveBlock();
  }
}

/** What a fiber does: the thread that was taken for it, then those that have not started, unless one that waited is to
 * go on first. */
void
StartThreads()
{
  for (;;)
  {
    RunThread();
    Fiber &  self = *runner.current;
    unsigned next = 0;
    if (runner.block.IsDone())
    {
      runner.idle.push_back(&self);
      Switch(runner.host);
    }
    else if (runner.block.TakeReady(next))
    {
      runner.idle.push_back(&self);
      GoOnWith(next);
    }
    else if (runner.block.TakeNotStarted(next))
    {
      Become(next);
    }
    else
    {
      runner.block.FailBecauseNobodyCanRun();
      LeaveBlock();
    }
  }
}

void
RunBlock()
{
  runner.block.BeginBlock();
  unsigned first = 0;
  runner.block.TakeNotStarted(first);
  Become(first);
  Switch(TakeIdleFiber());
  if (!runner.block.Failure().empty()) // fibers stopped in the middle of the kernel
  {
    runner.idle.clear();
    for (const auto & fiber : runner.fibers)
    {
      fiber->Rewind();
      runner.idle.push_back(fiber.get());
    }
  }
}

/** The i-th block to run: i -> (factor i + offset) mod count goes through all of them. */
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
  if (runner.runs)
  {
    return "a kernel was launched by a kernel";
  }
  runner.runs = true;
  runner.grid = &grid;
  runner.block.BeginLaunch(grid.threads);
  // Of exactly this size, and by itself, so that address sanitizer sees what is beyond.
  runner.dynamicShared = grid.sharedBytes > 0 ? static_cast<unsigned char *>(std::malloc(grid.sharedBytes)) : nullptr;
  SharedVariables variables;
  variables.BeginLaunch();

  gridDim = grid.blocks;
  blockDim = grid.threads;
  const std::uint64_t blocks = std::uint64_t(gridDim.x) * gridDim.y * gridDim.z;
  const BlockOrder    order(blocks);
  for (std::uint64_t i = 0; i < blocks && runner.block.Failure().empty(); ++i)
  {
    const std::uint64_t b = order(i);
    blockIdx = { unsigned(b % gridDim.x), unsigned(b / gridDim.x % gridDim.y), unsigned(b / gridDim.x / gridDim.y) };
    variables.BeginBlock();
    if (runner.dynamicShared)
    {
      std::memset(runner.dynamicShared, PoisonByte, grid.sharedBytes);
    }
    RunBlock();
  }
  std::free(runner.dynamicShared);
  runner.dynamicShared = nullptr;
  runner.runs = false;
  return runner.block.Failure();
}

void *
DynamicSharedMemory()
{
  return runner.dynamicShared;
}

int
MeetBlock(BlockMeeting meeting, int vote, Site site)
{
  const unsigned self = runner.thread;
  if (!runner.block.ArriveAtBlock(self, meeting, vote, site))
  {
    LeaveBlock();
  }
  LetOthersRun();
  return int(runner.block.ResultOf(self));
}

std::uint64_t
MeetWarp(WarpMeeting meeting, unsigned mask, std::uint64_t value, unsigned source, Site site)
{
  const unsigned self = runner.thread;
  if (!runner.block.ArriveAtWarp(self, meeting, mask, value, source, site))
  {
    LeaveBlock();
  }
  LetOthersRun();
  return runner.block.ResultOf(self);
}

unsigned
Lane()
{
  return runner.thread % 32;
}

void
MayYield()
{
  if (runner.runs && ScheduleSeed() != 0 && Draws().Below(4) == 0)
  {
    runner.block.Yield(runner.thread);
    LetOthersRun();
  }
}

} // namespace cudahost
