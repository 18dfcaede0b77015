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
#include "ffdpBenchmarkCase.h"
#include "ffdpBenchmarkOptions.h"
#include "ffdpBenchmarkReporter.h"
#include "ffdpMeasurement.h"
#include "ffdpTriad.h"

#include "ffdpInstructionSet.h"
#include "ffdpParallel.h"
#include "itkFFDPConfiguration.h"

#include "itkMultiThreaderBase.h"
#include "itkVersion.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>

namespace ffdp
{
namespace benchmark
{
namespace
{

constexpr int turns = 9; // of primitive and triad; the best counts

/** Measures one primitive within Google Benchmark. A failure leaves no result. */
void
RunCase(::benchmark::State &           state,
        const BenchmarkCase &          benchmarkCase,
        std::int64_t                   size,
        unsigned                       threads,
        Triad &                        triad,
        ItkTimer &                     itkTimer,
        std::vector<BenchmarkResult> & results)
{
  try
  {
    BenchmarkResult result;
    result.name = benchmarkCase.name;
    result.size = size;
    result.threads = threads;
    result.bytesPerVoxel = benchmarkCase.bytesPerVoxel;
    {
      PrimitiveTimer timer(benchmarkCase, Extent{ size, size, size }, threads, triad);
      for (auto _ : state)
      {
        state.SetIterationTime(timer.TakeTurn());
      }
      result.primitive = timer.Finish();
    }
    if (benchmarkCase.itk)
    {
      result.itkName = benchmarkCase.itk->name;
      result.itk = itkTimer.Measure(benchmarkCase, size, threads);
    }
    results.push_back(result);
  }
  catch (const std::exception & error)
  {
    std::cerr << "ffdp_benchmark: " << benchmarkCase.name << ": " << error.what() << std::endl;
    state.SkipWithError(error.what());
  }
}

std::vector<BenchmarkCase>
SelectCases(const std::regex & filter)
{
  std::vector<BenchmarkCase> selected;
  for (const auto & cases : { PrimitiveCases(), FusedClassCases() })
  {
    std::copy_if(cases.begin(), cases.end(), std::back_inserter(selected), [&filter](const BenchmarkCase & candidate) {
      return std::regex_search(candidate.name, filter);
    });
  }
  if (selected.empty())
  {
    throw std::invalid_argument("--filter matches no primitive");
  }
  return selected;
}

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

int
Run(const BenchmarkOptions & options)
{
  const auto     cases = SelectCases(options.filter);
  const bool     wantsJson = !options.jsonFile.empty();
  std::ofstream  json = wantsJson ? OpenForWriting(options.jsonFile) : std::ofstream();
  const unsigned threads = ResolveThreads(options.threads);
  itk::MultiThreaderBase::SetGlobalDefaultNumberOfThreads(threads);

  std::cout << "FFDP " FFDP_VERSION_STRING " (" << GetInstructionSetName(GetInstructionSet()) << "), ITK "
            << itk::Version::GetITKVersion() << ", " << threads << (threads == 1 ? " thread, " : " threads, ")
            << options.size << "^3 voxels" << std::endl;

  Triad                        triad(threads);
  ItkTimer                     itkTimer;
  std::vector<BenchmarkResult> results;
  for (const BenchmarkCase & benchmarkCase : cases)
  {
    ::benchmark::RegisterBenchmark(benchmarkCase.name.c_str(),
                                   [&, benchmarkCase](::benchmark::State & state) {
                                     RunCase(state, benchmarkCase, options.size, threads, triad, itkTimer, results);
                                   })
      ->UseManualTime()
      ->Iterations(turns);
  }
  TableReporter reporter(std::cout, results);
  ::benchmark::RunSpecifiedBenchmarks(&reporter, ".");

  if (wantsJson)
  {
    WriteJson(json, results);
    if (!json.flush())
    {
      throw std::runtime_error("cannot write all of '" + options.jsonFile + "'");
    }
  }
  return results.size() == cases.size() ? EXIT_SUCCESS : EXIT_FAILURE;
}

} // namespace
} // namespace benchmark
} // namespace ffdp

int
main(int argc, char ** argv)
{
  try
  {
    const auto options = ffdp::benchmark::ParseOptions(argc, argv);
    if (options.help)
    {
      ffdp::benchmark::PrintHelp(std::cout);
      return EXIT_SUCCESS;
    }
    return ffdp::benchmark::Run(options);
  }
  catch (const std::exception & error)
  {
    std::cerr << "ffdp_benchmark: " << error.what() << "\nTry ffdp_benchmark --help" << std::endl;
    return EXIT_FAILURE;
  }
}
