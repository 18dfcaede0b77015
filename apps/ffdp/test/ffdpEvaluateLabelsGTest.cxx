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

#include "itkLabelOverlapMeasuresImageFilter.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <random>
#include <set>
#include <vector>

using namespace programtest;

namespace
{

using Labels = itk::Image<std::int32_t, 3>;

/** Blobs of labels with ragged borders, some of them at the faces of the grid; voxels of 0.7 x 1.1 x 2 mm, which a
 * MetaImage keeps as doubles. */
Labels::Pointer
MakeLabels(double shift, unsigned seed, const Labels::SizeType & size = { { 17, 14, 9 } })
{
  auto labels = Labels::New();
  labels->SetRegions(size);
  const double spacing[3] = { 0.7, 1.1, 2 };
  labels->SetSpacing(spacing);
  labels->Allocate();
  std::mt19937_64                           random(seed);
  itk::ImageRegionIteratorWithIndex<Labels> voxel(labels, labels->GetBufferedRegion());
  for (; !voxel.IsAtEnd(); ++voxel)
  {
    const auto   p = voxel.GetIndex();
    const double x = double(p[0]) + shift + double(random() % 1000) / 700, y = double(p[1]), z = double(p[2]);
    const double a = std::hypot(x - 5, y - 5, z - 4), b = std::hypot(x - 12, y - 8, z - 3);
    voxel.Set(a < 4 ? 7 : b < 4.5 ? 16777219 : y > 11 ? -3 : 0); // 2^24 + 3 is no float
  }
  return labels;
}

using Points = std::vector<Labels::IndexType>;

/** Voxels of a label that miss a neighbor across a face; by definition, slowly. */
Points
Surface(const Labels * labels, int label)
{
  Points                                         points;
  const auto                                     region = labels->GetBufferedRegion();
  itk::ImageRegionConstIteratorWithIndex<Labels> voxel(labels, region);
  for (; !voxel.IsAtEnd(); ++voxel)
  {
    bool surface = false;
    for (unsigned int axis = 0; axis < 3; ++axis)
    {
      for (const int step : { -1, 1 })
      {
        auto neighbor = voxel.GetIndex();
        neighbor[axis] += step;
        surface = surface || (region.GetSize(axis) > 1 &&
                              (!region.IsInside(neighbor) || labels->GetPixel(neighbor) != voxel.Get()));
      }
    }
    if (surface && voxel.Get() == label)
    {
      points.push_back(voxel.GetIndex());
    }
  }
  return points;
}

/** The paper's formula for one direction. */
double
CumulativeHd90(const Labels * grid, const Points & from, const Points & to)
{
  std::vector<double> distances;
  for (const auto & a : from)
  {
    double nearest = 1e300;
    for (const auto & b : to)
    {
      double sum = 0;
      for (unsigned int axis = 0; axis < 3; ++axis)
      {
        sum += std::pow(double(a[axis] - b[axis]) * grid->GetSpacing()[axis], 2);
      }
      nearest = std::min(nearest, std::sqrt(sum));
    }
    distances.push_back(nearest);
  }
  std::sort(distances.begin(), distances.end());
  const auto k = std::size_t(0.9 * double(distances.size()));
  double     sum = 0;
  for (std::size_t i = 0; i < k; ++i)
  {
    sum += distances[i];
  }
  return sum / double(k);
}

nlohmann::json
Evaluate(const Folder & folder, const std::string & a, const std::string & b, const std::string & more = "")
{
  const Outcome outcome = RunProgram(folder,
                                     "evaluate --fixed-labels " + (folder / a) + " --moved-labels " + (folder / b) +
                                       " --json " + (folder / "e.json") + more);
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  return nlohmann::json::parse(ReadText(folder / "e.json"));
}

void
ExpectScores(const Labels * fixed, const Labels * moved, const nlohmann::json & json, int labels)
{
  auto overlap = itk::LabelOverlapMeasuresImageFilter<Labels>::New();
  overlap->SetSourceImage(const_cast<Labels *>(fixed));
  overlap->SetTargetImage(const_cast<Labels *>(moved));
  overlap->Update();
  double meanDice = 0, weightedDice = 0, weights = 0, meanHd90 = 0;
  int    count = 0;
  for (const auto & item : json["labels"])
  {
    const int label = item["label"].get<int>();
    EXPECT_NEAR(item["dice"].get<double>(), overlap->GetDiceCoefficient(label), 1e-12) << label;
    const Points a = Surface(fixed, label), b = Surface(moved, label);
    const double hd90 = std::max(CumulativeHd90(fixed, a, b), CumulativeHd90(fixed, b, a));
    EXPECT_NEAR(item["hd90_mm"].get<double>(), hd90, 1e-9) << label;
    const double volume = item["fixed_voxels"].get<double>();
    meanDice += overlap->GetDiceCoefficient(label);
    weightedDice += overlap->GetDiceCoefficient(label) / volume;
    weights += 1 / volume;
    meanHd90 += hd90;
    ++count;
  }
  EXPECT_EQ(count, labels);
  EXPECT_GT(meanHd90, 0.5);
  EXPECT_NEAR(json["mean_dice"].get<double>(), meanDice / count, 1e-12);
  EXPECT_NEAR(json["inverse_volume_weighted_dice"].get<double>(), weightedDice / weights, 1e-12);
  EXPECT_NEAR(json["mean_hd90_mm"].get<double>(), meanHd90 / count, 1e-9);
}

} // namespace

TEST(EvaluateLabels, AgreesWithItkAndWithTheDefinitionOfHd90)
{
  const Folder folder("labels");
  const auto   fixed = MakeLabels(0, 1), moved = MakeLabels(1.3, 2);
  Write(fixed, folder / "a.mha");
  Write(moved, folder / "b.mha");
  const auto json = Evaluate(folder, "a.mha", "b.mha");
  ExpectScores(fixed, moved, json, 3);
  std::set<std::int64_t> labels;
  for (const auto & item : json["labels"])
  {
    labels.insert(item["label"].get<std::int64_t>());
  }
  EXPECT_EQ(labels, (std::set<std::int64_t>{ -3, 7, 16777219 }));
  EXPECT_FALSE(Evaluate(folder, "a.mha", "b.mha", " --no-surfaces").contains("mean_hd90_mm"));
}

TEST(EvaluateLabels, OfOnePlaneHaveOutlines)
{
  const Folder folder("outlines");
  const auto   fixed = MakeLabels(0, 1, { { 24, 20, 1 } }), moved = MakeLabels(2, 2, { { 24, 20, 1 } });
  Write(fixed, folder / "a.mha");
  Write(moved, folder / "b.mha");
  ExpectScores(fixed, moved, Evaluate(folder, "a.mha", "b.mha"), 2);
}

TEST(EvaluateLabels, FarApartAndAlone)
{
  const Folder folder("apart");
  auto         fixed = MakeLabels(0, 1), moved = MakeLabels(0, 1);
  fixed->FillBuffer(0);
  moved->FillBuffer(0);
  fixed->SetPixel({ { 1, 2, 0 } }, 5);
  moved->SetPixel({ { 15, 12, 8 } }, 5); // 14 x 0.7, 10 x 1.1, 8 x 2 mm away
  fixed->SetPixel({ { 3, 3, 3 } }, 6);   // only here
  moved->SetPixel({ { 4, 4, 4 } }, 8);   // only there
  Write(fixed, folder / "a.mha");
  Write(moved, folder / "b.mha");
  const auto json = Evaluate(folder, "a.mha", "b.mha");
  ASSERT_EQ(json["labels"].size(), 3u);
  EXPECT_NEAR(json["labels"][0]["hd90_mm"].get<double>(), std::hypot(9.8, 11, 16), 1e-9);
  EXPECT_TRUE(json["labels"][1]["hd90_mm"].is_null());
  EXPECT_EQ(json["label_count"], 2); // 5 and 6, with a Dice of 0
  EXPECT_EQ(json["mean_dice"], 0.0);
  EXPECT_EQ(json["hd90_label_count"], 1);
}

TEST(EvaluateLabels, DifferentHeadersAreAWarning)
{
  const Folder folder("headers");
  auto         fixed = MakeLabels(0, 1), moved = MakeLabels(0, 1);
  const double elsewhere[3] = { 50, 0, 0 };
  moved->SetOrigin(elsewhere);
  Write(fixed, folder / "a.mha");
  Write(moved, folder / "b.mha");
  const Outcome outcome =
    RunProgram(folder, "evaluate --fixed-labels " + (folder / "a.mha") + " --moved-labels " + (folder / "b.mha"));
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.ErrorLines(), 1);
  EXPECT_NE(outcome.errors.find("warning"), std::string::npos) << outcome.errors;
  EXPECT_NE(outcome.output.find("mean Dice 1.0000"), std::string::npos) << outcome.output;
}
