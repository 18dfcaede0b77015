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
#include "ffdpThreads.h"

#include "ffdpParallel.h"

#include "itkMultiThreaderBase.h"

#include <algorithm>
#include <condition_variable>
#include <malloc.h>
#include <mutex>
#include <new>
#include <pthread.h>
#include <sys/resource.h>
#include <system_error>
#include <thread>
#include <vector>

namespace
{

/** `ulimit -s` is meant for the main thread; other threads would get the same, however large or small it is. */
void
SetStackOfThreads()
{
#ifdef __GLIBC__
  constexpr std::size_t Usual = std::size_t(8) << 20;
  pthread_attr_t        attributes;
  if (pthread_attr_init(&attributes) == 0)
  {
    pthread_attr_setstacksize(&attributes, Usual);
    pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
  }
#endif
}

/** Each thread would reserve 64 MB of addresses for what it allocates; where they are limited, all share one heap. */
void
ShareOneHeap()
{
#ifdef __GLIBC__
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
  {
    mallopt(M_ARENA_MAX, 1);
  }
#endif
}

/** How many threads can be there at the same time. */
unsigned
CountStartable(unsigned wanted)
{
  std::mutex               mutex;
  std::condition_variable  changed;
  bool                     open = false;
  std::vector<std::thread> threads;
  threads.reserve(wanted);
  try
  {
    while (threads.size() < wanted)
    {
      threads.emplace_back([&] {
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [&] { return open; });
      });
    }
  }
  catch (const std::system_error &)
  {
    // this one did not start
  }
  catch (const std::bad_alloc &)
  {
    // likewise
  }
  {
    const std::lock_guard<std::mutex> lock(mutex);
    open = true;
  }
  changed.notify_all();
  for (std::thread & thread : threads)
  {
    thread.join();
  }
  return unsigned(threads.size());
}

} // namespace

unsigned
WantedThreads(unsigned asked)
{
  return std::min(ffdp::ResolveThreads(asked), unsigned(itk::MultiThreaderBase::GetGlobalMaximumNumberOfThreads()));
}

unsigned
PrepareThreads(unsigned asked)
{
  SetStackOfThreads();
  ShareOneHeap();
  const unsigned wanted = WantedThreads(asked), there = CountStartable(wanted);
  const unsigned used = std::max(1u, there);
  itk::MultiThreaderBase::SetGlobalDefaultNumberOfThreads(itk::ThreadIdType(used));
  if (there == 0)
  {
    // ITK's pool needs a thread of its own; this threader works in the thread that calls it, if it is to use one.
    itk::MultiThreaderBase::SetGlobalDefaultThreader(itk::MultiThreaderBase::ThreaderEnum::Platform);
  }
  static_cast<void>(itk::MultiThreaderBase::New()); // starts the pool, now that it is known to work
  return used;
}
