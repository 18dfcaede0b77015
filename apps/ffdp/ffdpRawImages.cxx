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

#include "ffdpCheckedSizes.h"
#include "ffdpFileCompleteness.h"
#include "ffdpInterruption.h"
#include "ffdpIsolation.h"
#include "ffdpOutputNames.h"
#include "ffdpPlaneSource.h"
#include "ffdpStoredValues.h"
#include "ffdpTemporaryFiles.h"
#include "ffdpTypedImages.h"
#include "ffdpUnzippedStream.h"

#include "itkImageIOFactory.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <type_traits>
#include <typeindex>

namespace fs = std::filesystem;

namespace
{

std::uint64_t
CountBytes(const RawImageKind & kind, const itk::ImageBase<3> * grid)
{
  const auto size = grid->GetLargestPossibleRegion().GetSize();
  return CheckedProduct(
    std::vector<std::uint64_t>{
      SizeOf(kind.component), std::uint64_t(kind.components), size[0], size[1], size[2], kind.volumes },
    "the result");
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
KindOf(const ImageHeader & header, const std::string & file, const std::string & what)
{
  RawImageKind kind;
  if (header.Dimensions() > 3)
  {
    kind.volumes = header.Size(3);
    kind.volumeSpacing = header.axes[3].spacing;
    kind.volumeOrigin = header.axes[3].origin;
  }
  kind.dimension = DimensionOf(header);
  kind.component = header.component;
  kind.pixel = header.pixel;
  kind.components = int(header.components);
  if (SizeOf(kind.component) == 0)
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
  return KindOf(ReadImageHeader(file, what, seriesToo), file, what);
}

namespace
{

/** Whether voxels are stored in the type that ITK gives them. */
bool
AreStoredAsRead(const VoxelLayout & layout, const ImageHeader & header)
{
  return IsUnderstood(layout, header) && layout.component == header.component && !IsScaled(layout);
}

/** The values of a voxel come together, whatever their order in the file. */
SharedBytes
ReadStoredVoxels(const VoxelLayout & layout, const ImageHeader & header, const std::string & what)
{
  constexpr std::uint64_t ValuesAtOnce = 1 << 16;
  const std::size_t       size = SizeOf(layout.component);
  const std::uint64_t     apart = layout.componentsApart ? header.components : 1;
  const std::uint64_t     perComponent = header.Values() / apart;
  RequirePlainBytes(layout, what);
  SharedBytes       voxels(header.Bytes());
  const auto        stream = OpenVoxels(layout, what);
  std::vector<char> some(apart > 1 ? ValuesAtOnce * size : 0);
  for (std::uint64_t component = 0; apart > 1 && component < apart; ++component)
  {
    for (std::uint64_t done = 0; done < perComponent; done += ValuesAtOnce)
    {
      const std::uint64_t now = std::min(ValuesAtOnce, perComponent - done);
      stream->Read(some.data(), now * size);
      for (std::uint64_t i = 0; i < now; ++i)
      {
        std::memcpy(voxels.data() + ((done + i) * apart + component) * size, some.data() + i * size, size);
      }
    }
  }
  if (apart == 1)
  {
    stream->Read(voxels.data(), voxels.size());
  }
  stream->Finish();
  if (layout.bigEndian != IsBigEndianMachine())
  {
    for (std::size_t i = 0; i < voxels.size(); i += size)
    {
      std::reverse(voxels.data() + i, voxels.data() + i + size);
    }
  }
  return voxels;
}

SharedBytes
ReadVoxels(const ImageHeader & header, const std::string & file, const std::string & what)
{
  const auto layout = FindVoxels(file, what);
  if (layout && AreStoredAsRead(*layout, header))
  {
    return ReadStoredVoxels(*layout, header, what);
  }
  RequireSoundVoxels(file, what, header);
  return ReadVoxelsApart(header, file, what, WholeOf(header));
}

} // namespace

RawImage
ReadRawImage(const std::string & file, const std::string & what, bool seriesToo)
{
  const ImageHeader header = ReadImageHeader(file, what, seriesToo);
  RawImage          image;
  static_cast<RawImageKind &>(image) = KindOf(header, file, what);
  image.grid = GridOf(header, file, what);
  image.bytes = ReadVoxels(header, file, what);
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
  image.bytes = SharedBytes(CountBytes(kind, grid));
  return image;
}

namespace
{

/** What it has of the image; the values are given to Write(). */
void
Describe(itk::ImageIOBase & io, const RawImageKind & kind, const itk::ImageBase<3> * grid)
{
  const unsigned int dimensions = kind.volumes > 1 ? 4 : kind.dimension;
  io.SetNumberOfDimensions(dimensions);
  for (unsigned int axis = 0; axis < dimensions; ++axis)
  {
    std::vector<double> direction(dimensions);
    if (axis == 3)
    {
      direction[3] = 1;
      io.SetDimensions(3, kind.volumes);
      io.SetSpacing(3, kind.volumeSpacing);
      io.SetOrigin(3, kind.volumeOrigin);
    }
    else
    {
      for (unsigned int i = 0; i < std::min(dimensions, SpaceDimension); ++i)
      {
        direction[i] = grid->GetDirection()[i][axis];
      }
      io.SetDimensions(axis, grid->GetLargestPossibleRegion().GetSize(axis));
      io.SetSpacing(axis, grid->GetSpacing()[axis]);
      io.SetOrigin(axis, grid->GetOrigin()[axis]);
    }
    io.SetDirection(axis, direction);
  }
  io.SetComponentType(kind.component);
  io.SetPixelType(kind.pixel);
  io.SetNumberOfComponents(unsigned(kind.components));
}

} // namespace

void
WriteThroughLibrary(const RawImageKind &      kind,
                    const itk::ImageBase<3> * grid,
                    const void *              values,
                    const std::string &       name,
                    const std::string &       nameInMessages)
{
  RunApart(WritingTask(nameInMessages.empty() ? name : nameInMessages, CountBytes(kind, grid)), [&] {
    const auto io = itk::ImageIOFactory::CreateImageIO(name.c_str(), itk::ImageIOFactory::FileModeEnum::WriteMode);
    if (!io)
    {
      throw CommandError("'" + name + "' does not end like an image that can be written here");
    }
    Describe(*io, kind, grid);
    io->SetUseCompression(true);
    io->SetFileName(name);
    io->SetIORegion(WholeRegion(*io));
    io->Write(values);
    return std::string();
  });
}

namespace
{

void
WriteAndCheck(const RawImage & image, const std::string & name)
{
  WriteThroughLibrary(image, image.grid, image.bytes.data(), name);
  RequireWritten(name);
}

bool
HoldsAll(const RawImage & image, const std::string & file)
{
  const ImageHeader header = ReadImageHeader(file, "image", true);
  const auto        size = image.grid->GetLargestPossibleRegion().GetSize();
  for (unsigned int axis = 0; axis < 3; ++axis)
  {
    if (size[axis] != header.Size(axis))
    {
      return false;
    }
  }
  const auto typeOf = [](itk::IOComponentEnum component) {
    return VisitComponentType(component, [](auto zero) { return std::type_index(typeid(zero)); });
  };
  return typeOf(header.component) == typeOf(image.component) && header.components == unsigned(image.components);
}

} // namespace

void
RequireWritableKind(const RawImageKind & kind, const std::string & file, itk::SizeValueType planes)
{
  RequireWritableImage(file);
  const fs::path    target(FollowLinks(file));
  std::error_code   ignored;
  const fs::path    parent = target.parent_path().empty() ? fs::path(".") : target.parent_path();
  const fs::path    folder = fs::is_directory(parent, ignored) ? parent : fs::temp_directory_path(ignored);
  const std::string name = TemporaryName((folder / ("tiny-" + fs::path(file).filename().string())).string());
  auto              grid = FloatImage::New();
  grid->SetRegions(FloatImage::SizeType{ { 2, 2, kind.dimension == 2 ? 1 : std::min<itk::SizeValueType>(planes, 2) } });
  RawImageKind tiny = kind;
  tiny.volumes = std::min<itk::SizeValueType>(kind.volumes, 2);
  const RawImage           image = MakeRawImage(tiny, grid);
  const RemovedWhenStopped removal(name);
  std::string              reason;
  try
  {
    WriteAndCheck(image, name);
    reason = HoldsAll(image, name) ? "" : "this format does not hold all of such an image";
  }
  catch (const itk::ExceptionObject & error)
  {
    reason = OneLine(error);
  }
  catch (const CommandError & error)
  {
    const std::string text = error.what(), failure = WritingTask(name).Failure() + ": ";
    reason = text.compare(0, failure.size(), failure) == 0 ? text.substr(failure.size())
                                                           : "it cannot be read again afterwards";
  }
  fs::remove(name, ignored);
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
  WriteAtomically(file, [&](const std::string & name) { WriteAndCheck(image, name); });
}
