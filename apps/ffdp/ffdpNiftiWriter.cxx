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
#include "ffdpNiftiWriter.h"

#include "ffdpAgreement.h"
#include "ffdpCommandError.h"
#include "ffdpImageFiles.h"
#include "ffdpImageGrid.h"
#include "ffdpInterruption.h"
#include "ffdpSpreadFloats.h"
#include "ffdpTypedImages.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

namespace
{

constexpr std::size_t HeaderBytes = 352; // with the four bytes that say that no extension follows
constexpr std::size_t SizesAt = 40;      // dim[0], of 16-bit numbers
constexpr std::size_t DataStartAt = 108; // vox_offset, a float

/** Removes a file at the end of its life, if there is one. */
struct FileRemoval
{
  ~FileRemoval()
  {
    std::error_code ignored;
    std::filesystem::remove(name, ignored);
  }

  const std::string        name;
  const RemovedWhenStopped removal{ name };
};

/** The header of a file of pixels and dimension like TImage's with the geometry of `grid`: ITK writes a tiny image in
 * the same place, and gets its size corrected. */
template <typename TImage>
std::string
MakeHeader(const itk::ImageBase<3> * grid, const std::string & file)
{
  RequireNiftiSize(grid, "'" + file + "' cannot be written: it");
  constexpr unsigned int Dimension = TImage::ImageDimension;
  const auto             size = grid->GetLargestPossibleRegion().GetSize();
  const auto             tiny = CopyGrid<FloatImage>(grid);
  FloatImage::SizeType   tinySize;
  for (unsigned int axis = 0; axis < 3; ++axis)
  {
    tinySize[axis] = axis < Dimension ? std::min<itk::SizeValueType>(size[axis], 2) : 1;
  }
  tiny->SetRegions(tinySize);
  const RawImageKind       kind = KindOfType<TImage>();
  const std::vector<float> zeros(std::size_t(kind.components) << 3);
  const std::string        name = file + ".header.nii";
  const FileRemoval        removal{ name };
  WriteThroughLibrary(kind, tiny, zeros.data(), name, file);

  std::string   header(HeaderBytes, '\0');
  std::ifstream in(name, std::ios::binary);
  in.read(&header[0], std::streamsize(HeaderBytes));
  const bool complete = bool(in);
  float      start = 0;
  std::memcpy(&start, &header[DataStartAt], sizeof(start));
  if (!complete || start != float(HeaderBytes))
  {
    throw CommandError("'" + file + "' cannot be written: no header could be made for it: " + ReasonOfLoss(name));
  }
  for (unsigned int axis = 0; axis < Dimension; ++axis)
  {
    const auto n = std::int16_t(size[axis]);
    std::memcpy(&header[SizesAt + 2 * (axis + 1)], &n, sizeof(n));
  }
  return header;
}

/** TImage: an image of such pixels and of that dimension. value(component, i) is that of voxel i of the planes that
 * this rank owns. */
template <typename TImage, typename TValue>
void
WriteValues(const itk::ImageBase<3> * grid,
            const std::string &       file,
            ffdp::Communicator &      communicator,
            const TValue &            value)
{
  std::string header;
  DoOnFirst(communicator, [&] { header = MakeHeader<TImage>(grid, file); });
  SpreadFloats floats;
  floats.domain = ExtentOf(grid);
  floats.volumes = int(sizeof(typename TImage::PixelType) / sizeof(float));
  floats.fill = [&value](int component, std::int64_t first, std::int64_t count, float * to) {
    for (std::int64_t i = 0; i < count; ++i)
    {
      to[i] = value(component, first + i);
    }
  };
  EndsWith(file, ".gz") ? WriteZipped(communicator, header, floats, file)
                        : WriteInPlace(communicator, header, floats, file);
}

/** Displacements: as many components as dimensions. */
template <typename TValue>
void
WriteVectors(const itk::ImageBase<3> * grid,
             const std::string &       file,
             ffdp::Communicator &      communicator,
             unsigned int              dimension,
             const TValue &            value)
{
  dimension == PlaneDimension ? WriteValues<itk::Image<itk::Vector<float, 2>, 2>>(grid, file, communicator, value)
                              : WriteValues<FieldImage>(grid, file, communicator, value);
}

} // namespace

void
WriteNifti(const FloatImage *   image,
           const std::string &  file,
           ffdp::Communicator & communicator,
           unsigned int         dimension)
{
  const float * voxels = image->GetBufferPointer();
  const auto    value = [voxels](int, std::int64_t i) { return voxels[i]; };
  dimension == PlaneDimension ? WriteValues<itk::Image<float, 2>>(image, file, communicator, value)
                                 : WriteValues<FloatImage>(image, file, communicator, value);
}

void
WriteNifti(const FloatImage * image, const std::string & file, unsigned int dimension)
{
  WriteNifti(image, file, *ffdp::MakeSelfCommunicator(), dimension);
}

void
WriteNifti(const FieldImage * field, const std::string & file, unsigned int dimension)
{
  const auto * vectors = field->GetBufferPointer();
  WriteVectors(field, file, *ffdp::MakeSelfCommunicator(), dimension, [vectors](int component, std::int64_t i) {
    return vectors[i][static_cast<unsigned int>(component)];
  });
}

void
WriteNiftiWarp(const std::vector<float> & warp,
               const itk::ImageBase<3> *  grid,
               const std::string &        file,
               ffdp::Communicator &       communicator,
               unsigned int               dimension)
{
  const ffdp::AffineMap toMm = IndexToPhysical(grid);
  const float * const   x = warp.data();
  const float * const   y = x + warp.size() / 3;
  const float * const   z = y + warp.size() / 3;
  WriteVectors(grid, file, communicator, dimension, [&](int component, std::int64_t i) {
    const double * row = toMm.matrix + 3 * component;
    return float(row[0] * x[i] + row[1] * y[i] + row[2] * z[i]);
  });
}

void
RequireNiftiSize(const itk::ImageBase<3> * image, const std::string & what)
{
  constexpr itk::SizeValueType LargestSize = 32767;
  for (unsigned int axis = 0; axis < 3; ++axis)
  {
    if (image->GetLargestPossibleRegion().GetSize(axis) > LargestSize)
    {
      throw CommandError(what + " has " + std::to_string(image->GetLargestPossibleRegion().GetSize(axis)) +
                         " voxels along an axis, and a NIfTI file holds at most " + std::to_string(LargestSize));
    }
  }
}
