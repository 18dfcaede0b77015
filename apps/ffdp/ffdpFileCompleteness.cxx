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
#include "ffdpUnzippedStream.h"
#include "ffdpVoxelLayout.h"

#include <algorithm>
#include <cstdint>
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

/** Reads what a file has of voxels, as far as there is something to find out about them. */
void
CheckVoxels(const VoxelLayout & layout, const std::string & what, bool finiteToo)
{
  RequirePlainBytes(layout, what);
  const std::uint64_t floatSize = finiteToo ? FloatSizeOf(layout) : 0;
  const bool          zipped = layout.storage == Storage::Gzip;
  if (zipped || floatSize > 0)
  {
    UnzippedStream stream(layout.file, what, layout.offset + layout.bytes);
    stream.SkipTo(layout.offset);
    const bool finite = floatSize == 0 || AreFinite(stream, layout, floatSize);
    stream.SkipTo(layout.offset + layout.bytes);
    if (zipped)
    {
      stream.Finish();
    }
    if (!finite)
    {
      throw CommandError(what + " '" + layout.file + "' has voxels that are infinite or not a number");
    }
  }
  if (layout.storage == Storage::Stream)
  {
    UnzippedStream::Part part;
    part.start = layout.offset;
    part.length = layout.bytes > 0 ? layout.bytes : part.length;
    UnzippedStream stream(layout.file, what, layout.unzipped, part);
    stream.SkipTo(layout.unzipped);
    stream.Finish();
  }
}

/** What is known of any file: if it is one in gzip, under whatever name, it must be whole. */
void
CheckFile(const std::string & file, const std::string & what, bool finiteToo)
{
  const auto layout = FindVoxels(file);
  if (layout)
  {
    CheckVoxels(*layout, what, finiteToo);
  }
  else if (EndsWith(file, "gz") || EndsWith(file, "GZ"))
  {
    UnzippedStream(file, what, 0).Finish();
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
  std::error_code     unknown;
  const std::uint64_t there = fs::file_size(layout.file, unknown), needed = layout.offset + layout.bytes;
  if (layout.storage != Storage::Gzip && !unknown && there < needed)
  {
    ThrowCutOff(layout.file, what, there, needed);
  }
}

void
RequireComplete(const std::string & file, const std::string & what)
{
  CheckFile(file, what, false);
}

void
RequireSoundVoxels(const std::string & file, const std::string & what)
{
  CheckFile(file, what, true);
}
