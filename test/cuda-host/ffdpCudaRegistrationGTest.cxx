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
#include "ffdpCudaBackend.h"

#include "ffdpRegistrationTestSupport.h"
#include "ffdpSchedules.h"
#include "ffdpTestFolder.h"

/** Small registrations from end to end on the device against the processor. */
using namespace ffdp;
using namespace ffdp::test;

namespace
{

RegistrationStage
ShortStage(Kind kind, Metric metric)
{
  RegistrationStage stage;
  stage.kind = kind;
  stage.metrics.front().kind = metric;
  stage.metrics.front().radius = 2;
  stage.shrinkFactors = { 2, 1 };
  stage.iterations = { 6, 4 };
  stage.learningRate = 0.5;
  stage.gradientSigma = 1.7;
  stage.warpSigma = 0.5;
  stage.smallestSize = 8;
  return stage;
}

/** Two images of the phantom, coarse, so that a registration takes seconds on fibers. */
struct Images
{
  const AffineMap truth = SomeMap(0.1, 1.03, { { 1.5, -1, 2 } });
  TestImage       fixed;
  TestImage       moving;
  Volume<float>   mask;

  explicit Images(const Extent & size = { 20, 17, 15 })
    : fixed(size, SpacingFor(size), Same)
    , moving({ size.x + 1, size.y, size.z + 2 },
             SpacingFor(size),
             [this](const std::array<double, 3> & p) { return KnownWarp(truth.Inverse()(p)); })
    , mask(size, 1.0f)
  {
    for (std::int64_t y = 0; y < size.y; ++y)
    {
      mask.At(size.x / 2, y, size.z / 2) = 0;
    }
  }
  ImagePair
  Pair() const
  {
    ImagePair pair;
    pair.fixed = fixed.Placed();
    pair.moving = moving.Placed();
    return pair;
  }

private:
  static std::array<double, 3>
  SpacingFor(const Extent & size)
  {
    return { { 52.0 / double(size.x), 46.0 / double(size.y), 42.0 / double(size.z) } };
  }
};

RegistrationResult
RunOn(Backend & backend, const ImagePair & pair, const std::vector<RegistrationStage> & stages)
{
  const auto self = MakeSelfCommunicator();
  return Register(backend, *self, { pair }, AffineMap(), stages);
}

void
ExpectSameBits(const RegistrationResult & a, const RegistrationResult & b)
{
  EXPECT_EQ(0, std::memcmp(&a.affine, &b.affine, sizeof(a.affine)));
  EXPECT_TRUE(SameBytes(a.warp, b.warp));
  EXPECT_TRUE(SameBytes(a.inverseWarp, b.inverseWarp));
  ASSERT_EQ(a.levels.size(), b.levels.size());
  for (std::size_t i = 0; i < a.levels.size(); ++i)
  {
    EXPECT_EQ(a.levels[i].iterations, b.levels[i].iterations);
    EXPECT_EQ(a.levels[i].lastValue, b.levels[i].lastValue);
  }
}

void
ExpectSameOnBoth(const ImagePair & pair, const std::vector<RegistrationStage> & stages)
{
  const RegistrationResult onCpu = RunOn(*MakeCpuBackend(1), pair, stages);
  const RegistrationResult onCuda = RunOn(*MakeCudaBackend(), pair, stages);
  EXPECT_GT(onCpu.levels.front().iterations, 1);
  ExpectSameBits(onCpu, onCuda);
}

/** Window sums of local correlation are added in another order on a device. What differs in the last bits of a gradient
 * differs in the direction of Adam where the gradient is nearly nothing, so steps differ there, by much less than the
 * step of an iteration. */
void
ExpectNearOnBoth(const ImagePair & pair, const RegistrationStage & stage)
{
  const RegistrationResult onCpu = RunOn(*MakeCpuBackend(1), pair, { stage });
  const RegistrationResult onCuda = RunOn(*MakeCudaBackend(), pair, { stage });
  ASSERT_EQ(onCpu.levels.size(), onCuda.levels.size());
  for (std::size_t i = 0; i < onCpu.levels.size(); ++i)
  {
    EXPECT_NEAR(onCpu.levels[i].firstValue, onCuda.levels[i].firstValue, 1e-4);
    EXPECT_NEAR(onCpu.levels[i].lastValue, onCuda.levels[i].lastValue, 1e-4);
    EXPECT_LT(onCuda.levels[i].lastValue, onCuda.levels[i].firstValue);
  }
  double sum = 0;
  for (std::size_t i = 0; i < onCpu.warp.size(); ++i)
  {
    sum += std::abs(double(onCpu.warp[i]) - double(onCuda.warp[i]));
  }
  EXPECT_GT(MaxMagnitude(onCpu.warp), 0.3);
  EXPECT_LT(sum / double(onCpu.warp.size()), 1e-3) << "voxels on average";
  EXPECT_LT(MaxDifference(onCpu.warp, onCuda.warp), 0.1);
}

} // namespace

TEST(CudaRegistration, RigidWithMutualInformationHasTheBitsOfTheProcessor)
{
  ExpectSameOnBoth(Images().Pair(), { ShortStage(Kind::Rigid, Metric::MutualInformation) });
}

TEST(CudaRegistration, MomentsHaveTheBitsOfTheProcessor)
{
  RegistrationStage moments;
  moments.kind = Kind::Moments;
  moments.metrics.front().kind = Metric::MutualInformation;
  moments.searchAngle = 15;
  const Images images;
  ExpectSameBits(RunOn(*MakeCpuBackend(1), images.Pair(), { moments }),
                 RunOn(*MakeCudaBackend(), images.Pair(), { moments }));
}

TEST(CudaRegistration, AffineWithMeanSquaresHasTheBitsOfTheProcessor)
{
  ExpectSameOnBoth(Images().Pair(), { ShortStage(Kind::Affine, Metric::MeanSquares) });
}

TEST(CudaRegistration, GreedyWithMutualInformationHasTheBitsOfTheProcessor)
{
  ExpectSameOnBoth(Images().Pair(), { ShortStage(Kind::Greedy, Metric::MutualInformation) });
}

TEST(CudaRegistration, SyNWithMeanSquaresHasTheBitsOfTheProcessor)
{
  ExpectSameOnBoth(Images().Pair(), { ShortStage(Kind::SyN, Metric::MeanSquares) });
}

TEST(CudaRegistration, StagesAfterEachOtherAndMasksHaveTheBitsOfTheProcessor)
{
  const Images images;
  ImagePair    pair = images.Pair();
  pair.fixedMask = images.mask.View();
  ExpectSameOnBoth(
    pair, { ShortStage(Kind::Affine, Metric::MutualInformation), ShortStage(Kind::Greedy, Metric::MeanSquares) });
}

TEST(CudaRegistration, ImagesThatAreNotZeroOutsideHaveTheBitsOfTheProcessor)
{
  Images images({ 28, 25, 23 });
  images.fixed.Add(-1000);
  images.moving.Add(-1000);
  ExpectSameOnBoth(images.Pair(), { ShortStage(Kind::SyN, Metric::MeanSquares) });
  images.fixed = images.fixed.Cropped(6); // to what is inside of the organ: what is outside is not compared
  images.moving = images.moving.Cropped(6);
  ExpectSameOnBoth(images.Pair(), { ShortStage(Kind::SyN, Metric::MeanSquares) });
}

TEST(CudaRegistration, EdgesHaveTheBitsOfTheProcessor)
{
  RegistrationStage stage = ShortStage(Kind::Affine, Metric::MeanSquares);
  stage.metrics.front().ofEdges = true;
  ExpectSameOnBoth(Images().Pair(), { stage });
}

TEST(CudaRegistration, GreedyWithLocalCorrelationIsThatOfTheProcessor)
{
  ExpectNearOnBoth(Images().Pair(), ShortStage(Kind::Greedy, Metric::LocalCorrelation));
}

TEST(CudaRegistration, SyNWithLocalCorrelationIsThatOfTheProcessor)
{
  ExpectNearOnBoth(Images().Pair(), ShortStage(Kind::SyN, Metric::LocalCorrelation));
}

TEST(CudaRegistration, NoScheduleChangesABit)
{
  const Images      images({ 10, 9, 8 });
  RegistrationStage linear = ShortStage(Kind::Affine, Metric::MutualInformation);
  RegistrationStage greedy = ShortStage(Kind::Greedy, Metric::LocalCorrelation);
  for (RegistrationStage * stage : { &linear, &greedy })
  {
    stage->shrinkFactors = { 1 };
    stage->iterations = { 2 };
  }
  ForEachSchedule([&] { return RunOn(*MakeCudaBackend(), images.Pair(), { linear, greedy }).warp; });
}

TEST(CudaRegistration, GoesOnFromACheckpointOfTheProcessor)
{
  const Images                         images;
  const std::vector<RegistrationStage> stages{ ShortStage(Kind::Greedy, Metric::MutualInformation) };
  const TestFolder                     folder("cuda-checkpoint");
  RegistrationCheckpoint               checkpoint;
  checkpoint.directory = folder.Path();
  const auto self = MakeSelfCommunicator();
  int        iterations = 0;
  EXPECT_THROW(Register(
                 *MakeCpuBackend(1),
                 *self,
                 { images.Pair() },
                 AffineMap(),
                 stages,
                 [&](const RegistrationProgress &) { return ++iterations < 7; },
                 checkpoint),
               RegistrationAborted);
  const RegistrationResult goneOn =
    Register(*MakeCudaBackend(), *self, { images.Pair() }, AffineMap(), stages, {}, checkpoint);
  const RegistrationResult whole = RunOn(*MakeCpuBackend(1), images.Pair(), stages);
  EXPECT_EQ(goneOn.notes.size(), whole.notes.size() + 1) << "it did not go on from the checkpoint";
  EXPECT_TRUE(SameBytes(goneOn.warp, whole.warp));
}
