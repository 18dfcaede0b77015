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

TEST(Synthesize, SameBytesForAnyNumberOfThreadsAndOnRepeat)
{
  const Workshop    shop("bytes");
  const std::string all =
    "--head --spacing 4 3.5 3 --contrast t2 --bias 0.2 --noise 3 --rotate 4 -3 2 --warp-size 6 --warp-smoothness 15 ";
  for (const std::string run : { "1", "2", "3", "3again", "other" })
  {
    const std::string seed = run == "other" ? "8" : "7";
    const std::string threads = run == "other" ? "1" : run.substr(0, 1);
    shop.Make(all + "--seed " + seed + " --threads " + threads + " -o i" + run + ".nii.gz --labels-out l" + run +
              ".nii.gz --warp-out w" + run + ".nii.gz");
  }
  for (const std::string kind : { "i", "l", "w" })
  {
    const std::string first = ReadText(shop / (kind + "1.nii.gz"));
    ASSERT_GT(first.size(), 1000u);
    for (const std::string run : { "2", "3", "3again" })
    {
      EXPECT_TRUE(first == ReadText(shop / (kind + run + ".nii.gz"))) << kind << run;
    }
    EXPECT_FALSE(first == ReadText(shop / (kind + "other.nii.gz"))) << kind;
  }
}

TEST(Synthesize, AHeadIsTheSameAtAnySpacing)
{
  const Workshop shop("spacing");
  shop.Make("--head --seed 3 --spacing 1 --size 80 96 80 -o a.nii.gz --labels-out fine.nii.gz");
  shop.Make("--head --seed 3 --spacing 2 --size 40 48 40 -o b.nii.gz --labels-out coarse.nii.gz");
  EXPECT_GT(MeanDice(shop.Read<Labels>("coarse.nii.gz"), shop.Read<Labels>("fine.nii.gz")), 0.8);
}

TEST(Synthesize, TwoHeadsOverlapInPart)
{
  const Workshop shop("subjects");
  shop.Make("--head --seed 3 --spacing 2 -o a.nii.gz --labels-out a_labels.nii.gz");
  shop.Make("--head --seed 4 --spacing 2 -o b.nii.gz --labels-out b_labels.nii.gz");
  shop.Make("--head --seed 4 --spacing 2 --skull-strip -o c.nii.gz --labels-out c_labels.nii.gz");
  const auto a = shop.Read<Labels>("a_labels.nii.gz"), b = shop.Read<Labels>("b_labels.nii.gz");
  const auto all = Summarize(a);
  EXPECT_EQ(all.size(), 32u); // and background
  for (const auto & entry : all)
  {
    EXPECT_GE(entry.second.volume, 500) << entry.first; // mm^3
  }
  const double dice = MeanDice(a, b);
  EXPECT_GT(dice, 0.4);
  EXPECT_LT(dice, 0.75);
  EXPECT_GT(all.at(2).center[0], all.at(41).center[0] + 40);  // left is at positive x in LPS
  EXPECT_GT(all.at(8).center[1], all.at(506).center[1] + 60); // the cerebellum is behind the eyes
  EXPECT_LT(all.at(8).center[2], all.at(3).center[2] - 20);   // and below the cortex

  const auto stripped = Summarize(shop.Read<Labels>("c_labels.nii.gz"));
  EXPECT_EQ(stripped.size(), 26u); // without fluid, eyes, soft tissue, skin and two kinds of bone
  EXPECT_EQ(stripped.count(24) + stripped.count(511), 0u);
  EXPECT_EQ(stripped.at(3).count, Summarize(b).at(3).count);
}

TEST(Synthesize, WarpIsDiffeomorphicAndReproducesTheResult)
{
  const Workshop    shop("warp");
  const std::string head = "--head --seed 5 --spacing 2 --skull-strip ";
  shop.Make(head + "-o still.nii.gz --labels-out still_labels.nii.gz");
  shop.Make(head +
            "-o moved.nii.gz --labels-out moved_labels.nii.gz --warp-size 12 --warp-smoothness 14 --rotate 6 -4 8 " +
            "--translate -5 3 4 --warp-out warp.nii.gz --rigid-out rigid.mat");
  const auto                                    field = shop.Read<Field>("warp.nii.gz");
  const auto                                    size = field->GetBufferedRegion().GetSize();
  double                                        longest = 0, smallest = 1;
  itk::ImageRegionConstIteratorWithIndex<Field> voxel(field, field->GetBufferedRegion());
  for (; !voxel.IsAtEnd(); ++voxel)
  {
    longest = std::max<double>(longest, voxel.Get().GetNorm());
    const auto index = voxel.GetIndex();
    if (index[0] + 1 < int(size[0]) && index[1] + 1 < int(size[1]) && index[2] + 1 < int(size[2]))
    {
      double m[3][3]; // derivatives towards the next voxel; the direction of the grid is that of the axes
      for (unsigned int axis = 0; axis < 3; ++axis)
      {
        auto next = index;
        ++next[axis];
        for (unsigned int c = 0; c < 3; ++c)
        {
          m[c][axis] = (c == axis) + (field->GetPixel(next)[c] - voxel.Get()[c]) / field->GetSpacing()[axis];
        }
      }
      smallest =
        std::min(smallest,
                 m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
                   m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]));
    }
  }
  EXPECT_GT(smallest, 0);
  EXPECT_LE(longest, 12 + 1e-3);
  EXPECT_GT(longest, 8);

  const auto still = shop.Read<Labels>("still_labels.nii.gz"), moved = shop.Read<Labels>("moved_labels.nii.gz");
  const auto apply = [&](const std::string & transforms) {
    EXPECT_EQ(
      shop.Run("apply -i still_labels.nii.gz -r moved_labels.nii.gz -n nearest -o applied.nii.gz -t " + transforms), 0);
    return MeanDice(moved, shop.Read<Labels>("applied.nii.gz"));
  };
  const double there = apply("warp.nii.gz rigid.mat");
  EXPECT_GT(there, 0.75); // limited by the nearest voxel of 2 mm
  EXPECT_LT(MeanDice(moved, still), there - 0.3);
  EXPECT_LT(apply("warp.nii.gz '[rigid.mat,1]'"), there - 0.3);
  EXPECT_LT(apply("rigid.mat"), there - 0.1);
}

TEST(Synthesize, RotatesAndTranslatesTheRightWay)
{
  const Workshop shop("rigid");
  // The image's own axes are those of space; the ball is 10 mm to the left of the middle.
  shop.Write<Labels>(
    MakeLabels(0, [](double x, double y, double z) { return (x - 10) * (x - 10) + y * y + z * z < 36 ? 2 : 0; }),
    "ball.mha");
  shop.Make("--labels ball.mha -o a.mha --labels-out still.mha");
  shop.Make("--labels ball.mha -o a.mha --labels-out moved.mha --rotate 0 0 90 --translate 1 2 -3");
  const auto still = Summarize(shop.Read<Labels>("still.mha")).at(2),
             moved = Summarize(shop.Read<Labels>("moved.mha")).at(2);
  EXPECT_NEAR(moved.center[0] - still.center[0], -10 + 1, 0.2);
  EXPECT_NEAR(moved.center[1] - still.center[1], 10 + 2, 0.2);
  EXPECT_NEAR(moved.center[2] - still.center[2], -3, 0.2);
  EXPECT_NEAR(moved.volume / still.volume, 1, 0.05);
}
