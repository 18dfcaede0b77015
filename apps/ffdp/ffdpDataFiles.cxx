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
#include "ffdpDataFiles.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace fs = std::filesystem;

namespace
{

constexpr std::size_t MostLines = 100000, LongestLine = 1 << 14;

/** A line without spaces at its end. False at the end of the file, and where no text goes on. */
bool
ReadLine(std::istream & in, std::string & line)
{
  line.clear();
  for (int c = in.get(); c != '\n'; c = in.get())
  {
    if (c == std::istream::traits_type::eof() || c == 0 || line.size() == LongestLine)
    {
      return !line.empty() && c != 0 && line.size() < LongestLine;
    }
    line += char(c);
  }
  line.erase(line.find_last_not_of(" \t\r") + 1);
  return true;
}

/** The value of a line that begins with this key, whatever its case and spaces; empty for other lines. */
std::string
ValueOf(const std::string & line, const std::string & key, char sign)
{
  const auto  at = line.find(sign);
  std::string found;
  for (const char c : line.substr(0, at))
  {
    found += std::isspace(static_cast<unsigned char>(c)) != 0
               ? std::string()
               : std::string(1, char(std::tolower(static_cast<unsigned char>(c))));
  }
  if (at == std::string::npos || found != key)
  {
    return {};
  }
  const auto first = line.find_first_not_of(" \t", at + 1);
  return first == std::string::npos ? std::string() : line.substr(first);
}

/** The names that a pattern like slice%03d.raw makes, from one number to another. Only %d with a width is followed:
 * what else a file says must not be a format of printf(). */
std::vector<std::string>
ExpandPattern(const std::string & text)
{
  std::istringstream words(text);
  std::string        pattern;
  long               first = 1, last = 0, step = 1;
  words >> pattern >> first >> last >> step;
  const auto        percent = pattern.find('%');
  const std::size_t letter = pattern.find_first_not_of("0123456789", percent + 1);
  constexpr long    Largest = 1000000000;
  const bool sound = std::abs(first) < Largest && std::abs(last) < Largest && step != 0 && std::abs(step) < Largest;
  if (letter == std::string::npos || pattern[letter] != 'd' || !sound || (last - first) / step > long(MostLines))
  {
    return {};
  }
  const bool               zeros = pattern[percent + 1] == '0';
  const std::size_t        width = std::min(10ul, std::strtoul(pattern.c_str() + percent + 1, nullptr, 10));
  std::vector<std::string> names;
  for (long number = first; step > 0 ? number <= last : number >= last; number += step)
  {
    std::string digits = std::to_string(number);
    digits.insert(0, digits.size() < width ? width - digits.size() : 0, zeros ? '0' : ' ');
    names.push_back(pattern.substr(0, percent) + digits + pattern.substr(letter + 1));
  }
  return names;
}

/** As headers of MetaImages and NRRDs name them: one file, LIST with a name on each line that follows, or a pattern. */
std::vector<std::string>
ReadNames(const std::string & value, std::istream & in)
{
  std::vector<std::string> names;
  if (value.compare(0, 4, "LIST") == 0)
  {
    for (std::string line; names.size() < MostLines && ReadLine(in, line);)
    {
      names.push_back(line);
    }
    return names;
  }
  names = value.find('%') != std::string::npos ? ExpandPattern(value) : names;
  names.push_back(value);
  return names;
}

std::vector<std::string>
NamesInHeader(const std::string & file)
{
  std::ifstream in(file, std::ios::binary);
  std::string   line;
  std::size_t   lines = 0;
  const bool    isNrrd = ReadLine(in, line) && line.compare(0, 4, "NRRD") == 0;
  do
  {
    const std::string value = isNrrd ? ValueOf(line, "datafile", ':') : ValueOf(line, "elementdatafile", '=');
    if (!value.empty())
    {
      return ReadNames(value, in);
    }
  } while (++lines < MostLines && (!isNrrd || !line.empty()) && ReadLine(in, line));
  return {};
}

bool
TakeEnding(std::string & name, const std::string & ending)
{
  const bool ends =
    name.size() > ending.size() && name.compare(name.size() - ending.size(), ending.size(), ending) == 0;
  name.resize(name.size() - (ends ? ending.size() : 0));
  return ends;
}

} // namespace

std::vector<std::string>
ListDataFiles(const std::string & file)
{
  std::error_code          ignored;
  std::vector<std::string> files;
  if (!fs::is_regular_file(file, ignored))
  {
    return files;
  }
  std::string stem = file;
  TakeEnding(stem, ".gz");
  if (TakeEnding(stem, ".hdr") || TakeEnding(stem, ".img"))
  {
    for (const char * ending : { ".hdr", ".img", ".hdr.gz", ".img.gz" })
    {
      files.push_back(stem + ending);
    }
  }
  for (const std::string & name : NamesInHeader(file))
  {
    files.push_back((fs::path(file).parent_path() / name).string());
  }
  files.erase(std::remove_if(files.begin(),
                             files.end(),
                             [&](const std::string & name) {
                               return name == file || !fs::is_regular_file(fs::status(name, ignored));
                             }),
              files.end());
  return files;
}
