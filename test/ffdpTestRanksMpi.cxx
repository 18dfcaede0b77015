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
#include "ffdpTestRanks.h"

#include <exception>
#include <iostream>

namespace ffdp
{
namespace test
{

void
OnRanks(const std::function<void(Communicator &)> & body)
{
  try
  {
    const auto communicator = MakeMpiCommunicator(MPI_COMM_WORLD);
    body(*communicator);
  }
  catch (const std::exception & exception)
  {
    // The other ranks would wait for this one.
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::cerr << "rank " << rank << ": " << exception.what() << std::endl;
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

} // namespace test
} // namespace ffdp
