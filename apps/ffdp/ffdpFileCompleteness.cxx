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
#include "ffdpVoxelLayout.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
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

/** Infinite and NaN are the numbers whose exponent has all bits set. */
bool
IsFiniteNumber(const unsigned char * bytes, std::uint64_t size, bool little)
{
  const int high = bytes[little ? size - 1 : 0] & 0x7f, low = bytes[little ? size - 2 : 1];
  return size == 4 ? !(high == 0x7f && low >= 0x80) : !(high == 0x7f && low >= 0xf0);
}

/** The library that ITK reads NIfTI with makes zeros of what is not finite, so that only the file itself can tell. */
void
RequireFiniteNifti(const VoxelLayout & layout, std::uint64_t floatSize, const std::string & what)
{
  const gzFile               in = gzopen(layout.file.c_str(), "rb"); // reads plain files, too
  std::vector<unsigned char> buffer(1 << 20);
  bool                       finite = true;
  std::uint64_t              left = layout.bytes;
  if (in && gzseek(in, z_off_t(layout.offset), SEEK_SET) >= 0)
  {
    for (int got = 1; finite && left > 0 && got > 0;)
    {
      got = gzread(in, buffer.data(), unsigned(std::min<std::uint64_t>(left, buffer.size())));
      left -= got > 0 ? std::uint64_t(got) : 0;
      for (std::uint64_t i = 0; i + floatSize <= std::uint64_t(std::max(got, 0)); i += floatSize)
      {
        finite = finite && IsFiniteNumber(buffer.data() + i, floatSize, !layout.bigEndian);
      }
    }
  }
  if (in)
  {
    gzclose(in);
  }
  if (!finite)
  {
    throw CommandError(what + " '" + layout.file + "' has voxels that are infinite or not a number");
  }
}

} // namespace

void
ThrowCutOff(const std::string & file, const std::string & what, std::uint64_t there, std::uint64_t needed)
{
  throw CommandError(what + " '" + file + "' is cut off: it holds " + std::to_string(there) + " bytes of " +
                     std::to_string(needed));
}

void
RequirePlainBytes(const VoxelLayout & layout, const std::string & what)
{
  std::error_code     unknown;
  const std::uint64_t there = fs::file_size(layout.file, unknown), needed = layout.offset + layout.bytes;
  if (layout.storage != VoxelLayout::Storage::Gzip && !unknown && there < needed)
  {
    ThrowCutOff(layout.file, what, there, needed);
  }
}

void
RequireComplete(const std::string & file, const std::string & what)
{
  const auto layout = FindVoxels(file);
  if (!layout)
  {
    return;
  }
  RequirePlainBytes(*layout, what);
  if (layout->storage == VoxelLayout::Storage::Gzip)
  {
    const std::uint64_t needed = layout->offset + layout->bytes, there = CountUnzippedBytes(file, needed);
    if (there < needed)
    {
      ThrowCutOff(file, what, there, needed);
    }
  }
}

void
RequireSoundVoxels(const std::string & file, const std::string & what)
{
  RequireComplete(file, what);
  const auto layout = FindVoxels(file);
  if (layout && layout->componentsApart && layout->component == itk::IOComponentEnum::FLOAT)
  {
    RequireFiniteNifti(*layout, sizeof(float), what);
  }
  if (layout && layout->componentsApart && layout->component == itk::IOComponentEnum::DOUBLE)
  {
    RequireFiniteNifti(*layout, sizeof(double), what);
  }
}
