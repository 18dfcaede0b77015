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
#include "ffdpPlaneSource.h"

#include "ffdpCommandError.h"
#include "ffdpFileCompleteness.h"
#include "ffdpLibraryChatter.h"
#include "ffdpStoredValues.h"
#include "ffdpUnzippedStream.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <vector>

namespace
{

using Type = itk::IOComponentEnum;
using Storage = VoxelLayout::Storage;

constexpr std::int64_t ValuesAtOnce = 1 << 18; // while they are converted

/** Voxels that lie in a file as they are. */
class RawPlanes : public PlaneSource
{
public:
  RawPlanes(const StoredValues & values, int valuesPerVoxel, int volumes, const std::string & what)
    : PlaneSource(valuesPerVoxel, volumes)
    , m_Values(values)
    , m_What(what)
    , m_File(open(values.layout.file.c_str(), O_RDONLY | O_CLOEXEC))
  {
    if (m_File < 0)
    {
      throw CommandError(what + " '" + values.layout.file + "' cannot be opened: " + std::strerror(errno));
    }
  }
  ~RawPlanes() override { close(m_File); }

  bool
  IsRandomAccess() const override
  {
    return true;
  }
  void
  Read(int volume, const ffdp::PlaneRange & planes, float * to) override
  {
    const auto         size = std::int64_t(SizeOf(m_Values.layout.component));
    const std::int64_t first = m_Values.PlaceOf(volume, planes);
    const std::int64_t count = (planes.end - planes.first) * m_Values.perPlane;
    m_Buffer.resize(std::size_t(std::min(count, ValuesAtOnce) * size));
    for (std::int64_t done = 0; done < count; done += ValuesAtOnce)
    {
      const std::int64_t now = std::min(ValuesAtOnce, count - done);
      this->ReadBytes(m_Values.layout.offset + std::uint64_t((first + done) * size), std::size_t(now * size));
      m_Values.Convert(m_Buffer.data(), now, to + done);
    }
  }

private:
  void
  ReadBytes(std::uint64_t from, std::size_t count)
  {
    for (std::size_t got = 0; got < count;)
    {
      const ssize_t now = pread(m_File, m_Buffer.data() + got, count - got, off_t(from + got));
      if (now < 0 && errno == EINTR)
      {
        continue;
      }
      if (now < 0)
      {
        throw CommandError(m_What + " '" + m_Values.layout.file + "' cannot be read: " + std::strerror(errno));
      }
      if (now == 0)
      {
        ThrowCutOff(m_Values.layout.file, m_What, from + got, m_Values.layout.offset + m_Values.layout.bytes);
      }
      got += std::size_t(now);
    }
  }

  StoredValues               m_Values;
  std::string                m_What;
  int                        m_File;
  std::vector<unsigned char> m_Buffer;
};

/** Voxels of a file in gzip. */
class ZippedPlanes : public PlaneSource
{
public:
  ZippedPlanes(const StoredValues & values, int valuesPerVoxel, int volumes, const std::string & what)
    : PlaneSource(valuesPerVoxel, volumes)
    , m_Values(values)
    , m_Stream(values.layout.file, what, values.layout.offset + values.layout.bytes)
  {}

  bool
  IsRandomAccess() const override
  {
    return false;
  }
  void
  Read(int volume, const ffdp::PlaneRange & planes, float * to) override
  {
    const auto         size = std::int64_t(SizeOf(m_Values.layout.component));
    const std::int64_t first = m_Values.PlaceOf(volume, planes);
    const std::int64_t count = (planes.end - planes.first) * m_Values.perPlane;
    m_Buffer.resize(std::size_t(std::min(count, ValuesAtOnce) * size));
    m_Stream.SkipTo(m_Values.layout.offset + std::uint64_t(first * size));
    for (std::int64_t done = 0; done < count; done += ValuesAtOnce)
    {
      const std::int64_t now = std::min(ValuesAtOnce, count - done);
      m_Stream.Read(m_Buffer.data(), std::size_t(now * size));
      m_Values.Convert(m_Buffer.data(), now, to + done);
    }
    if (std::uint64_t((first + count) * size) == m_Values.layout.bytes)
    {
      m_Stream.Finish();
    }
  }

private:
  StoredValues               m_Values;
  UnzippedStream             m_Stream;
  std::vector<unsigned char> m_Buffer;
};

/** Whether ITK reads a part of an image without the rest. */
bool
ReadsRegions(const itk::ImageIOBase & io)
{
  return io.GetNameOfClass() == std::string("HDF5ImageIO");
}

/** What ITK reads: the planes that are asked for, or the whole image at first, with the type that it has. */
class LibraryPlanes : public PlaneSource
{
public:
  LibraryPlanes(const itk::ImageIOBase::Pointer & io, const std::string & file, const std::string & what)
    : PlaneSource(int(io->GetNumberOfComponents()), 1)
    , m_IO(io)
    , m_File(file)
    , m_What(what)
    , m_Streams(ReadsRegions(*io))
  {}

  bool
  IsRandomAccess() const override
  {
    return m_Streams;
  }
  void
  Read(int, const ffdp::PlaneRange & planes, float * to) override
  {
    const std::int64_t all = m_IO->GetNumberOfDimensions() > 2 ? std::int64_t(m_IO->GetDimensions(2)) : 1;
    const auto         perPlane = std::int64_t(m_IO->GetImageSizeInComponents()) / all;
    if (m_Buffer.empty())
    {
      RequireSoundVoxels(m_File, m_What); // here, since ranks that read nothing need not go through the file
    }
    if (m_Streams || m_Buffer.empty())
    {
      this->Load(m_Streams ? planes : ffdp::PlaneRange{ 0, all });
    }
    const std::int64_t skip = m_Streams ? 0 : planes.first * perPlane;
    VisitComponentType(m_IO->GetComponentType(), [&](auto zero) {
      using T = decltype(zero);
      const T * const values = reinterpret_cast<const T *>(m_Buffer.data()) + skip;
      std::transform(values, values + (planes.end - planes.first) * perPlane, to, [](T value) { return float(value); });
    });
  }

private:
  void
  Load(const ffdp::PlaneRange & planes)
  {
    itk::ImageIORegion region(m_IO->GetNumberOfDimensions());
    for (unsigned int axis = 0; axis < m_IO->GetNumberOfDimensions(); ++axis)
    {
      region.SetIndex(axis, axis == 2 ? planes.first : 0);
      region.SetSize(axis, axis == 2 ? itk::SizeValueType(planes.end - planes.first) : m_IO->GetDimensions(axis));
    }
    m_IO->SetIORegion(region);
    m_Buffer.resize(std::size_t(region.GetNumberOfPixels()) * m_IO->GetNumberOfComponents() *
                    SizeOf(m_IO->GetComponentType()));
    try
    {
      const LibraryChatter chatter;
      m_IO->Read(m_Buffer.data());
    }
    catch (const itk::ExceptionObject & error)
    {
      throw CommandError(m_What + " '" + m_File + "' cannot be read: " + OneLine(error));
    }
  }

  itk::ImageIOBase::Pointer m_IO;
  std::string               m_File;
  std::string               m_What;
  bool                      m_Streams;
  std::vector<char>         m_Buffer;
};

/** Whether what was found in the file is what ITK says is in it, so that it can be read without ITK. */
bool
IsUnderstood(const VoxelLayout & layout, const itk::ImageIOBase & io)
{
  if ((layout.storage != Storage::Plain && layout.storage != Storage::Gzip) || layout.onlyItkKnows ||
      layout.component == Type::UNKNOWNCOMPONENTTYPE ||
      layout.bytes != std::uint64_t(io.GetImageSizeInComponents()) * SizeOf(layout.component))
  {
    return false;
  }
  const bool vectors = io.GetNumberOfComponents() > 1;
  const bool floats = io.GetComponentType() == Type::FLOAT || io.GetComponentType() == Type::DOUBLE;
  return !IsScaled(layout) || (!vectors && floats);
}

} // namespace

std::unique_ptr<PlaneSource>
OpenPlanes(const std::string & file, const std::string & what, const itk::ImageIOBase::Pointer & io)
{
  const auto layout = FindVoxels(file);
  if (layout)
  {
    RequirePlainBytes(*layout, what);
  }
  if (!layout || !IsUnderstood(*layout, *io))
  {
    return std::make_unique<LibraryPlanes>(io, file, what);
  }
  const auto   components = int(io->GetNumberOfComponents());
  const int    volumes = layout->componentsApart ? components : 1;
  const auto   planes = io->GetNumberOfDimensions() > 2 ? std::int64_t(io->GetDimensions(2)) : 1;
  StoredValues values;
  values.layout = *layout;
  values.perVolume = std::int64_t(io->GetImageSizeInComponents()) / volumes;
  values.perPlane = values.perVolume / planes;
  values.scaled = IsScaled(*layout);
  values.scaledInDouble = io->GetComponentType() == Type::DOUBLE;
  if (layout->storage == Storage::Gzip)
  {
    return std::make_unique<ZippedPlanes>(values, components / volumes, volumes, what);
  }
  return std::make_unique<RawPlanes>(values, components / volumes, volumes, what);
}

bool
NeedsWholeImage(const std::string & file, const itk::ImageIOBase & io)
{
  const auto layout = FindVoxels(file);
  return !(layout && IsUnderstood(*layout, io)) && !ReadsRegions(io);
}
