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
#include "ffdpRawImages.h"

#include "ffdpFileCompleteness.h"
#include "ffdpLibraryChatter.h"
#include "ffdpTypedImages.h"

#include "itkImageIOFactory.h"

#include <algorithm>
#include <type_traits>

namespace
{

std::size_t
CountBytes(const RawImage & image)
{
  const std::size_t size = VisitComponentType(image.component, [](auto zero) { return sizeof(zero); });
  return size * std::size_t(image.components) * image.VoxelsOfVolume() * image.volumes;
}

itk::ImageIORegion
WholeRegion(const itk::ImageIOBase & io)
{
  itk::ImageIORegion region(io.GetNumberOfDimensions());
  for (unsigned int axis = 0; axis < io.GetNumberOfDimensions(); ++axis)
  {
    region.SetIndex(axis, 0);
    region.SetSize(axis, io.GetDimensions(axis));
  }
  return region;
}

void
RequireFiniteBytes(const RawImage & image, const std::string & file, const std::string & what)
{
  VisitComponentType(image.component, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>)
    {
      RequireFinite(reinterpret_cast<const T *>(image.bytes.data()), image.bytes.size() / sizeof(T), file, what);
    }
  });
}

} // namespace

ffdp::PixelView
RawImage::Volume(itk::SizeValueType volume)
{
  const auto         size = grid->GetLargestPossibleRegion().GetSize();
  const ffdp::Extent extent{ std::int64_t(size[0]), std::int64_t(size[1]), std::int64_t(size[2]) };
  char * const       first = bytes.data() + volume * (bytes.size() / volumes);
  return VisitComponentType(component, [&](auto zero) {
    return ffdp::PixelView(reinterpret_cast<decltype(zero) *>(first), extent, components);
  });
}

RawImage
ReadRawImage(const std::string & file, const std::string & what, bool seriesToo)
{
  const auto io = ReadImageHeader(file, what, seriesToo);
  RequireSoundVoxels(file, what);
  RawImage image;
  image.grid = GridOf(*io, file, what);
  if (io->GetNumberOfDimensions() > 3)
  {
    image.volumes = io->GetDimensions(3);
    image.volumeSpacing = io->GetSpacing(3);
    image.volumeOrigin = io->GetOrigin(3);
  }
  image.dimension = DimensionOf(*io);
  image.component = io->GetComponentType();
  image.pixel = io->GetPixelType();
  image.components = int(io->GetNumberOfComponents());
  if (image.component == itk::IOComponentEnum::LDOUBLE || image.component == itk::IOComponentEnum::UNKNOWNCOMPONENTTYPE)
  {
    throw CommandError(what + " '" + file + "' has voxels of a type that is not known here");
  }
  image.bytes.resize(CountBytes(image));
  io->SetIORegion(WholeRegion(*io));
  try
  {
    const LibraryChatter chatter;
    io->Read(image.bytes.data());
  }
  catch (const itk::ExceptionObject & error)
  {
    throw CommandError(what + " '" + file + "' cannot be read: " + OneLine(error));
  }
  RequireFiniteBytes(image, file, what);
  return image;
}

RawImage
MakeRawImage(const RawImageKind & kind, const itk::ImageBase<3> * grid)
{
  RawImage image;
  static_cast<RawImageKind &>(image) = kind;
  image.grid = FloatImage::New();
  image.grid->CopyInformation(grid);
  image.grid->SetRegions(grid->GetLargestPossibleRegion());
  image.bytes.resize(CountBytes(image));
  return image;
}

void
WriteRawImage(const RawImage & image, const std::string & file)
{
  WriteAtomically(file, [&](const std::string & name) {
    const auto io = itk::ImageIOFactory::CreateImageIO(name.c_str(), itk::ImageIOFactory::FileModeEnum::WriteMode);
    if (!io)
    {
      throw CommandError("'" + file + "' does not end like an image that can be written here");
    }
    const unsigned int dimensions = image.volumes > 1 ? 4 : image.dimension;
    io->SetNumberOfDimensions(dimensions);
    for (unsigned int axis = 0; axis < dimensions; ++axis)
    {
      std::vector<double> direction(dimensions);
      if (axis == 3)
      {
        direction[3] = 1;
        io->SetDimensions(3, image.volumes);
        io->SetSpacing(3, image.volumeSpacing);
        io->SetOrigin(3, image.volumeOrigin);
      }
      else
      {
        for (unsigned int i = 0; i < std::min(dimensions, SpaceDimension); ++i)
        {
          direction[i] = image.grid->GetDirection()[i][axis];
        }
        io->SetDimensions(axis, image.grid->GetLargestPossibleRegion().GetSize(axis));
        io->SetSpacing(axis, image.grid->GetSpacing()[axis]);
        io->SetOrigin(axis, image.grid->GetOrigin()[axis]);
      }
      io->SetDirection(axis, direction);
    }
    io->SetComponentType(image.component);
    io->SetPixelType(image.pixel);
    io->SetNumberOfComponents(unsigned(image.components));
    io->SetUseCompression(true);
    io->SetFileName(name);
    io->SetIORegion(WholeRegion(*io));
    io->Write(image.bytes.data());
    RequireWritten(name);
  });
}
