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
#include "ffdpRegularFile.h"
#include "ffdpStoredValues.h"
#include "ffdpUnzippedStream.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
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
    , m_File(OpenRegularFile(values.layout.file, what))
  {}
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

/** Voxels in gzip or zlib. */
class ZippedPlanes : public PlaneSource
{
public:
  ZippedPlanes(const StoredValues & values, int valuesPerVoxel, int volumes, const std::string & what)
    : PlaneSource(valuesPerVoxel, volumes)
    , m_Values(values)
    , m_Stream(OpenVoxels(values.layout, what))
    , m_FirstVoxel(values.layout.storage == Storage::Stream ? 0 : values.layout.offset)
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
    m_Stream->SkipTo(m_FirstVoxel + std::uint64_t(first * size));
    for (std::int64_t done = 0; done < count; done += ValuesAtOnce)
    {
      const std::int64_t now = std::min(ValuesAtOnce, count - done);
      m_Stream->Read(m_Buffer.data(), std::size_t(now * size));
      m_Values.Convert(m_Buffer.data(), now, to + done);
    }
    if (m_FirstVoxel + std::uint64_t((first + count) * size) == EndOfVoxels(m_Values.layout))
    {
      m_Stream->Finish();
    }
  }

private:
  StoredValues                    m_Values;
  std::unique_ptr<UnzippedStream> m_Stream;
  std::uint64_t                   m_FirstVoxel; ///< its place in what the stream holds
  std::vector<unsigned char>      m_Buffer;
};

/** Whether ITK reads a part of an image without the rest. */
bool
ReadsRegions(const ImageHeader & header)
{
  return header.format == "HDF5ImageIO";
}

/** What ITK reads: the planes that are asked for, or the whole image at first, with the type that it has. */
class LibraryPlanes : public PlaneSource
{
public:
  LibraryPlanes(const ImageHeader & header, const std::string & file, const std::string & what)
    : PlaneSource(int(header.components), 1)
    , m_Header(header)
    , m_File(file)
    , m_What(what)
    , m_Streams(ReadsRegions(header))
  {}

  bool
  IsRandomAccess() const override
  {
    return m_Streams;
  }
  void
  Read(int, const ffdp::PlaneRange & planes, float * to) override
  {
    const auto all = std::int64_t(m_Header.Size(2));
    const auto perPlane = std::int64_t(m_Header.Values()) / all;
    if (m_Buffer.empty())
    {
      RequireSoundVoxels(m_File, m_What, m_Header); // here, since ranks that read nothing need not go through the file
    }
    if (m_Streams || m_Buffer.empty())
    {
      this->Load(m_Streams ? planes : ffdp::PlaneRange{ 0, all });
    }
    const std::int64_t skip = m_Streams ? 0 : planes.first * perPlane;
    VisitComponentType(m_Header.component, [&](auto zero) {
      using T = decltype(zero);
      const T * const values = reinterpret_cast<const T *>(m_Buffer.data()) + skip;
      std::transform(values, values + (planes.end - planes.first) * perPlane, to, [](T value) { return float(value); });
    });
  }

private:
  void
  Load(const ffdp::PlaneRange & planes)
  {
    ImagePart part = WholeOf(m_Header);
    if (m_Header.Dimensions() > 2)
    {
      part.first[2] = std::uint64_t(planes.first);
      part.size[2] = std::uint64_t(planes.end - planes.first);
    }
    m_Buffer = ReadVoxelsApart(m_Header, m_File, m_What, part);
  }

  ImageHeader m_Header;
  std::string m_File;
  std::string m_What;
  bool        m_Streams;
  SharedBytes m_Buffer;
};

} // namespace

bool
IsUnderstood(const VoxelLayout & layout, const ImageHeader & header)
{
  const std::uint64_t bytes = layout.storage == Storage::Stream ? layout.unzipped : layout.bytes;
  const bool          stored =
    layout.storage == Storage::Plain || layout.storage == Storage::Gzip || layout.storage == Storage::Stream;
  if (!stored || layout.onlyItkKnows || layout.component == Type::UNKNOWNCOMPONENTTYPE || bytes == 0 ||
      bytes != header.Values() * SizeOf(layout.component))
  {
    return false;
  }
  const bool vectors = header.components > 1;
  const bool floats = header.component == Type::FLOAT || header.component == Type::DOUBLE;
  return !IsScaled(layout) || (!vectors && floats);
}

std::unique_ptr<PlaneSource>
OpenPlanes(const std::string & file, const std::string & what, const ImageHeader & header)
{
  const auto layout = FindVoxels(file, what);
  if (layout)
  {
    RequirePlainBytes(*layout, what);
  }
  if (!layout || !IsUnderstood(*layout, header))
  {
    return std::make_unique<LibraryPlanes>(header, file, what);
  }
  const auto   components = int(header.components);
  const int    volumes = layout->componentsApart ? components : 1;
  const auto   planes = std::int64_t(header.Size(2));
  StoredValues values;
  values.layout = *layout;
  values.perVolume = std::int64_t(header.Values()) / volumes;
  values.perPlane = values.perVolume / planes;
  values.scaled = IsScaled(*layout);
  values.scaledInDouble = header.component == Type::DOUBLE;
  if (layout->storage != Storage::Plain)
  {
    return std::make_unique<ZippedPlanes>(values, components / volumes, volumes, what);
  }
  return std::make_unique<RawPlanes>(values, components / volumes, volumes, DataFileOf(*layout, what));
}

bool
NeedsWholeImage(const std::string & file, const ImageHeader & header)
{
  const auto layout = FindVoxels(file, "image");
  return !(layout && IsUnderstood(*layout, header)) && !ReadsRegions(header);
}
