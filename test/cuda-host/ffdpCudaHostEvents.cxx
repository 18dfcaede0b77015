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

using namespace cudahost;

struct CUevent_st
{
  bool                              timing;
  std::shared_ptr<cudahost::Moment> moment; // of the last record
};

cudaError_t
cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
  const std::lock_guard<std::recursive_mutex> lock(Lock());
  if (!event)
  {
    return Note(cudaErrorInvalidResourceHandle);
  }
  return event->moment ? Enqueue(stream, { nullptr, false, event->moment }) : Broken(); // never recorded: no wait
}

cudaError_t
cudaEventCreateWithFlags(cudaEvent_t * event, unsigned flags)
{
  const std::lock_guard<std::recursive_mutex> lock(Lock());
  if (Broken() != cudaSuccess)
  {
    return cudaErrorLaunchFailure;
  }
  *event = new CUevent_st{ (flags & cudaEventDisableTiming) == 0, nullptr };
  return cudaSuccess;
}

cudaError_t
cudaEventCreate(cudaEvent_t * event)
{
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t
cudaEventDestroy(cudaEvent_t event)
{
  if (!event)
  {
    return Note(cudaErrorInvalidResourceHandle);
  }
  delete event;
  return cudaSuccess;
}

cudaError_t
cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
  const std::lock_guard<std::recursive_mutex> lock(Lock());
  if (!event)
  {
    return Note(cudaErrorInvalidResourceHandle);
  }
  event->moment = std::make_shared<Moment>();
  return EnqueueMoment(stream, event->moment);
}

cudaError_t
cudaEventSynchronize(cudaEvent_t event)
{
  const std::lock_guard<std::recursive_mutex> lock(Lock());
  if (!event)
  {
    return Note(cudaErrorInvalidResourceHandle);
  }
  if (event->moment)
  {
    Await(*event->moment);
  }
  return Broken();
}

cudaError_t
cudaEventQuery(cudaEvent_t event)
{
  const std::lock_guard<std::recursive_mutex> lock(Lock());
  if (!event)
  {
    return Note(cudaErrorInvalidResourceHandle);
  }
  if (!event->moment || event->moment->reached)
  {
    return Broken();
  }
  GoOnWith(event->moment->stream);
  return Broken() != cudaSuccess ? cudaErrorLaunchFailure : cudaErrorNotReady;
}

cudaError_t
cudaEventElapsedTime(float * milliseconds, cudaEvent_t start, cudaEvent_t end)
{
  const std::lock_guard<std::recursive_mutex> lock(Lock());
  if (!start || !end || !start->timing || !end->timing || !start->moment || !end->moment)
  {
    return Note(cudaErrorInvalidResourceHandle);
  }
  if (!start->moment->reached || !end->moment->reached)
  {
    return cudaErrorNotReady;
  }
  *milliseconds = std::chrono::duration<float, std::milli>(end->moment->when - start->moment->when).count();
  return Broken();
}
