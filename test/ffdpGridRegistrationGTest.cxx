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
#include "ffdpPartition.h"
#include "ffdpRegistrationTestSupport.h"
#include "ffdpTestFolder.h"
#include "ffdpThreadRanks.h"
#include "ffdpWarpReference.h"


/** One registration over several ranks gives the bytes of one rank. Ranks are threads here. */
namespace ffdp
{
namespace test
{
namespace
{

/** The planes of a volume that a rank owns, in memory of their own: what reads beyond them is found. */
struct OwnedPlanes
{
  Volume<float> voxels;

  OwnedPlanes(const Volume<float> & whole, Communicator & communicator)
    : voxels(Cut(whole, Partition(whole.domain.z, communicator.Size()).Owned(communicator.Rank())))
  {}
  VolumeView<const float>
  View() const
  {
    VolumeView<const float> view = voxels.View();
    view.data = view.planes > 0 ? view.data : nullptr;
    return view;
  }

private:
  static Volume<float>
  Cut(const Volume<float> & whole, const PlaneRange & planes)
  {
    return whole.Slab(planes.first, planes.end);
  }
};

/** A pair of images, masks if there are some, and what to do with them. */
struct Problem
{
  std::vector<const TestImage *> fixed, moving;
  const Volume<float> *          fixedMask = nullptr;
  const Volume<float> *          movingMask = nullptr;
  RegistrationStart              start;
  const Volume<float> *          startWarp[3] = { nullptr, nullptr, nullptr };
  std::vector<RegistrationStage> stages;
};

using Observer = std::function<bool(const RegistrationProgress &)>;

RegistrationResult
RunOnRank(const Problem &                problem,
          Communicator &                 communicator,
          const Observer &               observer = {},
          const RegistrationCheckpoint & checkpoint = {})
{
  std::vector<std::unique_ptr<OwnedPlanes>> owned;
  const auto                                cut = [&](const Volume<float> & whole) {
    owned.push_back(std::make_unique<OwnedPlanes>(whole, communicator));
    return owned.back()->View();
  };
  std::vector<ImagePair> pairs;
  for (std::size_t i = 0; i < problem.fixed.size(); ++i)
  {
    ImagePair pair;
    pair.fixed = { cut(problem.fixed[i]->voxels), problem.fixed[i]->indexToPhysical };
    pair.moving = { cut(problem.moving[i]->voxels), problem.moving[i]->indexToPhysical };
    pair.fixedMask = problem.fixedMask ? cut(*problem.fixedMask) : VolumeView<const float>();
    pair.movingMask = problem.movingMask ? cut(*problem.movingMask) : VolumeView<const float>();
    pairs.push_back(pair);
  }
  RegistrationStart start = problem.start;
  if (problem.startWarp[0])
  {
    const VolumeView<const float> c[3] = { cut(*problem.startWarp[0]),
                                           cut(*problem.startWarp[1]),
                                           cut(*problem.startWarp[2]) };
    start.warp =
      WarpView<const float>::Planar(c[0].data, c[1].data, c[2].data, c[0].domain, c[0].firstPlane, c[0].planes);
  }
  const auto backend = MakeCpuBackend(1);
  return Register(*backend, communicator, pairs, start, problem.stages, observer, checkpoint);
}

/** A communicator that does what another does, but for halos: the paper's ablation. */
class WithoutHalos : public Communicator
{
public:
  explicit WithoutHalos(Communicator & other)
    : m_Other(other)
  {}
  int
  Rank() const override
  {
    return m_Other.Rank();
  }
  int
  Size() const override
  {
    return m_Other.Size();
  }
  void
  Maximum(double * values, std::size_t count) override
  {
    m_Other.Maximum(values, count);
  }
  void
  Sum(std::int64_t * values, std::size_t count) override
  {
    m_Other.Sum(values, count);
  }
  std::vector<double>
  Gather(const std::vector<double> & own) override
  {
    return m_Other.Gather(own);
  }
  std::unique_ptr<PendingTransfer>
  Start(const std::vector<Message> & sends, const std::vector<Message> & receives) override
  {
    return m_Other.Start(sends, receives);
  }
  bool
  ExchangesHalos() const override
  {
    return false;
  }
  std::uint64_t
  SentBytes() const override
  {
    return m_Other.SentBytes();
  }

private:
  Communicator & m_Other;
};

/** The slabs of all ranks put together. */
RegistrationResult
RunOnRanks(const Problem & problem, int ranks, bool withHalos = true, const RegistrationCheckpoint & checkpoint = {})
{
  std::vector<RegistrationResult> results(static_cast<std::size_t>(ranks));
  RunRanks(ranks, [&](Communicator & communicator) {
    WithoutHalos without(communicator);
    results[std::size_t(communicator.Rank())] = RunOnRank(problem, withHalos ? communicator : without, {}, checkpoint);
  });
  RegistrationResult whole = results.front();
  whole.warp.clear();
  whole.inverseWarp.clear();
  std::int64_t plane = 0;
  for (const RegistrationResult & part : results)
  {
    EXPECT_EQ(part.warpPlanes.first, part.hasWarp ? plane : 0);
    plane = part.warpPlanes.end;
    EXPECT_EQ(part.hasWarp, whole.hasWarp);
    EXPECT_EQ(part.inverseResidual, whole.inverseResidual);
    EXPECT_EQ(part.smallestJacobian, whole.smallestJacobian);
    EXPECT_EQ(part.folds, whole.folds);
    EXPECT_EQ(part.smallestInverseJacobian, whole.smallestInverseJacobian);
  }
  for (int c = 0; c < 3; ++c)
  {
    for (const RegistrationResult & part : results)
    {
      const auto count = std::ptrdiff_t(part.warp.size() / 3);
      whole.warp.insert(whole.warp.end(), part.warp.begin() + c * count, part.warp.begin() + (c + 1) * count);
      whole.inverseWarp.insert(
        whole.inverseWarp.end(), part.inverseWarp.begin() + c * count, part.inverseWarp.begin() + (c + 1) * count);
    }
  }
  return whole;
}

void
ExpectSameBytes(const RegistrationResult & a, const RegistrationResult & b, int ranks)
{
  for (int i = 0; i < 9; ++i)
  {
    EXPECT_EQ(a.affine.matrix[i], b.affine.matrix[i]) << ranks << " ranks, entry " << i;
  }
  for (int i = 0; i < 3; ++i)
  {
    EXPECT_EQ(a.affine.offset[i], b.affine.offset[i]) << ranks << " ranks, entry " << i;
  }
  EXPECT_EQ(a.warp == b.warp, true) << ranks << " ranks";
  EXPECT_EQ(a.inverseWarp == b.inverseWarp, true) << ranks << " ranks";
  EXPECT_EQ(a.smallestJacobian, b.smallestJacobian) << ranks << " ranks";
  EXPECT_EQ(a.inverseResidual, b.inverseResidual) << ranks << " ranks";
  EXPECT_EQ(a.folds, b.folds) << ranks << " ranks";
  EXPECT_EQ(a.smallestInverseJacobian, b.smallestInverseJacobian) << ranks << " ranks";
  EXPECT_EQ(a.inverseFolds, b.inverseFolds) << ranks << " ranks";
  EXPECT_EQ(a.ironed, b.ironed) << ranks << " ranks";
  ASSERT_EQ(a.levels.size(), b.levels.size()) << ranks << " ranks";
  for (std::size_t i = 0; i < a.levels.size(); ++i)
  {
    EXPECT_EQ(a.levels[i].iterations, b.levels[i].iterations) << ranks << " ranks, level " << i;
    EXPECT_EQ(a.levels[i].firstValue, b.levels[i].firstValue) << ranks << " ranks, level " << i;
    EXPECT_EQ(a.levels[i].lastValue, b.levels[i].lastValue) << ranks << " ranks, level " << i;
  }
}

/** Under a sanitizer with one number of ranks only: there is nothing else to see with another. */
void
ExpectSameForAllRanks(const Problem & problem, const std::vector<int> & numbers = { 2, 3, 4, 5, 8 })
{
  const RegistrationResult one = RunOnRanks(problem, 1);
  for (const int ranks : Sanitized ? std::vector<int>{ numbers.back() } : numbers)
  {
    ExpectSameBytes(one, RunOnRanks(problem, ranks), ranks);
  }
}

/** Where a run is stopped by one of its ranks, and how many go on. */
struct Stop
{
  int stage, level, iteration, ranks, ranksAfter;
};

void
ExpectSameForStops(const Problem & problem, const std::vector<Stop> & stops)
{
  const RegistrationResult undisturbed = RunOnRanks(problem, 1);
  for (const Stop & stop : stops)
  {
    const TestFolder       folder("grid-checkpoint");
    RegistrationCheckpoint checkpoint;
    checkpoint.directory = folder.Path();
    EXPECT_THROW(RunRanks(stop.ranks,
                          [&](Communicator & communicator) {
                            const int  last = communicator.Size() - 1;
                            const auto observe = [&](const RegistrationProgress & progress) {
                              return communicator.Rank() != last || progress.stage != stop.stage ||
                                     progress.level != stop.level || progress.iteration != stop.iteration;
                            };
                            RunOnRank(problem, communicator, observe, checkpoint);
                          }),
                 RegistrationAborted);
    ExpectSameBytes(undisturbed, RunOnRanks(problem, stop.ranksAfter, true, checkpoint), stop.ranksAfter);
  }
}

/** 67 planes are enough for eight slabs, thinner than some halos; the next level has four or less. */
const Extent LongSize{ 24, 21, 67 };
const Extent OtherSize{ 22, 25, 71 };

RegistrationStage
ShortStage(Kind kind, Metric metric)
{
  RegistrationStage stage;
  stage.kind = kind;
  stage.metrics.front().kind = metric;
  stage.shrinkFactors = { 2, 1 };
  stage.iterations = { 6, 4 };
  stage.tolerance = 0;
  stage.learningRate = 0.5;
  stage.gradientSigma = 1.7;
  stage.warpSigma = 0.5;
  return stage;
}

std::array<double, 3>
Bent(const std::array<double, 3> & p)
{
  return KnownWarp(SomeMap(0.1, 1.03, { { 0.5, -0.7, 1.5 } })(p));
}

struct GridRegistration : ::testing::Test
{
  TestImage fixed{ LongSize, { { 2, 2, 0.7 } }, Same };
  TestImage moving{ OtherSize, { { 2, 2, 0.7 } }, Bent };
  Problem   problem;

  void
  SetUp() override
  {
    problem.fixed = { &fixed };
    problem.moving = { &moving };
  }

  /** Little is done but to bring a warp that folds and its inverse together. */
  void
  StartFromWarpThatFolds()
  {
    for (int c = 0; c < 3; ++c)
    {
      problem.startWarp[c] = &steep.component[c];
    }
    RegistrationStage stage = ShortStage(Kind::Greedy, Metric::MeanSquares);
    stage.shrinkFactors = { 1 };
    stage.iterations = { 1 };
    stage.warpSigma = 0;
    problem.stages = { stage };
  }

private:
  const Warp<float> steep = SteepWarp(LongSize, 6, 2);
};

TEST_F(GridRegistration, Affine)
{
  for (const Metric metric : { Metric::LocalCorrelation, Metric::MutualInformation, Metric::MeanSquares })
  {
    problem.stages = { ShortStage(Kind::Affine, metric) };
    ExpectSameForAllRanks(problem);
  }
}

TEST_F(GridRegistration, MomentsAndRigid)
{
  RegistrationStage moments = ShortStage(Kind::Moments, Metric::MutualInformation);
  moments.searchAngle = 15;
  problem.stages = { moments, ShortStage(Kind::Rigid, Metric::LocalCorrelation) };
  ExpectSameForAllRanks(problem, { 2, 5 });
}

/** The first rank searches; any rank can stop it. */
TEST_F(GridRegistration, MomentsAreStoppedByAnyRank)
{
  RegistrationStage moments = ShortStage(Kind::Moments, Metric::MutualInformation);
  problem.stages = { moments, ShortStage(Kind::Rigid, Metric::LocalCorrelation) };
  EXPECT_THROW(RunRanks(3,
                        [&](Communicator & communicator) {
                          const auto observe = [&](const RegistrationProgress & progress) {
                            EXPECT_STREQ(progress.stageName, "moments");
                            EXPECT_LE(progress.iteration, 2);
                            return communicator.Rank() != 2 || progress.iteration != 2;
                          };
                          RunOnRank(problem, communicator, observe);
                        }),
               RegistrationAborted);
}

TEST_F(GridRegistration, GreedyWithLocalCorrelation)
{
  problem.stages = { ShortStage(Kind::Greedy, Metric::LocalCorrelation) };
  ExpectSameForAllRanks(problem);
}

TEST_F(GridRegistration, GreedyWithMutualInformation)
{
  problem.stages = { ShortStage(Kind::Greedy, Metric::MutualInformation) };
  ExpectSameForAllRanks(problem);
}

/** Steps are as long as the learning rate says with or without halos, but not where they should be. */
TEST_F(GridRegistration, DiffersWithoutHalos)
{
  for (const Kind kind : { Kind::Greedy, Kind::SyN })
  {
    problem.stages = { ShortStage(kind, Metric::LocalCorrelation) };
    const RegistrationResult one = RunOnRanks(problem, 1);
    const RegistrationResult same = RunOnRanks(problem, 1, false);
    const RegistrationResult other = RunOnRanks(problem, 4, false);
    EXPECT_EQ(one.warp == same.warp, true); // one rank has none to exchange
    double largest = 0, difference = 0;
    for (std::size_t i = 0; i < one.warp.size(); ++i)
    {
      largest = std::max(largest, double(std::abs(one.warp[i])));
      difference = std::max(difference, double(std::abs(one.warp[i] - other.warp[i])));
    }
    EXPECT_GT(largest, 0.5);
    EXPECT_GT(difference, 0.1);
  }
}

TEST_F(GridRegistration, SyN)
{
  problem.stages = { ShortStage(Kind::SyN, Metric::LocalCorrelation) };
  ExpectSameForAllRanks(problem);
}

/** Few and rough steps: the two warps of SyN move less than a voxel along z, and what is made of them is ironed. */
TEST_F(GridRegistration, RoughSyN)
{
  Volume<float> & voxels = moving.voxels;
  const auto      noise = RandomVolume(voxels.domain, 5, 0, 40);
  for (std::size_t i = 0; i < voxels.values.size(); ++i)
  {
    voxels.values[i] += noise.values[i];
  }
  RegistrationStage stage = ShortStage(Kind::SyN, Metric::LocalCorrelation);
  stage.metrics.front().radius = 2;
  stage.shrinkFactors = { 1 };
  stage.gradientSigma = 0.5;
  stage.warpSigma = 0;
  stage.learningRate = 1.2;
  for (const int iterations : { 1, 2 })
  {
    stage.iterations = { iterations };
    problem.stages = { stage };
    EXPECT_GT(RunOnRanks(problem, 1).ironed, 100);
    ExpectSameForAllRanks(problem);
  }
}

TEST_F(GridRegistration, ExactGradientWideSmoothingAndLongSteps)
{
  RegistrationStage stage = ShortStage(Kind::Greedy, Metric::LocalCorrelation);
  stage.metrics.front().exactGradient = true;
  stage.metrics.front().radius = 4;
  stage.gradientSigma = 5; // reaches beyond the slab of a neighbor
  stage.warpSigma = 2;
  stage.learningRate = 5;
  problem.stages = { stage };
  ExpectSameForAllRanks(problem, { 3, 8 });
}

TEST_F(GridRegistration, MasksAndSeveralMetrics)
{
  Volume<float> fixedMask(LongSize), movingMask(OtherSize);
  for (std::int64_t z = 0; z < LongSize.z; ++z)
    for (std::int64_t y = 0; y < LongSize.y; ++y)
      for (std::int64_t x = 0; x < LongSize.x; ++x)
      {
        fixedMask.At(x, y, z) = (x + y + z / 3) % 7 > 1 ? 1.0f : 0.0f;
      }
  std::fill(movingMask.values.begin(), movingMask.values.end(), 1.0f);
  std::fill_n(movingMask.values.begin(), movingMask.values.size() / 9, 0.0f);
  problem.fixedMask = &fixedMask;
  problem.movingMask = &movingMask;
  for (const Kind kind : { Kind::Affine, Kind::Greedy, Kind::SyN })
  {
    RegistrationStage stage = ShortStage(kind, Metric::LocalCorrelation);
    stage.metrics.resize(3, stage.metrics.front());
    stage.metrics[1].kind = Metric::MutualInformation;
    stage.metrics[1].weight = 0.5;
    stage.metrics[2].kind = Metric::MeanSquares;
    problem.stages = { stage };
    ExpectSameForAllRanks(problem, { 2, 5, 8 });
  }
}

/** In the second stage alone, and beside images as they are. */
TEST_F(GridRegistration, Edges)
{
  RegistrationStage affine = ShortStage(Kind::Affine, Metric::MutualInformation);
  for (const Kind kind : { Kind::Greedy, Kind::SyN })
  {
    RegistrationStage stage = ShortStage(kind, Metric::LocalCorrelation);
    stage.metrics.resize(2, stage.metrics.front());
    stage.metrics[0].ofEdges = true;
    stage.metrics[1].kind = Metric::MutualInformation;
    stage.metrics[1].weight = 0.1;
    problem.stages = { affine, stage, ShortStage(Kind::Affine, Metric::MeanSquares) };
    ExpectSameForAllRanks(problem, { 2, 5, 8 });
  }
}

TEST_F(GridRegistration, StepsThatLeaveNothingOfMasks)
{
  const auto    small = [](std::int64_t i, const Extent & size) { return i > size.z / 3 && i < 2 * size.z / 3; };
  Volume<float> fixedMask(LongSize), movingMask(OtherSize);
  for (Volume<float> * mask : { &fixedMask, &movingMask })
  {
    const Extent & size = mask->domain;
    for (std::int64_t i = 0; i < size.Voxels(); ++i)
    {
      mask->values[std::size_t(i)] = small(i / (size.x * size.y), size) ? 1.0f : 0.0f;
    }
  }
  problem.fixedMask = &fixedMask;
  problem.movingMask = &movingMask;
  for (const Metric metric : { Metric::LocalCorrelation, Metric::MutualInformation })
  {
    RegistrationStage stage = ShortStage(Kind::Rigid, metric);
    stage.learningRate = 60;
    problem.stages = { stage };
    ExpectSameForAllRanks(problem, { 2, 5 });
  }
}

TEST_F(GridRegistration, ImagesThatAreNotZeroOutside)
{
  TestImage fixedInside{ LongSize, { { 1, 1, 0.35 } }, Same }; // of the organ: what is outside is not compared
  TestImage movingInside{ OtherSize, { { 1, 1, 0.35 } }, Bent };
  for (TestImage * image : { &fixed, &moving, &fixedInside, &movingInside })
  {
    image->Add(-1000);
  }
  for (const bool isInside : { false, true })
  {
    problem.fixed = { isInside ? &fixedInside : &fixed };
    problem.moving = { isInside ? &movingInside : &moving };
    for (const Kind kind : { Kind::Affine, Kind::Greedy, Kind::SyN })
    {
      problem.stages = { ShortStage(kind, kind == Kind::SyN ? Metric::LocalCorrelation : Metric::MeanSquares) };
      ExpectSameForAllRanks(problem, { 2, 5, 8 });
    }
  }
}

TEST_F(GridRegistration, ImagesAcrossEachOtherThatAreNotZeroOutside)
{
  fixed.Add(-1000);
  moving.Add(-1000);
  // the last axis of one lies along the first of the other, so that samples come from the ring
  moving.indexToPhysical = Compose(AffineMap{ { 0, 0, 1, 0, 1, 0, -1, 0, 0 }, { 0, 0, 0 } }, moving.indexToPhysical);
  problem.stages = { ShortStage(Kind::Affine, Metric::MeanSquares), ShortStage(Kind::Greedy, Metric::MeanSquares) };
  ExpectSameForAllRanks(problem, { 2, 5 });
}

TEST_F(GridRegistration, StagesInAnyOrderFromAWarp)
{
  Volume<float> warp[3] = { Volume<float>(LongSize), Volume<float>(LongSize), Volume<float>(LongSize) };
  for (int c = 0; c < 3; ++c)
  {
    for (std::size_t i = 0; i < warp[c].values.size(); ++i)
    {
      warp[c].values[i] = float(0.8 * std::sin(double(i) / (900 + 200 * c)));
    }
    problem.startWarp[c] = &warp[c];
  }
  problem.start.affine = SomeMap(-0.05, 1, { { 1, 0, -1 } });
  problem.stages = { ShortStage(Kind::Affine, Metric::MeanSquares),
                     ShortStage(Kind::SyN, Metric::LocalCorrelation),
                     ShortStage(Kind::Similarity, Metric::MutualInformation),
                     ShortStage(Kind::Greedy, Metric::LocalCorrelation) };
  ExpectSameForAllRanks(problem, { 2, 5, 8 });
}

TEST_F(GridRegistration, SteepWarpsThatAreIronedToAgreeWithTheirInverses)
{
  this->StartFromWarpThatFolds();
  int        steps = 0; // of the end
  const auto count = [&steps](const RegistrationProgress & progress) {
    steps += progress.isEnd ? 1 : 0;
    return true;
  };
  const auto self = MakeSelfCommunicator();
  EXPECT_GT(RunOnRank(problem, *self, count).ironed, 0);
  EXPECT_GT(steps, 12); // the inverse follows the warp at once only after eight passes
  ExpectSameForAllRanks(problem);
}

/** The moving image is stored with its axes in another order: every slab of the one reaches all slabs of the other. */
TEST_F(GridRegistration, AxesThatLieAcrossEachOther)
{
  const Extent size{ 67, 24, 64 };
  TestImage    across(size, { { 0.7, 2, 0.75 } }, Same);
  AffineMap    turned = across.indexToPhysical; // index (i, j, k) lies at (k, j, i) of space
  std::swap(turned.matrix[0], turned.matrix[6]);
  std::swap(turned.matrix[8], turned.matrix[2]);
  std::swap(turned.offset[0], turned.offset[2]);
  for (std::int64_t z = 0; z < size.z; ++z)
    for (std::int64_t y = 0; y < size.y; ++y)
      for (std::int64_t x = 0; x < size.x; ++x)
      {
        across.voxels.At(x, y, z) = float(Phantom(Bent(turned({ { double(x), double(y), double(z) } }))));
      }
  across.indexToPhysical = turned;
  problem.moving = { &across };
  Volume<float> mask(size);
  std::fill(mask.values.begin(), mask.values.end(), 1.0f);
  std::fill_n(mask.values.begin(), mask.values.size() / 5, 0.0f);
  problem.movingMask = &mask;
  for (const Kind kind : { Kind::Affine, Kind::Greedy, Kind::SyN })
  {
    RegistrationStage stage = ShortStage(kind, Metric::LocalCorrelation);
    stage.metrics.resize(2, stage.metrics.front());
    stage.metrics[1].kind = Metric::MutualInformation;
    problem.stages = { stage };
    ExpectSameForAllRanks(problem, { 2, 5, 8 });
  }
}

/** Sizes of levels by spacing follow from the whole image: a slab of it would be as thick as it is wide. */
TEST_F(GridRegistration, ThickSlices)
{
  const TestImage thick({ 56, 50, 15 }, { { 1, 1, 3 } }, Same);
  const TestImage slicesAlongY({ 54, 17, 52 }, { { 1, 3, 1 } }, Bent);
  problem.fixed = { &thick };
  for (const TestImage * image : { &slicesAlongY, &std::as_const(moving) })
  {
    problem.moving = { image };
    for (const Kind kind : { Kind::Affine, Kind::Greedy })
    {
      RegistrationStage stage = ShortStage(kind, Metric::LocalCorrelation);
      stage.shrinkFactors = { ShrinkFactor::BySpacing(2), { 2, 1, 1 } };
      stage.smallestSize = 6; // a factor of 2 would leave 7 slices
      problem.stages = { stage };
      const auto self = MakeSelfCommunicator();
      EXPECT_EQ(RunOnRank(problem, *self).levels.at(0).size, (Extent{ 28, 25, 15 }));
      ExpectSameForAllRanks(problem, { 3 });
    }
  }
  RegistrationStage moments(Kind::Moments);
  moments.searchAngle = 15;
  problem.stages = { moments };
  ExpectSameForAllRanks(problem, { 3 });
}

/** Two ranks reach nearly all planes, and hold them in one piece; for more of them the ring brings planes. */
TEST_F(GridRegistration, ObliqueImages)
{
  const TestImage upright({ 40, 20, 48 }, Isotropic, Same);
  const TestImage oblique = TurnedImage({ 44, 22, 46 }, 40, Bent);
  problem.fixed = { &upright };
  problem.moving = { &oblique };
  for (const Kind kind : { Kind::Affine, Kind::Greedy, Kind::SyN })
  {
    problem.stages = { ShortStage(kind, Metric::LocalCorrelation) };
    ExpectSameForAllRanks(problem, { 2, 3, 5 });
  }
}

/** Stopped by one rank, and gone on from there by another number of ranks. */
TEST_F(GridRegistration, GoesOnWithAnotherNumberOfRanks)
{
  problem.stages = { ShortStage(Kind::Affine, Metric::MutualInformation),
                     ShortStage(Kind::SyN, Metric::LocalCorrelation) };
  ExpectSameForStops(problem, { { 0, 0, 3, 4, 1 }, { 1, 0, 4, 5, 3 }, { 1, 1, 2, 1, 8 }, { 1, 1, 3, 8, 2 } });
}

TEST_F(GridRegistration, GoesOnInTheMiddleOfTheEnd)
{
  this->StartFromWarpThatFolds();
  ExpectSameForStops(problem, { { 1, 0, 1, 3, 8 }, { 1, 0, 5, 8, 1 }, { 1, 0, 11, 1, 5 } });
}

/** The moving image sees more of space, so ranks reach planes far from their own, and in the course of a registration
 * planes that lie between the two. */
TEST_F(GridRegistration, MovingImageWithALargerFieldOfView)
{
  TestImage large({ 22, 25, 150 }, { { 2, 2, 0.7 } }, Same);
  large.indexToPhysical.offset[2] -= 38; // the fixed image lies in its upper half
  for (std::int64_t z = 0; z < 150; ++z)
    for (std::int64_t y = 0; y < 25; ++y)
      for (std::int64_t x = 0; x < 22; ++x)
      {
        large.voxels.At(x, y, z) = float(Phantom(Same(large.indexToPhysical({ { double(x), double(y), double(z) } }))));
      }
  problem.moving = { &large };
  problem.start.affine.offset[2] = 5; // planes too high: it has to come down
  for (const Kind kind : { Kind::Rigid, Kind::Greedy })
  {
    RegistrationStage stage = ShortStage(kind, Metric::MeanSquares);
    stage.iterations = { 20, 8 };
    stage.learningRate = kind == Kind::Rigid ? 2 : 4;
    problem.stages = { stage };
    ExpectSameForAllRanks(problem, { 3, 4, 8 });
  }
}

TEST(GridRegistrationSizes, FewPlanesAndOne)
{
  for (const std::int64_t planes :
       Sanitized ? std::vector<std::int64_t>{ 1, 17 } : std::vector<std::int64_t>{ 1, 7, 13, 17, 31 })
  {
    const TestImage fixed({ 29, 31, planes }, { { 1.5, 1.5, 1.5 } }, Same);
    const TestImage moving({ 31, 28, planes == 1 ? 1 : planes + 10 }, { { 1.5, 1.5, 1.5 } }, Bent);
    Problem         problem;
    problem.fixed = { &fixed };
    problem.moving = { &moving };
    for (const Kind kind : { Kind::Affine, Kind::Greedy, Kind::SyN })
    {
      problem.stages = { ShortStage(kind, Metric::LocalCorrelation) };
      ExpectSameForAllRanks(problem, { 2, 3, 8 });
    }
  }
}

} // namespace
} // namespace test
} // namespace ffdp
