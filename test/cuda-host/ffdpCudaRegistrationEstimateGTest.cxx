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

#include "ffdpCudaBackendDevice.h"
#include "ffdpRegistrationTestSupport.h"

/** The estimate of a registration's memory on a device against what the device then accounts for. */
using namespace ffdp;
using namespace ffdp::test;

namespace
{

struct Peaks
{
  double measured;
  double estimated;
  double estimatedForCpu; ///< the same run
};

Peaks
MeasurePeaks(const ImagePair & pair, const std::vector<RegistrationStage> & stages)
{
  const auto      backend = MakeCudaBackend();
  const auto      self = MakeSelfCommunicator();
  cuda::Device &  device = cuda::DeviceOf(*backend);
  EstimatedDevice where;
  where.cuda = true;
  where.multiprocessors = FindCudaDevices().devices.front().multiprocessors;
  EXPECT_EQ(where.multiprocessors, device.Multiprocessors());
  Register(*backend, *self, { pair }, AffineMap(), stages);
  double images = 0;
  for (const VolumeView<const float> & volume :
       { pair.fixed.voxels, pair.moving.voxels, pair.fixedMask, pair.movingMask })
  {
    images += volume ? 4 * double(volume.domain.Voxels()) : 0.0;
  }
  const std::vector<PairGeometry> geometry{ DescribePair(pair) };
  return { double(device.PeakBytes()),
           images + EstimateRegistration(geometry, false, stages, 1, 1, where).peakBytes,
           images + EstimateRegistration(geometry, false, stages, 1).peakBytes };
}

RegistrationStage
OneIteration(Kind kind, Metric metric)
{
  RegistrationStage stage;
  stage.kind = kind;
  stage.metrics.front().kind = metric;
  stage.metrics.front().radius = 2;
  stage.shrinkFactors = { 1 };
  stage.iterations = { 1 };
  stage.learningRate = 0.5;
  stage.gradientSigma = 1.7;
  stage.warpSigma = 0.5;
  return stage;
}

/** Images of more voxels than the CPU works on at a time, and no more than a device does. */
const Extent FixedExtent{ 56, 48, 72 };
const Extent MovingExtent{ 50, 52, 66 };

} // namespace

TEST(CudaRegistrationEstimate, TellsTheMemoryThatGreedyStagesTake)
{
  const TestImage fixed(FixedExtent, Isotropic, KnownWarp);
  const TestImage moving(MovingExtent, Isotropic, Same);
  const ImagePair pair{ fixed.Placed(), moving.Placed(), {}, {} };
  for (const Metric metric : { Metric::LocalCorrelation, Metric::MutualInformation })
  {
    const Peaks peaks = MeasurePeaks(pair, { OneIteration(Kind::Greedy, metric) });
    EXPECT_NEAR(peaks.measured / peaks.estimated, 1, 0.1) << int(metric);
    EXPECT_GT(peaks.measured / peaks.estimatedForCpu, 1.2) << "windows of the device are larger";
  }
}

TEST(CudaRegistrationEstimate, TellsTheMemoryOfOtherStages)
{
  const TestImage fixed(FixedExtent, Isotropic, KnownWarp);
  const TestImage moving(MovingExtent, Isotropic, Same);
  const ImagePair pair{ fixed.Placed(), moving.Placed(), {}, {} };
  Volume<float>   mask(FixedExtent, 1.0f), movingMask(MovingExtent, 1.0f);
  const ImagePair masked{ fixed.Placed(), moving.Placed(), mask.View(), movingMask.View() };
  const auto      expectNear = [](const ImagePair & images, const std::vector<RegistrationStage> & stages) {
    const Peaks peaks = MeasurePeaks(images, stages);
    EXPECT_NEAR(peaks.measured / peaks.estimated, 1, 0.1)
      << int(stages.front().kind) << ' ' << bool(images.fixedMask) << ' ' << stages.front().shrinkFactors.front().axis[0];
  };
  expectNear(masked, { OneIteration(Kind::Greedy, Metric::LocalCorrelation) });
  expectNear(pair, { OneIteration(Kind::SyN, Metric::LocalCorrelation) });
  expectNear(pair, { OneIteration(Kind::Affine, Metric::MutualInformation) });
  RegistrationStage coarse = OneIteration(Kind::Greedy, Metric::MeanSquares); // bringing the warp home takes most
  coarse.shrinkFactors = { 3 };
  expectNear(pair, { coarse });
}

/** Windows that do not march: of other tiles, and the larger ones do not fit into shared memory. Those of an image with
 * one plane have no radius along z. */
TEST(CudaRegistrationEstimate, TellsTheMemoryOfOtherWindows)
{
  const auto expectNear = [](const Extent & size, int radius) {
    const TestImage   fixed(size, Isotropic, KnownWarp);
    const TestImage   moving(size, Isotropic, Same);
    RegistrationStage stage = OneIteration(Kind::Greedy, Metric::LocalCorrelation);
    stage.metrics.front().radius = radius;
    const Peaks peaks = MeasurePeaks({ fixed.Placed(), moving.Placed(), {}, {} }, { stage });
    EXPECT_NEAR(peaks.measured / peaks.estimated, 1, 0.1) << size.z << " planes, radius " << radius;
  };
  expectNear({ 34, 30, 28 }, 5);
  expectNear({ 34, 30, 28 }, 9);
  expectNear({ 120, 110, 1 }, 3);
  expectNear({ 120, 110, 1 }, 12);
}
