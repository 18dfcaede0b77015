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
#include "ffdpImageFiles.h"

#include "ffdpCommandError.h"
#include "ffdpImageGrid.h"
#include "ffdpNiftiWriter.h"

#include "itkImageFileReader.h"
#include "itkImageFileWriter.h"
#include "itkImageIOFactory.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <type_traits>
#include <vector>
#include <zlib.h>

namespace
{

namespace fs = std::filesystem;

/** The part of ITK's message that tells something, in one line. */
std::string
Reason(const itk::ExceptionObject & error)
{
  std::string text = error.GetDescription();
  for (char & c : text)
  {
    c = c == '\n' ? ' ' : c;
  }
  return text;
}

/** What the header says, or a message that names the file. */
itk::ImageIOBase::Pointer
ReadHeader(const std::string & file, const std::string & what)
{
  std::error_code ignored;
  if (!fs::exists(file, ignored))
  {
    throw CommandError(what + " '" + file + "' does not exist");
  }
  if (fs::is_directory(file, ignored))
  {
    throw CommandError(what + " '" + file + "' is a folder, not an image file");
  }
  auto io = itk::ImageIOFactory::CreateImageIO(file.c_str(), itk::ImageIOFactory::FileModeEnum::ReadMode);
  if (!io)
  {
    throw CommandError(what + " '" + file + "' is not an image that can be read here");
  }
  io->SetFileName(file);
  try
  {
    io->ReadImageInformation();
  }
  catch (const itk::ExceptionObject & error)
  {
    throw CommandError(what + " '" + file + "' cannot be read: " + Reason(error));
  }
  for (unsigned int axis = 0; axis < io->GetNumberOfDimensions(); ++axis)
  {
    if (io->GetDimensions(axis) == 0 || (axis > 2 && io->GetDimensions(axis) != 1))
    {
      throw CommandError(what + " '" + file + "' is not of two or three dimensions");
    }
    if (!(io->GetSpacing(axis) > 0) || !std::isfinite(io->GetSpacing(axis)) || !std::isfinite(io->GetOrigin(axis)))
    {
      throw CommandError(what + " '" + file + "' has a spacing or an origin that is zero, negative or not a number");
    }
  }
  return io;
}

/** Bytes that a gzip file holds. Its last four say so, unless it was cut or put together from several: then count. */
std::uint64_t
CountUnzippedBytes(const std::string & file, std::uint64_t atLeast)
{
  std::ifstream in(file, std::ios::binary);
  unsigned char last[4] = {};
  in.seekg(-4, std::ios::end);
  in.read(reinterpret_cast<char *>(last), 4);
  const std::uint64_t said =
    last[0] + (std::uint64_t(last[1]) << 8) + (std::uint64_t(last[2]) << 16) + (std::uint64_t(last[3]) << 24);
  constexpr std::uint64_t Modulus = std::uint64_t(1) << 32, Header = 1 << 16;
  if ((said - atLeast) % Modulus < Header)
  {
    return atLeast;
  }
  std::uint64_t     count = 0;
  std::vector<char> buffer(1 << 20);
  const gzFile      zipped = gzopen(file.c_str(), "rb");
  for (int n = 1; zipped && n > 0;)
  {
    n = gzread(zipped, buffer.data(), unsigned(buffer.size()));
    count += n > 0 ? std::uint64_t(n) : 0;
  }
  if (zipped)
  {
    gzclose(zipped);
  }
  return count;
}

/** ITK reads a NIfTI file that was cut off without a word, and leaves the rest of the image as it was. */
void
RequireComplete(const std::string & file, const std::string & what, const itk::ImageIOBase & io)
{
  constexpr std::uint64_t HeaderBytes = 348;
  const std::uint64_t     needed = HeaderBytes + std::uint64_t(io.GetImageSizeInBytes());
  const bool              zipped = EndsWith(file, ".nii.gz");
  if (zipped || EndsWith(file, ".nii"))
  {
    const std::uint64_t there = zipped ? CountUnzippedBytes(file, needed) : std::uint64_t(fs::file_size(file));
    if (there < needed)
    {
      throw CommandError(what + " '" + file + "' is cut off: it holds " + std::to_string(there) + " bytes of " +
                         std::to_string(needed));
    }
  }
}

template <typename TImage>
typename TImage::Pointer
ReadVoxels(const std::string & file, const std::string & what, const itk::ImageIOBase::Pointer & io)
{
  RequireComplete(file, what, *io);
  auto reader = itk::ImageFileReader<TImage>::New();
  reader->SetFileName(file);
  reader->SetImageIO(io);
  try
  {
    reader->Update();
  }
  catch (const itk::ExceptionObject & error)
  {
    throw CommandError(what + " '" + file + "' cannot be read: " + Reason(error));
  }
  typename TImage::Pointer image = reader->GetOutput();
  image->DisconnectPipeline();
  return image;
}

template <typename TImage>
void
Write(const TImage * image, const std::string & file)
{
  WriteAtomically(file, [&](const std::string & name) {
    if constexpr (!std::is_same_v<TImage, LabelImage>) // strings of labels repeat, those of floats do not
    {
      if (EndsWith(name, ".nii.gz"))
      {
        WriteNifti(image, name);
        return;
      }
    }
    auto writer = itk::ImageFileWriter<TImage>::New();
    writer->SetInput(image);
    writer->SetFileName(name);
    writer->UseCompressionOn();
    writer->Update();
  });
}

} // namespace

FloatImage::Pointer
ReadImage(const std::string & file, const std::string & what)
{
  const auto io = ReadHeader(file, what);
  if (io->GetNumberOfComponents() != 1)
  {
    throw CommandError(what + " '" + file + "' has " + std::to_string(io->GetNumberOfComponents()) +
                       " values per voxel; a scalar image is needed");
  }
  auto          image = ReadVoxels<FloatImage>(file, what, io);
  const float * voxels = image->GetBufferPointer();
  const auto    count = image->GetBufferedRegion().GetNumberOfPixels();
  for (itk::SizeValueType i = 0; i < count; ++i)
  {
    if (!std::isfinite(voxels[i]))
    {
      throw CommandError(what + " '" + file + "' has voxels that are infinite or not a number");
    }
  }
  return image;
}

FloatImage::Pointer
ReadImageWithContrast(const std::string & file, const std::string & what)
{
  auto          image = ReadImage(file, what);
  const float * voxels = image->GetBufferPointer();
  const auto    count = image->GetBufferedRegion().GetNumberOfPixels();
  const auto    range = std::minmax_element(voxels, voxels + count);
  if (!(*range.first < *range.second))
  {
    throw CommandError(what + " '" + file + "' is constant: there is nothing to align");
  }
  return image;
}

bool
EndsWith(const std::string & text, const std::string & end)
{
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool
AreOnOneGrid(const itk::ImageBase<3> * a, const itk::ImageBase<3> * b)
{
  bool same = a->GetLargestPossibleRegion().GetSize() == b->GetLargestPossibleRegion().GetSize();
  for (unsigned int i = 0; i < 3; ++i)
  {
    const double voxel = 1e-3 * b->GetSpacing()[i];
    same = same && std::abs(a->GetSpacing()[i] - b->GetSpacing()[i]) < voxel &&
           std::abs(a->GetOrigin()[i] - b->GetOrigin()[i]) < 10 * voxel;
    for (unsigned int j = 0; j < 3; ++j)
    {
      same = same && std::abs(a->GetDirection()[i][j] - b->GetDirection()[i][j]) < 1e-3;
    }
  }
  return same;
}

FloatImage::Pointer
ReadMask(const std::string & file, const std::string & what, const FloatImage * image)
{
  auto mask = ReadImage(file, what);
  if (!AreOnOneGrid(mask, image))
  {
    throw CommandError(what + " '" + file + "' is not on the grid of its image");
  }
  float *    voxels = mask->GetBufferPointer();
  const auto count = mask->GetBufferedRegion().GetNumberOfPixels();
  bool       any = false;
  for (itk::SizeValueType i = 0; i < count; ++i)
  {
    voxels[i] = voxels[i] != 0 ? 1.0f : 0.0f;
    any = any || voxels[i] != 0;
  }
  if (!any)
  {
    throw CommandError(what + " '" + file + "' is empty");
  }
  return mask;
}

FieldImage::Pointer
ReadField(const std::string & file)
{
  const std::string what = "displacement field";
  const auto        io = ReadHeader(file, what);
  if (io->GetNumberOfComponents() != 3)
  {
    throw CommandError(what + " '" + file + "' does not have three values per voxel");
  }
  return ReadVoxels<FieldImage>(file, what, io);
}

void
WriteImage(const FloatImage * image, const std::string & file)
{
  Write(image, file);
}

void
WriteField(const FieldImage * field, const std::string & file)
{
  Write(field, file);
}

void
WriteLabels(const LabelImage * labels, const std::string & file)
{
  Write(labels, file);
}

void
WriteWarp(const std::vector<float> & warp, const FloatImage * grid, const std::string & file)
{
  WriteAtomically(file, [&](const std::string & name) { WriteNiftiWarp(warp, grid, name); });
}

ffdp::PlacedImage
PlaceImage(const FloatImage * image)
{
  const auto        size = image->GetBufferedRegion().GetSize();
  ffdp::PlacedImage placed;
  placed.voxels = ffdp::VolumeView<const float>(
    image->GetBufferPointer(), ffdp::Extent{ std::int64_t(size[0]), std::int64_t(size[1]), std::int64_t(size[2]) });
  placed.indexToPhysical = IndexToPhysical(image);
  return placed;
}
