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
#include "ffdpFileCompleteness.h"
#include "ffdpImageGrid.h"
#include "ffdpNiftiHeader.h"
#include "ffdpNiftiWriter.h"
#include "ffdpOutputNames.h"
#include "ffdpRegularFile.h"
#include "ffdpTypedImages.h"
#include "ffdpVoxelLayout.h"
#include "ffdpVoxelSpacing.h"

#include "itkImageIOFactory.h"
#include "vnl/vnl_det.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <cstdint>
#include <sstream>
#include <vector>

std::string
OneLine(const itk::ExceptionObject & error)
{
  const std::string text = error.GetDescription();
  // ITK begins with "ITK ERROR:" and the class and the address of the object that complains
  const auto         address = text.find("(0x"), told = text.find("): "), prefix = text.find("ITK ERROR: ");
  const bool         hasAddress = address < told && told != std::string::npos;
  std::istringstream words(text.substr(hasAddress ? told + 3 : prefix == 0 ? 11 : 0));
  std::string        line, word;
  while (words >> word)
  {
    line += (line.empty() ? "" : " ") + word;
  }
  return line;
}

namespace
{

/** ITK 5.2 turns the spacing of NIfTI files into mm, and leaves the origin in the unit of the file. Later ones may not.
 */
void
ConvertOrigin(ImageHeader & image, const std::string & file)
{
  constexpr std::size_t QuaternionOffsetAt = 268, MatrixOffsetAt = 292, RowBytes = 16;
  const NiftiHeader     header(file);
  if (!header.IsKnown() || header.Millimeters() == 1)
  {
    return;
  }
  for (unsigned int axis = 0; axis < std::min(3u, image.Dimensions()); ++axis)
  {
    const double origin = std::abs(image.axes[axis].origin);
    const bool   asInFile = origin == std::abs(double(header.Float(QuaternionOffsetAt + 4 * axis))) ||
                          origin == std::abs(double(header.Float(MatrixOffsetAt + RowBytes * axis)));
    if (asInFile)
    {
      image.axes[axis].origin *= header.Millimeters();
    }
  }
}

/** What the library says, or what is wrong with a spacing that it should have read. */
ImageHeader
ReadHeaderOrSpacing(const std::string & file, const std::string & what)
{
  try
  {
    return ReadHeaderApart(file, what);
  }
  catch (const CommandError &)
  {
    const std::string reason = WhatIsWrongWithSpacing(file, true);
    if (reason.empty())
    {
      throw;
    }
    throw CommandError(what + " '" + file + "' " + reason);
  }
}

/** A header of NIfTI or ANALYZE and its voxels may be in two files, and the library looks for either. */
void
RequireRegularSiblings(const std::string & file, const std::string & what)
{
  const bool zipped = EndsWith(file, ".gz");
  const auto stem = file.substr(0, file.size() - std::min<std::size_t>(file.size(), zipped ? 7 : 4));
  const auto ending = file.substr(stem.size());
  if (ending == ".hdr" || ending == ".img" || ending == ".hdr.gz" || ending == ".img.gz")
  {
    for (const char * other : { ".hdr", ".img", ".hdr.gz", ".img.gz" })
    {
      std::error_code ignored;
      if (std::filesystem::exists(stem + other, ignored))
      {
        RequireRegularFile(stem + other, what + " '" + file + "': its other file");
      }
    }
  }
}

bool
IsFinite(const ImageAxis & axis)
{
  return std::isfinite(axis.spacing) && std::isfinite(axis.origin) &&
         std::all_of(axis.direction.begin(), axis.direction.end(), [](double number) { return std::isfinite(number); });
}

/** The library that ITK inverts matrices with prints pages about numbers whose squares are no numbers any more. */
void
ClearTraces(ImageAxis & axis)
{
  constexpr double Trace = 1e-60;
  for (double & number : axis.direction)
  {
    number = std::abs(number) < Trace ? 0 : number;
  }
}

/** Whether a place in space, in mm, can be computed with, and be written to any format. */
bool
IsSane(const ImageAxis & axis)
{
  constexpr double SmallestSpacing = 1e-9, Largest = 1e9, LargestCosine = 1e3; // some scale by their directions
  return axis.spacing >= SmallestSpacing && axis.spacing <= Largest && std::abs(axis.origin) <= Largest &&
         std::all_of(axis.direction.begin(), axis.direction.end(), [](double number) {
           return std::abs(number) <= LargestCosine;
         });
}

} // namespace

ImageHeader
ReadStoredHeader(const std::string & file, const std::string & what, bool seriesToo)
{
  const std::string name = what + " '" + file + "' ";
  RequireRegularFile(file, what);
  RequireRegularSiblings(file, what);
  if (const std::string reason = WhatIsWrongWithSpacing(file, false); !reason.empty()) // ITK's library mends some
  {
    throw CommandError(name + reason);
  }
  RequireSoundNifti(file, what);
  FindVoxels(file, what); // throws for sizes and data files that the library must not see
  ImageHeader header = ReadHeaderOrSpacing(file, what);
  ConvertOrigin(header, file);
  for (unsigned int axis = 0; axis < header.Dimensions(); ++axis)
  {
    const std::uint64_t size = header.Size(axis);
    if (size == 0 || (axis > 2 && size != 1 && !(axis == 3 && seriesToo)))
    {
      throw CommandError(name + "is not of two or three dimensions");
    }
    if (!(header.axes[axis].spacing > 0) || !IsFinite(header.axes[axis]))
    {
      throw CommandError(name + "has a spacing or an origin that is zero, negative or not a number");
    }
  }
  return header;
}

ImageHeader
ReadImageHeader(const std::string & file, const std::string & what, bool seriesToo)
{
  ImageHeader header = ReadStoredHeader(file, what, seriesToo);
  SettleSpacing(header, file, what);
  for (unsigned int axis = 0; axis < std::min(3u, header.Dimensions()); ++axis)
  {
    ClearTraces(header.axes[axis]);
    if (!IsSane(header.axes[axis]))
    {
      throw CommandError(what + " '" + file +
                         "' has a spacing, an origin or a direction that is far too small or too large");
    }
  }
  return header;
}

namespace
{

/** ITK takes a NIfTI field of three components on one plane for an image of the plane, and forgets where in space that
 * is. The header knows. */
void
PlaceOnePlane(const std::string &         file,
              FloatImage::SpacingType &   spacing,
              FloatImage::PointType &     origin,
              FloatImage::DirectionType & direction)
{
  constexpr std::size_t FormAt = 254, RowsAt = 280, RowBytes = 16;
  const NiftiHeader     header(file);
  if (!header.IsKnown() || header.Short(FormAt) == 0)
  {
    return;
  }
  for (unsigned int i = 0; i < 3; ++i)
  {
    const double toLps = (i < 2 ? -1 : 1) * header.Millimeters();
    for (unsigned int j = 0; j < 3; ++j)
    {
      direction[i][j] = toLps * double(header.Float(RowsAt + i * RowBytes + 4 * j));
    }
    origin[i] = toLps * double(header.Float(RowsAt + i * RowBytes + 12));
  }
  for (unsigned int j = 0; j < 3; ++j)
  {
    spacing[j] = std::hypot(direction[0][j], direction[1][j], direction[2][j]);
    for (unsigned int i = 0; i < 3; ++i)
    {
      direction[i][j] /= spacing[j] > 0 ? spacing[j] : 1;
    }
  }
}

} // namespace

FloatImage::Pointer
GridOf(const ImageHeader & header, const std::string & file, const std::string & what)
{
  itk::Size<3>              size;
  FloatImage::SpacingType   spacing;
  FloatImage::PointType     origin;
  FloatImage::DirectionType direction;
  size.Fill(1);
  spacing.Fill(1);
  origin.Fill(0);
  direction.SetIdentity();
  const unsigned int axes = std::min(3u, header.Dimensions());
  for (unsigned int j = 0; j < axes; ++j)
  {
    const ImageAxis & axis = header.axes[j];
    size[j] = axis.size;
    spacing[j] = axis.spacing;
    origin[j] = axis.origin;
    for (unsigned int i = 0; i < axes; ++i)
    {
      direction[i][j] = axis.direction[i];
    }
  }
  if (axes == 2 && header.components == 3)
  {
    PlaceOnePlane(file, spacing, origin, direction);
  }
  if (!(std::abs(vnl_det(direction.GetVnlMatrix())) > 1e-6))
  {
    throw CommandError(what + " '" + file + "' has axes that do not span space");
  }
  auto grid = FloatImage::New();
  grid->SetRegions(size);
  grid->SetSpacing(spacing);
  grid->SetOrigin(origin);
  grid->SetDirection(direction);
  return grid;
}

FloatImage::Pointer
ReadGrid(const std::string & file, const std::string & what)
{
  return GridOf(ReadImageHeader(file, what, true), file, what);
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

void
WriteImage(const FloatImage * image, const std::string & file, unsigned int dimension)
{
  WriteVoxels(image, file, dimension);
}

void
WriteField(const FieldImage * field, const std::string & file, unsigned int dimension)
{
  WriteVoxels(field, file, dimension);
}

void
RequireWritten(const std::string & file)
{
  try
  {
    RequireComplete(file, "image", ReadStoredHeader(file, "image", true));
  }
  catch (const CommandError &)
  {
    itkGenericExceptionMacro(<< "not all of it arrived: " << ReasonOfLoss(file));
  }
}

void
WriteLabels(const LabelImage * labels, const std::string & file)
{
  WriteVoxels(labels, file);
}

void
WriteImage(const FloatImage *   image,
           const std::string &  file,
           ffdp::Communicator & communicator,
           unsigned int         dimension)
{
  WriteAtomically(
    file, communicator, [&](const std::string & name) { WriteNifti(image, name, communicator, dimension); });
}

void
WriteWarp(const std::vector<float> & warp,
          const FloatImage *         grid,
          const std::string &        file,
          ffdp::Communicator &       communicator,
          unsigned int               dimension)
{
  WriteAtomically(
    file, communicator, [&](const std::string & name) { WriteNiftiWarp(warp, grid, name, communicator, dimension); });
}

void
RequireWritableImage(const std::string & file)
{
  RequireWritableFile(file);
  for (const char * end : { ".mhd", ".nhdr", ".hdr", ".img", ".hdr.gz", ".img.gz" })
  {
    if (EndsWith(file, end))
    {
      throw CommandError("'" + file +
                         "' stands for two files, which cannot appear at once: take .nii.gz, .mha or .nrrd");
    }
  }
  if (!itk::ImageIOFactory::CreateImageIO(file.c_str(), itk::ImageIOFactory::FileModeEnum::WriteMode))
  {
    throw CommandError("'" + file + "' does not end like an image that can be written here (.nii.gz, .mha, .nrrd)");
  }
}

ffdp::PlacedImage
PlaceImage(const FloatImage * image)
{
  const ffdp::PlaneRange planes = PlanesOf(image);
  ffdp::PlacedImage      placed;
  placed.voxels =
    ffdp::VolumeView<const float>(image->GetBufferPointer(), ExtentOf(image), planes.first, planes.end - planes.first);
  placed.indexToPhysical = IndexToPhysical(image);
  return placed;
}
