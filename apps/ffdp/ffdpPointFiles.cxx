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
#include "ffdpTextLines.h"

#include <algorithm>
#include <cstdio>
#include <sstream>

namespace
{

constexpr const char * Blanks = " \t";

/** Cut at each comma. A cell that begins with a quotation mark ends with one, and may hold commas. */
std::vector<std::string>
SplitCells(const std::string & line)
{
  std::vector<std::string> cells(1);
  bool                     quoted = false;
  for (const char c : line)
  {
    const bool blank = cells.back().find_first_not_of(Blanks) == std::string::npos;
    quoted = c == '"' ? !quoted && blank : quoted;
    if (c == ',' && !quoted)
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

/** False unless the whole cell is a finite number. */
bool
ParseCell(const std::string & cell, double & number)
{
  const std::string text = Trim(cell);
  return ParseNumber(text.data(), text.data() + text.size(), number);
}

/** Finds where x, y and z, or x and y, are, if a header names one of them; otherwise the first columns count. False for
 * a header with a y or a z that lacks what comes before it. */
bool
FindColumns(const std::vector<std::string> & names, PointTable & table)
{
  std::array<bool, 3> named{};
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    const auto name = std::find_if(names.begin(), names.end(), [&](const std::string & cell) {
      const std::string text = Trim(cell);
      return text == std::string(1, "xyz"[axis]) || text == std::string(1, "XYZ"[axis]);
    });
    named[axis] = name != names.end();
    table.columns[axis] = named[axis] ? std::size_t(name - names.begin()) : axis;
  }
  const bool any = named[0] || named[1] || named[2];
  table.dimension = any ? (named[2] ? 3 : 2) : table.dimension;
  return !any || (named[0] && named[1]);
}

bool
ParsePoint(const PointTable & table, PointTable::Row & row)
{
  for (std::size_t axis = 0; axis < table.dimension; ++axis)
  {
    const std::size_t column = table.columns[axis];
    if (column >= row.cells.size() || !ParseCell(row.cells[column], row.point[axis]))
    {
      return false;
    }
  }
  return true;
}

/** Names of columns are no numbers: otherwise a first point that is damaged would count as a header. */
bool
IsHeader(const std::vector<std::string> & cells)
{
  return std::none_of(cells.begin(), cells.end(), [](const std::string & cell) {
    double ignored;
    return ParseCell(cell, ignored);
  });
}

/** Throws CommandError for a line with fewer cells than the first line has, or with more: only a last column of text
 * may hold commas. */
void
RequireColumns(const PointTable & table, std::size_t expected, std::size_t found, const TextLines & lines)
{
  const auto end = table.columns.begin() + table.dimension;
  const bool endsInText = !table.header.empty() && std::find(table.columns.begin(), end, expected - 1) == end;
  if (found < expected || (found > expected && !endsInText))
  {
    lines.Refuse("it has " + std::to_string(found) + " columns, and the first line has " + std::to_string(expected));
  }
}

std::string
WithoutByteOrderMark(const std::string & line)
{
  const std::string mark = "\xEF\xBB\xBF"; // Excel begins UTF-8 with it
  return line.compare(0, mark.size(), mark) == 0 ? line.substr(mark.size()) : line;
}

} // namespace

PointTable
ReadPoints(const std::string & file, const std::string & what)
{
  constexpr std::size_t LongestLine = 1 << 16;
  TextLines             lines(file, what, LongestLine);
  PointTable            table;
  std::string           line;
  for (std::size_t columns = 0; lines.Next(line);)
  {
    const bool      first = columns == 0;
    const auto      text = first ? WithoutByteOrderMark(line) : line;
    PointTable::Row row{ SplitCells(text), {} };
    columns = first ? row.cells.size() : columns;
    table.dimension = first && columns == 2 ? 2 : table.dimension;
    RequireColumns(table, columns, row.cells.size(), lines);
    if (ParsePoint(table, row))
    {
      table.rows.push_back(row);
    }
    else if (first && IsHeader(row.cells))
    {
      table.header = text;
      if (!FindColumns(row.cells, table))
      {
        lines.Refuse("of the columns x, y and z it names some, but not x and y");
      }
    }
    else
    {
      lines.Refuse(std::string("not of the form ") + (table.dimension == 2 ? "x,y" : "x,y,z") + " with finite numbers");
    }
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
