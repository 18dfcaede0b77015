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
#ifndef ffdpProgramTestSupport_h
#define ffdpProgramTestSupport_h

#include "itkImageFileReader.h"
#include "itkImageFileWriter.h"
#include "itkImageRegionIteratorWithIndex.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <type_traits>
#include <unistd.h>

/** What the tests of the program share: a folder per test, running the program, small images. */
namespace programtest
{

namespace fs = std::filesystem;
using Image = itk::Image<float, 3>;

/** A folder for one test. */
struct Folder
{
  fs::path path;

  explicit Folder(const std::string & name)
    : path(fs::temp_directory_path() / ("ffdp-program-" + std::to_string(getpid()) + "-" + name))
  {
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }

  std::string
  operator/(const std::string & name) const
  {
    return (path / name).string();
  }
};

struct Outcome
{
  int         code = 0;
  std::string output, errors;

  int
  ErrorLines() const
  {
    return int(std::count(errors.begin(), errors.end(), '\n'));
  }
};

inline std::string
ReadText(const std::string & file)
{
  std::ifstream     in(file);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/** Runs the program that was built. */
inline Outcome
RunProgram(const Folder & folder, const std::string & arguments)
{
  const std::string command =
    std::string(FFDP_PROGRAM) + " " + arguments + " >" + (folder / "stdout") + " 2>" + (folder / "stderr");
  const int status = std::system(command.c_str());
  return { WIFEXITED(status) ? WEXITSTATUS(status) : -1, ReadText(folder / "stdout"), ReadText(folder / "stderr") };
}

/** An ellipsoid with structure in it, at p in mm from its center; `bend` moves points, smoothly. */
inline float
Organ(double x, double y, double z, double bend)
{
  x += bend * std::sin(y / 7);
  y += bend * std::cos(z / 6);
  const double r = std::sqrt(x * x / 300 + y * y / 220 + z * z / 180);
  if (r >= 1)
  {
    return 0;
  }
  return float((1 - r * r) * (100 + 40 * std::sin(x / 2.3) * std::sin(y / 2.1) * std::sin(z / 2.6)) + 40 * (x > 2));
}

/** With a rotated direction, unequal spacing and an origin somewhere. */
inline Image::Pointer
MakeImage(double bend, double angle, double shift)
{
  auto                 image = Image::New();
  Image::SizeType      size = { { 44, 40, 30 } };
  const double         spacing[3] = { 1, 1, 1.3 };
  Image::DirectionType direction;
  direction.SetIdentity();
  direction[0][0] = direction[1][1] = std::cos(angle);
  direction[0][1] = -std::sin(angle);
  direction[1][0] = std::sin(angle);
  image->SetRegions(size);
  image->SetSpacing(spacing);
  image->SetDirection(direction);
  Image::PointType origin;
  for (unsigned int i = 0; i < 3; ++i)
  {
    origin[i] = 0;
    for (unsigned int j = 0; j < 3; ++j)
    {
      origin[i] -= direction[i][j] * spacing[j] * 0.5 * double(size[j] - 1);
    }
  }
  image->SetOrigin(origin);
  image->Allocate();
  itk::ImageRegionIteratorWithIndex<Image> voxel(image, image->GetBufferedRegion());
  for (; !voxel.IsAtEnd(); ++voxel)
  {
    Image::PointType p;
    image->TransformIndexToPhysicalPoint(voxel.GetIndex(), p);
    voxel.Set(Organ(p[0] + shift, p[1], p[2] - shift, bend));
  }
  return image;
}

/** An image of any kind, by plain or smart pointer. */
template <typename TPointer>
void
Write(const TPointer & image, const std::string & file)
{
  using ImageType = std::remove_const_t<std::remove_reference_t<decltype(*image)>>;
  auto writer = itk::ImageFileWriter<ImageType>::New();
  writer->SetInput(image);
  writer->SetFileName(file);
  writer->Update();
}

template <typename TImage = Image>
typename TImage::Pointer
Read(const std::string & file)
{
  auto reader = itk::ImageFileReader<TImage>::New();
  reader->SetFileName(file);
  reader->Update();
  return reader->GetOutput();
}

inline double
MeanDifference(const Image * a, const Image * b)
{
  const auto count = a->GetBufferedRegion().GetNumberOfPixels();
  double     sum = 0;
  for (itk::SizeValueType i = 0; i < count; ++i)
  {
    sum += std::abs(a->GetBufferPointer()[i] - b->GetBufferPointer()[i]);
  }
  return sum / double(count);
}

/** A pair of images on grids of their own. */
struct Pair
{
  Folder         folder;
  Image::Pointer fixed, moving;

  explicit Pair(const std::string & name)
    : folder(name)
    , fixed(MakeImage(1.5, 0.1, 1))
    , moving(MakeImage(0, -0.2, 0))
  {
    Write(fixed, folder / "fixed.nii.gz");
    Write(moving, folder / "moving.mha");
  }
  std::string
  Arguments() const
  {
    return "register -f " + (folder / "fixed.nii.gz") + " -m " + (folder / "moving.mha") + " -o " + (folder / "out_");
  }
};

} // namespace programtest

#endif
