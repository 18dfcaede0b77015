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
#include "ffdpParallel.h"

#include "itkMultiThreaderBase.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>

namespace ffdp
{

unsigned
ResolveThreads(unsigned asked)
{
  return asked > 0 ? asked : std::max(1u, unsigned(itk::MultiThreaderBase::GetGlobalDefaultNumberOfThreads()));
}

void
ParallelFor(std::int64_t pieces, unsigned threads, const std::function<void(std::int64_t, unsigned)> & work)
{
  const auto workers = unsigned(std::min<std::int64_t>(pieces, ResolveThreads(threads)));
  if (workers <= 1)
  {
    for (std::int64_t piece = 0; piece < pieces; ++piece)
    {
      work(piece, 0);
    }
    return;
  }

  std::atomic<std::int64_t> nextPiece{ 0 };
  std::atomic<unsigned>     finishedWorkers{ 0 };
  std::exception_ptr        firstError;
  std::mutex                errorMutex;

  const auto drain = [&](itk::SizeValueType worker) {
    try
    {
      for (std::int64_t piece; (piece = nextPiece.fetch_add(1)) < pieces;)
      {
        work(piece, unsigned(worker));
      }
    }
    catch (...)
    {
      const std::lock_guard<std::mutex> lock(errorMutex);
      if (!firstError)
      {
        firstError = std::current_exception();
      }
      nextPiece = pieces; // the others stop after the piece they are at
    }
    finishedWorkers.fetch_add(1);
  };

  const itk::MultiThreaderBase::Pointer threader = itk::MultiThreaderBase::New();
  threader->SetMaximumNumberOfThreads(workers);
  threader->SetNumberOfWorkUnits(workers);
  // A threader may offer fewer work units than asked for (it clamps to its maximum); ParallelizeArray
  // then runs several of our workers one after the other, which is correct because pieces are drawn, not assigned.
  threader->ParallelizeArray(0, workers, drain, nullptr);

  // Makes what the workers wrote visible here by our own means, whatever the threader waits with: a
  // thread sanitizer cannot see into an uninstrumented ITK.
  if (finishedWorkers.load() != workers)
  {
    std::terminate(); // the threader returned before its work was done
  }
  if (firstError)
  {
    std::rethrow_exception(firstError);
  }
}

} // namespace ffdp
