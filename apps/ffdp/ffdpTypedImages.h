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
#ifndef ffdpTypedImages_h
#define ffdpTypedImages_h

#include "ffdpCommandError.h"
#include "ffdpImageFiles.h"
#include "ffdpImageGrid.h"
#include "ffdpNiftiWriter.h"
#include "ffdpOutputFiles.h"
#include "ffdpRawImages.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

/** Images with the type of voxels that their file has. */

/** Throws CommandError if one of the values is infinite or not a number. */
template <typename T>
void
RequireFinite(const T * values, std::size_t count, const std::string & file, const std::string & what)
{
  if (!std::all_of(values, values + count, [](T value) { return std::isfinite(double(value)); }))
  {
    throw CommandError(what + " '" + file + "' has voxels that are infinite or not a number");
  }
}

inline void
CopyPixel(float from, float & to)
{
  to = from;
}

inline void
CopyPixel(const itk::Vector<float, 3> & from, itk::Vector<float, 2> & to)
{
  to[0] = from[0];
  to[1] = from[1];
}

/** An image of one plane as one of two dimensions. */
template <typename TPixel>
auto
PlaneOf(const itk::Image<TPixel, 3> * image)
{
  using PlanePixel = std::conditional_t<std::is_same_v<TPixel, float>, float, itk::Vector<float, 2>>;
  const auto plane = CopyGrid<itk::Image<PlanePixel, 2>>(image);
  plane->Allocate();
  for (itk::SizeValueType i = 0; i < plane->GetBufferedRegion().GetNumberOfPixels(); ++i)
  {
    CopyPixel(image->GetBufferPointer()[i], plane->GetBufferPointer()[i]);
  }
  return plane;
}

/** The kind of an image of ITK's. */
template <typename TImage>
RawImageKind
KindOfType()
{
  using Pixel = typename TImage::PixelType;
  RawImageKind kind;
  kind.dimension = TImage::ImageDimension;
  if constexpr (std::is_same_v<Pixel, std::int16_t>)
  {
    kind.component = itk::IOComponentEnum::SHORT;
  }
  else if constexpr (!std::is_same_v<Pixel, float>)
  {
    static_assert(std::is_same_v<typename Pixel::ValueType, float>, "displacements are floats");
    kind.pixel = itk::IOPixelEnum::VECTOR;
    kind.components = int(Pixel::Dimension);
  }
  return kind;
}

/** By ITK; `grid` is that of the image as a volume. */
template <typename TImage>
void
WriteByItk(const TImage * image, const itk::ImageBase<3> * grid, const std::string & name)
{
  WriteThroughLibrary(KindOfType<TImage>(), grid, image->GetBufferPointer(), name);
  RequireWritten(name);
}

/** dimension 2: an image of one plane is written as one of two dimensions; of vectors, x and y. */
template <typename TImage>
void
WriteVoxels(const TImage * image, const std::string & file, unsigned int dimension = SpaceDimension)
{
  WriteAtomically(file, [&](const std::string & name) {
    if constexpr (std::is_same_v<TImage, FloatImage> || std::is_same_v<TImage, FieldImage>)
    {
      if (EndsWith(name, ".nii.gz")) // strings of floats do not repeat: there are faster ways than to look for them
      {
        WriteNifti(image, name, dimension);
        return;
      }
      if (dimension == PlaneDimension)
      {
        WriteByItk(PlaneOf(image).GetPointer(), image, name);
        return;
      }
    }
    WriteByItk(image, image, name);
  });
}

/** Calls visit(T()) with the type that a component of a file has. */
template <typename TVisitor>
auto
VisitComponentType(itk::IOComponentEnum component, const TVisitor & visit)
{
  using Type = itk::IOComponentEnum;
  switch (component)
  {
    case Type::UCHAR:
      return visit(std::uint8_t());
    case Type::CHAR:
      return visit(std::int8_t());
    case Type::USHORT:
      return visit(std::uint16_t());
    case Type::SHORT:
      return visit(std::int16_t());
    case Type::UINT:
      return visit(std::uint32_t());
    case Type::INT:
      return visit(std::int32_t());
    case Type::ULONG:
    case Type::ULONGLONG:
      return visit(std::uint64_t());
    case Type::LONG:
    case Type::LONGLONG:
      return visit(std::int64_t());
    case Type::FLOAT:
      return visit(float());
    case Type::DOUBLE:
      return visit(double());
    default:
      throw CommandError("voxels of this type are not known here");
  }
}

#endif
