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

#include "ffdpCheckedSizes.h"
#include "ffdpHeaderFields.h"
#include "ffdpImageFiles.h"
#include "ffdpNiftiHeader.h"
#include "ffdpRegularFile.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>

namespace fs = std::filesystem;

namespace
{

using Type = itk::IOComponentEnum;
using Storage = VoxelLayout::Storage;

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
FindNiftiVoxels(const std::string & file, const std::string & what)
{
  const bool        pair = EndsWith(file, ".hdr") || EndsWith(file, ".img");
  const NiftiHeader numbers(file);
  if (!numbers.IsKnown() || (pair && !numbers.HasMagic("ni1"))) // without it, an Analyze file
  {
    return {};
  }
  const std::string     name = what + " '" + file + "'";
  constexpr std::size_t IntentAt = 68, TypeAt = 70, BitsAt = 72, OffsetAt = 108, SlopeAt = 112, InterceptAt = 116,
                        QFormAt = 252, SFormAt = 254;
  VoxelLayout layout;
  layout.header = file;
  layout.file = pair ? file.substr(0, file.size() - 3) + "img" : file;
  layout.storage = EndsWith(file, ".gz") ? Storage::Gzip : Storage::Plain;
  layout.component = NiftiType(numbers.Short(TypeAt));
  layout.bytes = SizeOf(layout.component) > 0 ? SizeOf(layout.component) : numbers.Short(BitsAt) / 8;
  for (std::size_t axis = 1; axis <= std::min<std::uint64_t>(7, numbers.Size(0)); ++axis)
  {
    layout.bytes = CheckedProduct(layout.bytes, numbers.Size(axis), name);
  }
  const float offset = numbers.Float(OffsetAt), least = pair ? 0.0f : float(NiftiHeader::Bytes + 4);
  layout.offset = std::uint64_t(offset > least && offset < 1e9f ? offset : least);
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

std::optional<VoxelLayout>
FindVoxelsOfFormat(const std::string & file, const std::string & what)
{
  const auto ends = [&](std::initializer_list<const char *> endings) {
    return std::any_of(endings.begin(), endings.end(), [&](const char * end) { return EndsWith(file, end); });
  };
  if (ends({ ".nii", ".nii.gz", ".hdr", ".img" }))
  {
    return FindNiftiVoxels(file, what);
  }
  if (ends({ ".mha", ".mhd" }))
  {
    return FindMetaVoxels(file, what);
  }
  if (ends({ ".nrrd", ".nhdr" }))
  {
    return FindNrrdVoxels(file, what);
  }
  return {};
}

} // namespace

std::optional<VoxelLayout>
FindVoxels(const std::string & file, const std::string & what)
{
  const auto      layout = FindVoxelsOfFormat(file, what);
  std::error_code ignored;
  if (layout)
  {
    std::vector<std::string> all = layout->parts;
    all.push_back(layout->file);
    for (const std::string & data : all)
    {
      if (data != file && fs::exists(data, ignored))
      {
        RequireRegularFile(data, DataFileOf(*layout, what));
      }
    }
  }
  return layout;
}

std::string
DataFileOf(const VoxelLayout & layout, const std::string & what)
{
  return layout.file == layout.header && layout.parts.empty() ? what : what + " '" + layout.header + "': its data file";
}
