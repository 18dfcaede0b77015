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
#ifndef ffdpBenchmarkReporter_h
#define ffdpBenchmarkReporter_h

#include "ffdpMeasurement.h"

#include <benchmark/benchmark.h>

#include <iosfwd>
#include <string>
#include <vector>

namespace ffdp
{
namespace benchmark
{

/** One line of the table. */
struct BenchmarkResult
{
  std::string          name;
  std::int64_t         size = 0;
  unsigned             threads = 0;
  double               bytesPerVoxel = 0;
  PrimitiveMeasurement primitive;
  std::string          itkName; ///< empty: ITK has no such class
  ItkMeasurement       itk;
};

/** Prints a table for people while Google Benchmark runs. */
class TableReporter : public ::benchmark::BenchmarkReporter
{
public:
  /** Results are looked up by name once Google Benchmark reports that a run has ended. */
  TableReporter(std::ostream & out, const std::vector<BenchmarkResult> & results);

  bool
  ReportContext(const Context & context) override;

  void
  ReportRuns(const std::vector<Run> & runs) override;

private:
  std::ostream &                       m_Out;
  const std::vector<BenchmarkResult> & m_Results;
};

/** An array of objects, one per result. */
void
WriteJson(std::ostream & out, const std::vector<BenchmarkResult> & results);

} // namespace benchmark
} // namespace ffdp

#endif
