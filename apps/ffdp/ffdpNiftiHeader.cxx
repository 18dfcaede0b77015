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
#include "ffdpNiftiHeader.h"

#include "ffdpCommandError.h"
#include "ffdpImageFiles.h"

#include <algorithm>
#include <cmath>
#include <fcntl.h>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

NiftiHeader::NiftiHeader(const std::string & file)
{
  std::string name = file;
  if (EndsWith(file, ".img"))
  {
    name.replace(name.size() - 3, 3, "hdr");
  }
  const int    handle = open(name.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC); // does not wait at a pipe
  struct stat  status = {};
  const bool   regular = handle >= 0 && fstat(handle, &status) == 0 && S_ISREG(status.st_mode);
  const gzFile in = regular ? gzdopen(handle, "rb") : nullptr; // reads plain files, too
  const int    got = in ? gzread(in, m_Bytes, unsigned(Bytes)) : 0;
  if (in)
  {
    gzclose(in);
  }
  else if (handle >= 0)
  {
    close(handle);
  }
  m_Big = m_Bytes[2] == 1 && m_Bytes[3] == 0x5c; // 348
  m_Known = got == int(Bytes) && (m_Big || (m_Bytes[0] == 0x5c && m_Bytes[1] == 1));
}

namespace
{

bool
IsNiftiName(const std::string & file)
{
  return EndsWith(file, ".nii") || EndsWith(file, ".nii.gz") || EndsWith(file, ".hdr") || EndsWith(file, ".img");
}

/** Whether some numbers of a header are those of places in space. */
bool
ArePlaces(const NiftiHeader & header, std::size_t at, std::size_t count)
{
  constexpr float Largest = 1e9f; // mm, or what else the unit may be
  for (std::size_t i = 0; i < count; ++i)
  {
    const float number = header.Float(at + 4 * i);
    if (!(std::abs(number) <= Largest))
    {
      return false;
    }
  }
  return true;
}

} // namespace

std::string
WhatIsWrongWithSpacing(const std::string & file, bool negativeToo)
{
  if (!IsNiftiName(file))
  {
    return {};
  }
  const NiftiHeader header(file);
  for (std::size_t axis = 1; header.IsKnown() && axis <= std::min<std::uint64_t>(3, header.Size(0)); ++axis)
  {
    const float spacing = header.Spacing(axis);
    const bool  usable = std::isfinite(spacing) && spacing != 0 && (spacing > 0 || !negativeToo);
    if (header.Size(axis) > 1 && !usable) // along an axis of one voxel it means nothing
    {
      std::ostringstream reason;
      reason << "has a spacing of " << spacing << " along axis " << axis << ", which must be above 0";
      return reason.str();
    }
  }
  return {};
}

void
RequireSoundNifti(const std::string & file, const std::string & what)
{
  constexpr std::size_t TypeAt = 70, OffsetAt = 108, QFormAt = 252, SFormAt = 254, QuaternionAt = 256, RowsAt = 280;
  const std::string     name = what + " '" + file + "' ";
  const NiftiHeader     header(IsNiftiName(file) ? file : std::string());
  if (!header.IsKnown())
  {
    return;
  }
  if (header.Size(0) < 1 || header.Size(0) > 7)
  {
    throw CommandError(name + "is not of two or three dimensions");
  }
  if (header.Short(SFormAt) != 0 && !ArePlaces(header, RowsAt, 12))
  {
    throw CommandError(name + "has an sform with numbers that are infinite, not a number or huge");
  }
  if (header.Short(QFormAt) != 0 && !ArePlaces(header, QuaternionAt, 6))
  {
    throw CommandError(name + "has a qform with numbers that are infinite, not a number or huge");
  }
  constexpr float LargestOffset = 1e9f;
  if (!(header.Float(OffsetAt) >= 0) || header.Float(OffsetAt) > LargestOffset)
  {
    throw CommandError(name + "says that its voxels begin at byte " + std::to_string(header.Float(OffsetAt)));
  }
  constexpr std::uint64_t Rgb = 128, Rgba = 2304;
  const bool              colors = header.Short(TypeAt) == Rgb || header.Short(TypeAt) == Rgba;
  for (std::size_t axis = 5; axis <= header.Size(0); ++axis)
  {
    if (colors && header.Size(axis) > 1)
    {
      throw CommandError(name + "has colors as the values of vectors, which makes no sense");
    }
  }
}
