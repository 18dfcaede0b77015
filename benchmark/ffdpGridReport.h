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
#ifndef ffdpGridReport_h
#define ffdpGridReport_h

#include "ffdpGridMeasurement.h"

#include <iosfwd>

namespace ffdp
{
namespace benchmark
{

/** Numbers as one rank hands them to the process that started it: a line for each, its name and its value. */
void
WriteMeasurement(std::ostream & out, const GridMeasurement & measurement);
/** Throws std::runtime_error if one is missing. */
GridMeasurement
ReadMeasurement(std::istream & in);

void
PrintGridTable(std::ostream &                       out,
               const GridBenchmarkOptions &         options,
               const std::vector<GridMeasurement> & measurements);

/** An array of objects, one per measurement. */
void
WriteGridJson(std::ostream &                       out,
              const GridBenchmarkOptions &         options,
              const std::vector<GridMeasurement> & measurements);

} // namespace benchmark
} // namespace ffdp

#endif
