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
#ifndef ffdpCudaHostInternal_h
#define ffdpCudaHostInternal_h

#include "ffdpCudaHost.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

/** What the parts of the harness share. */
namespace cudahost
{

/** Held by whoever changes anything here: kernels of several host threads run one at a time. */
std::recursive_mutex &
Lock();

/** What is drawn: splitmix64, the same on every machine. */
class Random
{
public:
  explicit Random(std::uint64_t seed)
    : m_State(seed)
  {}
  std::uint64_t
  Next()
  {
    std::uint64_t z = m_State += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::uint64_t
  Below(std::uint64_t end)
  {
    return this->Next() % end;
  }

private:
  std::uint64_t m_State;
};

/** All draws come from here, so that a seed repeats a run. Only asked when ScheduleSeed() is not 0. */
Random &
Draws();

struct Grid
{
  dim3                  blocks;
  dim3                  threads;
  std::size_t           sharedBytes = 0;
  std::function<void()> thread;
};

/** Runs all blocks now. Returns what went wrong, or nothing. */
std::string
RunBlocks(const Grid & grid);

/** Fills the static shared variables of all kernels with what no kernel put there. */
class SharedVariables
{
public:
  void
  BeginLaunch();
  void
  BeginBlock();

private:
  std::uint64_t m_Blocks = 0;
  std::uint64_t m_NextLook = 1;
};

constexpr int PoisonByte = 0xFF; // a NaN as float and as double, -1 as an integer

/** Notes a failed call for cudaGetLastError(), and returns it. */
cudaError_t
Note(cudaError_t code);

/** A kernel went wrong: all later calls fail. */
void
Break(const std::string & report);
/** cudaErrorLaunchFailure after Break(), else cudaSuccess. Every call starts with it. */
cudaError_t
Broken();

/** A place in a stream's work that others can wait for. */
struct Moment
{
  cudaStream_t                          stream = nullptr;
  bool                                  reached = false;
  std::chrono::steady_clock::time_point when;
};

/** What a stream does when its turn comes. */
struct Work
{
  std::function<void()>   run = nullptr;
  bool                    evenIfBroken = false; // what gives back memory or ends a wait
  std::shared_ptr<Moment> waitsFor = nullptr;   // in another stream
  std::function<bool()>   isReady = nullptr;    // what other processes decide
};

/** Puts work into a stream; stream 0 is the one that waits for all that were not created as non-blocking, and
 * does its work at once. */
cudaError_t
Enqueue(cudaStream_t stream, Work work);

/** Puts the moment into a stream at which all before it is done. */
cudaError_t
EnqueueMoment(cudaStream_t stream, const std::shared_ptr<Moment> & moment);

/** One step towards the end of what is in the stream; with a seed, one of any stream. */
void
GoOnWith(cudaStream_t stream);
/** Returns when the moment is reached. */
void
Await(const Moment & moment);

/** Another process waits for what comes before the moment: it is done now, or, where something of others has to arrive
 * first, as soon as it can be while this process waits for whatever. */
void
ReachSoon(const std::shared_ptr<Moment> & moment);
/** Called while this process waits for another one. */
void
GoOnForOthers();

/** Returns when everything that was put into the stream, or into any, is done. */
void
Drain(cudaStream_t stream);
void
DrainAll();

/** How many bytes from `memory` on belong to one allocation of a device; 0 when it is not there. */
std::size_t
DeviceBytesFrom(const void * memory);
bool
IsPinned(const void * memory);

/** Gives back all memory: part of cudaDeviceReset(). */
void
FreeEverything();

} // namespace cudahost

#endif
