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

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace
{

using Type = itk::IOComponentEnum;
using Storage = VoxelLayout::Storage;

/** The header of a NRRD: a first line, then lines of the form "key: value", and an empty line before voxels that are in
 * the same file. Keys lose their spaces, for both ways to write them. */
HeaderFields
ReadNrrdHeader(std::istream & in)
{
  HeaderFields header;
  std::string  line;
  if (!std::getline(in, line) || line.compare(0, 4, "NRRD") != 0)
  {
    return header;
  }
  while (std::getline(in, line))
  {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    const auto colon = line.find(": ");
    if (line.empty())
    {
      break;
    }
    if (line[0] != '#' && colon != std::string::npos)
    {
      std::string key = line.substr(0, colon);
      key.erase(std::remove(key.begin(), key.end(), ' '), key.end());
      header[key] = line.substr(std::min(line.size(), line.find_first_not_of(' ', colon + 1)));
      if (key == "datafile" && header[key].compare(0, 4, "LIST") == 0) // names follow to the end
      {
        break;
      }
    }
  }
  return header;
}

Type
NrrdType(const std::string & name)
{
  static const std::map<std::string, Type> types = [] {
    const std::pair<Type, const char *> names[] = {
      { Type::CHAR, "signed char,int8,int8_t" },
      { Type::UCHAR, "uchar,unsigned char,uint8,uint8_t" },
      { Type::SHORT, "short,short int,signed short,signed short int,int16,int16_t" },
      { Type::USHORT, "ushort,unsigned short,unsigned short int,uint16,uint16_t" },
      { Type::INT, "int,signed int,int32,int32_t" },
      { Type::UINT, "uint,unsigned int,uint32,uint32_t" },
      { Type::LONGLONG, "longlong,long long,long long int,signed long long,signed long long int,int64,int64_t" },
      { Type::ULONGLONG, "ulonglong,unsigned long long,unsigned long long int,uint64,uint64_t" },
      { Type::FLOAT, "float" },
      { Type::DOUBLE, "double" }
    };
    std::map<std::string, Type> all;
    for (const auto & type : names)
    {
      std::istringstream words(type.second);
      for (std::string word; std::getline(words, word, ',');)
      {
        all[word] = type.first;
      }
    }
    return all;
  }();
  return FindType(types, name);
}

/** Whether the values of a voxel lie side by side, which is where ITK puts them. */
bool
ComponentsComeFirst(const std::string & kinds)
{
  std::istringstream words(kinds);
  std::string        kind;
  words >> kind;
  while (words >> kind)
  {
    if (kind != "domain" && kind != "space" && kind != "time" && kind != "none" && kind != "???")
    {
      return false;
    }
  }
  return true;
}

/** The library finds out whether they are there and long enough, but would wait at a pipe. */
void
FindParts(VoxelLayout &       layout,
          const std::string & data,
          std::istream &      in,
          const std::string & file,
          const std::string & name)
{
  std::istringstream words(data);
  std::string        pattern;
  std::int64_t       first = 0, last = 0, step = 0;
  words >> pattern >> first >> last >> step;
  if (pattern == "LIST")
  {
    for (std::string line; std::getline(in, line);)
    {
      line.erase(line.find_last_not_of(" \t\r") + 1);
      layout.parts.push_back(BesideHeader(file, line));
    }
    return;
  }
  for (const std::string & part :
       ExpandPattern(pattern, std::min(first, last), std::max(first, last), std::abs(step), name))
  {
    layout.parts.push_back(BesideHeader(file, part));
  }
}

} // namespace

std::optional<VoxelLayout>
FindNrrdVoxels(const std::string & file, const std::string & what)
{
  const std::string  name = what + " '" + file + "'";
  const auto         bytes = ReadHeaderText(file, what);
  std::istringstream in(bytes);
  const HeaderFields header = ReadNrrdHeader(in);
  if (header.empty())
  {
    return {};
  }
  const std::string data = ToText(header, "datafile");
  const bool        several = data.compare(0, 4, "LIST") == 0 || data.find('%') != std::string::npos;
  VoxelLayout       layout;
  layout.header = file;
  layout.file = data.empty() || several ? file : BesideHeader(file, data);
  layout.component = NrrdType(ToText(header, "type"));
  layout.bigEndian = ToText(header, "endian") == "big";
  const std::string   encoding = ToText(header, "encoding");
  const std::uint64_t all = CheckedProduct(SizeOf(layout.component), ProductOf(ToText(header, "sizes"), name), name);
  const std::int64_t  skip = ToNumber(header, "byteskip", 0);
  const bool          oneBlock = !several && ToNumber(header, "lineskip", 0) == 0;
  const bool          zipped = oneBlock && (encoding == "gzip" || encoding == "gz");
  if (zipped && skip >= 0)
  {
    layout.storage = Storage::Stream;
    layout.unzipped = CheckedSum(all, std::uint64_t(skip), name); // of what it holds
    layout.onlyItkKnows = skip > 0 || !ComponentsComeFirst(ToText(header, "kinds"));
  }
  else if (oneBlock && encoding == "raw")
  {
    layout.bytes = all;
    layout.storage = layout.bytes > 0 && ComponentsComeFirst(ToText(header, "kinds")) ? Storage::Plain : Storage::Other;
  }
  if (several)
  {
    FindParts(layout, data, in, file, name);
  }
  in.clear();
  const auto here = data.empty() ? std::max<std::streamoff>(0, in.tellg()) : 0;
  SetOffset(layout, std::uint64_t(here), encoding == "raw" ? skip : 0, name);
  return layout;
}
