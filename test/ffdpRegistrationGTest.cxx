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
#include "ffdpRegistration.h"

#include "ffdpAllocationMeter.h"
#include "ffdpRegistrationTestSupport.h"

#include <stdexcept>

using namespace ffdp;
using namespace ffdp::test;

TEST(Registration, LinearStagesRecoverKnownMaps)
{
  SKIP_IF_SANITIZED();
  // fixed(x) = Phantom(map(x)), moving = Phantom: phi = map. Moving voxels differ in size from fixed ones.
  const TestImage moving({ 60, 44, 52 }, { { 0.9, 1.2, 0.9 } }, Same);
  const struct
  {
    Kind      kind;
    AffineMap map;
  } cases[] = { { Kind::Rigid, SomeMap(0.12, 1, { { 2, -1.5, 1 } }) },
                { Kind::Similarity, SomeMap(-0.1, 1.06, { { -2, 1, 1.5 } }) },
                { Kind::Affine, AffineMap{ { 1.05, 0.06, 0, -0.04, 0.95, 0.05, 0.02, 0, 1.04 }, { 1.5, -1, 2 } } } };
  for (const auto & c : cases)
  {
    const TestImage fixed(FixedSize, Isotropic, c.map);
    for (const Metric metric : { Metric::LocalCorrelation, Metric::MutualInformation, Metric::MeanSquares })
    {
      const auto result = RunStages({ { fixed.Placed(), moving.Placed(), {}, {} } }, { LinearStage(c.kind, metric) });
      // From 3 to 4 mm away, at the corners of the organ. Where its size is free, windows and histograms prefer it a
      // little too large: their loss is below that of the true map.
      const double room = c.kind == Kind::Rigid ? 0.1 : metric == Metric::MeanSquares ? 0.2 : 0.4;
      EXPECT_GT(MapError(AffineMap(), c.map), 3);
      EXPECT_LT(MapError(result.affine, c.map), room) << int(c.kind) << " " << int(metric);
    }
  }
}

TEST(Registration, MomentsAndRigidFindTheWayFromFar)
{
  SKIP_IF_SANITIZED();
  const double    degree = std::acos(-1.0) / 180;
  const AffineMap map = SomeMap(38 * degree, 1, { { 45, -35, 12 } });
  const TestImage fixed({ 130, 130, 80 }, { { 1, 1, 1 } }, map);
  TestImage       moving({ 70, 70, 60 }, { { 1, 1, 1 } }, Same);
  for (float & v : moving.voxels.values) // as another modality would show it
  {
    v = float(20 * std::sqrt(v));
  }
  RegistrationStage moments;
  moments.kind = Kind::Moments;
  moments.metrics.front().kind = Metric::MutualInformation;
  const auto near = LinearStage(Kind::Rigid, Metric::MutualInformation);
  const auto result = RunStages({ { fixed.Placed(), moving.Placed(), {}, {} } }, { moments, near });
  EXPECT_LT(MapError(result.affine, map), 0.5);
  // and without moments it does not: the start matters
  const auto lost = RunStages({ { fixed.Placed(), moving.Placed(), {}, {} } }, { near });
  EXPECT_GT(MapError(lost.affine, map), 3);
}

TEST(Registration, GreedyRecoversAKnownWarpAndItsInverse)
{
  SKIP_IF_SANITIZED();
  const TestImage    fixed(FixedSize, Isotropic, KnownWarp);
  const TestImage    moving(FixedSize, Isotropic, Same);
  const auto         result = RunStages({ { fixed.Placed(), moving.Placed(), {}, {} } }, { GreedyStage() });
  RegistrationResult none = result;
  std::fill(none.warp.begin(), none.warp.end(), 0.0f);
  EXPECT_GT(WarpError(none, fixed), 1.5);
  EXPECT_LT(WarpError(result, fixed), 0.7); // along edges nothing shows, so the rest of the error is no surprise
  EXPECT_EQ(result.folds, 0);
  EXPECT_GT(result.smallestJacobian, 0);
  EXPECT_LE(result.inverseResidual, 0.3);
  EXPECT_EQ(result.inverseWarp.size(), result.warp.size());
  for (const LevelReport & level : result.levels)
  {
    EXPECT_LT(level.lastValue, level.firstValue);
  }
}

TEST(Registration, GreedyWorksAcrossAnAffineMapAndAnisotropicVoxels)
{
  SKIP_IF_SANITIZED();
  const AffineMap map = SomeMap(0.1, 1, { { 1, 2, -1 } });
  const auto      warped = [&](const std::array<double, 3> & p) { return map(KnownWarp(p)); };
  const TestImage fixed({ 56, 34, 44 }, { { 1, 1.5, 1 } }, warped);
  const TestImage moving({ 60, 60, 52 }, { { 0.9, 0.9, 1.0 } }, Same);
  const auto      result = RunStages({ { fixed.Placed(), moving.Placed(), {}, {} } },
                                { LinearStage(Kind::Rigid, Metric::LocalCorrelation), GreedyStage() });
  double          sum = 0;
  // compare phi = A (x + u) + t with map(KnownWarp(x)) over the organ
  const Extent &     size = fixed.voxels.domain;
  const std::int64_t n = size.Voxels();
  double             count = 0;
  for (std::int64_t i = 0; i < n; ++i)
  {
    if (fixed.voxels.values[std::size_t(i)] > 60)
    {
      const std::array<double, 3> x{ { double(i % size.x), double(i / size.x % size.y), double(i / size.x / size.y) } };
      const auto                  known = warped(fixed.indexToPhysical(x));
      const auto                  y = result.affine(fixed.indexToPhysical({ { x[0] + result.warp[std::size_t(i)],
                                                                              x[1] + result.warp[std::size_t(i + n)],
                                                                              x[2] + result.warp[std::size_t(i + 2 * n)] } }));
      sum += std::hypot(y[0] - known[0], y[1] - known[1], y[2] - known[2]);
      count += 1;
    }
  }
  EXPECT_LT(sum / count, 0.75);
  EXPECT_EQ(result.folds, 0);
}

TEST(Registration, BytesDoNotDependOnThreadsNorOnTheScaleOfIntensities)
{
  const TestImage   fixed(FixedSize, Isotropic, KnownWarp);
  const TestImage   moving(FixedSize, Isotropic, Same);
  RegistrationStage moments;
  moments.kind = Kind::Moments;
  moments.searchAngle = 15;
  moments.metrics.front().kind = Metric::MutualInformation;
  RegistrationStage linear = LinearStage(Kind::Affine, Metric::MutualInformation);
  RegistrationStage greedy = GreedyStage();
  linear.iterations = { Sanitized ? 3 : 15, Sanitized ? 2 : 5 };
  greedy.iterations = { Sanitized ? 3 : 10, Sanitized ? 2 : 5 };
  const auto one = RunStages({ { fixed.Placed(), moving.Placed(), {}, {} } }, { moments, linear, greedy }, 1);
  for (const unsigned threads : { 2u, 3u, 7u })
  {
    const auto other = RunStages({ { fixed.Placed(), moving.Placed(), {}, {} } }, { moments, linear, greedy }, threads);
    EXPECT_TRUE(std::equal(one.affine.matrix, one.affine.matrix + 9, other.affine.matrix));
    EXPECT_TRUE(std::equal(one.affine.offset, one.affine.offset + 3, other.affine.offset));
    EXPECT_TRUE(SameBytes(one.warp, other.warp)) << threads;
    EXPECT_TRUE(SameBytes(one.inverseWarp, other.inverseWarp)) << threads;
  }
  TestImage brighter = moving;
  for (float & v : brighter.voxels.values)
  {
    v *= 1024; // a power of two changes no digit of the images
  }
  const auto scaled = RunStages({ { fixed.Placed(), brighter.Placed(), {}, {} } }, { greedy }, 2);
  const auto plain = RunStages({ { fixed.Placed(), moving.Placed(), {}, {} } }, { greedy }, 2);
  EXPECT_LT(MaxDifference(scaled.warp, plain.warp), 1e-3);
}

TEST(Registration, SmallIntensitiesAndLargeWeightsAreNoRounding)
{
  const TestImage   fixed(FixedSize, Isotropic, KnownWarp);
  const TestImage   moving(FixedSize, Isotropic, Same);
  TestImage         faintFixed = fixed, faintMoving = moving; // like maps of diffusivity in mm^2/s
  RegistrationStage stage = GreedyStage();
  stage.shrinkFactors = { 2 };
  stage.iterations = { 10 };
  for (TestImage * image : { &faintFixed, &faintMoving })
  {
    for (float & voxel : image->voxels.values)
    {
      voxel *= 0x1p-17f; // exact
    }
  }
  stage.metrics.front().kind = Metric::MeanSquares;
  const auto plain = RunStages({ { fixed.Placed(), moving.Placed(), {}, {} } }, { stage });
  const auto faint = RunStages({ { faintFixed.Placed(), faintMoving.Placed(), {}, {} } }, { stage });
  EXPECT_LT(MaxDifference(faint.warp, plain.warp), 1e-3);
  stage.metrics.front().kind = Metric::LocalCorrelation;
  const auto light = RunStages({ { fixed.Placed(), moving.Placed(), {}, {} } }, { stage });
  stage.metrics.front().weight = 1e9;
  const auto heavy = RunStages({ { fixed.Placed(), moving.Placed(), {}, {} } }, { stage });
  EXPECT_TRUE(SameBytes(heavy.warp, light.warp));
  EXPECT_GT(*std::max_element(light.warp.begin(), light.warp.end()), 0.5f);
}

TEST(Registration, MasksKeepWhatIsOutsideFromMattering)
{
  SKIP_IF_SANITIZED();
  const auto      map = SomeMap(0.08, 1, { { 2, -1, 1 } });
  const TestImage fixed(FixedSize, Isotropic, map);
  const TestImage moving(FixedSize, Isotropic, Same);
  Volume<float>   mask(FixedSize);
  for (std::int64_t i = 0; i < FixedSize.Voxels(); ++i)
  {
    mask.values[std::size_t(i)] = i % FixedSize.x < 34 ? 1.0f : 0.0f;
  }
  const auto stage = LinearStage(Kind::Rigid, Metric::MeanSquares);
  for (const int strength : { 200, 400 }) // of a pattern of its own outside of the mask
  {
    TestImage spoiled = moving;
    for (std::int64_t z = 0; z < FixedSize.z; ++z)
      for (std::int64_t y = 0; y < FixedSize.y; ++y)
        for (std::int64_t x = 36; x < FixedSize.x; ++x)
        {
          spoiled.voxels.At(x, y, z) = float(strength * ((x / 4 + y / 4 + z / 4) % 2));
        }
    const auto with = RunStages({ { fixed.Placed(), spoiled.Placed(), {}, mask.View() } }, { stage });
    EXPECT_LT(MapError(with.affine, map), 0.3) << strength;
    // a fixed mask hides the same part of the fixed image
    const auto both = RunStages({ { fixed.Placed(), spoiled.Placed(), mask.View(), mask.View() } }, { stage });
    EXPECT_LT(MapError(both.affine, map), 0.3) << strength;
    const std::vector<ImagePair> unmasked = { { fixed.Placed(), spoiled.Placed(), {}, {} } };
    if (strength == 200)
    {
      EXPECT_GT(MapError(RunStages(unmasked, { stage }).affine, map), 2 * MapError(with.affine, map));
    }
    else // the pattern pushes the images apart
    {
      EXPECT_THROW(RunStages(unmasked, { stage }), std::invalid_argument);
    }
  }
}

TEST(Registration, SeveralMetricsAndPairsAddUp)
{
  SKIP_IF_SANITIZED();
  const TestImage fixed(FixedSize, Isotropic, KnownWarp);
  const TestImage moving(FixedSize, Isotropic, Same);
  TestImage       noise(FixedSize, Isotropic, Same);
  noise.voxels = RandomVolume(FixedSize, 5, 0, 1);
  RegistrationStage stage = GreedyStage();
  stage.metrics.resize(2);
  stage.metrics[1].kind = Metric::MeanSquares;
  stage.metrics[1].weight = 0.5;
  const auto both = RunStages({ { fixed.Placed(), moving.Placed(), {}, {} } }, { stage });
  EXPECT_LT(WarpError(both, fixed), 0.7);
  // a second pair of pure noise with almost no weight does no harm; with all the weight it leads nowhere
  stage.metrics[1] = RegistrationMetric();
  stage.metrics[1].pair = 1;
  stage.metrics[1].weight = 1e-3;
  const auto                   other = RandomVolume(FixedSize, 6, 0, 1);
  const std::vector<ImagePair> pairs = { { fixed.Placed(), moving.Placed(), {}, {} },
                                         { noise.Placed(), { other.View(), noise.indexToPhysical }, {}, {} } };
  EXPECT_LT(WarpError(RunStages(pairs, { stage }), fixed), 0.75);
  stage.metrics[0].weight = 1e-6;
  stage.metrics[1].weight = 1;
  EXPECT_GT(WarpError(RunStages(pairs, { stage }), fixed), 1);
}

TEST(Registration, AnAxisCanBeKeptFromMovingAndTwoDimensionsStayInPlane)
{
  const TestImage   fixed(FixedSize, Isotropic, KnownWarp);
  const TestImage   moving(FixedSize, Isotropic, Same);
  RegistrationStage stage = GreedyStage();
  stage.iterations = { 10, 5 };
  stage.axisWeight[1] = 0;
  const auto result = RunStages({ { fixed.Placed(), moving.Placed(), {}, {} } }, { stage });
  const auto n = std::size_t(FixedSize.Voxels());
  for (std::size_t i = 0; i < n; ++i)
  {
    ASSERT_EQ(result.warp[n + i], 0.0f);
  }
  EXPECT_GT(MaxMagnitude(result.warp), 0.5);

  const Extent    flat{ 56, 50, 1 };
  const TestImage fixed2(flat, Isotropic, KnownWarp);
  const TestImage moving2(flat, Isotropic, [](const std::array<double, 3> & p) {
    return std::array<double, 3>{ { p[0], p[1], 2.5 * std::exp(-(p[0] * p[0] + p[1] * p[1]) / 450) } };
  });
  const auto      planar = RunStages({ { fixed2.Placed(), moving2.Placed(), {}, {} } },
                                { LinearStage(Kind::Rigid, Metric::LocalCorrelation), GreedyStage() });
  const auto      m = std::size_t(flat.Voxels());
  for (std::size_t i = 2 * m; i < 3 * m; ++i)
  {
    ASSERT_EQ(planar.warp[i], 0.0f);
  }
  EXPECT_EQ(planar.affine.matrix[2], 0);
  EXPECT_EQ(planar.affine.matrix[8], 1);
  EXPECT_LT(planar.levels.back().lastValue, planar.levels.back().firstValue);
}

TEST(Registration, DeformableStagesKeepWhatTheyPromisePerVoxelAboveTheImages)
{
  SKIP_IF_SANITIZED();
  StartThreads();
  const struct
  {
    Kind   kind;
    double floats;
    bool   ofEdges;
  } cases[] = {
    { Kind::Greedy, 7.5, false }, { Kind::SyN, 10.5, false }, { Kind::Greedy, 9.5, true }, { Kind::SyN, 12.5, true }
  };
  for (const auto & c : cases)
  {
    double before = 0;
    for (const std::int64_t planes : { 80, 160 }) // windows of planes are 64 planes and halos here
    {
      const Extent      size{ 128, 128, planes };
      const TestImage   fixed(size, Isotropic, KnownWarp);
      const TestImage   moving(size, Isotropic, Same);
      RegistrationStage stage = GreedyStage();
      stage.kind = c.kind;
      stage.metrics.front().ofEdges = c.ofEdges;
      stage.shrinkFactors = { 1 };
      stage.iterations = { 2 };
      const double bytes = double(MeasurePeakAllocation([&] {
        RunStages({ { fixed.Placed(), moving.Placed(), {}, {} } }, { stage });
      }));
      // per voxel that was added: what is there once, like windows of planes, does not count
      if (before > 0)
      {
        EXPECT_LE((bytes - before) / 4 / (128 * 128 * 80), c.floats);
      }
      before = bytes;
    }
  }
}

TEST(Registration, ReportsProgressAndCanBeStopped)
{
  const TestImage   fixed(FixedSize, Isotropic, KnownWarp);
  const TestImage   moving(FixedSize, Isotropic, Same);
  RegistrationStage stage = GreedyStage();
  stage.iterations = { 6, 4 };
  stage.tolerance = -1; // all of them
  const auto backend = MakeCpuBackend(2);
  const auto self = MakeSelfCommunicator();
  int        calls = 0;
  double     fraction = 0;
  Register(*backend,
           *self,
           { { fixed.Placed(), moving.Placed(), {}, {} } },
           AffineMap(),
           { stage },
           [&](const RegistrationProgress & p) {
             calls += p.isEnd ? 0 : 1;
             EXPECT_GT(p.fraction, fraction);
             EXPECT_LE(p.step, 0.25 + 1e-6); // learning rate times half a voxel
             fraction = p.fraction;
             return true;
           });
  EXPECT_EQ(calls, 10);
  EXPECT_DOUBLE_EQ(fraction, 1);
  calls = 0;
  EXPECT_THROW(Register(*backend,
                        *self,
                        { { fixed.Placed(), moving.Placed(), {}, {} } },
                        AffineMap(),
                        { stage },
                        [&](const RegistrationProgress &) { return ++calls < 3; }),
               RegistrationAborted);
  EXPECT_EQ(calls, 3);
}

TEST(Registration, CanBeStoppedWhileTheWarpAndItsInverseAreBroughtTogether)
{
  const TestImage   fixed(FixedSize, Isotropic, KnownWarp);
  const TestImage   moving(FixedSize, Isotropic, Same);
  RegistrationStage stage = GreedyStage();
  stage.iterations = { 6, 4 };
  const auto backend = MakeCpuBackend(2);
  const auto self = MakeSelfCommunicator();
  int        calls = 0;
  EXPECT_THROW(Register(*backend,
                        *self,
                        { { fixed.Placed(), moving.Placed(), {}, {} } },
                        AffineMap(),
                        { stage },
                        [&](const RegistrationProgress & p) {
                          calls += p.isEnd ? 1 : 0;
                          return !p.isEnd;
                        }),
               RegistrationAborted);
  EXPECT_EQ(calls, 1);
}

TEST(Registration, RefusesWhatCannotBeRegistered)
{
  const TestImage fixed(FixedSize, Isotropic, Same);
  TestImage       constant = fixed;
  std::fill(constant.voxels.values.begin(), constant.voxels.values.end(), 3.0f);
  EXPECT_THROW(RunStages({ { fixed.Placed(), constant.Placed(), {}, {} } }, { GreedyStage() }), std::invalid_argument);
  EXPECT_THROW(RunStages({}, { GreedyStage() }), std::invalid_argument);
  EXPECT_THROW(RunStages({ { fixed.Placed(), fixed.Placed(), {}, {} } }, {}), std::invalid_argument);
  RegistrationStage stage = GreedyStage();
  stage.shrinkFactors = { 1, 2 }; // rising
  EXPECT_THROW(RunStages({ { fixed.Placed(), fixed.Placed(), {}, {} } }, { stage }), std::invalid_argument);
  TestImage away = fixed;
  away.indexToPhysical.offset[1] += 500;
  EXPECT_THROW(RunStages({ { fixed.Placed(), away.Placed(), {}, {} } }, { GreedyStage() }), std::invalid_argument);
  stage = GreedyStage();
  stage.smoothingSigmas = { 1 }; // one for two levels
  EXPECT_THROW(RunStages({ { fixed.Placed(), fixed.Placed(), {}, {} } }, { stage }), std::invalid_argument);
}

/** Each image has its slices along another axis; the second pair is oblique, too. */
TEST(Registration, ThickSlices)
{
  const TestImage thick({ 56, 50, 15 }, { { 1, 1, 3 } }, KnownWarp);
  const TestImage across({ 56, 17, 44 }, { { 1, 3, 1 } }, Same);
  TestImage       oblique = TurnedImage({ 60, 17, 60 }, 30, Same); // its second axis stays where it is
  {
    const TestImage fine = TurnedImage({ 60, 51, 60 }, 30, Same);
    oblique.indexToPhysical = Compose(fine.indexToPhysical, AffineMap{ { 1, 0, 0, 0, 3, 0, 0, 0, 1 }, { 0, 1, 0 } });
    for (std::int64_t i = 0; i < oblique.voxels.domain.Voxels(); ++i)
    {
      oblique.voxels.values[std::size_t(i)] = fine.voxels.At(i % 60, 3 * (i / 60 % 17) + 1, i / 60 / 17);
    }
  }
  RegistrationStage bySpacing = GreedyStage(), alone = GreedyStage();
  bySpacing.smallestSize = alone.smallestSize = 6; // a factor of 2 would leave 7 slices
  bySpacing.shrinkFactors = { ShrinkFactor::BySpacing(2), ShrinkFactor::BySpacing(1) };
  alone.shrinkFactors = { 1, 1 };
  for (const TestImage * moving : { &across, &std::as_const(oblique) })
  {
    const auto run = [&](const RegistrationStage & stage) {
      return RunStages({ { thick.Placed(), moving->Placed(), {}, {} } },
                       { LinearStage(Kind::Rigid, Metric::LocalCorrelation), stage });
    };
    const RegistrationResult result = run(bySpacing);
    ASSERT_EQ(result.levels.size(), 4u);
    EXPECT_EQ(result.levels[2].size, (Extent{ 28, 25, 15 }));
    EXPECT_GT(result.smallestJacobian, 0);
    RegistrationResult none = result;
    std::fill(none.warp.begin(), none.warp.end(), 0.0f);
    EXPECT_LT(WarpError(result, thick), 0.8 * WarpError(none, thick));       // between slices nothing is seen
    EXPECT_LT(WarpError(result, thick), 1.1 * WarpError(run(alone), thick)); // the coarse level loses nothing
  }
}

TEST(Registration, LevelsThatAreTooSmallAreLeftOutWithANote)
{
  const TestImage   fixed(FixedSize, Isotropic, KnownWarp);
  const TestImage   moving(FixedSize, Isotropic, Same);
  RegistrationStage stage = GreedyStage();
  stage.shrinkFactors = { 16, 8, 2 };
  stage.iterations = { 2, 2, 2 };
  const auto result = RunStages({ { fixed.Placed(), moving.Placed(), {}, {} } }, { stage });
  EXPECT_EQ(result.levels.size(), 2u);
  EXPECT_EQ(result.notes.size(), 1u);
  EXPECT_EQ(result.warpSize, FixedSize); // although the last level is at half the resolution
}
