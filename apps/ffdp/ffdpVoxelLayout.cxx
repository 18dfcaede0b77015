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
#include "ffdpVoxelLayout.h"

#include "ffdpImageFiles.h"
#include "ffdpNiftiHeader.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <vector>

namespace fs = std::filesystem;

namespace
{

using Type = itk::IOComponentEnum;
using Storage = VoxelLayout::Storage;
using Fields = std::map<std::string, std::string>;

Type
FindType(const std::map<std::string, Type> & types, const std::string & name)
{
  const auto found = types.find(name);
  return found == types.end() ? Type::UNKNOWNCOMPONENTTYPE : found->second;
}

std::int64_t
ToNumber(const Fields & header, const std::string & key, std::int64_t otherwise)
{
  const auto field = header.find(key);
  if (field != header.end())
  {
    std::istringstream(field->second) >> otherwise;
  }
  return otherwise;
}

std::string
ToText(const Fields & header, const std::string & key)
{
  const auto field = header.find(key);
  return field == header.end() ? std::string() : field->second;
}

std::uint64_t
Product(const std::string & numbers)
{
  std::istringstream in(numbers);
  std::uint64_t      product = 1;
  for (std::uint64_t number; in >> number;)
  {
    product *= number;
  }
  return product;
}

/** The bytes of a layout come after some that are skipped, or last in their file. */
void
SetOffset(VoxelLayout & layout, std::uint64_t start, std::int64_t skip)
{
  std::error_code unknown;
  const auto      size = fs::file_size(layout.file, unknown);
  const bool      last = skip < 0 && !unknown && size >= layout.bytes;
  layout.offset = last ? size - layout.bytes : start + std::uint64_t(std::max<std::int64_t>(0, skip));
}

Type
NiftiType(std::uint64_t code)
{
  const std::map<std::uint64_t, Type> types = {
    { 2, Type::UCHAR },  { 4, Type::SHORT },    { 8, Type::INT },    { 16, Type::FLOAT },      { 64, Type::DOUBLE },
    { 256, Type::CHAR }, { 512, Type::USHORT }, { 768, Type::UINT }, { 1024, Type::LONGLONG }, { 1280, Type::ULONGLONG }
  };
  const auto found = types.find(code);
  return found == types.end() ? Type::UNKNOWNCOMPONENTTYPE : found->second;
}

/** One file, or a pair of .hdr and .img, either of which may be named. */
std::optional<VoxelLayout>
FindNiftiVoxels(const std::string & file)
{
  const bool        pair = EndsWith(file, ".hdr") || EndsWith(file, ".img");
  const NiftiHeader numbers(file);
  if (!numbers.IsKnown() || (pair && !numbers.HasMagic("ni1"))) // without it, an Analyze file
  {
    return {};
  }
  constexpr std::size_t IntentAt = 68, TypeAt = 70, BitsAt = 72, OffsetAt = 108, SlopeAt = 112, InterceptAt = 116,
                        QFormAt = 252, SFormAt = 254;
  VoxelLayout layout;
  layout.file = pair ? file.substr(0, file.size() - 3) + "img" : file;
  layout.storage = EndsWith(file, ".gz") ? Storage::Gzip : Storage::Plain;
  layout.bytes = numbers.Short(BitsAt) / 8;
  for (std::size_t axis = 1; axis <= std::min<std::uint64_t>(7, numbers.Size(0)); ++axis)
  {
    layout.bytes *= numbers.Size(axis);
  }
  const float offset = numbers.Float(OffsetAt), least = pair ? 0.0f : float(NiftiHeader::Bytes + 4);
  layout.offset = std::uint64_t(offset > least && offset < 1e9f ? offset : least);
  layout.component = NiftiType(numbers.Short(TypeAt));
  layout.bigEndian = numbers.IsBigEndian();
  layout.componentsApart = true;
  const float      slope = numbers.Float(SlopeAt), intercept = numbers.Float(InterceptAt);
  constexpr double Epsilon = std::numeric_limits<double>::epsilon();
  const bool       scales = std::isfinite(slope) && std::abs(double(slope)) >= Epsilon;
  layout.slope = scales ? double(slope) : 1.0; // as ITK takes it
  layout.intercept = std::isfinite(intercept) ? double(intercept) : 0.0;
  // Displacements are turned from RAS to LPS or not; values of an image without a place are scaled or not.
  constexpr std::uint64_t DisplacementIntent = 1006;
  const bool              placed = numbers.Short(QFormAt) != 0 || numbers.Short(SFormAt) != 0;
  layout.onlyItkKnows =
    numbers.Short(IntentAt) == DisplacementIntent || (!placed && (layout.slope != 1 || layout.intercept != 0));
  return layout;
}

/** The header of a MetaImage: lines of the form Key = Value, the last of which says where the voxels are. */
Fields
ReadMetaHeader(std::istream & in)
{
  Fields header;
  for (std::string line; header.count("ElementDataFile") == 0 && std::getline(in, line);)
  {
    std::istringstream words(line);
    std::string        key, equals, value;
    words >> key >> equals;
    std::getline(words >> std::ws, value);
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

std::optional<VoxelLayout>
FindMetaVoxels(const std::string & file)
{
  const std::map<std::string, Type> types = { { "MET_CHAR", Type::CHAR },
                                              { "MET_UCHAR", Type::UCHAR },
                                              { "MET_SHORT", Type::SHORT },
                                              { "MET_USHORT", Type::USHORT },
                                              { "MET_INT", Type::INT },
                                              { "MET_UINT", Type::UINT },
                                              { "MET_FLOAT", Type::FLOAT },
                                              { "MET_LONG_LONG", Type::LONGLONG },
                                              { "MET_ULONG_LONG", Type::ULONGLONG },
                                              { "MET_DOUBLE", Type::DOUBLE } };
  std::ifstream                     in(file, std::ios::binary);
  const Fields                      header = ReadMetaHeader(in);
  const std::string                 data = ToText(header, "ElementDataFile");
  if (data.empty())
  {
    return {};
  }
  const bool  local = data == "LOCAL" || data == "Local" || data == "local";
  const bool  several = data.compare(0, 4, "LIST") == 0 || data.find('%') != std::string::npos;
  const bool  compressed = IsTrue(ToText(header, "CompressedData"));
  const bool  text = header.count("BinaryData") > 0 && !IsTrue(ToText(header, "BinaryData"));
  VoxelLayout layout;
  layout.file = local ? file : (fs::path(file).parent_path() / data).string();
  layout.component = FindType(types, ToText(header, "ElementType"));
  layout.bigEndian = IsTrue(ToText(header, "BinaryDataByteOrderMSB")) || IsTrue(ToText(header, "ElementByteOrderMSB"));
  const std::uint64_t all =
    SizeOf(layout.component) * Product(ToText(header, "DimSize")) * Product(ToText(header, "ElementNumberOfChannels"));
  if (compressed)
  {
    layout.bytes = std::uint64_t(ToNumber(header, "CompressedDataSize", 0));
    layout.unzipped = all;
    layout.storage = several ? Storage::Other : Storage::Stream;
  }
  else if (!text && !several)
  {
    layout.bytes = all;
    layout.storage = layout.bytes > 0 ? Storage::Plain : Storage::Other;
  }
  // a size of the header is counted from the beginning of the file
  const std::int64_t skip = ToNumber(header, "HeaderSize", 0);
  SetOffset(layout, local && skip <= 0 ? std::uint64_t(std::max<std::streamoff>(0, in.tellg())) : 0, skip);
  return layout;
}

/** The header of a NRRD: a first line, then lines of the form "key: value", and an empty line before voxels that are in
 * the same file. Keys lose their spaces, for both ways to write them. */
Fields
ReadNrrdHeader(std::istream & in)
{
  Fields      header;
  std::string line;
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

std::optional<VoxelLayout>
FindNrrdVoxels(const std::string & file)
{
  std::ifstream in(file, std::ios::binary);
  const Fields  header = ReadNrrdHeader(in);
  if (header.empty())
  {
    return {};
  }
  const std::string data = ToText(header, "datafile");
  const bool        several = data.compare(0, 4, "LIST") == 0 || data.find('%') != std::string::npos;
  VoxelLayout       layout;
  layout.file = data.empty() ? file : (fs::path(file).parent_path() / data).string();
  layout.component = NrrdType(ToText(header, "type"));
  layout.bigEndian = ToText(header, "endian") == "big";
  const std::string   encoding = ToText(header, "encoding");
  const std::uint64_t all = SizeOf(layout.component) * Product(ToText(header, "sizes"));
  const bool          oneBlock = !several && ToNumber(header, "lineskip", 0) == 0;
  const bool          zipped = oneBlock && (encoding == "gzip" || encoding == "gz");
  if (zipped)
  {
    layout.storage = Storage::Stream;
    layout.unzipped = all;
  }
  else if (oneBlock && encoding == "raw")
  {
    layout.bytes = all;
    layout.storage = layout.bytes > 0 && ComponentsComeFirst(ToText(header, "kinds")) ? Storage::Plain : Storage::Other;
  }
  const auto here = data.empty() ? std::max<std::streamoff>(0, in.tellg()) : 0;
  SetOffset(layout, std::uint64_t(here), zipped ? 0 : ToNumber(header, "byteskip", 0)); // else of what it holds
  return layout;
}

} // namespace

std::optional<VoxelLayout>
FindVoxels(const std::string & file)
{
  const auto ends = [&](std::initializer_list<const char *> endings) {
    return std::any_of(endings.begin(), endings.end(), [&](const char * end) { return EndsWith(file, end); });
  };
  if (ends({ ".nii", ".nii.gz", ".hdr", ".img" }))
  {
    return FindNiftiVoxels(file);
  }
  if (ends({ ".mha", ".mhd" }))
  {
    return FindMetaVoxels(file);
  }
  if (ends({ ".nrrd", ".nhdr" }))
  {
    return FindNrrdVoxels(file);
  }
  return {};
}
