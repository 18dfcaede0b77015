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
#include "ffdpGridMeasurement.h"
#include "ffdpGridReport.h"
#include "ffdpMpiLauncher.h"

#include "ffdpMpiCommunicator.h"

#include "itkMultiThreaderBase.h"

#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <malloc.h>
#include <sstream>
#include <stdexcept>

namespace ffdp
{
namespace benchmark
{
namespace
{

/** Opened before the work starts, so that a bad name costs no time. */
std::ofstream
OpenForWriting(const std::string & fileName)
{
  std::ofstream file(fileName);
  if (!file)
  {
    throw std::runtime_error("cannot write '" + fileName + "'");
  }
  return file;
}

/** Prints what measure() finds, and writes it if that was asked for. */
template <typename TMeasure>
void
Report(const GridBenchmarkOptions & options, const TMeasure & measure)
{
  const bool                         wantsJson = !options.jsonFile.empty();
  std::ofstream                      json = wantsJson ? OpenForWriting(options.jsonFile) : std::ofstream();
  const std::vector<GridMeasurement> measurements = measure();
  PrintGridTable(std::cout, options, measurements);
  if (wantsJson)
  {
    WriteGridJson(json, options, measurements);
    if (!json.flush())
    {
      throw std::runtime_error("cannot write all of '" + options.jsonFile + "'");
    }
  }
}

std::vector<GridMeasurement>
MeasureWithLauncher(const GridBenchmarkOptions & options)
{
  std::vector<GridMeasurement> measurements;
  for (const int ranks : options.ranks)
  {
    std::istringstream printed(RunAsRanks(ranks, ArgumentsOfRank(options)));
    measurements.push_back(ReadMeasurement(printed));
  }
  return measurements;
}

void
RunAsRank(const GridBenchmarkOptions & options)
{
  const auto            communicator = MakeMpiCommunicator(MPI_COMM_WORLD);
  const GridMeasurement measurement = MeasureRanks(*communicator, options);
  if (communicator->Rank() > 0)
  {
    return;
  }
  if (options.forLauncher)
  {
    WriteMeasurement(std::cout, measurement);
  }
  else
  {
    Report(options, [&] { return std::vector<GridMeasurement>{ measurement }; });
  }
}

/** MPI from begin to end. A rank that fails ends the others, which would wait for it. */
int
RunUnderMpi(const GridBenchmarkOptions & options)
{
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  try
  {
    RunAsRank(options);
  }
  catch (const std::exception & error)
  {
    std::cerr << "ffdp_grid_benchmark: " << error.what() << std::endl;
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  MPI_Finalize();
  return EXIT_SUCCESS;
}

} // namespace
} // namespace benchmark
} // namespace ffdp

int
main(int argc, char ** argv)
{
  using namespace ffdp::benchmark;
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 20); // as the program ffdp does: volumes go back to the system when they are freed
#endif
  try
  {
    const auto options = ParseGridOptions(argc, argv);
    if (options.help)
    {
      PrintGridHelp(std::cout);
      return EXIT_SUCCESS;
    }
    itk::MultiThreaderBase::SetGlobalDefaultNumberOfThreads(options.threads);
    if (IsStartedByMpi())
    {
      return RunUnderMpi(options);
    }
    Report(options, [&] { return MeasureWithLauncher(options); });
    return EXIT_SUCCESS;
  }
  catch (const std::exception & error)
  {
    std::cerr << "ffdp_grid_benchmark: " << error.what() << "\nTry ffdp_grid_benchmark --help" << std::endl;
    return EXIT_FAILURE;
  }
}
