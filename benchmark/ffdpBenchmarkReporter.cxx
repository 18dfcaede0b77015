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
#include "ffdpBenchmarkReporter.h"

#include <iomanip>
#include <ostream>
#include <sstream>

namespace ffdp
{
namespace benchmark
{
namespace
{

std::string
Fixed(double value, int digits)
{
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << value;
  return text.str();
}

std::string
Bytes(double bytes)
{
  if (bytes >= 1 << 20)
  {
    return Fixed(bytes / (1 << 20), 1) + " MiB";
  }
  return Fixed(bytes / (1 << 10), 0) + " KiB";
}

/** How many times faster than ITK. */
double
ItkRatio(const BenchmarkResult & result)
{
  return result.itk.itkNanosecondsPerVoxel / result.itk.ourNanosecondsPerVoxel;
}

void
PrintRow(std::ostream & out, const std::vector<std::string> & cells)
{
  // Name, time, traffic, triad, multiple, memory, ITK's class, its size, its time, our time for the same, ratio.
  static constexpr int  widths[] = { 20, 9, 8, 11, 8, 10, 29, 6, 10, 11, 8 };
  constexpr std::size_t itkColumn = 6; // names to the left, numbers to the right
  out << std::left << std::setw(widths[0]) << cells[0];
  for (std::size_t i = 1; i < cells.size(); ++i)
  {
    if (i != itkColumn)
    {
      out << std::right << std::setw(widths[i]) << cells[i];
    }
    else
    {
      out << "  " << std::left << std::setw(i + 1 < cells.size() ? widths[i] - 2 : 0) << cells[i];
    }
  }
  out << std::endl;
}

void
PrintResult(std::ostream & out, const BenchmarkResult & result)
{
  const PrimitiveMeasurement & p = result.primitive;
  std::vector<std::string>     cells{ result.name,
                                  Fixed(p.nanosecondsPerVoxel, 2),
                                  Fixed(result.bytesPerVoxel, 1),
                                  Fixed(p.triadGigabytesPerSecond, 1),
                                  Fixed(p.triadMultiple, 2),
                                  Bytes(p.extraBytes) };
  if (result.itkName.empty())
  {
    cells.emplace_back("-");
  }
  else
  {
    const ItkMeasurement & itk = result.itk;
    cells.insert(cells.end(),
                 { result.itkName,
                   std::to_string(itk.size),
                   Fixed(itk.itkNanosecondsPerVoxel, 1),
                   Fixed(itk.ourNanosecondsPerVoxel, 2),
                   Fixed(ItkRatio(result), 1) });
  }
  PrintRow(out, cells);
}

} // namespace

TableReporter::TableReporter(std::ostream & out, const std::vector<BenchmarkResult> & results)
  : m_Out(out)
  , m_Results(results)
{}

bool
TableReporter::ReportContext(const Context &)
{
  PrintRow(m_Out,
           { "primitive",
             "ns/voxel",
             "B/voxel",
             "triad GB/s",
             "x triad",
             "extra",
             "ITK class",
             "size",
             "ns/voxel",
             "ours, same",
             "faster" });
  return true;
}

void
TableReporter::ReportRuns(const std::vector<Run> & runs)
{
  for (const Run & run : runs)
  {
    for (const BenchmarkResult & result : m_Results)
    {
      if (result.name == run.run_name.function_name)
      {
        PrintResult(m_Out, result);
      }
    }
  }
}

void
WriteJson(std::ostream & out, const std::vector<BenchmarkResult> & results)
{
  out << "[";
  const char * separator = "\n";
  for (const BenchmarkResult & result : results)
  {
    out << separator << "  {\"name\": \"" << result.name << "\", \"size\": " << result.size
        << ", \"threads\": " << result.threads
        << ", \"ns_per_voxel\": " << Fixed(result.primitive.nanosecondsPerVoxel, 4)
        << ", \"triad_multiple\": " << Fixed(result.primitive.triadMultiple, 4)
        << ", \"itk_ratio\": " << (result.itkName.empty() ? "null" : Fixed(ItkRatio(result), 4))
        << ", \"extra_bytes\": " << Fixed(result.primitive.extraBytes, 0) << "}";
    separator = ",\n";
  }
  out << "\n]\n";
}

} // namespace benchmark
} // namespace ffdp
