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
#include "ffdpDimension.h"

#include "ffdpCommandError.h"
#include "ffdpImageFiles.h"

#include <algorithm>

unsigned int
DimensionOf(const ImageHeader & header)
{
  return std::min(SpaceDimension, std::max(PlaneDimension, header.Dimensions()));
}

DimensionedFile
ReadDimension(const std::string & file, const std::string & what)
{
  return { what + " '" + file + "'", DimensionOf(ReadImageHeader(file, what, true)) };
}

namespace
{

void
RequireDisplacements(const ImageHeader & header, const std::string & name)
{
  using Pixel = itk::IOPixelEnum;
  using Type = itk::IOComponentEnum;
  const bool isUnsigned = header.component == Type::UCHAR || header.component == Type::USHORT ||
                          header.component == Type::UINT || header.component == Type::ULONG ||
                          header.component == Type::ULONGLONG;
  if (header.pixel == Pixel::RGB || header.pixel == Pixel::RGBA)
  {
    throw CommandError(name + "holds colors, which are no displacements");
  }
  if (isUnsigned || header.pixel == Pixel::COMPLEX)
  {
    throw CommandError(name + "holds " + (isUnsigned ? "numbers without a sign" : "complex numbers") +
                       ", which are no displacements");
  }
}

} // namespace

DimensionedFile
ReadFieldDimension(const std::string & file)
{
  const std::string  what = "displacement field";
  const ImageHeader  header = ReadImageHeader(file, what);
  const unsigned int components = header.components;
  if (components != SpaceDimension && (components != PlaneDimension || DimensionOf(header) != PlaneDimension))
  {
    throw CommandError(what + " '" + file +
                       "' does not have three values per voxel, nor two in an image of two dimensions");
  }
  RequireDisplacements(header, what + " '" + file + "' ");
  return { what + " '" + file + "'", components };
}

void
RequireOneDimension(const DimensionedFile & file, const DimensionedFile & other)
{
  if (file.dimension != other.dimension && file.dimension != 0 && other.dimension != 0)
  {
    const auto say = [](const DimensionedFile & one) {
      return one.name + (one.dimension == PlaneDimension ? " is of two dimensions" : " is of three dimensions");
    };
    throw CommandError(say(file) + ", and " + say(other));
  }
}
