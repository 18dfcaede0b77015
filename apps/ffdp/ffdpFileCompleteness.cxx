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
#include "ffdpFileCompleteness.h"

#include "ffdpCommandError.h"
#include "ffdpImageFiles.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>
#include <zlib.h>

namespace fs = std::filesystem;

namespace
{

/** Bytes that a gzip file holds. Its last four say so, unless it was cut or put together from several: then count. */
std::uint64_t
CountUnzippedBytes(const std::string & file, std::uint64_t atLeast)
{
  std::ifstream in(file, std::ios::binary);
  unsigned char last[4] = {};
  in.seekg(-4, std::ios::end);
  in.read(reinterpret_cast<char *>(last), 4);
  const std::uint64_t said =
    last[0] + (std::uint64_t(last[1]) << 8) + (std::uint64_t(last[2]) << 16) + (std::uint64_t(last[3]) << 24);
  constexpr std::uint64_t Modulus = std::uint64_t(1) << 32, Header = 1 << 16;
  if ((said - atLeast) % Modulus < Header)
  {
    return atLeast;
  }
  std::uint64_t     count = 0;
  std::vector<char> buffer(1 << 20);
  const gzFile      zipped = gzopen(file.c_str(), "rb");
  for (int n = 1; zipped && n > 0;)
  {
    n = gzread(zipped, buffer.data(), unsigned(buffer.size()));
    count += n > 0 ? std::uint64_t(n) : 0;
  }
  if (zipped)
  {
    gzclose(zipped);
  }
  return count;
}

/** What matters here of the header of a NIfTI-1 file. */
struct NiftiHeader
{
  bool          known = false; ///< false for any other file
  bool          little = true; ///< order of bytes
  std::uint64_t voxelBytes = 0;
  std::uint64_t firstVoxel = 0; ///< bytes before the voxels
  std::uint64_t floatSize = 0;  ///< 4 or 8 for voxels of float or double, 0 for others
};

constexpr std::uint64_t NiftiHeaderBytes = 348;

/** The type of the voxels in the file is not the one that ITK tells, which scales them. */
NiftiHeader
ReadNiftiHeader(const std::string & file)
{
  NiftiHeader   result;
  unsigned char header[NiftiHeaderBytes] = {};
  if (!EndsWith(file, ".nii") && !EndsWith(file, ".nii.gz"))
  {
    return result;
  }
  const gzFile in = gzopen(file.c_str(), "rb"); // reads plain files, too
  const int    got = in ? gzread(in, header, sizeof(header)) : 0;
  if (in)
  {
    gzclose(in);
  }
  const bool big = header[2] == 1 && header[3] == 0x5c; // 348
  result.little = header[0] == 0x5c && header[1] == 1;
  result.known = got == int(sizeof(header)) && (result.little || big);
  const auto number = [&](int offset) {
    const int low = header[result.little ? offset : offset + 1], high = header[result.little ? offset + 1 : offset];
    return std::uint64_t(low + 256 * high);
  };
  constexpr int DimensionsAt = 40, TypeAt = 70, BitsAt = 72, OffsetAt = 108, Float = 16, Double = 64;
  result.voxelBytes = number(BitsAt) / 8;
  for (int axis = 1; axis <= int(std::min<std::uint64_t>(7, number(DimensionsAt))); ++axis)
  {
    result.voxelBytes *= number(DimensionsAt + 2 * axis);
  }
  result.floatSize = number(TypeAt) == Float ? 4 : number(TypeAt) == Double ? 8 : 0;
  unsigned char bytes[4];
  for (int i = 0; i < 4; ++i)
  {
    bytes[i] = header[OffsetAt + (result.little ? i : 3 - i)];
  }
  float offset;
  std::memcpy(&offset, bytes, 4);
  result.firstVoxel = offset > float(NiftiHeaderBytes) && offset < 1e9f ? std::uint64_t(offset) : NiftiHeaderBytes + 4;
  return result;
}

/** Infinite and NaN are the numbers whose exponent has all bits set. */
bool
IsFiniteNumber(const unsigned char * bytes, std::uint64_t size, bool little)
{
  const int high = bytes[little ? size - 1 : 0] & 0x7f, low = bytes[little ? size - 2 : 1];
  return size == 4 ? !(high == 0x7f && low >= 0x80) : !(high == 0x7f && low >= 0xf0);
}

/** The library that ITK reads NIfTI with makes zeros of what is not finite, so that only the file itself can tell. */
void
RequireFiniteNifti(const NiftiHeader & header, const std::string & file, const std::string & what)
{
  const gzFile               in = gzopen(file.c_str(), "rb");
  std::vector<unsigned char> buffer(1 << 20);
  bool                       finite = true;
  std::uint64_t              left = header.voxelBytes;
  if (in && gzseek(in, z_off_t(header.firstVoxel), SEEK_SET) >= 0)
  {
    for (int got = 1; finite && left > 0 && got > 0;)
    {
      got = gzread(in, buffer.data(), unsigned(std::min<std::uint64_t>(left, buffer.size())));
      left -= got > 0 ? std::uint64_t(got) : 0;
      for (std::uint64_t i = 0; i + header.floatSize <= std::uint64_t(std::max(got, 0)); i += header.floatSize)
      {
        finite = finite && IsFiniteNumber(buffer.data() + i, header.floatSize, header.little);
      }
    }
  }
  if (in)
  {
    gzclose(in);
  }
  if (!finite)
  {
    throw CommandError(what + " '" + file + "' has voxels that are infinite or not a number");
  }
}

void
RequireBytes(std::uint64_t there, std::uint64_t needed, const std::string & file, const std::string & what)
{
  if (there < needed)
  {
    throw CommandError(what + " '" + file + "' is cut off: it holds " + std::to_string(there) + " bytes of " +
                       std::to_string(needed));
  }
}

/** The header of a MetaImage: lines of the form Key = Value, the last of which says where the voxels are. */
std::map<std::string, std::string>
ReadMetaHeader(std::istream & in)
{
  std::map<std::string, std::string> header;
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

std::uint64_t
CountMetaVoxelBytes(std::map<std::string, std::string> & header)
{
  const std::map<std::string, std::uint64_t> sizes = {
    { "MET_CHAR", 1 }, { "MET_UCHAR", 1 }, { "MET_SHORT", 2 },     { "MET_USHORT", 2 },     { "MET_INT", 4 },
    { "MET_UINT", 4 }, { "MET_FLOAT", 4 }, { "MET_LONG_LONG", 8 }, { "MET_ULONG_LONG", 8 }, { "MET_DOUBLE", 8 }
  };
  const auto    size = sizes.find(header["ElementType"]);
  std::uint64_t bytes = size == sizes.end() ? 0 : size->second;
  for (const char * key : { "DimSize", "ElementNumberOfChannels" })
  {
    std::istringstream numbers(header[key]);
    for (std::uint64_t number; numbers >> number;)
    {
      bytes *= number;
    }
  }
  return bytes;
}

/** Compressed voxels are checked if the header says how many bytes they are; lists of files are not. */
void
RequireCompleteMeta(const std::string & file, const std::string & what)
{
  std::ifstream     in(file, std::ios::binary);
  auto              header = ReadMetaHeader(in);
  const std::string data = header["ElementDataFile"];
  const bool        compressed = header["CompressedData"] == "True";
  std::uint64_t     needed = compressed ? 0 : CountMetaVoxelBytes(header);
  if (compressed)
  {
    std::istringstream(header["CompressedDataSize"]) >> needed;
  }
  std::error_code unknown;
  const auto      local = data == "LOCAL" || data == "Local" || data == "local";
  const auto      path = local ? fs::path(file) : fs::path(file).parent_path() / data;
  const auto      size = fs::file_size(path, unknown);
  if (!unknown)
  {
    RequireBytes(size, needed + (local ? std::uint64_t(in.tellg()) : 0), path.string(), what);
  }
}

} // namespace

void
RequireComplete(const std::string & file, const std::string & what)
{
  if (EndsWith(file, ".mha") || EndsWith(file, ".mhd"))
  {
    RequireCompleteMeta(file, what);
  }
  const NiftiHeader header = ReadNiftiHeader(file);
  if (header.known)
  {
    const std::uint64_t needed = NiftiHeaderBytes + header.voxelBytes;
    RequireBytes(EndsWith(file, ".gz") ? CountUnzippedBytes(file, needed) : std::uint64_t(fs::file_size(file)),
                 needed,
                 file,
                 what);
  }
}

void
RequireSoundVoxels(const std::string & file, const std::string & what)
{
  RequireComplete(file, what);
  const NiftiHeader header = ReadNiftiHeader(file);
  if (header.known && header.floatSize > 0)
  {
    RequireFiniteNifti(header, file, what);
  }
}
