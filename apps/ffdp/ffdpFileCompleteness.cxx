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
#include "ffdpRegularFile.h"
#include "ffdpUnzippedStream.h"
#include "ffdpVoxelLayout.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <vector>

namespace fs = std::filesystem;

namespace
{

using Storage = VoxelLayout::Storage;

/** Infinite and NaN are the numbers whose exponent has all bits set. */
bool
IsFiniteNumber(const unsigned char * bytes, std::uint64_t size, bool little)
{
  const int high = bytes[little ? size - 1 : 0] & 0x7f, low = bytes[little ? size - 2 : 1];
  return size == 4 ? !(high == 0x7f && low >= 0x80) : !(high == 0x7f && low >= 0xf0);
}

/** The size of the numbers of a NIfTI file of floats; 0 for any other. The library that ITK reads NIfTI with makes
 * zeros of what is not finite, so that only the file itself can tell. */
std::uint64_t
FloatSizeOf(const VoxelLayout & layout)
{
  using Type = itk::IOComponentEnum;
  const bool doubles = layout.component == Type::DOUBLE;
  return layout.componentsApart && (doubles || layout.component == Type::FLOAT) ? (doubles ? 8 : 4) : 0;
}

/** Whether a stream goes on with as many voxels as there are, all of them finite. */
bool
AreFinite(UnzippedStream & stream, const VoxelLayout & layout, std::uint64_t floatSize)
{
  std::vector<unsigned char> buffer(1 << 20);
  bool                       finite = true;
  for (std::uint64_t left = layout.bytes; left > 0;)
  {
    const std::uint64_t now = std::min<std::uint64_t>(left, buffer.size());
    stream.Read(buffer.data(), std::size_t(now));
    left -= now;
    for (std::uint64_t i = 0; i + floatSize <= now; i += floatSize)
    {
      finite = finite && IsFiniteNumber(buffer.data() + i, floatSize, !layout.bigEndian);
    }
  }
  return finite;
}

/** Reads numbers until there are enough, or something else comes. */
void
CountNumbers(const VoxelLayout & layout, const std::string & what)
{
  const std::string data = DataFileOf(layout, what);
  const FilePointer in = OpenFileStream(layout.file, data);
  fseeko(in.get(), off_t(layout.offset), SEEK_SET);
  double number = 0;
  for (std::uint64_t found = 0; found < layout.values; ++found)
  {
    if (std::fscanf(in.get(), "%lf", &number) != 1)
    {
      throw CommandError(data + " '" + layout.file + "' is cut off: it holds " + std::to_string(found) +
                         " numbers of " + std::to_string(layout.values));
    }
  }
}

/** Reads what a file has of voxels, as far as there is something to find out about them. */
void
CheckVoxels(const VoxelLayout & layout, const std::string & what, bool finiteToo)
{
  RequirePlainBytes(layout, what);
  const std::uint64_t floatSize = finiteToo ? FloatSizeOf(layout) : 0;
  const bool          zipped = layout.storage == Storage::Gzip || layout.storage == Storage::Stream;
  if (zipped || floatSize > 0)
  {
    const auto stream = OpenVoxels(layout, what);
    const bool finite = floatSize == 0 || AreFinite(*stream, layout, floatSize);
    stream->SkipTo(EndOfVoxels(layout));
    stream->Finish();
    if (!finite)
    {
      throw CommandError(what + " '" + layout.header + "' has voxels that are infinite or not a number");
    }
  }
  if (layout.storage == Storage::Text)
  {
    CountNumbers(layout, what);
  }
}

/** The library may understand a header in another way than this program, and would go beyond the end of a file. */
void
RequireBytesFor(const ImageHeader & header, const VoxelLayout & layout, const std::string & what)
{
  const std::size_t size = SizeOf(layout.component) > 0 ? SizeOf(layout.component) : SizeOf(header.component);
  VoxelLayout       needed = layout;
  needed.bytes = header.Values() * size;
  if (layout.storage == Storage::Plain && needed.bytes > layout.bytes)
  {
    RequirePlainBytes(needed, what);
  }
}

/** What is known of any file: if it is one in gzip, under whatever name, it must be whole. */
void
CheckFile(const std::string & file, const std::string & what, const ImageHeader & header, bool finiteToo)
{
  const auto layout = FindVoxels(file, what);
  if (layout)
  {
    RequireBytesFor(header, *layout, what);
    CheckVoxels(*layout, what, finiteToo);
  }
  else if (EndsWith(file, "gz") || EndsWith(file, "GZ"))
  {
    UnzippedStream(file, what, header.Bytes()).Finish();
  }
}

} // namespace

void
ThrowCutOff(const std::string & file, const std::string & what, std::uint64_t there, std::uint64_t needed)
{
  throw CommandError(what + " '" + file + "' is cut off: " +
                     (there < needed ? "it holds " + std::to_string(there) + " bytes of " + std::to_string(needed)
                                     : "its voxels are there, but not what follows them"));
}

void
RequirePlainBytes(const VoxelLayout & layout, const std::string & what)
{
  const bool               whole = layout.storage != Storage::Gzip;
  const std::uint64_t      needed = layout.offset + layout.bytes;
  std::vector<std::string> all = layout.parts;
  if (all.empty())
  {
    all.push_back(layout.file);
  }
  for (const std::string & file : all)
  {
    const std::string data = DataFileOf(layout, what);
    RequireRegularFile(file, data);
    std::error_code     unknown;
    const std::uint64_t there = fs::file_size(file, unknown);
    if (whole && !unknown && there < needed)
    {
      ThrowCutOff(file, data, there, needed);
    }
  }
}

void
RequireComplete(const std::string & file, const std::string & what, const ImageHeader & header)
{
  CheckFile(file, what, header, false);
}

void
RequireSoundVoxels(const std::string & file, const std::string & what, const ImageHeader & header)
{
  CheckFile(file, what, header, true);
}
