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
#include "ffdpProgramTestSupport.h"

#include <nlohmann/json.hpp>

#include <vector>

using namespace programtest;

namespace
{

using Field = itk::Image<itk::Vector<float, 3>, 3>;

nlohmann::json
Evaluate(const Folder & folder, const std::string & arguments)
{
  const Outcome outcome = RunProgram(folder, "evaluate " + arguments + " --json " + (folder / "e.json"));
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  return nlohmann::json::parse(ReadText(folder / "e.json"));
}

/** Correlation of the voxels of a list. */
double
Correlation(const Image * a, const Image * b, const std::vector<itk::SizeValueType> & voxels)
{
  double meanA = 0, meanB = 0, aa = 0, bb = 0, ab = 0;
  for (const auto i : voxels)
  {
    meanA += a->GetBufferPointer()[i] / double(voxels.size());
    meanB += b->GetBufferPointer()[i] / double(voxels.size());
  }
  for (const auto i : voxels)
  {
    const double x = a->GetBufferPointer()[i] - meanA, y = b->GetBufferPointer()[i] - meanB;
    aa += x * x;
    bb += y * y;
    ab += x * y;
  }
  return aa * bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

/** Squared correlation of windows of 7 voxels, cut at the border and at the mask; the mean over the mask. */
double
LocalCorrelation(const Image * a, const Image * b, const Image * mask)
{
  double                                        sum = 0;
  int                                           count = 0;
  itk::ImageRegionConstIteratorWithIndex<Image> voxel(mask, mask->GetBufferedRegion());
  for (; !voxel.IsAtEnd(); ++voxel)
  {
    if (voxel.Get() == 0)
    {
      continue;
    }
    Image::RegionType window(voxel.GetIndex(), Image::SizeType{ { 1, 1, 1 } });
    window.PadByRadius(3);
    window.Crop(mask->GetBufferedRegion());
    std::vector<itk::SizeValueType> inside;
    for (itk::ImageRegionConstIteratorWithIndex<Image> other(mask, window); !other.IsAtEnd(); ++other)
    {
      if (other.Get() != 0)
      {
        inside.push_back(itk::SizeValueType(mask->ComputeOffset(other.GetIndex())));
      }
    }
    sum += std::pow(Correlation(a, b, inside), 2);
    ++count;
  }
  return sum / count;
}

double
Parzen(double distance)
{
  const double d = std::abs(distance);
  return d < 1 ? (4 - 6 * d * d + 3 * d * d * d) / 6 : d < 2 ? std::pow(2 - d, 3) / 6 : 0;
}

/** Cubic B-spline windows for both images, 32 bins of which 29 intervals span the range. */
double
MutualInformation(const Image * a, const Image * b, const std::vector<itk::SizeValueType> & voxels)
{
  constexpr int       Bins = 32;
  std::vector<double> joint(Bins * Bins), rows(Bins), columns(Bins);
  double              low[2] = { 1e30, 1e30 }, high[2] = { -1e30, -1e30 };
  const float *       values[2] = { a->GetBufferPointer(), b->GetBufferPointer() };
  for (const auto i : voxels)
  {
    for (int k = 0; k < 2; ++k)
    {
      low[k] = std::min(low[k], double(values[k][i]));
      high[k] = std::max(high[k], double(values[k][i]));
    }
  }
  for (const auto i : voxels)
  {
    double at[2];
    for (int k = 0; k < 2; ++k)
    {
      at[k] = 1 + (values[k][i] - low[k]) / (high[k] - low[k]) * (Bins - 3);
    }
    for (int m = 0; m < Bins; ++m)
    {
      for (int n = 0; n < Bins; ++n)
      {
        joint[std::size_t(m * Bins + n)] += Parzen(at[0] - m) * Parzen(at[1] - n) / double(voxels.size());
      }
    }
  }
  double information = 0;
  for (int i = 0; i < Bins * Bins; ++i)
  {
    rows[std::size_t(i / Bins)] += joint[std::size_t(i)];
    columns[std::size_t(i % Bins)] += joint[std::size_t(i)];
  }
  for (int i = 0; i < Bins * Bins; ++i)
  {
    const double p = joint[std::size_t(i)];
    information += p > 0 ? p * std::log(p / (rows[std::size_t(i / Bins)] * columns[std::size_t(i % Bins)])) : 0;
  }
  return information;
}

} // namespace

TEST(Evaluate, ImagesByDefinition)
{
  const Folder folder("images");
  const auto   a = MakeImage(0, 0, 0), b = MakeImage(1.5, 0, 1), mask = MakeImage(0, 0, 0);
  // where there is contrast, so that a window is never on the brink of being flat
  std::vector<itk::SizeValueType> inside;
  itk::SizeValueType              i = 0;
  for (itk::ImageRegionIteratorWithIndex<Image> voxel(mask, mask->GetBufferedRegion()); !voxel.IsAtEnd(); ++voxel, ++i)
  {
    const auto p = voxel.GetIndex();
    voxel.Set(p[0] > 14 && p[0] < 30 && p[1] > 12 && p[1] < 28 && p[2] > 9 && p[2] < 21 ? 1 : 0);
    if (voxel.Get() != 0)
    {
      inside.push_back(i);
    }
  }
  Write(a, folder / "a.nii.gz");
  Write(b, folder / "b.nii.gz");
  Write(mask, folder / "mask.nii.gz");
  const auto json = Evaluate(folder,
                             "--fixed " + (folder / "a.nii.gz") + " --moved " + (folder / "b.nii.gz") + " --mask " +
                               (folder / "mask.nii.gz"))["images"];
  EXPECT_EQ(json["voxels"].get<std::size_t>(), inside.size());
  EXPECT_NEAR(json["ncc"].get<double>(), Correlation(a, b, inside), 1e-6);
  EXPECT_NEAR(json["lncc"].get<double>(), LocalCorrelation(a, b, mask), 1e-4); // float sums of windows
  EXPECT_NEAR(json["mi_nats"].get<double>(), MutualInformation(a, b, inside), 1e-5);
  EXPECT_GT(json["mi_nats"].get<double>(), 0.1);
  const auto same =
    Evaluate(folder, "--fixed " + (folder / "a.nii.gz") + " --moved " + (folder / "a.nii.gz"))["images"];
  EXPECT_NEAR(same["ncc"].get<double>(), 1, 1e-9);
}

TEST(Evaluate, WarpsByArithmetic)
{
  const Folder folder("warp");
  const auto   grid = MakeImage(0, 0.3, 0); // turned, and 1.3 mm along z
  auto         field = Field::New();
  field->CopyInformation(grid);
  field->SetRegions(grid->GetBufferedRegion());
  field->Allocate();
  // 0.1 x, 0.2 y, -0.3 z in mm about the origin: a determinant of 1.1 * 1.2 * 0.7; one voxel folds its neighbors
  double                                   sum = 0, largest = 0;
  itk::ImageRegionIteratorWithIndex<Field> voxel(field, field->GetBufferedRegion());
  for (; !voxel.IsAtEnd(); ++voxel)
  {
    Image::PointType p;
    field->TransformIndexToPhysicalPoint(voxel.GetIndex(), p);
    Field::PixelType u;
    u[0] = float(0.1 * p[0]);
    u[1] = float(0.2 * p[1]);
    u[2] = float(-0.3 * p[2]);
    if (voxel.GetIndex() == Field::IndexType{ { 20, 20, 15 } })
    {
      u[2] += 5;
    }
    voxel.Set(u);
    sum += u.GetNorm();
    largest = std::max(largest, double(u.GetNorm()));
  }
  Write(field, folder / "warp.nii.gz");
  const auto   json = Evaluate(folder, "--warp " + (folder / "warp.nii.gz"))["warp"];
  const double count = double(field->GetBufferedRegion().GetNumberOfPixels());
  EXPECT_EQ(json["not_positive_voxels"], 1); // the one above; the one below is stretched
  EXPECT_NEAR(json["not_positive_share"].get<double>(), 1 / count, 1e-12);
  // central differences: 5 mm over 2 voxels of 1.3 mm
  EXPECT_NEAR(json["smallest_jacobian"].get<double>(), 1.1 * 1.2 * (0.7 - 5 / 2.6), 1e-4);
  EXPECT_NEAR(json["largest_jacobian"].get<double>(), 1.1 * 1.2 * (0.7 + 5 / 2.6), 1e-4);
  EXPECT_NEAR(json["mean_jacobian"].get<double>(), 1.1 * 1.2 * 0.7, 1e-4);
  EXPECT_NEAR(json["mean_displacement_mm"].get<double>(), sum / count, 1e-5);
  EXPECT_NEAR(json["largest_displacement_mm"].get<double>(), largest, 1e-5);
}

TEST(Evaluate, LandmarksInMm)
{
  const Folder folder("landmarks");
  std::ofstream(folder / "f.csv") << "x,y,z,t,label\n0,0,0,0,1\n1,2,3,0,2\n4,4,4,0,3\n-1,0,5,0,4\n";
  std::ofstream(folder / "m.csv") << "label,x,y,z\n1,10,0,3\n2,11,2,7\n3,14,4,4\n4,9,0,11\n"; // 10 + 0,0,{3,4,0,6}
  std::ofstream(folder / "t.txt") << "#Insight Transform File V1.0\nTransform: TranslationTransform_double_3_3\n"
                                     "Parameters: 10 0 0\nFixedParameters: \n";
  const auto json = Evaluate(folder,
                             "--fixed-points " + (folder / "f.csv") + " --moving-points " + (folder / "m.csv") +
                               " -t " + (folder / "t.txt"))["landmarks"];
  EXPECT_EQ(json["count"], 4);
  EXPECT_NEAR(json["mean_mm"].get<double>(), 13.0 / 4, 1e-9);
  EXPECT_NEAR(json["median_mm"].get<double>(), 3.5, 1e-9);
  EXPECT_NEAR(json["largest_mm"].get<double>(), 6, 1e-9);
  const auto still =
    Evaluate(folder, "--fixed-points " + (folder / "f.csv") + " --moving-points " + (folder / "m.csv"))["landmarks"];
  EXPECT_NEAR(still["errors_mm"][2].get<double>(), 10, 1e-9);
}
