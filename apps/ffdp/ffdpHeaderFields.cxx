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
#include "ffdpHeaderFields.h"

#include "ffdpCheckedSizes.h"
#include "ffdpRegularFile.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <limits>
#include <sstream>

namespace fs = std::filesystem;

std::string
ReadHeaderText(const std::string & file, const std::string & what)
{
  constexpr std::size_t Most = 1 << 20; // with the names of many files
  const FilePointer     in = OpenFileStream(file, what);
  std::string           bytes(Most, '\0');
  bytes.resize(std::fread(&bytes[0], 1, Most, in.get()));
  return bytes;
}

std::int64_t
ToNumber(const HeaderFields & header, const std::string & key, std::int64_t otherwise)
{
  const auto field = header.find(key);
  if (field != header.end())
  {
    std::istringstream(field->second) >> otherwise;
  }
  return otherwise;
}

std::string
ToText(const HeaderFields & header, const std::string & key)
{
  const auto field = header.find(key);
  return field == header.end() ? std::string() : field->second;
}

std::uint64_t
ProductOf(const std::string & numbers, const std::string & name)
{
  std::istringstream         in(numbers);
  std::vector<std::uint64_t> factors;
  for (std::string word; in >> word;)
  {
    std::istringstream text(word);
    std::uint64_t      number = 0;
    if (!std::isdigit(static_cast<unsigned char>(word[0])) || !(text >> number)) // a minus would become a large number
    {
      throw CommandError(name + " has a size of '" + word.substr(0, 30) + "'");
    }
    factors.push_back(number);
  }
  return CheckedProduct(factors, name);
}

itk::IOComponentEnum
FindType(const std::map<std::string, itk::IOComponentEnum> & types, const std::string & name)
{
  const auto found = types.find(name);
  return found == types.end() ? itk::IOComponentEnum::UNKNOWNCOMPONENTTYPE : found->second;
}

void
SetOffset(VoxelLayout & layout, std::uint64_t start, std::int64_t skip, const std::string & name)
{
  std::error_code unknown;
  const auto      size = fs::file_size(layout.file, unknown);
  const bool      last = skip < 0 && !unknown && size >= layout.bytes;
  layout.offset = last ? size - layout.bytes : CheckedSum(start, std::uint64_t(std::max<std::int64_t>(0, skip)), name);
}

std::vector<std::string>
ExpandPattern(const std::string & pattern,
              std::int64_t        first,
              std::int64_t        last,
              std::int64_t        step,
              const std::string & name)
{
  constexpr std::int64_t Most = 1 << 20;
  const std::size_t      percent = pattern.find('%');
  const std::size_t      end = pattern.find_first_not_of("0123456789", percent + 1);
  const std::string      width = pattern.substr(percent + 1, end == std::string::npos ? 0 : end - percent - 1);
  if (end == std::string::npos || (pattern[end] != 'd' && pattern[end] != 'i' && pattern[end] != 'u') ||
      pattern.find('%', end) != std::string::npos || width.size() > 2 || step < 1 || first < 0 || last < first ||
      last > std::numeric_limits<int>::max() || (last - first) / step >= Most)
  {
    throw CommandError(name + " names its data files in a way that is not understood here: '" + pattern.substr(0, 60) +
                       "'");
  }
  std::vector<std::string> names;
  const std::size_t        digits = width.empty() ? 0 : std::size_t(std::stoi(width));
  const char               filler = !width.empty() && width[0] == '0' ? '0' : ' ';
  for (std::int64_t number = first; number <= last; number += step)
  {
    std::string text = std::to_string(number);
    text.insert(0, digits > text.size() ? digits - text.size() : 0, filler);
    names.push_back(pattern.substr(0, percent) + text + pattern.substr(end + 1));
  }
  return names;
}

std::string
BesideHeader(const std::string & header, const std::string & data)
{
  return (fs::path(header).parent_path() / data).string();
}
