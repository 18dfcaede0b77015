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

#include <gtest/gtest.h>

#include <iostream>

/** Runs the tests on every process that mpirun has started. All fail where one fails. */
namespace
{

/** Prints failures only: one rank is enough to say what passes. */
class FailurePrinter : public testing::EmptyTestEventListener
{
public:
  explicit FailurePrinter(int rank)
    : m_Rank(rank)
  {}
  void
  OnTestPartResult(const testing::TestPartResult & result) override
  {
    if (result.failed())
    {
      std::cout << "rank " << m_Rank << ": " << (result.file_name() ? result.file_name() : "") << ":"
                << result.line_number() << "\n"
                << result.message() << std::endl;
    }
  }

private:
  const int m_Rank;
};

} // namespace

int
main(int argc, char ** argv)
{
  int threading = 0, rank = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &threading);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  testing::InitGoogleTest(&argc, argv);
  if (rank > 0)
  {
    testing::TestEventListeners & listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailurePrinter(rank));
  }
  int failed = RUN_ALL_TESTS() != 0;
  if (testing::UnitTest::GetInstance()->test_to_run_count() == 0)
  {
    std::cerr << "no test matches the filter" << std::endl;
    failed = 1;
  }
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return failed;
}
