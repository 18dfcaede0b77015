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
#include "ffdpLocalCorrelation.h"
#include "ffdpRegistration.h"

#include "ffdpRegistrationTestSupport.h"

#include <limits>

using namespace ffdp;
using namespace ffdp::test;

namespace
{

/** A map in mm, by default KnownWarp, as a warp in voxels of the fixed image. */
template <typename TMap = decltype(KnownWarp)>
std::vector<float>
WarpInVoxels(const TestImage & fixed, const TMap & map = KnownWarp)
{
  const Extent &     size = fixed.voxels.domain;
  const auto         n = std::size_t(size.Voxels());
  const AffineMap    toIndex = fixed.indexToPhysical.Inverse();
  std::vector<float> warp(3 * n);
  for (std::size_t i = 0; i < n; ++i)
  {
    const std::array<double, 3> x{ { double(std::int64_t(i) % size.x),
                                     double(std::int64_t(i) / size.x % size.y),
                                     double(std::int64_t(i) / size.x / size.y) } };
    const auto                  moved = toIndex(map(fixed.indexToPhysical(x)));
    for (std::size_t c = 0; c < 3; ++c)
    {
      warp[c * n + i] = float(moved[c] - x[c]);
    }
  }
  return warp;
}

RegistrationResult
RunFrom(const RegistrationStart &              start,
        const TestImage &                      fixed,
        const TestImage &                      moving,
        const std::vector<RegistrationStage> & stages)
{
  const auto backend = MakeCpuBackend(2);
  const auto self = MakeSelfCommunicator();
  return Register(*backend, *self, { { fixed.Placed(), moving.Placed(), {}, {} } }, start, stages);
}

} // namespace

TEST(RegistrationStages, ALinearStageAfterAWarpMovesOnlyTheMap)
{
  SKIP_IF_SANITIZED();
  // phi = map o KnownWarp, the warp is given: only the map is to be found
  const AffineMap map{ { 1.05, 0.05, 0, -0.04, 0.96, 0.04, 0.02, 0, 1.03 }, { 1.5, -1, 2 } };
  const TestImage fixed(FixedSize, Isotropic, KnownWarp);
  const TestImage moving({ 64, 60, 52 }, Isotropic, [&](const std::array<double, 3> & p) { return map.Inverse()(p); });
  const std::vector<float> known = WarpInVoxels(fixed);
  RegistrationStart        start;
  start.warp = WarpView<const float>::Planar(known.data(), FixedSize);
  for (const Metric metric : { Metric::LocalCorrelation, Metric::MeanSquares })
  {
    const auto result = RunFrom(start, fixed, moving, { LinearStage(Kind::Affine, metric) });
    EXPECT_GT(MapError(AffineMap(), map), 2.5);
    EXPECT_LT(MapError(result.affine, map), 0.4) << int(metric);
    EXPECT_TRUE(SameBytes(result.warp, known)); // it stays as it was
  }
  // and with the warp left out of the problem the map cannot be found as well
  const auto without = RunFrom(RegistrationStart(), fixed, moving, { LinearStage(Kind::Affine, Metric::MeanSquares) });
  EXPECT_GT(MapError(without.affine, map), 0.6);
}

TEST(RegistrationStages, DeformableStagesFollowEachOtherInAnyOrder)
{
  SKIP_IF_SANITIZED();
  const TestImage   fixed(FixedSize, Isotropic, KnownWarp);
  const TestImage   moving(FixedSize, Isotropic, Same);
  RegistrationStage first = GreedyStage();
  first.iterations = { 60, 5 };
  RegistrationStage second = GreedyStage();
  second.shrinkFactors = { 1 };
  second.iterations = { 30 };
  for (const auto & kinds : { std::make_pair(Kind::Greedy, Kind::SyN), std::make_pair(Kind::SyN, Kind::Greedy) })
  {
    first.kind = kinds.first;
    second.kind = kinds.second;
    const auto alone = RunStages({ { fixed.Placed(), moving.Placed(), {}, {} } }, { first });
    const auto both = RunStages({ { fixed.Placed(), moving.Placed(), {}, {} } }, { first, second });
    const auto fresh = RunStages({ { fixed.Placed(), moving.Placed(), {}, {} } }, { second });
    // The second goes on from where the first ended, and keeps what was gained. It need not lower the loss further:
    // greedy and SyN look at the images in different spaces, and go by different gradients. (The last value is that
    // before the last step.)
    EXPECT_NEAR(both.levels.back().firstValue, alone.levels.back().lastValue, 0.02);
    EXPECT_LT(both.levels.back().firstValue, fresh.levels.front().firstValue - 0.05);
    EXPECT_LT(both.levels.back().lastValue, alone.levels.back().lastValue + 0.01);
    EXPECT_LT(WarpError(both, fixed), 0.5);
    EXPECT_NE(both.warp, alone.warp);
    EXPECT_EQ(both.folds, 0);
    EXPECT_TRUE(both.notes.empty());
  }
  // what starts coarser than the warp that it starts from says so
  second.shrinkFactors = { 2 };
  EXPECT_EQ(RunStages({ { fixed.Placed(), moving.Placed(), {}, {} } }, { first, second }).notes.size(), 1u);
}

/** The cosine of the angle between two warps. */
double
Agreement(const std::vector<float> & a, const std::vector<float> & b)
{
  double product = 0, squares[2] = { 0, 0 };
  for (std::size_t i = 0; i < a.size(); ++i)
  {
    product += double(a[i]) * double(b[i]);
    squares[0] += double(a[i]) * double(a[i]);
    squares[1] += double(b[i]) * double(b[i]);
  }
  return product / std::sqrt(squares[0] * squares[1]);
}

TEST(RegistrationStages, SlopesOfImagesPointTheSameWay)
{
  const TestImage fixed(FixedSize, Isotropic, KnownWarp);
  const TestImage moving(FixedSize, Isotropic, Same);
  for (const Kind kind : { Kind::Greedy, Kind::SyN })
  {
    RegistrationStage stage = GreedyStage();
    stage.kind = kind;
    stage.shrinkFactors = { 1 };
    stage.iterations = { 1 };
    const auto step = [&](double ofMoved, double ofFixed) {
      stage.metrics.front().movedSlope = ofMoved;
      stage.metrics.front().fixedSlope = ofFixed;
      return RunStages({ { fixed.Placed(), moving.Placed(), {}, {} } }, { stage }).warp;
    };
    const std::vector<float> sampled = step(0, 0), withMoved = step(1, 0), withFixed = step(0, 1);
    EXPECT_NE(sampled, withMoved);
    EXPECT_GT(Agreement(sampled, withMoved), 0.8); // with the wrong sign, the two nearly cancel
    EXPECT_GT(Agreement(sampled, withFixed), 0.8);
    EXPECT_EQ(sampled == withFixed, kind == Kind::SyN); // where the fixed image moves, it has its part already
    for (const double wrong : { -0.1, 1.1, double(NAN) })
    {
      EXPECT_THROW(step(wrong, 0), std::invalid_argument);
      EXPECT_THROW(step(0, wrong), std::invalid_argument);
    }
  }
}

/** A step is composed with the warp. Where this turns the image by more than a right angle, the slope of the moving
 * image where it is sampled points away from where to go. */
TEST(RegistrationStages, TheSlopeOfTheMovedImageKnowsWhatTheWarpTurns)
{
  SKIP_IF_SANITIZED();
  const AffineMap          map = SomeMap(2.1, 1, { { 0, 0, 0 } }); // 120 degrees
  const TestImage          fixed(FixedSize, Isotropic, KnownWarp);
  const TestImage          moving({ 64, 64, 44 }, Isotropic, map.Inverse());
  const std::vector<float> turn = WarpInVoxels(fixed, map);
  RegistrationStart        start;
  start.warp = WarpView<const float>::Planar(turn.data(), FixedSize);
  RegistrationStage stage = GreedyStage();
  stage.shrinkFactors = { 1 };
  stage.iterations = { 12 };
  stage.warpSigma = 0; // it would round off the turn at the border
  const auto gain = [&](double slope) {
    stage.metrics.front().movedSlope = slope;
    stage.metrics.front().fixedSlope = 0;
    const auto level = RunFrom(start, fixed, moving, { stage }).levels.back();
    return level.firstValue - level.lastValue;
  };
  const double sampled = gain(0), moved = gain(1);
  EXPECT_GT(moved, 0.05);
  EXPECT_LT(sampled, 0);
}

/** One pair moves along x, by local correlation, and one along y. How a step is divided between the two is what their
 * weights say, however many slopes the first goes by. */
TEST(RegistrationStages, SlopesDoNotAddToTheWeightOfAMetric)
{
  const Extent size{ 40, 40, 24 };
  const auto   waves = [&](int axis, double shift) {
    TestImage image(size, Isotropic, Same);
    for (std::int64_t i = 0; i < size.Voxels(); ++i)
    {
      const std::int64_t at = axis == 0 ? i % size.x : i / size.x % size.y;
      image.voxels.values[std::size_t(i)] = float(std::sin((double(at) + shift) / 4));
    }
    return image;
  };
  const TestImage   fixed[] = { waves(0, 0), waves(1, 0) }, moving[] = { waves(0, 0.6), waves(1, 0.6) };
  RegistrationStage stage = GreedyStage();
  stage.shrinkFactors = { 1 };
  stage.iterations = { 1 };
  stage.metrics.resize(2);
  stage.metrics[1].kind = Metric::MeanSquares;
  stage.metrics[1].pair = 1;
  for (const Kind kind : { Kind::Greedy, Kind::SyN })
  {
    stage.kind = kind;
    const auto share = [&](double moved, double ofFixed) {
      stage.metrics[0].movedSlope = moved;
      stage.metrics[0].fixedSlope = ofFixed;
      const auto result = RunStages(
        { { fixed[0].Placed(), moving[0].Placed(), {}, {} }, { fixed[1].Placed(), moving[1].Placed(), {}, {} } },
        { stage });
      const auto n = std::size_t(size.Voxels());
      double     length[2] = { 0, 0 };
      for (std::size_t i = 0; i < n; ++i)
      {
        length[0] += std::abs(double(result.warp[i]));
        length[1] += std::abs(double(result.warp[n + i]));
      }
      return length[0] / length[1];
    };
    const double sampled = share(0, 0);
    EXPECT_NEAR(share(1, 0) / sampled, 1, 0.1) << int(kind); // 2 if slopes added to the weight
    EXPECT_NEAR(share(1, 0.5) / sampled, 1, 0.1) << int(kind);
  }
}

/** What only one image shows pulls the warp less, the higher the power. */
TEST(RegistrationStages, APowerOfTheCorrelationTrustsWindowsThatFit)
{
  SKIP_IF_SANITIZED();
  const TestImage fixed(FixedSize, Isotropic, KnownWarp);
  TestImage       moving(FixedSize, Isotropic, Same);
  for (const auto & lesion : { Extent{ 22, 18, 16 }, Extent{ 34, 30, 28 }, Extent{ 30, 20, 24 } })
    for (std::int64_t z = -4; z <= 4; ++z)
      for (std::int64_t y = -4; y <= 4; ++y)
        for (std::int64_t x = -4; x <= 4; ++x)
        {
          const double r = double(x * x + y * y + z * z) / 16;
          moving.voxels.At(lesion.x + x, lesion.y + y, lesion.z + z) += r < 1 ? float(90 * (1 - r)) : 0.0f;
        }
  RegistrationStage stage = GreedyStage();
  const auto        error = [&](int power) {
    stage.metrics.front().power = power;
    return WarpError(RunStages({ { fixed.Placed(), moving.Placed(), {}, {} } }, { stage }), fixed);
  };
  const double plain = error(1), raised = error(RegistrationMetric::WarpPower);
  EXPECT_LT(raised, 0.9 * plain);
}

/** As from another scanner: what is dark, between and bright in one image is in no order in the other, and its
 * brightness drifts. */
TEST(RegistrationStages, EdgesFindWarpsWhereContrastsDiffer)
{
  SKIP_IF_SANITIZED();
  const TestImage fixed(FixedSize, Isotropic, KnownWarp);
  TestImage       moving(FixedSize, Isotropic, Same);
  const Extent &  size = FixedSize;
  for (std::int64_t i = 0; i < size.Voxels(); ++i)
  {
    float & value = moving.voxels.values[std::size_t(i)];
    value = float(80 * (1 + std::cos(double(value) / 25)) * (1 + 0.5 * double(i % size.x) / double(size.x)));
  }
  RegistrationStage  stage = GreedyStage();
  const auto         run = [&] { return RunStages({ { fixed.Placed(), moving.Placed(), {}, {} } }, { stage }); };
  RegistrationResult ofImages = run();
  stage.metrics.front().ofEdges = true;
  const double ofEdges = WarpError(run(), fixed);
  EXPECT_LT(ofEdges, 0.7 * WarpError(ofImages, fixed));
  std::fill(ofImages.warp.begin(), ofImages.warp.end(), 0.0f);
  EXPECT_LT(ofEdges, 0.6 * WarpError(ofImages, fixed)); // of what there is without a warp
}

TEST(RegistrationStages, EdgesAreNotForMomentsNorForPairsThatThereAreNot)
{
  const TestImage   image({ 20, 20, 20 }, Isotropic, Same);
  RegistrationStage stage = GreedyStage();
  stage.metrics.front().ofEdges = true;
  stage.metrics.front().pair = 1;
  EXPECT_THROW(RunStages({ { image.Placed(), image.Placed(), {}, {} } }, { stage }), std::invalid_argument);
  stage.metrics.front().pair = 0;
  stage.kind = Kind::Moments;
  EXPECT_THROW(RunStages({ { image.Placed(), image.Placed(), {}, {} } }, { stage }), std::invalid_argument);
}

TEST(RegistrationStages, ThePowerOfTheCorrelationSuitsTheStage)
{
  const TestImage fixed(FixedSize, Isotropic, KnownWarp);
  const TestImage moving(FixedSize, Isotropic, Same);
  const auto      loss = [&](RegistrationStage stage, int power) {
    stage.shrinkFactors = { 2 };
    stage.iterations = { 1 };
    stage.metrics.front().power = power;
    return RunStages({ { fixed.Placed(), moving.Placed(), {}, {} } }, { stage }).levels.front().firstValue;
  };
  const RegistrationStage affine = LinearStage(Kind::Affine, Metric::LocalCorrelation);
  RegistrationStage       syn = GreedyStage();
  syn.kind = Kind::SyN;
  EXPECT_EQ(loss(GreedyStage(), 0), loss(GreedyStage(), RegistrationMetric::WarpPower));
  EXPECT_EQ(loss(syn, 0), loss(syn, RegistrationMetric::WarpPower));
  EXPECT_EQ(loss(affine, 0), loss(affine, 1));
  EXPECT_GT(loss(affine, 3), loss(affine, 1)); // all correlations are below 1
  EXPECT_THROW(loss(affine, -1), std::invalid_argument);
  EXPECT_THROW(loss(GreedyStage(), MostCorrelationPower + 1), std::invalid_argument);
}

TEST(RegistrationStages, AGreedyStageStartsFromAGivenWarp)
{
  const TestImage          fixed(FixedSize, Isotropic, KnownWarp);
  const TestImage          moving(FixedSize, Isotropic, Same);
  const std::vector<float> known = WarpInVoxels(fixed);
  RegistrationStart        start;
  start.warp = WarpView<const float>::Planar(known.data(), FixedSize);
  RegistrationStage stage = GreedyStage();
  stage.shrinkFactors = { 1 };
  stage.iterations = { 1 };
  for (const Kind kind : { Kind::Greedy, Kind::SyN })
  {
    stage.kind = kind;
    const auto near = RunFrom(start, fixed, moving, { stage });
    const auto far = RunFrom(RegistrationStart(), fixed, moving, { stage });
    EXPECT_LT(near.levels[0].firstValue, far.levels[0].firstValue - 0.05);
  }
  start.warp = WarpView<const float>::Planar(known.data(), { FixedSize.x, FixedSize.y, FixedSize.z - 1 });
  EXPECT_THROW(RunFrom(start, fixed, moving, { stage }), std::invalid_argument);
}

TEST(RegistrationStages, FoldsAreIronedOut)
{
  SKIP_IF_SANITIZED();
  const TestImage   fixed(FixedSize, Isotropic, KnownWarp);
  const TestImage   moving(FixedSize, Isotropic, Same);
  RegistrationStage rough = GreedyStage(); // long steps and no smoothing of the warp: it folds
  rough.learningRate = 1.5;
  rough.warpSigma = 0;
  rough.gradientSigma = 0.7;
  const auto result = RunStages({ { fixed.Placed(), moving.Placed(), {}, {} } }, { rough });
  EXPECT_GT(result.ironed, 0);
  EXPECT_EQ(result.folds, 0);
  EXPECT_GE(result.smallestJacobian, 0.05 - 1e-6);
  EXPECT_EQ(RunStages({ { fixed.Placed(), moving.Placed(), {}, {} } }, { GreedyStage() }).ironed, 0);
}

TEST(RegistrationStages, MomentsFindOrientationsThatAreFarAway)
{
  SKIP_IF_SANITIZED();
  // 170 degrees about one axis and 90 about another: far outside the grid of small rotations
  const double    c = std::cos(170 * std::acos(-1.0) / 180), s = std::sin(170 * std::acos(-1.0) / 180);
  const AffineMap turn =
    Compose(AffineMap{ { 1, 0, 0, 0, 0, -1, 0, 1, 0 }, {} }, AffineMap{ { c, -s, 0, s, c, 0, 0, 0, 1 }, {} });
  const TestImage   fixed({ 64, 64, 64 }, Isotropic, turn);
  const TestImage   moving({ 64, 64, 64 }, Isotropic, Same);
  RegistrationStage moments;
  moments.kind = Kind::Moments;
  moments.metrics.front().kind = Metric::MutualInformation;
  const auto rigid = LinearStage(Kind::Rigid, Metric::MutualInformation);
  const auto result = RunStages({ { fixed.Placed(), moving.Placed(), {}, {} } }, { moments, rigid });
  EXPECT_LT(MapError(result.affine, turn), 0.5);

  // in the plane, upside down
  const AffineMap over{ { -1, 0, 0, 0, -1, 0, 0, 0, 1 }, {} };
  const Extent    flat{ 56, 50, 1 };
  const TestImage fixed2(flat, Isotropic, over), moving2(flat, Isotropic, Same);
  const auto      planar = RunStages({ { fixed2.Placed(), moving2.Placed(), {}, {} } }, { moments, rigid });
  EXPECT_NEAR(planar.affine.matrix[0], -1, 0.02);
  EXPECT_NEAR(planar.affine.matrix[4], -1, 0.02);
  EXPECT_EQ(planar.affine.matrix[8], 1);
}

TEST(RegistrationStages, MomentsWithoutAnAngleKeepTheOrientation)
{
  const AffineMap   shift = SomeMap(0, 1, { { 9, -7, 5 } });
  const TestImage   fixed(FixedSize, Isotropic, Compose(SomeMap(0.4, 1, {}), shift));
  const TestImage   moving(FixedSize, Isotropic, Same);
  RegistrationStage moments;
  moments.kind = Kind::Moments;
  moments.metrics.front().kind = Metric::MutualInformation;
  moments.searchAngle = 0;
  for (const double angle : { 0.0, 0.2 })
  {
    RegistrationStart start;
    start.affine = SomeMap(angle, 1, {});
    const auto self = MakeSelfCommunicator();
    const auto result =
      Register(*MakeCpuBackend(1), *self, { { fixed.Placed(), moving.Placed(), {}, {} } }, start, { moments });
    EXPECT_TRUE(std::equal(result.affine.matrix, result.affine.matrix + 9, start.affine.matrix)) << angle;
    // where the middle of the organ is in the fixed image, whatever the orientation
    const std::array<double, 3> center = result.affine({ { -9, 7, -5 } });
    EXPECT_LT(std::hypot(center[0], center[1], center[2]), 3) << angle;
  }
}

TEST(RegistrationStages, SmallMovingImagesKeepSomeVoxels)
{
  const TestImage   fixed({ 128, 128, 96 }, { { 0.4, 0.4, 0.4 } }, SomeMap(0, 1, { { 1, 0, -1 } }));
  const TestImage   moving({ 10, 10, 10 }, { { 0.4, 0.4, 0.4 } }, Same);
  RegistrationStage rigid = LinearStage(Kind::Rigid, Metric::MutualInformation);
  rigid.shrinkFactors = { 8, 4 };
  EXPECT_NO_THROW(RunStages({ { fixed.Placed(), moving.Placed(), {}, {} } }, { rigid }));
}

TEST(RegistrationStages, RefuseNumbersThatMeanNothing)
{
  const double    nan = std::numeric_limits<double>::quiet_NaN();
  TestImage       fixed(FixedSize, Isotropic, KnownWarp);
  const TestImage moving(FixedSize, Isotropic, Same);
  const auto      run = [&](const RegistrationStage & stage) {
    return RunStages({ { fixed.Placed(), moving.Placed(), {}, {} } }, { stage });
  };
  for (const Kind kind : { Kind::Rigid, Kind::Greedy })
  {
    for (const double number : { 0.0, -1.0, nan })
    {
      RegistrationStage stage = GreedyStage();
      stage.kind = kind;
      stage.iterations = { 1, 1 };
      stage.learningRate = number;
      EXPECT_THROW(run(stage), std::invalid_argument) << number;
      stage.learningRate = 0.5;
      stage.metrics.front().weight = number;
      EXPECT_THROW(run(stage), std::invalid_argument) << number;
      stage.metrics.front().weight = 1;
      EXPECT_NO_THROW(run(stage));
    }
  }
  fixed.voxels.At(3, 4, 5) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(run(LinearStage(Kind::Rigid, Metric::MutualInformation)), std::invalid_argument);
}

TEST(RegistrationStages, SmoothingOfLevelsAndSigmasInMmMeanWhatTheySay)
{
  // Twice the spacing and twice the millimeters is the same problem in voxels.
  const TestImage fixed(FixedSize, Isotropic, KnownWarp), moving(FixedSize, Isotropic, Same);
  TestImage       wideFixed = fixed, wideMoving = moving;
  for (TestImage * image : { &wideFixed, &wideMoving })
  {
    for (double & m : image->indexToPhysical.matrix)
    {
      m *= 2;
    }
    for (double & t : image->indexToPhysical.offset)
    {
      t *= 2;
    }
  }
  RegistrationStage voxels = GreedyStage();
  voxels.shrinkFactors = { 1 };
  voxels.iterations = { 3 };
  voxels.smoothingSigmas = { 1 };
  RegistrationStage mm = voxels;
  mm.smoothingInMm = mm.sigmasInMm = true;
  mm.smoothingSigmas = { 2 };
  mm.gradientSigma = 2 * voxels.gradientSigma;
  mm.warpSigma = 2 * voxels.warpSigma;
  const auto inVoxels = RunStages({ { fixed.Placed(), moving.Placed(), {}, {} } }, { voxels });
  const auto inMm = RunStages({ { wideFixed.Placed(), wideMoving.Placed(), {}, {} } }, { mm });
  EXPECT_LT(MaxDifference(inVoxels.warp, inMm.warp), 1e-4);
  voxels.smoothingSigmas = { 0 };
  EXPECT_GT(MaxDifference(RunStages({ { fixed.Placed(), moving.Placed(), {}, {} } }, { voxels }).warp, inMm.warp),
            1e-2);
}

TEST(RegistrationStages, ImagesThatAreTheSameButForRoundingAreLeftAlone)
{
  // What differs is far below the last digit of the rest, and so is the gradient.
  const Extent size{ 40, 36, 32 };
  TestImage    fixed(size, Isotropic, Same);
  for (std::int64_t i = 0; i < size.Voxels(); ++i)
  {
    const auto x = double(i % size.x), y = double(i / size.x % size.y);
    fixed.voxels.values[std::size_t(i)] = float(std::max(0.0, 1 - std::hypot(x - 20, y - 18) / 16));
  }
  TestImage moving = fixed;
  for (float & v : moving.voxels.values)
  {
    v += v == 0 ? 1e-22f : 0.0f;
  }
  for (const Kind kind : { Kind::Greedy, Kind::SyN })
  {
    RegistrationStage stage = GreedyStage();
    stage.kind = kind;
    stage.metrics.front().kind = Metric::MeanSquares;
    const auto result = RunStages({ { fixed.Placed(), moving.Placed(), {}, {} } }, { stage });
    EXPECT_LT(MaxMagnitude(result.warp), 0.01);
  }
}
