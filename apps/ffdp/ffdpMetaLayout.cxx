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
#include <filesystem>
#include <sstream>

namespace fs = std::filesystem;

namespace
{

using Type = itk::IOComponentEnum;
using Storage = VoxelLayout::Storage;

/** The header of a MetaImage: lines of the form Key = Value, the last of which says where the voxels are. */
HeaderFields
ReadMetaHeader(std::istream & in)
{
  HeaderFields header;
  for (std::string line; header.count("ElementDataFile") == 0 && std::getline(in, line);)
  {
    const char * const between = " \t=:"; // keys and values
    const auto         end = line.find_first_of(between);
    const auto         start = line.find_first_not_of(between, end == std::string::npos ? line.size() : end);
    const std::string  key = line.substr(0, end);
    std::string        value = start == std::string::npos ? std::string() : line.substr(start);
    value.erase(value.find_last_not_of(" \t\r") + 1);
    header[key] = value;
  }
  return header;
}

bool
IsTrue(const std::string & value)
{
  return !value.empty() && (value[0] == 'T' || value[0] == 't' || value[0] == '1');
}

Type
MetaType(const std::string & name)
{
  static const std::map<std::string, Type> types = { { "MET_CHAR", Type::CHAR },
                                                     { "MET_UCHAR", Type::UCHAR },
                                                     { "MET_SHORT", Type::SHORT },
                                                     { "MET_USHORT", Type::USHORT },
                                                     { "MET_INT", Type::INT },
                                                     { "MET_UINT", Type::UINT },
                                                     { "MET_FLOAT", Type::FLOAT },
                                                     { "MET_LONG_LONG", Type::LONGLONG },
                                                     { "MET_ULONG_LONG", Type::ULONGLONG },
                                                     { "MET_DOUBLE", Type::DOUBLE } };
  return FindType(types, name);
}

std::vector<std::string>
Words(const std::string & text)
{
  std::istringstream       in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;)
  {
    words.push_back(word);
  }
  return words;
}

/** The files of a list, which follows the header, as many as there are parts. */
std::vector<std::string>
ReadList(std::istream & in, std::uint64_t parts, const std::string & name)
{
  std::vector<std::string> files;
  for (std::string line; files.size() < parts && std::getline(in, line);)
  {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (in.eof()) // the library would leave it out
    {
      throw CommandError(name + " is cut off: its list of data files does not end with a line feed");
    }
    files.push_back(line);
  }
  return files;
}

/** The files of a pattern: "slice%03d.raw 1 20 1" with its first number, its last and its step, which may be missing.
 */
std::vector<std::string>
ReadPattern(const std::string & data, std::uint64_t parts, const std::string & name)
{
  const std::vector<std::string> words = Words(data);
  const auto                     number = [&](std::size_t n) { return std::strtoll(words[n].c_str(), nullptr, 10); };
  const auto                     all = std::int64_t(parts);
  const std::int64_t             first = words.size() > 1 ? number(1) : 1;
  const std::int64_t             last = words.size() > 2 ? number(2) : first + all - 1;
  const std::int64_t step = words.size() > 3 ? number(3) : words.size() > 2 ? (last - first) / all : 1; // MetaIO's rule
  if (words.size() > 4)
  {
    return ExpandPattern("", 0, 0, 0, name); // a name with spaces
  }
  return ExpandPattern(words[0], first, std::min(last, first + step * (all - 1)), step, name);
}

/** Files of planes, or of several dimensions as the list says. */
void
FindParts(VoxelLayout &        layout,
          const HeaderFields & header,
          std::istream &       in,
          std::uint64_t        bytes,
          const std::string &  file,
          const std::string &  name)
{
  const std::string data = ToText(header, "ElementDataFile");
  const auto        words = Words(data), sizes = Words(ToText(header, "DimSize"));
  const bool        isList = data.compare(0, 4, "LIST") == 0;
  const auto        given = isList && words.size() > 1 ? std::strtoull(words[1].c_str(), nullptr, 10) : 0;
  const std::size_t axes =
    given > 0 && given < sizes.size() ? std::size_t(given) : sizes.size() - (sizes.empty() ? 0 : 1);
  std::string outer;
  for (std::size_t axis = axes; axis < sizes.size(); ++axis)
  {
    outer += sizes[axis] + " ";
  }
  const std::uint64_t parts = ProductOf(outer, name);
  if (parts == 0)
  {
    return;
  }
  const auto files = isList ? ReadList(in, parts, name) : ReadPattern(data, parts, name);
  if (files.size() < parts)
  {
    throw CommandError(name + " is cut off: it names " + std::to_string(files.size()) + " data files of " +
                       std::to_string(parts));
  }
  for (const std::string & part : files)
  {
    layout.parts.push_back(BesideHeader(file, part));
  }
  layout.bytes = bytes / parts;
}

/** MetaIO looks for a compressed file if there is none of the name in the header. */
std::string
FindDataFile(const std::string & file, bool & compressed)
{
  std::error_code ignored;
  if (!fs::exists(file, ignored) && fs::exists(file + ".gz", ignored))
  {
    compressed = true;
    return file + ".gz";
  }
  return file;
}

} // namespace

std::optional<VoxelLayout>
FindMetaVoxels(const std::string & file, const std::string & what)
{
  const std::string  name = what + " '" + file + "'";
  const auto         bytes = ReadHeaderText(file, what);
  std::istringstream in(bytes);
  const HeaderFields header = ReadMetaHeader(in);
  const std::string  data = ToText(header, "ElementDataFile");
  if (data.empty())
  {
    return {};
  }
  const bool local = data == "LOCAL" || data == "Local" || data == "local";
  const bool several = data.compare(0, 4, "LIST") == 0 || data.find('%') != std::string::npos;
  bool       compressed = IsTrue(ToText(header, "CompressedData"));
  const bool text = header.count("BinaryData") > 0 && !IsTrue(ToText(header, "BinaryData"));
  if ((compressed && (several || text)) || (several && text))
  {
    throw CommandError(name + " is " + (compressed ? "compressed and " : "text and ") +
                       (several ? "in several files" : "text") + ", which is not read here");
  }
  const auto axes = ToNumber(header, "NDims", 0), sizes = std::int64_t(Words(ToText(header, "DimSize")).size());
  if (axes < 1 || axes != sizes) // the library would read beyond what there is
  {
    throw CommandError(name + " has " + std::to_string(sizes) + " sizes for " + std::to_string(axes) + " axes");
  }
  VoxelLayout layout;
  layout.header = file;
  layout.file = local || several ? file : FindDataFile(BesideHeader(file, data), compressed);
  layout.component = MetaType(ToText(header, "ElementType"));
  layout.bigEndian = IsTrue(ToText(header, "BinaryDataByteOrderMSB")) || IsTrue(ToText(header, "ElementByteOrderMSB"));
  const std::uint64_t values = CheckedProduct(
    ProductOf(ToText(header, "DimSize"), name), ProductOf(ToText(header, "ElementNumberOfChannels"), name), name);
  const std::uint64_t all = CheckedProduct(SizeOf(layout.component), values, name);
  if (several)
  {
    FindParts(layout, header, in, all, file, name);
  }
  else if (compressed)
  {
    layout.bytes = std::uint64_t(std::max<std::int64_t>(0, ToNumber(header, "CompressedDataSize", 0)));
    layout.unzipped = all;
    layout.storage = Storage::Stream;
  }
  else if (text)
  {
    layout.storage = Storage::Text;
    layout.values = values;
  }
  else
  {
    layout.bytes = all;
    layout.storage = layout.bytes > 0 ? Storage::Plain : Storage::Other;
  }
  // a size of the header is counted from the beginning of the file
  const std::int64_t skip = ToNumber(header, "HeaderSize", 0);
  in.clear();
  const auto here = std::uint64_t(std::max<std::streamoff>(0, in.tellg()));
  SetOffset(layout, local && skip <= 0 ? here : 0, skip, name);
  return layout;
}
