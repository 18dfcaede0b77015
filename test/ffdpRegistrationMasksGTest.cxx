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
#include "ffdpRegistrationTestSupport.h"

/** Masks of parts of the images, and images that share little space or lie across each other. */
namespace ffdp
{
namespace test
{
namespace
{

/** 1 where inside(x, y, z), in mm. */
template <typename TInside>
Volume<float>
MaskOf(const TestImage & image, const TInside & inside)
{
  const Extent & size = image.voxels.domain;
  Volume<float>  mask(size);
  for (std::int64_t z = 0; z < size.z; ++z)
    for (std::int64_t y = 0; y < size.y; ++y)
      for (std::int64_t x = 0; x < size.x; ++x)
      {
        mask.At(x, y, z) = inside(image.indexToPhysical({ { double(x), double(y), double(z) } })) ? 1.0f : 0.0f;
      }
  return mask;
}

double
DistanceAt(const AffineMap & found, const AffineMap & truth, const std::array<double, 3> & p)
{
  const auto a = found(p), b = truth(p);
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

TEST(RegistrationMasks, MomentsTryRotationsThatLeaveNothingOfPartialMasks)
{
  const AffineMap     map = SomeMap(0.2, 1, { { 3, -2, 1 } });
  const TestImage     fixed(FixedSize, Isotropic, map);
  const TestImage     moving(FixedSize, Isotropic, Same);
  const Volume<float> fixedMask = MaskOf(fixed, [](const auto & p) { return p[0] < -8; });
  const Volume<float> movingMask = MaskOf(moving, [](const auto & p) { return p[0] < -6; });
  RegistrationStage   moments;
  moments.kind = Kind::Moments;
  moments.metrics.front().kind = Metric::MutualInformation;
  moments.searchAngle = 180; // half of these turn the part that is seen to the other side
  moments.searchStep = 60;
  const auto result = RunStages({ { fixed.Placed(), moving.Placed(), fixedMask.View(), movingMask.View() } },
                                { moments, LinearStage(Kind::Rigid, Metric::MutualInformation) });
  EXPECT_LT(DistanceAt(result.affine, map, { { -14, 4, 2 } }), 0.5);
}

TEST(RegistrationMasks, SomethingBrightOutsideOfBothMasksDoesNotDrawTheCenters)
{
  const AffineMap map = SomeMap(0, 1, { { 4, -3, 2 } });
  TestImage       fixed(FixedSize, Isotropic, map);
  TestImage       moving(FixedSize, Isotropic, Same);
  for (std::int64_t z = 0; z < 44; ++z)
    for (std::int64_t y = 0; y < 50; ++y)
    {
      fixed.voxels.At(1, y, z) = 9000;
      moving.voxels.At(54, y, z) = 9000;
    }
  const auto          inside = [](const auto & p) { return std::abs(p[0]) < 24; };
  const Volume<float> fixedMask = MaskOf(fixed, inside), movingMask = MaskOf(moving, inside);
  RegistrationStage   moments;
  moments.kind = Kind::Moments;
  moments.metrics.front().kind = Metric::MutualInformation;
  const auto result =
    RunStages({ { fixed.Placed(), moving.Placed(), fixedMask.View(), movingMask.View() } }, { moments });
  EXPECT_LT(MapError(result.affine, map), 4); // on images of 32 voxels across; without masks of the moments, 50
}

TEST(RegistrationMasks, SmallOnesCountAtCoarseLevels)
{
  const AffineMap     map = SomeMap(0, 1, { { 1.5, -1, 0.5 } });
  const TestImage     fixed(FixedSize, Isotropic, map);
  const TestImage     moving(FixedSize, Isotropic, Same);
  const Volume<float> mask = MaskOf(
    fixed, [](const auto & p) { return std::abs(p[0]) < 1.1 && std::abs(p[1] + 4) < 10 && std::abs(p[2]) < 10; });
  RegistrationStage stage = LinearStage(Kind::Rigid, Metric::MeanSquares);
  stage.shrinkFactors = { 4, 2, 1 }; // two voxels of the mask are half of one at first
  stage.iterations = { 20, 60, 60 };
  stage.smallestSize = 4;
  const auto result = RunStages({ { fixed.Placed(), moving.Placed(), mask.View(), {} } }, { stage });
  ASSERT_EQ(result.levels.size(), 3u);
  EXPECT_LT(DistanceAt(result.affine, map, { { 0, -4, 0 } }), 0.3);
}

TEST(RegistrationMasks, WeightsOfMetricsAreThoseOfTheirValues)
{
  const TestImage     fixed(FixedSize, Isotropic, Same);
  const AffineMap     there = SomeMap(0, 1, { { 2, 0, 0 } }), back = SomeMap(0, 1, { { -2, 0, 0 } });
  const TestImage     ahead(FixedSize, Isotropic, there), behind(FixedSize, Isotropic, back);
  const Volume<float> mask =
    MaskOf(fixed, [](const auto & p) { return std::abs(p[0]) < 6 && std::abs(p[1]) < 6 && std::abs(p[2]) < 6; });
  RegistrationStage stage = LinearStage(Kind::Rigid, Metric::MeanSquares);
  stage.shrinkFactors = { 1 };
  stage.iterations = { 80 };
  stage.metrics.push_back(stage.metrics.front());
  stage.metrics[1].kind = Metric::MutualInformation;
  stage.metrics[1].pair = 1;
  stage.metrics[1].weight = 0.02; // little, unless it is divided by the voxels in the mask and the other one by all
  const auto result = RunStages(
    { { fixed.Placed(), ahead.Placed(), mask.View(), {} }, { fixed.Placed(), behind.Placed(), mask.View(), {} } },
    { stage });
  EXPECT_LT(DistanceAt(result.affine, there.Inverse(), { { 0, 0, 0 } }), 0.5);
  EXPECT_LT(result.levels.front().lastValue, 0.5 * result.levels.front().firstValue);
}

TEST(RegistrationMasks, AxesMayBeStoredInAnotherOrder)
{
  const AffineMap map = SomeMap(0.1, 1, { { 1, -2, 1 } });
  const TestImage fixed({ 56, 50, 11 }, { { 1, 1, 4 } }, map); // thick slices
  const TestImage axial(FixedSize, Isotropic, Same);
  TestImage       sagittal({ 50, 44, 56 }, Isotropic, Same);
  for (std::int64_t z = 0; z < 44; ++z)
    for (std::int64_t y = 0; y < 50; ++y)
      for (std::int64_t x = 0; x < 56; ++x)
      {
        sagittal.voxels.At(y, z, x) = axial.voxels.At(x, y, z);
      }
  sagittal.indexToPhysical = Compose(axial.indexToPhysical, AffineMap{ { 0, 0, 1, 1, 0, 0, 0, 1, 0 }, {} });
  const RegistrationStage stage = LinearStage(Kind::Rigid, Metric::MeanSquares);
  const auto              straight = RunStages({ { fixed.Placed(), axial.Placed(), {}, {} } }, { stage });
  const auto              across = RunStages({ { fixed.Placed(), sagittal.Placed(), {}, {} } }, { stage });
  EXPECT_LT(MapError(straight.affine, map), 1.5); // slices are points of the phantom, not means over 4 mm
  EXPECT_LT(MapError(across.affine, straight.affine), 0.05);
  EXPECT_NEAR(across.levels.back().lastValue / straight.levels.back().lastValue, 1, 0.01);
}

/** What the notes say about what is outside of images. */
struct Outside
{
  int dark = 0, unknown = 0;

  explicit Outside(const RegistrationResult & result)
  {
    for (const std::string & note : result.notes)
    {
      dark += note.find("taken for as dark") != std::string::npos ? 1 : 0;
      unknown += note.find("is not compared") != std::string::npos ? 1 : 0;
    }
  }
};

TEST(RegistrationMasks, WhatIsOutsideIsNotZeroIfWhatTheImageShowsAroundItsObjectIsNot)
{
  const Extent slice{ FixedSize.x, FixedSize.y, 1 };
  for (const Extent & size : { FixedSize, slice })
  {
    const AffineMap map = SomeMap(0.1, 1, { { 1, -2, size.z > 1 ? 1.0 : 0.0 } });
    for (const float offset : { -1000.0f, 1000.0f }) // as in CT, where air is -1000
    {
      TestImage fixed(size, Isotropic, map);
      TestImage moving(size, Isotropic, Same);
      fixed.Add(offset);
      moving.Add(offset);
      const std::vector<ImagePair> pairs = { { fixed.Placed(), moving.Placed(), {}, {} } };
      const auto                   linear = RunStages(pairs, { LinearStage(Kind::Rigid, Metric::MeanSquares) });
      EXPECT_LT(MapError(linear.affine, map), 0.1) << size.z << ' ' << offset;
      EXPECT_EQ(Outside(linear).dark, 1);
      RegistrationStage syn = GreedyStage();
      syn.kind = Kind::SyN;
      syn.iterations = { 1, 1 };
      EXPECT_EQ(Outside(RunStages(pairs, { syn })).dark, 2); // both images are sampled
    }
  }
}

TEST(RegistrationMasks, WhatIsOutsideIsNotComparedIfTheImageShowsNothingAroundItsObject)
{
  const AffineMap map = SomeMap(0.1, 1, { { 1, -2, 1 } });
  for (const float offset : { -1000.0f, 300.0f })
  {
    TestImage fixed = TestImage(FixedSize, Isotropic, map).Cropped(12);
    TestImage moving = TestImage(FixedSize, Isotropic, Same).Cropped(10);
    fixed.Add(offset);
    moving.Add(offset);
    const std::vector<ImagePair> pairs = { { fixed.Placed(), moving.Placed(), {}, {} } };
    for (const Metric metric : { Metric::MeanSquares, Metric::MutualInformation, Metric::LocalCorrelation })
    {
      RegistrationStage rigid = LinearStage(Kind::Rigid, metric);
      rigid.shrinkFactors = { 2, 1 };
      rigid.iterations = { 60, 60 };
      rigid.smallestSize = 8;
      const auto result = RunStages(pairs, { rigid });
      EXPECT_LT(MapError(result.affine, map), 0.5) << int(metric) << ' ' << offset;
      EXPECT_EQ(Outside(result).unknown, 1);
    }
  }
}

/** On equal grids that begin on each other, so that samples are just on the outermost voxels, and with masks that end
 * there: the border of the images must not hold them. */
TEST(RegistrationMasks, BordersOfImagesThatAreNotZeroDoNotHoldThem)
{
  const AffineMap far = SomeMap(0.15, 1, { { 18, -9, 6 } }), near = SomeMap(0.1, 1, { { 2, -1.5, 1 } });
  for (const float offset : { -1000.0f, 300.0f })
  {
    for (const std::int64_t margin : { 0, 10 }) // with air around it, and without
    {
      const AffineMap & map = margin > 0 ? near : far;
      TestImage         fixed = TestImage(FixedSize, Isotropic, map).Cropped(margin);
      TestImage         moving = TestImage(FixedSize, Isotropic, Same).Cropped(margin);
      fixed.Add(offset);
      moving.Add(offset);
      const Volume<float> whole = MaskOf(moving, [](const auto &) { return true; });
      for (const Metric metric : { Metric::MeanSquares, Metric::MutualInformation })
      {
        RegistrationStage rigid = LinearStage(Kind::Rigid, metric);
        rigid.learningRate = 0.25;
        rigid.shrinkFactors = { 4, 2, 1 };
        rigid.iterations = { 100, 80, 40 };
        rigid.smallestSize = 8;
        const auto unmasked = RunStages({ { fixed.Placed(), moving.Placed(), {}, {} } }, { rigid });
        EXPECT_LT(MapError(unmasked.affine, map), 0.5) << offset << ' ' << int(metric) << ' ' << margin;
        EXPECT_EQ(Outside(unmasked).dark, margin > 0 ? 0 : 1);
        EXPECT_EQ(Outside(unmasked).unknown, margin > 0 ? 1 : 0);
        const auto masked = RunStages({ { fixed.Placed(), moving.Placed(), {}, whole.View() } }, { rigid });
        EXPECT_LT(MapError(masked.affine, map), 0.5) << offset << ' ' << int(metric) << ' ' << margin;
      }
    }
  }
}

/** So the warp must not depend on how far intensities are away from 0; roundings do, and are scaled up by Adam. */
TEST(RegistrationMasks, WarpsOfImagesThatAreNotZeroDoNotDependOnHowFar)
{
  for (const std::int64_t margin : { 0, 10 })
  {
    for (const Kind kind : { Kind::Greedy, Kind::SyN })
    {
      const auto warpOver = [&](float offset) {
        TestImage fixed = TestImage(FixedSize, Isotropic, KnownWarp).Cropped(margin);
        TestImage moving = TestImage(FixedSize, Isotropic, Same).Cropped(margin);
        fixed.Add(offset);
        moving.Add(offset);
        RegistrationStage stage = GreedyStage();
        stage.kind = kind;
        stage.smallestSize = 8;
        stage.metrics.front().kind = Metric::LocalCorrelation;
        return RunStages({ { fixed.Placed(), moving.Placed(), {}, {} } }, { stage }).warp;
      };
      const std::vector<float> below = warpOver(-1000), above = warpOver(1000);
      double                   sum = 0;
      for (std::size_t i = 0; i < below.size(); ++i)
      {
        sum += std::abs(double(below[i]) - double(above[i]));
      }
      EXPECT_LT(sum / double(below.size()), 0.05) << int(kind) << ' ' << margin << ", voxels on average";
    }
  }
}

TEST(RegistrationMasks, StepsThatLeaveNothingOfThemAreTakenBack)
{
  const AffineMap     map = SomeMap(0, 1, { { 1, -1, 1 } });
  const TestImage     fixed(FixedSize, Isotropic, map);
  const TestImage     moving(FixedSize, Isotropic, Same);
  const auto          small = [](const auto & p) { return std::hypot(p[0] + 10, p[1], p[2]) < 7; };
  const Volume<float> fixedMask = MaskOf(fixed, small), movingMask = MaskOf(moving, small);
  for (const Metric metric : { Metric::MeanSquares, Metric::MutualInformation, Metric::LocalCorrelation })
  {
    RegistrationStage rigid = LinearStage(Kind::Rigid, metric);
    rigid.shrinkFactors = { 1 };
    rigid.iterations = { 60 };
    rigid.learningRate = 20; // voxels: past the masks
    const auto result =
      RunStages({ { fixed.Placed(), moving.Placed(), fixedMask.View(), movingMask.View() } }, { rigid });
    EXPECT_LT(result.levels.front().lastValue, result.levels.front().firstValue) << int(metric);
    EXPECT_LT(DistanceAt(result.affine, map, { { -10, 0, 0 } }), 1) << int(metric);
  }
}

TEST(RegistrationMasks, ThinMovingImagesOverlapWithWhatTheyLieIn)
{
  const TestImage   fixed({ 56, 50, 180 }, Isotropic, Same);
  TestImage         moving({ 56, 50, 3 }, Isotropic, Same);
  RegistrationStage stage = LinearStage(Kind::Rigid, Metric::MeanSquares);
  stage.iterations = { 1, 1 };
  moving.indexToPhysical.offset[2] = 10; // between the planes that would be looked at
  EXPECT_NO_THROW(RunStages({ { fixed.Placed(), moving.Placed(), {}, {} } }, { stage }));
  moving.indexToPhysical.offset[2] = 500;
  EXPECT_THROW(RunStages({ { fixed.Placed(), moving.Placed(), {}, {} } }, { stage }), std::invalid_argument);
}

TEST(RegistrationMasks, MomentsDoNotTakeALittleCommonAirForTheBestFit)
{
  const AffineMap map = SomeMap(0, 1, { { 30, 26, 0 } }); // corners overlap, and show nothing
  TestImage       fixed(FixedSize, Isotropic, Same);
  TestImage       moving(FixedSize, Isotropic, Same);
  for (TestImage * image : { &fixed, &moving })
  {
    for (float & voxel : image->voxels.values)
    {
      voxel -= 1000;
    }
  }
  moving.indexToPhysical = Compose(map, moving.indexToPhysical);
  RegistrationStage moments;
  moments.kind = Kind::Moments;
  moments.searchAngle = 20;
  moments.searchStep = 10;
  moments.metrics.front().kind = Metric::MeanSquares;
  const auto result = RunStages({ { fixed.Placed(), moving.Placed(), {}, {} } }, { moments });
  EXPECT_LT(MapError(result.affine, map), 2);
}

TEST(RegistrationMasks, PlanesMayLieAnywhere)
{
  const AffineMap   map = SomeMap(0.15, 1, { { 2, -1, 0 } }); // within the plane
  const TestImage   fixed({ 56, 50, 1 }, Isotropic, map), moving({ 56, 50, 1 }, Isotropic, Same);
  RegistrationStage moments, greedy = GreedyStage();
  moments.kind = Kind::Moments;
  moments.metrics.front().kind = Metric::MutualInformation;
  greedy.iterations = { 5, 5 };
  const std::vector<RegistrationStage> stages = { moments, LinearStage(Kind::Affine, Metric::MeanSquares), greedy };
  const auto                           expected = RunStages({ { fixed.Placed(), moving.Placed(), {}, {} } }, stages);
  EXPECT_LT(MapError(expected.affine, map), 0.3);
  // Turned in space, and with the axis of one voxel first or in the middle: the same numbers in the same order.
  const AffineMap sagittal{ { 0, 0, 1, 1, 0, 0, 0, 1, 0 }, { 5, 0, 3 } }, coronal{ { 1, 0, 0, 0, 0, 1, 0, -1, 0 }, {} };
  const double    c = std::cos(0.5), s = std::sin(0.5);
  const AffineMap oblique = Compose(AffineMap{ { c, 0, s, 0, 1, 0, -s, 0, c }, {} }, coronal);
  for (const AffineMap & turn : { sagittal, coronal, oblique })
  {
    for (const int thin : { 0, 1, 2 })
    {
      const auto place = [&](const TestImage & image) {
        AffineMap               order; // index of this layout to index of (56, 50, 1)
        VolumeView<const float> view = image.voxels.View();
        if (thin == 0)
        {
          order = AffineMap{ { 0, 1, 0, 0, 0, 1, 1, 0, 0 }, {} };
          view = VolumeView<const float>(image.voxels.values.data(), Extent{ 1, 56, 50 });
        }
        else if (thin == 1)
        {
          order = AffineMap{ { 1, 0, 0, 0, 0, 1, 0, 1, 0 }, {} };
          view = VolumeView<const float>(image.voxels.values.data(), Extent{ 56, 1, 50 });
        }
        return PlacedImage{ view, Compose(turn, Compose(image.indexToPhysical, order)) };
      };
      const auto result = RunStages({ { place(fixed), place(moving), {}, {} } }, stages);
      const auto inPlane = Compose(turn.Inverse(), Compose(result.affine, turn));
      EXPECT_LT(MapError(inPlane, map), 0.3) << thin;
      EXPECT_NEAR(inPlane.matrix[8], 1, 1e-6) << thin;
      EXPECT_NEAR(result.levels.back().lastValue, expected.levels.back().lastValue, 0.02) << thin;
      for (std::size_t i = 0; i < 56 * 50; ++i)
      {
        ASSERT_EQ(result.warp[i + std::size_t(thin) * 56 * 50], 0) << thin;
      }
    }
  }
}

} // namespace
} // namespace test
} // namespace ffdp
