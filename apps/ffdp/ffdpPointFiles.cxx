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
#include "ffdpPointFiles.h"

#include "ffdpCommandError.h"
#include "ffdpImageFiles.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>

namespace
{

std::vector<std::string>
SplitCells(const std::string & line)
{
  std::vector<std::string> cells(1);
  for (const char c : line)
  {
    if (c == ',')
    {
      cells.emplace_back();
    }
    else
    {
      cells.back() += c;
    }
  }
  return cells;
}

std::string
Trim(const std::string & text)
{
  const auto first = text.find_first_not_of(" \t\"");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\"") - first + 1);
}

/** Independent of the locale; false unless the whole cell is a finite number. */
bool
ParseNumber(const std::string & cell, double & number)
{
  const std::string text = Trim(cell);
  const char *      begin = text.data() + (!text.empty() && text.front() == '+' ? 1 : 0);
  const auto        end = text.data() + text.size();
  const auto        result = std::from_chars(begin, end, number);
  return result.ec == std::errc() && result.ptr == end && std::isfinite(number);
}

/** Where x, y and z, or x and y, are, if a header names them. */
void
FindColumns(const std::vector<std::string> & names, PointTable & table)
{
  std::array<std::size_t, 3> found = table.columns;
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    const auto name = std::find_if(names.begin(), names.end(), [&](const std::string & cell) {
      const std::string text = Trim(cell);
      return text == std::string(1, "xyz"[axis]) || text == std::string(1, "XYZ"[axis]);
    });
    if (name == names.end())
    {
      table.dimension = axis == 2 ? 2 : table.dimension;
      table.columns = axis == 2 ? found : table.columns;
      return;
    }
    found[axis] = std::size_t(name - names.begin());
  }
  table.dimension = 3;
  table.columns = found;
}

bool
ParsePoint(const PointTable & table, PointTable::Row & row)
{
  for (std::size_t axis = 0; axis < table.dimension; ++axis)
  {
    const std::size_t column = table.columns[axis];
    if (column >= row.cells.size() || !ParseNumber(row.cells[column], row.point[axis]))
    {
      return false;
    }
  }
  return true;
}

} // namespace

PointTable
ReadPoints(const std::string & file, const std::string & what)
{
  std::ifstream in(file);
  if (!in)
  {
    throw CommandError(what + " '" + file + "' cannot be opened");
  }
  PointTable  table;
  std::string line;
  bool        first = true;
  for (int number = 1; std::getline(in, line); ++number)
  {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (line.empty())
    {
      continue;
    }
    PointTable::Row row{ SplitCells(line), {} };
    if (first && row.cells.size() == 2)
    {
      table.dimension = 2;
    }
    if (ParsePoint(table, row))
    {
      table.rows.push_back(row);
    }
    else if (double ignored; first && !ParseNumber(row.cells[0], ignored))
    {
      table.header = line;
      FindColumns(row.cells, table);
    }
    else
    {
      throw CommandError(what + " '" + file + "', line " + std::to_string(number) + ": not of the form " +
                         (table.dimension == 2 ? "x,y" : "x,y,z") + " with finite numbers");
    }
    first = false;
  }
  if (table.rows.empty())
  {
    throw CommandError(what + " '" + file + "' holds no point");
  }
  return table;
}

void
WritePoints(const PointTable & table, const std::string & file)
{
  std::ostringstream out;
  if (!table.header.empty())
  {
    out << table.header << "\n";
  }
  for (const PointTable::Row & row : table.rows)
  {
    for (std::size_t column = 0; column < row.cells.size(); ++column)
    {
      const auto end = table.columns.begin() + table.dimension;
      const auto axis = std::find(table.columns.begin(), end, column);
      char       number[32];
      if (axis != end)
      {
        std::snprintf(number, sizeof(number), "%.10g", row.point[std::size_t(axis - table.columns.begin())]);
      }
      out << (column > 0 ? "," : "") << (axis != end ? number : row.cells[column]);
    }
    out << "\n";
  }
  WriteText(out.str(), file);
}
