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

#include "ffdpCommandError.h"
#include "ffdpGzipWriter.h"

#include "itkImageFileWriter.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace
{

using FloatImage = itk::Image<float, 3>;
using FieldImage = itk::Image<itk::Vector<float, 3>, 3>;

constexpr std::size_t HeaderBytes = 352; // with the four bytes that say that no extension follows
constexpr std::size_t SizesAt = 40;      // dim[0], of 16-bit numbers
constexpr std::size_t DataStartAt = 108; // vox_offset, a float

/** The header of a file of pixels like TImage's with the geometry of `grid`: ITK writes a tiny image in the same
 * place, and gets its size corrected. */
template <typename TImage>
std::string
MakeHeader(const itk::ImageBase<3> * grid, const std::string & file)
{
  const auto                size = grid->GetLargestPossibleRegion().GetSize();
  typename TImage::SizeType tinySize;
  for (unsigned int axis = 0; axis < 3; ++axis)
  {
    constexpr itk::SizeValueType LargestSize = 32767;
    if (size[axis] > LargestSize)
    {
      throw CommandError("'" + file + "' cannot be written: NIfTI files hold at most 32767 voxels along an axis");
    }
    tinySize[axis] = std::min<itk::SizeValueType>(size[axis], 2);
  }
  auto tiny = TImage::New();
  tiny->SetOrigin(grid->GetOrigin());
  tiny->SetSpacing(grid->GetSpacing());
  tiny->SetDirection(grid->GetDirection());
  tiny->SetRegions(tinySize);
  tiny->Allocate(true);
  const std::string name = file + ".header.nii";
  auto              writer = itk::ImageFileWriter<TImage>::New();
  writer->SetInput(tiny);
  writer->SetFileName(name);
  writer->Update();

  std::string   header(HeaderBytes, '\0');
  std::ifstream in(name, std::ios::binary);
  in.read(&header[0], std::streamsize(HeaderBytes));
  const bool      complete = bool(in);
  float           start = 0;
  std::error_code ignored;
  std::memcpy(&start, &header[DataStartAt], sizeof(start));
  in.close();
  std::filesystem::remove(name, ignored);
  if (!complete || start != float(HeaderBytes))
  {
    throw CommandError("'" + file + "' cannot be written: no header could be made for it");
  }
  for (unsigned int axis = 0; axis < 3; ++axis)
  {
    const auto n = std::int16_t(size[axis]);
    std::memcpy(&header[SizesAt + 2 * (axis + 1)], &n, sizeof(n));
  }
  return header;
}

/** value(i) is the number at place i of the file. */
template <typename TValue>
void
WriteFloats(const std::string & header, std::uint64_t count, const std::string & file, const TValue & value)
{
  GzipWriter writer(file);
  writer.Append(header.size(), [&](std::uint64_t first, std::uint64_t bytes, unsigned char * to) {
    std::memcpy(to, header.data() + first, bytes);
  });
  writer.Append(count * sizeof(float), [&](std::uint64_t first, std::uint64_t bytes, unsigned char * to) {
    for (std::uint64_t i = 0; i < bytes / sizeof(float); ++i)
    {
      const float number = value(first / sizeof(float) + i);
      std::memcpy(to + i * sizeof(float), &number, sizeof(number));
    }
  });
  writer.Finish();
}

} // namespace

void
WriteNifti(const FloatImage * image, const std::string & file)
{
  const float * voxels = image->GetBufferPointer();
  WriteFloats(MakeHeader<FloatImage>(image, file),
              image->GetBufferedRegion().GetNumberOfPixels(),
              file,
              [voxels](std::uint64_t i) { return voxels[i]; });
}

void
WriteNifti(const FieldImage * field, const std::string & file)
{
  const auto *        vectors = field->GetBufferPointer();
  const std::uint64_t count = field->GetBufferedRegion().GetNumberOfPixels();
  WriteFloats(MakeHeader<FieldImage>(field, file), 3 * count, file, [=](std::uint64_t i) {
    return vectors[i % count][static_cast<unsigned int>(i / count)];
  });
}

void
WriteNiftiWarp(const std::vector<float> & warp, const FloatImage * grid, const std::string & file)
{
  const float *       u = warp.data();
  const std::uint64_t count = grid->GetBufferedRegion().GetNumberOfPixels();
  double              matrix[3][3];
  for (unsigned int i = 0; i < 3; ++i)
  {
    for (unsigned int j = 0; j < 3; ++j)
    {
      matrix[i][j] = grid->GetDirection()[i][j] * grid->GetSpacing()[j];
    }
  }
  WriteFloats(MakeHeader<FieldImage>(grid, file), 3 * count, file, [&](std::uint64_t i) {
    const double *      row = matrix[i / count];
    const std::uint64_t at = i % count;
    return float(row[0] * u[at] + row[1] * u[count + at] + row[2] * u[2 * count + at]);
  });
}
