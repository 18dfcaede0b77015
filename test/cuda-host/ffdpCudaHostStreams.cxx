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

#include <algorithm>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

/** Work waits in its stream until someone asks for it: that is as late as a device may do it. With a seed, streams also
 * go on by themselves now and then, so that what lacks an event or a wait is done too early or too late. */

struct CUstream_st
{
  bool                       waitsForStream0;
  std::deque<cudahost::Work> steps;
};

namespace cudahost
{
namespace
{

std::vector<CUstream_st *> &
Streams()
{
  static std::vector<CUstream_st *> streams;
  return streams;
}

std::vector<std::shared_ptr<Moment>> &
AwaitedByOthers()
{
  static std::vector<std::shared_ptr<Moment>> moments;
  return moments;
}

bool
IsStream(cudaStream_t stream)
{
  return std::find(Streams().begin(), Streams().end(), stream) != Streams().end();
}

constexpr std::size_t MostSteps = 4096; // a stream that nobody waits for goes on by itself, as on a device

bool
WaitsForMoment(const CUstream_st & stream)
{
  return stream.steps.front().waitsFor && !stream.steps.front().waitsFor->reached;
}

bool
CanGoOn(const CUstream_st & stream)
{
  return !stream.steps.empty() && !WaitsForMoment(stream) &&
         (!stream.steps.front().isReady || stream.steps.front().isReady());
}

void
Do(const Work & work)
{
  if (work.run && (work.evenIfBroken || Broken() == cudaSuccess))
  {
    work.run();
  }
}

void
DoStep(CUstream_st & stream)
{
  const Work work = std::move(stream.steps.front());
  stream.steps.pop_front();
  Do(work);
}

bool
DoDrawnStep()
{
  std::vector<CUstream_st *> able;
  for (CUstream_st * stream : Streams())
  {
    if (CanGoOn(*stream))
    {
      able.push_back(stream);
    }
  }
  if (!able.empty())
  {
    DoStep(*able[Draws().Below(able.size())]);
  }
  return !able.empty();
}

/** Who has to go on first, so that `stream` can. A wait is for what was recorded earlier, so no circle can arise. */
CUstream_st &
Blocking(CUstream_st * stream)
{
  while (WaitsForMoment(*stream))
  {
    stream = stream->steps.front().waitsFor->stream;
  }
  return *stream;
}

/** One step towards the end of what is in `stream`, if it needs no other process now. */
bool
TryToGoOnWith(CUstream_st * stream)
{
  CUstream_st & first = Blocking(stream);
  const bool    can = CanGoOn(first);
  if (can)
  {
    DoStep(first);
  }
  return can;
}

} // namespace

void
GoOnForOthers()
{
  std::vector<std::shared_ptr<Moment>> & moments = AwaitedByOthers();
  for (const auto & moment : moments)
  {
    while (!moment->reached && TryToGoOnWith(moment->stream))
    {}
  }
  const auto reached = [](const auto & moment) { return moment->reached; };
  moments.erase(std::remove_if(moments.begin(), moments.end(), reached), moments.end());
}

void
GoOnWith(CUstream_st * stream)
{
  if (ScheduleSeed() != 0 ? !DoDrawnStep() : !TryToGoOnWith(stream))
  {
    GoOnForOthers(); // another process has to come, and may itself wait for this one
    std::this_thread::yield();
  }
}

void
Await(const Moment & moment)
{
  while (!moment.reached)
  {
    GoOnWith(moment.stream);
  }
}

cudaError_t
Enqueue(cudaStream_t stream, Work work)
{
  const std::lock_guard<std::recursive_mutex> lock(Lock());
  if (stream == nullptr)
  {
    Drain(nullptr);
    if (work.waitsFor)
    {
      Await(*work.waitsFor);
    }
    while (work.isReady && !work.isReady())
    {
      GoOnForOthers();
      std::this_thread::yield();
    }
    Do(work);
    return Broken();
  }
  if (!IsStream(stream))
  {
    return Note(cudaErrorInvalidResourceHandle);
  }
  const cudaError_t code = Broken();
  stream->steps.push_back(std::move(work));
  if (stream->steps.size() > MostSteps)
  {
    Drain(stream);
  }
  if (ScheduleSeed() != 0)
  {
    for (std::uint64_t steps = Draws().Below(4); steps > 1; --steps)
    {
      DoDrawnStep();
    }
  }
  return code;
}

cudaError_t
EnqueueMoment(cudaStream_t stream, const std::shared_ptr<Moment> & moment)
{
  moment->stream = stream;
  const auto reach = [moment] {
    moment->reached = true;
    moment->when = std::chrono::steady_clock::now();
  };
  return Enqueue(stream, { reach, true });
}

void
ReachSoon(const std::shared_ptr<Moment> & moment)
{
  AwaitedByOthers().push_back(moment);
  GoOnForOthers();
}

void
Drain(cudaStream_t stream)
{
  if (stream)
  {
    while (!stream->steps.empty())
    {
      GoOnWith(stream);
    }
    return;
  }
  for (CUstream_st * other : Streams())
  {
    if (other->waitsForStream0)
    {
      Drain(other);
    }
  }
}

void
DrainAll()
{
  for (CUstream_st * stream : Streams())
  {
    Drain(stream);
  }
}

} // namespace cudahost

using namespace cudahost;

cudaError_t
cudaStreamCreateWithFlags(cudaStream_t * stream, unsigned flags)
{
  const std::lock_guard<std::recursive_mutex> lock(Lock());
  if (Broken() != cudaSuccess)
  {
    return cudaErrorLaunchFailure;
  }
  *stream = new CUstream_st{ flags != cudaStreamNonBlocking, {} };
  Streams().push_back(*stream);
  return cudaSuccess;
}

cudaError_t
cudaStreamCreate(cudaStream_t * stream)
{
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t
cudaStreamDestroy(cudaStream_t stream)
{
  const std::lock_guard<std::recursive_mutex> lock(Lock());
  if (!IsStream(stream))
  {
    return Note(cudaErrorInvalidResourceHandle);
  }
  Drain(stream);
  Streams().erase(std::find(Streams().begin(), Streams().end(), stream));
  delete stream;
  return Broken();
}

cudaError_t
cudaStreamSynchronize(cudaStream_t stream)
{
  const std::lock_guard<std::recursive_mutex> lock(Lock());
  if (stream && !IsStream(stream))
  {
    return Note(cudaErrorInvalidResourceHandle);
  }
  Drain(stream);
  return Broken();
}

cudaError_t
cudaStreamQuery(cudaStream_t stream)
{
  const std::lock_guard<std::recursive_mutex> lock(Lock());
  if (stream && !IsStream(stream))
  {
    return Note(cudaErrorInvalidResourceHandle);
  }
  if (!stream || stream->steps.empty())
  {
    return Broken();
  }
  GoOnWith(stream); // who asks again and again gets there
  return Broken() != cudaSuccess ? cudaErrorLaunchFailure : cudaErrorNotReady;
}

cudaError_t
cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void * argument)
{
  return Enqueue(stream, { [=] { function(argument); } });
}
