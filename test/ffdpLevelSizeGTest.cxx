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
#include "ffdpRegistrationEstimate.h"

#include "ffdpRegistrationTestSupport.h"
#include "ffdpStageList.h"

#include <limits>

using namespace ffdp;
using namespace ffdp::test;

namespace
{

using Sizes = std::vector<Extent>;

PairGeometry
GeometryOf(const Extent & size, const std::array<double, 3> & spacing)
{
  PairGeometry pair;
  pair.fixedSize = pair.movingSize = size;
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    pair.fixedToPhysical.matrix[4 * axis] = spacing[axis];
  }
  pair.movingToPhysical = pair.fixedToPhysical;
  return pair;
}

RegistrationEstimate
Estimate(const PairGeometry & pair, const std::vector<ShrinkFactor> & factors)
{
  RegistrationStage stage;
  stage.shrinkFactors = factors;
  stage.iterations.assign(factors.size(), 1);
  return EstimateRegistration({ pair }, false, { stage });
}

Sizes
SizesOf(const PairGeometry & pair, const std::vector<ShrinkFactor> & factors)
{
  Sizes sizes;
  for (const LevelEstimate & level : Estimate(pair, factors).levels)
  {
    sizes.push_back(level.size);
  }
  return sizes;
}

std::vector<ShrinkFactor>
BySpacing(const std::vector<double> & factors)
{
  std::vector<ShrinkFactor> bySpacing;
  for (const double factor : factors)
  {
    bySpacing.push_back(ShrinkFactor::BySpacing(factor));
  }
  return bySpacing;
}

const PairGeometry ThickSlices = GeometryOf({ 512, 512, 32 }, { { 0.5, 0.5, 5 } });

} // namespace

TEST(LevelSize, FinelySampledAxesAreShrunkFirst)
{
  EXPECT_EQ(SizesOf(ThickSlices, BySpacing({ 16, 8, 4, 2, 1 })),
            (Sizes{ { 32, 32, 20 }, { 64, 64, 32 }, { 128, 128, 32 }, { 256, 256, 32 }, { 512, 512, 32 } }));
  const PairGeometry brain = GeometryOf({ 256, 124, 256 }, { { 0.86, 1.5, 0.86 } });
  EXPECT_EQ(SizesOf(brain, BySpacing({ 8, 4, 2, 1 })),
            (Sizes{ { 32, 27, 32 }, { 64, 54, 64 }, { 128, 108, 128 }, { 256, 124, 256 } }));
  const PairGeometry plane = GeometryOf({ 400, 100, 1 }, { { 0.5, 2, 1 } });
  EXPECT_EQ(SizesOf(plane, BySpacing({ 8, 2, 1 })), (Sizes{ { 50, 50, 1 }, { 200, 100, 1 }, { 400, 100, 1 } }));
}

TEST(LevelSize, CubesAreShrunkAlike)
{
  for (const double rounding : { 0.0, 3e-7, 0.004 }) // as headers have it
  {
    const PairGeometry cubes = GeometryOf({ 160, 192, 225 }, { { 0.8, 0.8 + rounding, 0.8 } });
    EXPECT_EQ(SizesOf(cubes, BySpacing({ 8, 4, 2.5, 1 })), SizesOf(cubes, { 8, 4, 2.5, 1 })) << rounding;
  }
}

TEST(LevelSize, ASingleFineAxisDoesNotKeepMostVoxels)
{
  const PairGeometry fine = GeometryOf({ 200, 200, 200 }, { { 1, 1, 0.2 } });
  const Sizes        sizes = SizesOf(fine, BySpacing({ 8, 4, 2, 1 }));
  ASSERT_EQ(sizes.size(), 4u);
  EXPECT_EQ(sizes[2], (Extent{ 200, 200, 50 }));
  EXPECT_EQ(sizes[3], fine.fixedSize);
  for (const std::size_t level : { 0u, 1u })
  {
    const double factor = level == 0 ? 8 : 4;
    const Extent size = sizes[level];
    EXPECT_NEAR(double(size.Voxels()) / (8e6 / (factor * factor)), 1, 0.07) << level;
    EXPECT_NEAR(double(size.x) / double(size.z), 5, 0.2) << level; // cubes
  }
}

TEST(LevelSize, FollowsTheAxesOfTheImageWhereverTheyPoint)
{
  const PairGeometry across = GeometryOf({ 32, 512, 512 }, { { 5, 0.5, 0.5 } });
  EXPECT_EQ(SizesOf(across, BySpacing({ 8, 1 })), (Sizes{ { 32, 64, 64 }, { 32, 512, 512 } }));
  PairGeometry oblique = ThickSlices;
  oblique.fixedToPhysical = Compose(SomeMap(0.6, 1, { { 3, 2, 1 } }), oblique.fixedToPhysical);
  EXPECT_EQ(SizesOf(oblique, BySpacing({ 8, 1 })), SizesOf(ThickSlices, BySpacing({ 8, 1 })));
}

TEST(LevelSize, GivenFactorsMeanWhatTheySay)
{
  EXPECT_EQ(SizesOf(ThickSlices, { 8, 2, 1 }), (Sizes{ { 64, 64, 16 }, { 256, 256, 16 }, { 512, 512, 32 } }));
  EXPECT_EQ(SizesOf(ThickSlices, { { 8, 4, 1 }, { 2, 2, 1 }, 1 }),
            (Sizes{ { 64, 128, 32 }, { 256, 256, 32 }, { 512, 512, 32 } }));
  EXPECT_EQ(SizesOf(ThickSlices, { ShrinkFactor::BySpacing(8), { 2, 2, 1 } }),
            (Sizes{ { 64, 64, 32 }, { 256, 256, 32 } }));
}

TEST(LevelSize, FactorsThatRiseAlongAnyAxisAreRefused)
{
  constexpr double                             nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::vector<ShrinkFactor>> refused = {
    { { 4, 4, 1 }, { 2, 2, 2 } },      { { 4, 2, 4 }, { 4, 3, 1 } },     { { 4, 4, 0.5 } },
    { ShrinkFactor::BySpacing(8), 2 }, // the slices rise from 1 to 2
    { ShrinkFactor::BySpacing(0.5) },  { ShrinkFactor::BySpacing(nan) }, { nan },
  };
  for (const std::vector<ShrinkFactor> & factors : refused)
  {
    EXPECT_THROW(SizesOf(ThickSlices, factors), std::invalid_argument) << DescribeFactor(factors.back());
  }
}

TEST(LevelSize, NotesAreAboutAxesThatWereToBeShrunk)
{
  EXPECT_TRUE(Estimate(ThickSlices, BySpacing({ 16, 4, 1 })).notes.empty()); // of which slices are not the fewer
  const std::vector<std::string> notes = Estimate(ThickSlices, { { 128, 128, 1 }, 1 }).notes;
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes.front().find("with a shrink factor of [128,128,1] too little would be left"), std::string::npos);
  EXPECT_NE(notes.front().find("16x16x32"), std::string::npos) << notes.front();
  const std::vector<std::string> same =
    Estimate(GeometryOf({ 16, 16, 40 }, { { 1, 1, 4 } }), BySpacing({ 4, 1 })).notes;
  ASSERT_EQ(same.size(), 1u);
  EXPECT_NE(same.front().find("the level with shrink factor 4 was left out"), std::string::npos) << same.front();
}

TEST(LevelSize, ASearchForAStartSeesCubes)
{
  const auto searched = [](const PairGeometry & pair) {
    const RegistrationStage moments(Kind::Moments);
    return EstimateRegistration({ pair }, false, { moments }).levels.front().size;
  };
  EXPECT_EQ(searched(ThickSlices), (Extent{ 32, 32, 20 })); // 8 mm
  EXPECT_EQ(searched(GeometryOf({ 160, 192, 224 }, Isotropic)), (Extent{ 22, 27, 32 }));
  EXPECT_EQ(searched(GeometryOf({ 30, 20, 16 }, { { 1, 1, 4 } })), (Extent{ 15, 10, 16 })); // 2 mm, and slices stay
}

/** Presets are differences from the defaults: what is left out here would let them drift apart. */
TEST(StageDefaults, AreTheDeformableStageOfTheBalancedPreset)
{
  const RegistrationStage stage{};
  const RegistrationStage preset = MakeStages().back();
  EXPECT_EQ(DescribeStage(stage), DescribeStage(preset));
  EXPECT_EQ(stage.kind, preset.kind);
  EXPECT_EQ(stage.shrinkFactors, preset.shrinkFactors);
  EXPECT_EQ(stage.shrinkFactors, BySpacing({ 4, 2, 1 }));
  EXPECT_EQ(stage.iterations, preset.iterations);
  EXPECT_EQ(stage.smoothingSigmas, preset.smoothingSigmas);
  EXPECT_EQ(stage.tolerance, preset.tolerance);
  EXPECT_EQ(stage.window, preset.window);
  EXPECT_EQ(stage.smallestSize, preset.smallestSize);
  EXPECT_EQ(stage.learningRate, preset.learningRate);
  EXPECT_EQ(stage.gradientSigma, preset.gradientSigma);
  EXPECT_EQ(stage.warpSigma, preset.warpSigma);
  EXPECT_EQ(stage.sigmasInMm, preset.sigmasInMm);
  EXPECT_EQ(stage.gradientSigma, 1.4); // what Documentation/Registration.md promises
  EXPECT_EQ(stage.warpSigma, 0.55);
  EXPECT_EQ(stage.learningRate, 0.55);
  EXPECT_EQ(stage.iterations, (std::vector<int>{ 100, 50, 25 }));
  ASSERT_EQ(preset.metrics.size(), 1u);
  const RegistrationMetric & own = stage.metrics.at(0);
  const RegistrationMetric & metric = preset.metrics.front();
  EXPECT_EQ(own.kind, metric.kind);
  EXPECT_EQ(own.weight, metric.weight);
  EXPECT_EQ(own.radius, metric.radius);
  EXPECT_EQ(own.epsilon, metric.epsilon);
  EXPECT_EQ(own.exactGradient, metric.exactGradient);
  EXPECT_EQ(own.power, metric.power);
  EXPECT_EQ(own.movedSlope, metric.movedSlope);
  EXPECT_EQ(own.fixedSlope, metric.fixedSlope);
  EXPECT_EQ(own.ofEdges, metric.ofEdges);
}

TEST(StageDefaults, OfAKindAreThoseOfThePresets)
{
  for (const RegistrationStage & preset : MakeStages())
  {
    const RegistrationStage stage(preset.kind);
    EXPECT_EQ(stage.learningRate, preset.learningRate) << NameOf(preset.kind);
    EXPECT_EQ(stage.metrics.front().kind, preset.metrics.front().kind) << NameOf(preset.kind);
    EXPECT_EQ(stage.metrics.front().bins, preset.metrics.front().bins) << NameOf(preset.kind);
    EXPECT_EQ(stage.searchAngle, preset.searchAngle) << NameOf(preset.kind);
  }
}

TEST(StageDefaults, AreSaidInALine)
{
  EXPECT_NE(DescribeStage({}).find(
              "iterations 100 at 1/4 50 at 1/2 25 at 1/1 by spacing, learning rate 0.55, sigmas 1.4 and 0.55 voxels"),
            std::string::npos)
    << DescribeStage({});
  RegistrationStage given;
  given.shrinkFactors = { { 4, 4, 1 }, 2, 1 };
  EXPECT_NE(DescribeStage(given).find("iterations 100 at 1/[4,4,1] 50 at 1/2 25 at 1/1, learning"), std::string::npos)
    << DescribeStage(given);
}
