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
#include "ffdpCommandError.h"
#include "ffdpFuzzFile.h"
#include "ffdpLabelTable.h"
#include "ffdpPointFiles.h"

#include <cmath>
#include <cstdlib>

// Points and tables of labels. What is read is finite, and what is written can be read again.
extern "C" int
LLVMFuzzerTestOneInput(const std::uint8_t * bytes, std::size_t count)
{
  static const FuzzFile table(".csv"), again(".again.csv");
  const std::string &   file = table.Write(bytes, count);
  try
  {
    const PointTable points = ReadPoints(file, "points");
    for (const PointTable::Row & row : points.rows)
    {
      for (const double coordinate : row.point)
      {
        if (!std::isfinite(coordinate))
        {
          std::abort();
        }
      }
    }
    WritePoints(points, again.Name());
    if (ReadPoints(again.Name(), "points").rows.size() != points.rows.size())
    {
      std::abort();
    }
  }
  catch (const CommandError &)
  {}
  try
  {
    for (const auto & entry : ReadLabelTable(file))
    {
      if (!std::isfinite(entry.second.mean) || !(entry.second.deviation >= 0))
      {
        std::abort();
      }
    }
  }
  catch (const CommandError &)
  {}
  return 0;
}
