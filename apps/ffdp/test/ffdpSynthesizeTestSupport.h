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
#ifndef ffdpSynthesizeTestSupport_h
#define ffdpSynthesizeTestSupport_h

#include "ffdpProgramTestSupport.h"

#include "itkVector.h"

#include <map>
#include <set>

namespace ffdpSynthesizeTest
{

namespace fs = std::filesystem;
using programtest::Image;
using programtest::ReadText;
using Labels = itk::Image<std::int16_t, 3>;
using Field = itk::Image<itk::Vector<float, 3>, 3>;

/** A folder for one test, in which the program that was built runs. */
class Workshop : public programtest::Folder
{
public:
  explicit Workshop(const std::string & name)
    : Folder("synthesize-" + name)
  {}

  /** Returns the exit code; relative names are those of this folder. */
  int
  Run(const std::string & arguments) const
  {
    const std::string command = "cd " + path.string() + " && " + FFDP_PROGRAM + " " + arguments + " >stdout 2>stderr";
    const int         status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  void
  Make(const std::string & arguments) const
  {
    ASSERT_EQ(this->Run("synthesize -q " + arguments), 0) << arguments << "\n" << ReadText(*this / "stderr");
  }

  template <typename TImage>
  typename TImage::Pointer
  Read(const std::string & name) const
  {
    auto reader = itk::ImageFileReader<TImage>::New();
    reader->SetFileName(*this / name);
    reader->Update();
    return reader->GetOutput();
  }

  template <typename TImage>
  void
  Write(const TImage * image, const std::string & name) const
  {
    auto writer = itk::ImageFileWriter<TImage>::New();
    writer->SetInput(image);
    writer->SetFileName(*this / name);
    writer->Update();
  }
};

/** Turned, with unequal spacing, and an origin somewhere; label(p) at each voxel, p in mm from the middle. */
template <typename TFunction>
Labels::Pointer
MakeLabels(double angle, const TFunction & label)
{
  auto                   image = Labels::New();
  const Labels::SizeType size = { { 44, 40, 32 } };
  const double           spacing[3] = { 1, 1.2, 1.5 };
  Labels::DirectionType  direction;
  direction.SetIdentity();
  direction[0][0] = direction[1][1] = std::cos(angle);
  direction[0][1] = -std::sin(angle);
  direction[1][0] = std::sin(angle);
  image->SetRegions(size);
  image->SetSpacing(spacing);
  image->SetDirection(direction);
  Labels::PointType origin;
  origin.Fill(7);
  image->SetOrigin(origin);
  image->Allocate();
  itk::ImageRegionIteratorWithIndex<Labels> voxel(image, image->GetBufferedRegion());
  for (; !voxel.IsAtEnd(); ++voxel)
  {
    double p[3];
    for (unsigned int c = 0; c < 3; ++c)
    {
      p[c] = spacing[c] * (double(voxel.GetIndex()[c]) - 0.5 * double(size[c] - 1));
    }
    voxel.Set(std::int16_t(label(p[0], p[1], p[2])));
  }
  return image;
}

/** A ball of 2 within 41, and 3 on one side of what is around it. */
inline Labels::Pointer
MakeBall()
{
  return MakeLabels(0.3, [](double x, double y, double z) {
    const double r = std::sqrt(x * x + y * y + z * z);
    return r < 12 ? 2 : r < 17 ? 41 : x > 18 ? 3 : 0;
  });
}

struct Summary
{
  double count = 0, sum = 0, squares = 0, volume = 0;
  double center[3] = { 0, 0, 0 }; ///< mm

  double
  Mean() const
  {
    return sum / count;
  }
  double
  Deviation() const
  {
    return std::sqrt(squares / count - Mean() * Mean());
  }
};

inline std::map<int, Summary>
Summarize(const Labels * labels, const Image * image = nullptr)
{
  std::map<int, Summary>                         all;
  itk::ImageRegionConstIteratorWithIndex<Labels> voxel(labels, labels->GetBufferedRegion());
  const auto                                     spacing = labels->GetSpacing();
  for (; !voxel.IsAtEnd(); ++voxel)
  {
    Summary &    s = all[voxel.Get()];
    const double value = image ? image->GetPixel(voxel.GetIndex()) : 0;
    s.count += 1;
    s.sum += value;
    s.squares += value * value;
    s.volume += spacing[0] * spacing[1] * spacing[2];
    Labels::PointType p;
    labels->TransformIndexToPhysicalPoint(voxel.GetIndex(), p);
    for (unsigned int c = 0; c < 3; ++c)
    {
      s.center[c] += p[c];
    }
  }
  for (auto & entry : all)
  {
    for (double & c : entry.second.center)
    {
      c /= entry.second.count;
    }
  }
  return all;
}

/** Mean over the labels of a, but for 0; b is read at the nearest voxel. */
inline double
MeanDice(const Labels * a, const Labels * b)
{
  std::map<int, double>                          inA, inB, inBoth;
  itk::ImageRegionConstIteratorWithIndex<Labels> voxel(a, a->GetBufferedRegion());
  for (; !voxel.IsAtEnd(); ++voxel)
  {
    Labels::PointType p;
    Labels::IndexType index;
    a->TransformIndexToPhysicalPoint(voxel.GetIndex(), p);
    const int other = b->TransformPhysicalPointToIndex(p, index) ? b->GetPixel(index) : 0;
    inA[voxel.Get()] += 1;
    inB[other] += 1;
    inBoth[voxel.Get()] += voxel.Get() == other ? 1 : 0;
  }
  inA.erase(0);
  double sum = 0;
  for (const auto & entry : inA)
  {
    sum += 2 * inBoth[entry.first] / (entry.second + inB[entry.first]);
  }
  return sum / double(inA.size());
}

} // namespace ffdpSynthesizeTest

#endif
