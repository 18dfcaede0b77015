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

#include "ffdpImageFiles.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <zlib.h>

NiftiHeader::NiftiHeader(const std::string & file)
{
  std::string name = file;
  if (EndsWith(file, ".img"))
  {
    name.replace(name.size() - 3, 3, "hdr");
  }
  const gzFile in = gzopen(name.c_str(), "rb"); // reads plain files, too
  const int    got = in ? gzread(in, m_Bytes, unsigned(Bytes)) : 0;
  if (in)
  {
    gzclose(in);
  }
  m_Big = m_Bytes[2] == 1 && m_Bytes[3] == 0x5c; // 348
  m_Known = got == int(Bytes) && (m_Big || (m_Bytes[0] == 0x5c && m_Bytes[1] == 1));
}

std::string
WhatIsWrongWithSpacing(const std::string & file, bool negativeToo)
{
  const bool nifti =
    EndsWith(file, ".nii") || EndsWith(file, ".nii.gz") || EndsWith(file, ".hdr") || EndsWith(file, ".img");
  if (!nifti)
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
