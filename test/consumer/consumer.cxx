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
#include "ffdpMpiCommunicator.h"
#include "ffdpParallel.h"
#include "ffdpVolume.h"
#include "itkFFDPConfiguration.h"
#include "itkVersion.h" // ITK's headers come along

#include <atomic>
#include <iostream>
#include <stdexcept>

#ifdef FFDP_USE_MPI
/** MPI's header and library come along as well. */
static bool
HasMpi()
{
  try
  {
    ffdp::MakeMpiCommunicator(MPI_COMM_WORLD);
  }
  catch (const std::invalid_argument &)
  {
    return true; // nobody has initialized MPI
  }
  return false;
}
#else
static bool
HasMpi()
{
  return true; // not asked for
}
#endif

int
main()
{
  constexpr int    pieces = 5;
  std::atomic<int> calls{ 0 };
  ffdp::ParallelFor(pieces, 2, [&calls](std::int64_t, unsigned) { ++calls; });
  std::cout << "FFDP " FFDP_VERSION_STRING " on ITK " << itk::Version::GetITKVersion() << ": " << calls << " of "
            << pieces << " pieces\n";
  return calls == pieces && HasMpi() ? 0 : 1;
}
