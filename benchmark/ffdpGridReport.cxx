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
#include "ffdpGridReport.h"

#include "ffdpRegistrationEstimate.h"

#include <algorithm>
#include <iomanip>
#include <iterator>
#include <map>
#include <ostream>
#include <sstream>
#include <stdexcept>

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

/** All digits, so that it can be compared. */
std::string
Exact(double value)
{
  std::ostringstream text;
  text << std::setprecision(17) << value;
  return text.str();
}

std::string
Mebibytes(double bytes)
{
  return Fixed(bytes / (1 << 20), 2);
}

/** Memory of a rank by what one rank alone takes for its part; missing without a measurement of one rank. */
std::string
RatioToOneRank(const GridBenchmarkOptions &         options,
               const std::vector<GridMeasurement> & measurements,
               const GridMeasurement &              measurement,
               double GridMeasurement::*memory,
               const char *             missing)
{
  const auto one = std::find_if(
    measurements.begin(), measurements.end(), [](const GridMeasurement & other) { return other.ranks == 1; });
  if (one == measurements.end())
  {
    return missing;
  }
  const double parts = options.weak ? 1 : measurement.ranks;
  return Fixed(measurement.*memory * parts / (*one.*memory), 3);
}

void
PrintRow(std::ostream & out, const std::vector<std::string> & cells)
{
  static constexpr int widths[] = { 5, 15, 8, 11, 7, 10, 7, 11, 9, 11, 10, 9, 8, 11 };
  for (std::size_t i = 0; i < cells.size(); ++i)
  {
    out << std::right << std::setw(widths[i]) << cells[i];
  }
  out << "\n";
}

} // namespace

void
WriteMeasurement(std::ostream & out, const GridMeasurement & measurement)
{
  for (const GridMeasurementField & field : GridMeasurementFields())
  {
    out << field.name << " " << Exact(measurement.*field.value) << "\n";
  }
  out << std::flush;
}

GridMeasurement
ReadMeasurement(std::istream & in)
{
  std::map<std::string, double> values;
  std::string                   name;
  for (double value; in >> name >> value;)
  {
    values[name] = value;
  }
  GridMeasurement measurement;
  for (const GridMeasurementField & field : GridMeasurementFields())
  {
    const auto found = values.find(field.name);
    if (found == values.end())
    {
      throw std::runtime_error(std::string("a measurement lacks ") + field.name);
    }
    measurement.*field.value = found->second;
  }
  return measurement;
}

void
PrintGridTable(std::ostream &                       out,
               const GridBenchmarkOptions &         options,
               const std::vector<GridMeasurement> & measurements)
{
  out << NameOf(options.stage) << ", " << (options.weak ? "weak" : "strong") << " scaling, " << options.iterations
      << " iterations at each level, " << options.threads << (options.threads == 1 ? " thread" : " threads")
      << " per rank; numbers are of the rank with most\n\n";
  PrintRow(
    out,
    { "", "", "planes", "allocated", "by", "resident", "by", "planes per", "", "first", "ring", "", "full", "s per" });
  PrintRow(out,
           { "ranks",
             "volume",
             "of rank",
             "MiB",
             "1 rank",
             "MiB",
             "1 rank",
             "iteration",
             "at most",
             "iteration",
             "sampler",
             "at most",
             "ring",
             "iteration" });
  for (const GridMeasurement & m : measurements)
  {
    const auto planes = [&](double bytes) { return Fixed(bytes / m.planeBytes, 1); };
    PrintRow(out,
             { Fixed(m.ranks, 0),
               Fixed(m.sizeX, 0) + "x" + Fixed(m.sizeY, 0) + "x" + Fixed(m.sizeZ, 0),
               Fixed(m.planesPerRank, 0),
               Mebibytes(m.allocatedBytes),
               RatioToOneRank(options, measurements, m, &GridMeasurement::allocatedBytes, "-"),
               Mebibytes(m.residentBytes),
               RatioToOneRank(options, measurements, m, &GridMeasurement::residentBytes, "-"),
               planes(m.sentPerIteration),
               planes(m.sentBound),
               planes(m.sentFirst),
               planes(m.ringSent),
               planes(m.ringBound),
               planes(m.fullRingSent),
               Fixed(m.secondsPerIteration, 3) });
  }
  if (!measurements.empty())
  {
    out << "\nallocated, resident: memory of a rank, and by what one rank takes for "
        << (options.weak ? "as many planes" : "its part of the planes")
        << "\nplanes per iteration and those to the right: what a rank sends, in planes of "
        << Fixed(measurements.front().planeBytes / 1024, 0)
        << " KiB\nThe time says nothing where there are more ranks than free cores.\n";
  }
  out << std::flush;
}

void
WriteGridJson(std::ostream &                       out,
              const GridBenchmarkOptions &         options,
              const std::vector<GridMeasurement> & measurements)
{
  out << "[";
  const char * separator = "\n";
  for (const GridMeasurement & measurement : measurements)
  {
    out << separator << "  {\"scaling\": \"" << (options.weak ? "weak" : "strong") << "\", \"stage\": \""
        << NameOf(options.stage) << "\", \"threads\": " << options.threads;
    for (const GridMeasurementField & field : GridMeasurementFields())
    {
      out << ", \"" << field.name << "\": " << Exact(measurement.*field.value);
    }
    out << ", \"allocated_ratio\": "
        << RatioToOneRank(options, measurements, measurement, &GridMeasurement::allocatedBytes, "null")
        << ", \"resident_ratio\": "
        << RatioToOneRank(options, measurements, measurement, &GridMeasurement::residentBytes, "null") << "}";
    separator = ",\n";
  }
  out << "\n]\n";
}

} // namespace benchmark
} // namespace ffdp
