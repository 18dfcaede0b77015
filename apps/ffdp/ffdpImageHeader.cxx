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
#include "ffdpImageHeader.h"

#include "ffdpCheckedSizes.h"
#include "ffdpCommandError.h"
#include "ffdpIsolation.h"

#include "itkImageFileReader.h" // registers the formats that this program was linked with
#include "itkImageIOFactory.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace
{

using Type = itk::IOComponentEnum;

/** Numbers and texts as bytes, one after the other. */
class Packer
{
public:
  template <typename T>
  void
  Add(const T & value)
  {
    static_assert(std::is_trivially_copyable<T>::value, "is copied as bytes");
    bytes.append(reinterpret_cast<const char *>(&value), sizeof(value));
  }
  void
  AddText(const std::string & text)
  {
    this->Add(text.size());
    bytes += text;
  }

  std::string bytes;
};

/** Takes them out again. The process that packed them may have been out of its mind: what does not fit is an error. */
class Unpacker
{
public:
  Unpacker(const std::string & bytes, const std::string & name)
    : m_Bytes(bytes)
    , m_Name(name)
  {}

  template <typename T>
  T
  Take()
  {
    T value{};
    this->Require(sizeof(value));
    std::memcpy(&value, m_Bytes.data() + m_At, sizeof(value));
    m_At += sizeof(value);
    return value;
  }
  std::string
  TakeText()
  {
    const auto size = this->Take<std::size_t>();
    this->Require(size);
    m_At += size;
    return m_Bytes.substr(m_At - size, size);
  }

private:
  void
  Require(std::size_t count) const
  {
    if (count > m_Bytes.size() - m_At)
    {
      throw CommandError(m_Name + " is damaged: its header makes no sense");
    }
  }

  const std::string & m_Bytes;
  std::string         m_Name;
  std::size_t         m_At = 0;
};

itk::ImageIOBase::Pointer
OpenByItk(const std::string & file, const std::string & what)
{
  auto io = itk::ImageIOFactory::CreateImageIO(file.c_str(), itk::ImageIOFactory::FileModeEnum::ReadMode);
  if (!io)
  {
    throw CommandError(what + " '" + file + "' is not an image that can be read here");
  }
  io->SetFileName(file);
  io->ReadImageInformation();
  return io;
}

std::string
Pack(const itk::ImageIOBase & io)
{
  Packer packer;
  packer.Add(io.GetNumberOfDimensions());
  for (unsigned int axis = 0; axis < io.GetNumberOfDimensions(); ++axis)
  {
    packer.Add(std::uint64_t(io.GetDimensions(axis)));
    packer.Add(io.GetSpacing(axis));
    packer.Add(io.GetOrigin(axis));
    for (const double number : io.GetDirection(axis))
    {
      packer.Add(number);
    }
  }
  packer.Add(io.GetComponentType());
  packer.Add(io.GetPixelType());
  packer.Add(io.GetNumberOfComponents());
  packer.AddText(io.GetNameOfClass());
  return packer.bytes;
}

ImageHeader
Unpack(const std::string & bytes, const std::string & name)
{
  constexpr unsigned int MostAxes = 16;
  Unpacker               unpacker(bytes, name);
  const auto             dimensions = unpacker.Take<unsigned int>();
  ImageHeader            header;
  if (dimensions == 0 || dimensions > MostAxes)
  {
    throw CommandError(name + " is not of two or three dimensions");
  }
  header.axes.resize(dimensions);
  for (ImageAxis & axis : header.axes)
  {
    axis.size = unpacker.Take<std::uint64_t>();
    axis.spacing = unpacker.Take<double>();
    axis.origin = unpacker.Take<double>();
    for (unsigned int i = 0; i < dimensions; ++i)
    {
      axis.direction.push_back(unpacker.Take<double>());
    }
  }
  header.component = unpacker.Take<itk::IOComponentEnum>();
  header.pixel = unpacker.Take<itk::IOPixelEnum>();
  header.components = unpacker.Take<unsigned int>();
  header.format = unpacker.TakeText();
  return header;
}

/** Throws unless the numbers of values and of bytes, also as floats, are those of something that can be in memory. */
void
RequireCountable(const ImageHeader & header, const std::string & name)
{
  std::vector<std::uint64_t> factors{ header.components, std::max<std::uint64_t>(8, SizeOf(header.component)) };
  for (const ImageAxis & axis : header.axes)
  {
    factors.push_back(axis.size);
  }
  if (CheckedProduct(factors, name) == 0 && header.components == 0)
  {
    throw CommandError(name + " has no values in its voxels");
  }
}

/** Whether the file is still the one whose header was read. */
bool
HasHeader(const itk::ImageIOBase & io, const ImageHeader & header)
{
  bool same = io.GetNumberOfDimensions() == header.Dimensions() && io.GetNumberOfComponents() == header.components &&
              io.GetComponentType() == header.component;
  for (unsigned int axis = 0; same && axis < header.Dimensions(); ++axis)
  {
    same = io.GetDimensions(axis) == header.Size(axis);
  }
  return same;
}

} // namespace

std::uint64_t
ImageHeader::Values() const
{
  std::uint64_t values = components;
  for (const ImageAxis & axis : axes)
  {
    values *= axis.size;
  }
  return values;
}

std::uint64_t
ImageHeader::Bytes() const
{
  return this->Values() * SizeOf(component);
}

ImagePart
WholeOf(const ImageHeader & header)
{
  ImagePart part;
  for (const ImageAxis & axis : header.axes)
  {
    part.first.push_back(0);
    part.size.push_back(axis.size);
  }
  return part;
}

ImageHeader
ReadHeaderApart(const std::string & file, const std::string & what)
{
  const std::string name = what + " '" + file + "'";
  const std::string packed = RunApart(ReadingTask(what, file), [&] { return Pack(*OpenByItk(file, what)); });
  ImageHeader       header = Unpack(packed, name);
  RequireCountable(header, name);
  return header;
}

SharedBytes
ReadVoxelsApart(const ImageHeader & header, const std::string & file, const std::string & what, const ImagePart & part)
{
  const std::string name = what + " '" + file + "'";
  const std::size_t size = SizeOf(header.component);
  if (size == 0)
  {
    throw CommandError(name + " has voxels of a type that is not known here");
  }
  itk::ImageIORegion region(header.Dimensions());
  for (unsigned int axis = 0; axis < header.Dimensions(); ++axis)
  {
    region.SetIndex(axis, itk::IndexValueType(part.first[axis]));
    region.SetSize(axis, itk::SizeValueType(part.size[axis]));
  }
  SharedBytes voxels(CheckedProduct(part.size, name) * header.components * size);
  RunApart(ReadingTask(what, file, voxels.size()), [&] {
    const auto io = OpenByItk(file, what);
    if (!HasHeader(*io, header))
    {
      throw CommandError(name + " changed while it was read");
    }
    io->SetIORegion(region);
    io->Read(voxels.data());
    return std::string();
  });
  return voxels;
}

std::size_t
SizeOf(itk::IOComponentEnum component)
{
  switch (component)
  {
    case Type::UCHAR:
    case Type::CHAR:
      return 1;
    case Type::USHORT:
    case Type::SHORT:
      return 2;
    case Type::UINT:
    case Type::INT:
    case Type::FLOAT:
      return 4;
    case Type::ULONG:
    case Type::LONG:
    case Type::ULONGLONG:
    case Type::LONGLONG:
    case Type::DOUBLE:
      return 8;
    default:
      return 0;
  }
}
