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

#include "ffdpAllocationMeter.h"
#include "ffdpPartition.h"
#include "ffdpRegistrationTestSupport.h"
#include "ffdpThreadRanks.h"

using namespace ffdp;
using namespace ffdp::test;

namespace
{

double
MeasuredOverEstimated(const ImagePair & pair, const std::vector<RegistrationStage> & stages)
{
  const double estimated = EstimateRegistration({ DescribePair(pair) }, false, stages, 2).peakBytes;
  return double(MeasurePeakAllocation([&] { RunStages({ pair }, stages, 2); })) / estimated;
}

RegistrationStage
OneGreedyIteration()
{
  RegistrationStage stage = GreedyStage();
  stage.shrinkFactors = { 1 };
  stage.iterations = { 1 };
  return stage;
}

/** Of all ranks together: they share the memory of a process here. */
double
PeakOfRanks(const ImagePair & pair, int ranks)
{
  const auto run = [&](Communicator & communicator) {
    ImagePair  own = pair;
    const auto cut = [&](VolumeView<const float> & volume) {
      const PlaneRange planes = Partition(volume.domain.z, ranks).Owned(communicator.Rank());
      volume = volume.Planes(planes.first, planes.end - planes.first);
    };
    cut(own.fixed.voxels);
    cut(own.moving.voxels);
    Register(*MakeCpuBackend(1), communicator, { own }, AffineMap(), { OneGreedyIteration() });
  };
  return double(MeasurePeakAllocation([&] { RunRanks(ranks, run); }));
}

} // namespace

TEST(RegistrationEstimate, TellsTheMemoryThatIsThenUsed)
{
  SKIP_IF_SANITIZED();
  StartThreads();
  const TestImage fixed({ 112, 120, 150 }, Isotropic, KnownWarp);
  const TestImage moving({ 140, 110, 130 }, { { 0.8, 1.1, 0.9 } }, Same);
  Volume<float>   mask({ 112, 120, 150 });
  Volume<float>   movingMask({ 140, 110, 130 });
  std::fill(mask.values.begin(), mask.values.end(), 1.0f);
  std::fill(movingMask.values.begin(), movingMask.values.end(), 1.0f);
  const ImagePair   plain{ fixed.Placed(), moving.Placed(), {}, {} };
  const ImagePair   masked{ fixed.Placed(), moving.Placed(), mask.View(), movingMask.View() };
  RegistrationStage stage = GreedyStage();
  stage.iterations = { 1, 1 };
  RegistrationStage linear = LinearStage(Kind::Affine, Metric::MutualInformation);
  linear.shrinkFactors = { 2 };
  linear.iterations = { 2 };
  for (const ImagePair & pair : { plain, masked })
  {
    for (const Kind kind : { Kind::Greedy, Kind::SyN })
    {
      stage.kind = kind;
      EXPECT_NEAR(MeasuredOverEstimated(pair, { stage }), 1, 0.1) << int(kind) << bool(pair.fixedMask);
      RegistrationStage coarse = stage; // then bringing the warp home takes most
      coarse.shrinkFactors = { 2 };
      coarse.iterations = { 1 };
      EXPECT_NEAR(MeasuredOverEstimated(pair, { coarse }), 1, 0.1) << int(kind) << bool(pair.fixedMask);
      EXPECT_NEAR(MeasuredOverEstimated(pair, { coarse, linear }), 1, 0.1) << int(kind) << bool(pair.fixedMask);
    }
    EXPECT_NEAR(MeasuredOverEstimated(pair, { linear }), 1, 0.15);
  }
  RegistrationStage edges = stage;
  edges.metrics.front().ofEdges = true;
  EXPECT_NEAR(MeasuredOverEstimated(masked, { linear, edges }), 1, 0.1);
  stage.smoothingSigmas = { 2, 1 }; // so that full resolution needs copies of the images, too
  EXPECT_NEAR(MeasuredOverEstimated(plain, { stage }), 1, 0.1);
}

TEST(RegistrationEstimate, KnowsWhatRanksKeepOfImagesThatLieAcrossEachOther)
{
  SKIP_IF_SANITIZED();
  const Extent    size{ 96, 96, 160 };
  const TestImage fixed(size, Isotropic, KnownWarp);
  const TestImage along(size, Isotropic, Same);
  const TestImage across = TurnedImage({ 160, 96, 96 }, 90, Same); // its first axis is the last one of the other
  const TestImage oblique = TurnedImage(size, 40, Same);
  for (const TestImage * moving : { &along, &across, &oblique })
  {
    for (const int ranks : { 2, 4 })
    {
      const ImagePair pair{ fixed.Placed(), moving->Placed(), {}, {} };
      const double    estimated =
        EstimateRegistration({ DescribePair(pair) }, false, { OneGreedyIteration() }, 1, ranks).peakBytes;
      EXPECT_NEAR(PeakOfRanks(pair, ranks) / (ranks * estimated), 1, 0.1)
        << ranks << " ranks, " << moving->voxels.domain.z << ' ' << moving->indexToPhysical.matrix[0];
    }
  }
}

/** Per voxel that is added: halos and windows of planes do not count. */
TEST(RegistrationEstimate, RanksKeepWhatGreedyPromisesHoweverTheImagesLie)
{
  SKIP_IF_SANITIZED();
  for (const int ranks : { 2, 4 })
  {
    for (const double degrees : { 0, 15, 40, 90 })
    {
      double before = 0;
      for (const std::int64_t planes : { 320, 640 })
      {
        const Extent    size{ 48, 40, planes };
        const TestImage fixed(size, Isotropic, KnownWarp);
        const TestImage moving = TurnedImage(degrees < 45 ? size : Extent{ planes, 40, 48 }, degrees, Same);
        const double    bytes = PeakOfRanks({ fixed.Placed(), moving.Placed(), {}, {} }, ranks);
        if (before > 0)
        {
          EXPECT_LE((bytes - before) / 4 / (48 * 40 * 320), 10) << ranks << " ranks, " << degrees << " degrees";
        }
        before = bytes;
      }
    }
  }
}

/** Which is known only when their voxels are, so an estimate does not tell it. */
TEST(RegistrationEstimate, ImagesWhoseOutsideIsNotComparedTakeAFewPlanesMore)
{
  SKIP_IF_SANITIZED();
  StartThreads();
  const Extent                size{ 60, 70, 200 };
  const std::array<double, 3> spacing = { { 0.4, 0.3, 0.1 } }; // nothing but the inside of the organ
  TestImage                   fixed(size, spacing, KnownWarp);
  TestImage                   moving(size, spacing, Same);
  for (TestImage * image : { &fixed, &moving }) // so that it is about 0 where it is darkest
  {
    image->Add(-*std::min_element(image->voxels.values.begin(), image->voxels.values.end()));
  }
  for (const Kind kind : { Kind::Greedy, Kind::SyN })
  {
    RegistrationStage stage = GreedyStage();
    stage.kind = kind;
    stage.iterations = { 1, 1 };
    const auto peak = [&] {
      return double(MeasurePeakAllocation([&] {
        RunStages({ { fixed.Placed(), moving.Placed(), {}, {} } }, { stage }, 2);
      }));
    };
    const double plain = peak();
    fixed.Add(-1000);
    moving.Add(-1000);
    EXPECT_LT(peak(), 1.05 * plain) << int(kind);
    fixed.Add(1000);
    moving.Add(1000);
  }
}

TEST(RegistrationEstimate, ListsTheLevelsThatAreRun)
{
  const TestImage   fixed(FixedSize, Isotropic, KnownWarp);
  const TestImage   moving(FixedSize, Isotropic, Same);
  RegistrationStage moments;
  moments.kind = Kind::Moments;
  moments.metrics.front().kind = Metric::MutualInformation;
  RegistrationStage stage = GreedyStage();
  stage.shrinkFactors = { 16, 8, 2 };
  stage.iterations = { 2, 2, 2 };
  stage.tolerance = -1;
  const ImagePair pair{ fixed.Placed(), moving.Placed(), {}, {} };
  const auto      result = RunStages({ pair }, { moments, stage });
  const auto      estimate = EstimateRegistration({ DescribePair(pair) }, false, { moments, stage });
  ASSERT_EQ(estimate.levels.size(), result.levels.size());
  for (std::size_t i = 0; i < result.levels.size(); ++i)
  {
    EXPECT_EQ(estimate.levels[i].stage, result.levels[i].stage);
    EXPECT_STREQ(estimate.levels[i].stageName, result.levels[i].stageName);
    EXPECT_EQ(estimate.levels[i].size, result.levels[i].size);
    EXPECT_EQ(estimate.levels[i].iterations, result.levels[i].iterations);
  }
  EXPECT_EQ(estimate.notes, result.notes);
  EXPECT_THROW(EstimateRegistration({}, false, { stage }), std::invalid_argument);
}
