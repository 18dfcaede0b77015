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
#include "ffdpTemporaryFiles.h"
#include "ffdpTypedImages.h"

#include "itkImageIOFactory.h"

#include <algorithm>
#include <type_traits>
#include <typeindex>

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

RawImageKind
KindOf(const itk::ImageIOBase & io, const std::string & file, const std::string & what)
{
  RawImageKind kind;
  if (io.GetNumberOfDimensions() > 3)
  {
    kind.volumes = io.GetDimensions(3);
    kind.volumeSpacing = io.GetSpacing(3);
    kind.volumeOrigin = io.GetOrigin(3);
  }
  kind.dimension = DimensionOf(io);
  kind.component = io.GetComponentType();
  kind.pixel = io.GetPixelType();
  kind.components = int(io.GetNumberOfComponents());
  if (kind.component == itk::IOComponentEnum::LDOUBLE || kind.component == itk::IOComponentEnum::UNKNOWNCOMPONENTTYPE)
  {
    throw CommandError(what + " '" + file + "' has voxels of a type that is not known here");
  }
  return kind;
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

RawImageKind
ReadRawImageKind(const std::string & file, const std::string & what, bool seriesToo)
{
  return KindOf(*ReadImageHeader(file, what, seriesToo), file, what);
}

RawImage
ReadRawImage(const std::string & file, const std::string & what, bool seriesToo)
{
  const auto io = ReadImageHeader(file, what, seriesToo);
  RequireSoundVoxels(file, what);
  RawImage image;
  static_cast<RawImageKind &>(image) = KindOf(*io, file, what);
  image.grid = GridOf(*io, file, what);
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

namespace
{

/** As a 2-D or 3-D image, or a 4-D one if there are several volumes. */
void
WriteThroughLibrary(const RawImage & image, const std::string & name)
{
  const auto io = itk::ImageIOFactory::CreateImageIO(name.c_str(), itk::ImageIOFactory::FileModeEnum::WriteMode);
  if (!io)
  {
    throw CommandError("'" + name + "' does not end like an image that can be written here");
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
}

bool
HoldsAll(const RawImage & image, const std::string & file)
{
  const auto io = ReadImageHeader(file, "image", true);
  const auto size = image.grid->GetLargestPossibleRegion().GetSize();
  for (unsigned int axis = 0; axis < 3; ++axis)
  {
    if (size[axis] != (axis < io->GetNumberOfDimensions() ? io->GetDimensions(axis) : 1))
    {
      return false;
    }
  }
  const auto typeOf = [](itk::IOComponentEnum component) {
    return VisitComponentType(component, [](auto zero) { return std::type_index(typeid(zero)); });
  };
  return typeOf(io->GetComponentType()) == typeOf(image.component) &&
         io->GetNumberOfComponents() == unsigned(image.components);
}

} // namespace

void
RequireWritableKind(const RawImageKind & kind, const std::string & file, itk::SizeValueType planes)
{
  RequireWritableImage(file);
  auto grid = FloatImage::New();
  grid->SetRegions(FloatImage::SizeType{ { 2, 2, kind.dimension == 2 ? 1 : std::min<itk::SizeValueType>(planes, 2) } });
  RawImageKind tiny = kind;
  tiny.volumes = std::min<itk::SizeValueType>(kind.volumes, 2);
  const RawImage      image = MakeRawImage(tiny, grid);
  const TemporaryFile temporary(file);
  std::string         reason;
  try
  {
    const LibraryChatter chatter;
    WriteThroughLibrary(image, temporary.Name());
    reason = HoldsAll(image, temporary.Name()) ? "" : "this format does not hold all of such an image";
  }
  catch (const itk::ExceptionObject & error)
  {
    reason = OneLine(error);
  }
  if (!reason.empty())
  {
    throw CommandError("'" + file + "' cannot be written: " + reason + " (take .nii.gz, .mha or .nrrd)");
  }
}

void
RequireWritableField(const std::string & file)
{
  RawImageKind kind;
  kind.pixel = itk::IOPixelEnum::VECTOR;
  kind.components = 3;
  RequireWritableKind(kind, file);
}

void
WriteRawImage(const RawImage & image, const std::string & file)
{
  WriteAtomically(file, [&](const std::string & name) { WriteThroughLibrary(image, name); });
}
