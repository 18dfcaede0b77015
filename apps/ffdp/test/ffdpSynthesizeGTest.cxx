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
#include "ffdpSynthesizeTestSupport.h"

using namespace ffdpSynthesizeTest;

TEST(Synthesize, UpsamplingKeepsVolumesAndPlace)
{
  const Workshop shop("upsampling");
  const auto     coarse = MakeBall();
  shop.Write<Labels>(coarse, "ball.nii.gz");
  shop.Make("--labels ball.nii.gz --spacing 0.5 0.4 0.75 -o fine.nii.gz --labels-out fine_labels.nii.gz");
  const auto fine = shop.Read<Labels>("fine_labels.nii.gz");
  EXPECT_EQ(fine->GetLargestPossibleRegion().GetSize(), (Labels::SizeType{ { 88, 120, 64 } }));
  const auto before = Summarize(coarse), after = Summarize(fine);
  ASSERT_EQ(after.size(), before.size()); // no new labels
  for (const auto & entry : before)
  {
    const Summary & now = after.at(entry.first);
    // A surface of radius r moves by s^2 / r when what is inside is smoothed with variance s^2 per axis: that of the
    // spline, 1/4, and of a voxel, 1/12, times the spacing squared, at most 2.25. So a ball loses 3 s^2 / r^2, 1.6 %
    // at r = 12; a shell of radii 12 and 17 less. As much again for counting voxels.
    EXPECT_NEAR(now.volume / entry.second.volume, 1, 0.032) << entry.first;
    for (int c = 0; c < 3; ++c)
    {
      EXPECT_NEAR(now.center[c], entry.second.center[c], 0.1) << entry.first;
    }
  }
  // Both grids cover the same part of space.
  for (unsigned int corner = 0; corner < 8; ++corner)
  {
    Labels::PointType p[2];
    for (int k = 0; k < 2; ++k)
    {
      const Labels *                  image = k == 0 ? coarse.GetPointer() : fine.GetPointer();
      itk::ContinuousIndex<double, 3> face;
      for (unsigned int c = 0; c < 3; ++c)
      {
        face[c] = (corner >> c) & 1 ? double(image->GetLargestPossibleRegion().GetSize(c)) - 0.5 : -0.5;
      }
      image->TransformContinuousIndexToPhysicalPoint(face, p[k]);
    }
    EXPECT_LT(p[0].EuclideanDistanceTo(p[1]), 1e-3);
  }
}

TEST(Synthesize, UpsamplingKeepsSheetsAndSmoothsSteps)
{
  const Workshop shop("sheets");
  // One voxel thick, and a boundary that falls one voxel every second row.
  shop.Write<Labels>(MakeLabels(0, [](double, double, double z) { return std::abs(z - 0.75) < 0.1 ? 5 : 4; }),
                     "sheet.mha");
  shop.Write<Labels>(MakeLabels(0, [](double x, double y, double) { return x + 0.5 * y / 1.2 > 0.1 ? 5 : 4; }),
                     "slope.mha");
  shop.Make("--labels sheet.mha --spacing 1 1.2 0.375 -o s.mha --labels-out sheet_fine.mha");
  shop.Make("--labels slope.mha --spacing 0.25 0.3 1.5 -o s.mha --labels-out slope_fine.mha");
  EXPECT_EQ(Summarize(shop.Read<Labels>("sheet_fine.mha")).at(5).count, 44 * 40 * 4); // 4 of 0.375 mm are 1.5 mm

  // The boundary is a line that falls by one fine voxel every second row; blocks of coarse voxels would be off by 3.5.
  const auto fine = shop.Read<Labels>("slope_fine.mha");
  double     least = 1000, most = 0;
  for (int y = 60; y < 100; ++y)
  {
    int x = 0;
    while (fine->GetPixel({ { x, y, 16 } }) == 4)
    {
      ++x;
    }
    least = std::min(least, x + 0.5 * y);
    most = std::max(most, x + 0.5 * y);
  }
  EXPECT_LE(most - least, 1.5); // rounding to voxels alone makes 1
}

TEST(Synthesize, VoxelsHaveTheMeanAndDeviationOfTheirLabel)
{
  const Workshop shop("statistics");
  shop.Write<Labels>(MakeBall(), "ball.nii.gz");
  std::ofstream(shop / "own.csv") << "label,mean,sd,name\n2,-50,5,a\n3,900,0.5,b\n41,300,20,c\n";
  const std::string start = "--labels ball.nii.gz --spacing 0.7 --labels-out l.nii.gz ";
  shop.Make(start + "--blur 0 -o own.nii.gz --table own.csv");
  shop.Make(start + "--blur 0 -o t1.nii.gz");
  shop.Make(start + "--blur 0 -o t2.nii.gz --contrast t2");
  shop.Make(start + "-o blurred.nii.gz --table own.csv");
  const auto labels = shop.Read<Labels>("l.nii.gz");
  auto       own = Summarize(labels, shop.Read<Image>("own.nii.gz"));
  EXPECT_EQ(own.at(0).squares, 0); // the background is nothing but 0
  const struct
  {
    int    label;
    double mean, deviation;
  } expected[] = { { 2, -50, 5 }, { 3, 900, 0.5 }, { 41, 300, 20 } };
  for (const auto & e : expected)
  {
    const Summary & s = own.at(e.label);
    // five standard errors
    EXPECT_NEAR(s.Mean(), e.mean, 5 * e.deviation / std::sqrt(s.count)) << e.label;
    EXPECT_NEAR(s.Deviation(), e.deviation, 5 * e.deviation / std::sqrt(2 * s.count)) << e.label;
  }
  EXPECT_LT(Summarize(labels, shop.Read<Image>("blurred.nii.gz")).at(3).Mean(), 899); // blurred into 0 at its face

  auto t1 = Summarize(labels, shop.Read<Image>("t1.nii.gz"));
  auto t2 = Summarize(labels, shop.Read<Image>("t2.nii.gz"));
  EXPECT_GT(t1.at(2).Mean(), t1.at(3).Mean() + 20); // white and gray matter
  EXPECT_LT(t2.at(2).Mean(), t2.at(3).Mean() - 20);
}

TEST(Synthesize, NoiseAndBiasAreOfTheirSize)
{
  const Workshop shop("noise");
  shop.Write<Labels>(MakeBall(), "ball.nii.gz");
  std::ofstream(shop / "flat.csv") << "2,100,0\n3,100,0\n41,100,0\n";
  const std::string start = "--labels ball.nii.gz --table flat.csv --blur 0 --labels-out l.nii.gz -o ";
  shop.Make(start + "noise.nii.gz --noise 4");
  shop.Make(start + "bias.nii.gz --bias 0.4");
  const auto labels = shop.Read<Labels>("l.nii.gz");
  const auto noise = Summarize(labels, shop.Read<Image>("noise.nii.gz"));
  // Rayleigh in the background; in tissue the deviation is that of the noise.
  EXPECT_NEAR(noise.at(0).Mean(), 4 * std::sqrt(std::acos(-1.0) / 2), 5 * 4 * 0.66 / std::sqrt(noise.at(0).count));
  EXPECT_NEAR(noise.at(2).Deviation(), 4, 5 * 4 / std::sqrt(2 * noise.at(2).count));

  const auto                                    image = shop.Read<Image>("bias.nii.gz");
  double                                        least = 100, most = 100, steepest = 0, clipped = 0, count = 0;
  itk::ImageRegionConstIteratorWithIndex<Image> voxel(image, image->GetBufferedRegion());
  for (; !voxel.IsAtEnd(); ++voxel)
  {
    auto next = voxel.GetIndex();
    next[0] = std::min<itk::IndexValueType>(next[0] + 1, 43);
    if (voxel.Get() != 0 && image->GetPixel(next) != 0)
    {
      count += 1;
      clipped += std::abs(voxel.Get() - 100) > 39.99 ? 1 : 0;
      least = std::min<double>(least, voxel.Get());
      most = std::max<double>(most, voxel.Get());
      steepest = std::max<double>(steepest, std::abs(voxel.Get() - image->GetPixel(next)));
    }
  }
  EXPECT_GE(least, 60 - 1e-4);
  EXPECT_LE(most, 140 + 1e-4);
  EXPECT_GT(most - least, 4);
  EXPECT_LT(clipped, 0.3 * count); // a twentieth over all images
  EXPECT_LT(steepest,
            1.8); // per mm; its deviation is about 40 / 2 / sqrt(3) * 2 pi / 160 = 0.45, and this is four of them
}

TEST(Synthesize, OtherLabelsMeanOtherNoise)
{
  const Workshop shop("independent");
  const auto     ball = MakeBall();
  shop.Write<Labels>(ball, "ball.nii.gz");
  ball->SetPixel({ { 0, 0, 0 } }, 2);
  shop.Write<Labels>(ball, "other.nii.gz");
  double sum[2] = { 0, 0 };
  shop.Make("--labels ball.nii.gz --blur 0 --labels-out l.nii.gz -o a.nii.gz");
  shop.Make("--labels other.nii.gz --blur 0 -o b.nii.gz");
  const auto labels = shop.Read<Labels>("l.nii.gz");
  const auto a = shop.Read<Image>("a.nii.gz"), b = shop.Read<Image>("b.nii.gz");
  double     count = 0;
  for (itk::SizeValueType i = 0; i < labels->GetBufferedRegion().GetNumberOfPixels(); ++i)
  {
    if (labels->GetBufferPointer()[i] == 2)
    {
      sum[0] += (a->GetBufferPointer()[i] - 105) * (b->GetBufferPointer()[i] - 105);
      sum[1] += (a->GetBufferPointer()[i] - 105) * (a->GetBufferPointer()[i] - 105);
      count += 1;
    }
  }
  EXPECT_LT(std::abs(sum[0]), 5 * sum[1] / std::sqrt(count)); // no correlation, within five standard errors
}

TEST(Synthesize, CropsToTheLabels)
{
  const Workshop shop("crop");
  shop.Write<Labels>(
    MakeLabels(
      0.2, [](double x, double y, double z) { return x > 4 && x < 14 && std::abs(y) < 8 && z > 0 && z < 6 ? 3 : 0; }),
    "box.mha");
  const auto box = Summarize(shop.Read<Labels>("box.mha")).at(3);
  shop.Make("--labels box.mha --crop 3 -o a.mha --labels-out cropped.mha");
  shop.Make("--labels box.mha --crop 0 --size 7 30 9 --spacing 2 1 1 -o a.mha --labels-out sized.mha");
  shop.Make("--labels box.mha --crop 0 --size 13 19 7 -o a.mha --labels-out odd.mha");
  const auto cropped = shop.Read<Labels>("cropped.mha");
  // 10 voxels of 1 mm, 14 of 1.2 mm and 4 of 1.5 mm, and 3 mm on both sides: 3, 2.5 and 2 voxels
  EXPECT_EQ(cropped->GetBufferedRegion().GetSize(), (Labels::SizeType{ { 16, 20, 8 } }));
  EXPECT_EQ(Summarize(cropped).at(3).count, box.count);                      // voxels of the map
  EXPECT_EQ(Summarize(shop.Read<Labels>("odd.mha")).at(3).count, box.count); // also where the middle is between two
  EXPECT_EQ(shop.Read<Labels>("sized.mha")->GetBufferedRegion().GetSize(), (Labels::SizeType{ { 7, 30, 9 } }));
  for (const char * name : { "cropped.mha", "sized.mha" })
  {
    const auto now = Summarize(shop.Read<Labels>(name)).at(3);
    for (int c = 0; c < 3; ++c)
    {
      EXPECT_NEAR(now.center[c], box.center[c], 0.1) << name;
    }
  }
}

TEST(Synthesize, SaysInOneLineWhatIsWrong)
{
  const Workshop shop("errors");
  shop.Write<Labels>(MakeBall(), "ball.nii.gz");
  shop.Write<Labels>(MakeLabels(0, [](double x, double, double) { return x > 0    ? 999
                                                                         : x > -5 ? 2
                                                                                  : 1234; }),
                     "unknown.mha");
  shop.Write<Labels>(MakeLabels(0, [](double, double, double) { return 0; }), "empty.mha");
  shop.Write<Labels>(MakeLabels(0, [](double, double, double) { return 507; }), "skin.mha");
  auto fractions = Image::New();
  fractions->SetRegions(Image::SizeType{ { 4, 4, 4 } });
  fractions->Allocate();
  fractions->FillBuffer(2.5f);
  shop.Write<Image>(fractions, "fractions.mha");
  std::ofstream(shop / "text.csv") << "label,mean,sd\n2,white,3\n";
  std::ofstream(shop / "huge.csv") << "2,100,5e30\n";
  ASSERT_EQ(mkfifo((shop / "pipe.csv").c_str(), 0600), 0);
  std::ofstream(shop / "twice.csv") << "2,1,1\n2,3,1\n";
  std::ofstream(shop / "short.csv") << "2,100,5\n41,100,5\n";
  std::ofstream(shop / "file") << "";

  const std::string ball = "--labels ball.nii.gz -o out.nii.gz ";
  constexpr int     WrongUsage = 2;
  const struct
  {
    std::string arguments, expected;
    int         code = 1;
  } cases[] = {
    { "-o out.nii.gz", "either --labels FILE or --head", WrongUsage },
    { ball + "--head", "either --labels FILE or --head", WrongUsage },
    { "--labels missing.nii.gz -o out.nii.gz", "'missing.nii.gz' does not exist" },
    { "--labels unknown.mha -o out.nii.gz", "says nothing about label 999, 1234" },
    { ball + "--table short.csv", "table 'short.csv' says nothing about label 3" },
    { "--labels empty.mha -o out.nii.gz", "'empty.mha' is empty" },
    { "--labels fractions.mha -o out.nii.gz", "not a label" },
    { "--labels skin.mha --skull-strip -o out.nii.gz", "no label of a brain" },
    { ball + "--table missing.csv", "'missing.csv' does not exist" },
    { ball + "--table pipe.csv", "table 'pipe.csv' is a pipe" },
    { ball + "--table huge.csv", "table 'huge.csv', line 1: a mean or a deviation beyond 1e18" },
    { ball + "--table text.csv", "'text.csv', line 2" },
    { ball + "--table twice.csv", "label 2 is there twice" },
    { ball + "--table file", "'file' is empty" },
    { ball + "--spacing 0", "--spacing must be above 0", WrongUsage },
    { ball + "--spacing 1 -1 1", "--spacing must be above 0", WrongUsage },
    { ball + "--spacing 1 nan 1", "--spacing 'nan': is not a number", WrongUsage },
    { ball + "--spacing 1 1", "one number or three", WrongUsage },
    { ball + "--spacing 1e-5", "too fine" },
    { ball + "--size 0 10 10", "--size must be from 1", WrongUsage },
    { ball + "--size 32000 32000 32000", "memory" },
    { ball + "--size 10 10 40000", "--size must be from 1", WrongUsage },
    { ball + "--blur -1", "--blur", WrongUsage },
    { ball + "--noise -1", "--noise", WrongUsage },
    { ball + "--bias 1", "--bias", WrongUsage },
    { ball + "--warp-out w.nii.gz", "--warp-out needs a --warp-size", WrongUsage },
    { ball + "--warp-size 20 --warp-smoothness 3", "folds" },
    { "--head --crop 3 -o out.nii.gz", "--crop is for label maps", WrongUsage },
    { "--labels ball.nii.gz -o out.xyz", "does not end like an image" },
    { ball + "--labels-out out.nii.gz", "the name of two outputs", WrongUsage },
    { "--labels ball.nii.gz -o file/out.nii.gz", "file" },
  };
  for (const auto & c : cases)
  {
    EXPECT_EQ(shop.Run("synthesize " + c.arguments), c.code) << c.arguments;
    const std::string errors = ReadText(shop / "stderr");
    EXPECT_NE(errors.find(c.expected), std::string::npos) << c.arguments << "\n" << errors;
    EXPECT_EQ(std::count(errors.begin(), errors.end(), '\n'), 1) << errors;
    EXPECT_FALSE(fs::exists(shop / "out.nii.gz")) << c.arguments;
  }
  EXPECT_NE(shop.Run("synthesize " + ball + "--contrast pd"), 0);
}

TEST(Synthesize, KnowsAllLabelsOfRealMaps)
{
  const std::string folder = FFDP_SHARED_DATA "/labels";
  if (!fs::exists(folder))
  {
    GTEST_SKIP() << folder << " is not there";
  }
  const Workshop shop("real");
  shop.Make("--labels " + folder + "/training_seg_01.nii.gz --spacing 3 --crop 0 -o a.nii.gz --labels-out l.nii.gz");
  EXPECT_GT(Summarize(shop.Read<Labels>("l.nii.gz")).size(), 40u);
}
