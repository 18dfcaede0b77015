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
#include "itkGridParallelImageRegistrationMethod.h"

#include "ffdpCudaBackend.h"
#include "ffdpCudaHost.h"
#include "itkGridParallelTestSupport.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

/** Small registrations by the ITK class, on the device against the processor. */
using namespace ffdp::test;

namespace
{

using ImageType = itk::Image<float, 3>;
using MaskType = itk::Image<unsigned char, 3>;
using PairType = OrganPair<ImageType>;
using MethodType = PairType::MethodType;
using FieldType = MethodType::FieldType;
using Kind = ffdp::RegistrationStage::Kind;
using Metric = ffdp::RegistrationMetric::Kind;

/** Coarse, so that a registration takes seconds on fibers; oblique and anisotropic. */
const CenteredGrid FixedGrid{ { { 20, 18, 15 } }, { { 2.1, 2.3, 2.6 } }, 0.2, -3 };
const CenteredGrid MovingGrid{ { { 21, 17, 17 } }, { { 2.2, 2.3, 2.4 } }, -0.1, 0 };

ffdp::RegistrationStage
FewIterations(Kind kind, Metric metric)
{
  ffdp::RegistrationStage stage = ShortStage(kind, metric);
  stage.metrics.front().radius = 2;
  stage.iterations = { 12, 6 };
  stage.smallestSize = 8;
  return stage;
}

PairType
AffineAndGreedy(Metric metric, std::shared_ptr<ffdp::Backend> backend)
{
  PairType pair(FixedGrid, MovingGrid);
  pair.method->AddStage(FewIterations(Kind::Affine, metric));
  pair.method->AddStage(FewIterations(Kind::Greedy, metric));
  pair.method->SetBackend(std::move(backend)); // null: the processor
  return pair;
}

void
AddMasks(const PairType & pair)
{
  const auto inside = [](const Place & p) { return p[0] > -9 && p[2] < 8; };
  pair.method->SetFixedMask(Paint<MaskType>(FixedGrid, inside));
  pair.method->SetMovingMask(Paint<MaskType>(MovingGrid, inside));
}

/** Components of a field, in mm. */
std::vector<double>
Components(const FieldType * field)
{
  const double * const first = field->GetBufferPointer()->GetDataPointer();
  return { first, first + 3 * field->GetBufferedRegion().GetNumberOfPixels() };
}

void
ExpectSameBits(const MethodType * found, const MethodType * expected)
{
  EXPECT_EQ(found->GetLinearTransform()->GetParameters(), expected->GetLinearTransform()->GetParameters());
  EXPECT_EQ(Components(found->GetForwardField()), Components(expected->GetForwardField()));
  EXPECT_EQ(Components(found->GetInverseField()), Components(expected->GetInverseField()));
  EXPECT_EQ(found->GetSmallestJacobian(), expected->GetSmallestJacobian());
  EXPECT_EQ(found->GetLargestInverseError(), expected->GetLargestInverseError());
  ASSERT_EQ(found->GetLevelReports().size(), expected->GetLevelReports().size());
  for (std::size_t i = 0; i < expected->GetLevelReports().size(); ++i)
  {
    EXPECT_EQ(found->GetLevelReports()[i].iterations, expected->GetLevelReports()[i].iterations);
    EXPECT_EQ(found->GetLevelReports()[i].lastValue, expected->GetLevelReports()[i].lastValue);
  }
}

/** mm, of the transform that does nothing. */
double
ErrorBefore(const PairType & pair)
{
  return MeanError(pair.fixed.GetPointer(), itk::AffineTransform<double, 3>::New().GetPointer(), pair.known);
}

} // namespace

TEST(CudaRegistrationMethod, AffineAndGreedyHaveTheBitsOfTheProcessor)
{
  for (const Metric metric : { Metric::MutualInformation, Metric::MeanSquares })
  {
    const std::size_t live = cudahost::LiveDeviceBytes();
    {
      const PairType onDevice = AffineAndGreedy(metric, ffdp::MakeCudaBackend());
      const PairType onProcessor = AffineAndGreedy(metric, nullptr);
      onDevice.method->Update();
      onProcessor.method->Update();
      ExpectSameBits(onDevice.method, onProcessor.method);
      EXPECT_LT(onDevice.Error(), 0.6 * ErrorBefore(onDevice));
    }
    EXPECT_EQ(cudahost::LiveDeviceBytes(), live);
  }
}

TEST(CudaRegistrationMethod, MasksHaveTheBitsOfTheProcessor)
{
  const PairType onDevice = AffineAndGreedy(Metric::MeanSquares, ffdp::MakeCudaBackend());
  const PairType onProcessor = AffineAndGreedy(Metric::MeanSquares, nullptr);
  const PairType unmasked = AffineAndGreedy(Metric::MeanSquares, nullptr);
  AddMasks(onDevice);
  AddMasks(onProcessor);
  for (const PairType * pair : { &onDevice, &onProcessor, &unmasked })
  {
    pair->method->Update();
  }
  ExpectSameBits(onDevice.method, onProcessor.method);
  EXPECT_NE(Components(onDevice.method->GetForwardField()), Components(unmasked.method->GetForwardField()));
}

/** Window sums are added in another order on a device; see CudaRegistration for why steps then differ, by much less
 * than the step of an iteration. */
TEST(CudaRegistrationMethod, AffineAndGreedyWithLocalCorrelationAreThoseOfTheProcessor)
{
  const PairType onDevice = AffineAndGreedy(Metric::LocalCorrelation, ffdp::MakeCudaBackend());
  const PairType onProcessor = AffineAndGreedy(Metric::LocalCorrelation, nullptr);
  onDevice.method->Update();
  onProcessor.method->Update();
  const std::vector<double> found = Components(onDevice.method->GetForwardField());
  const std::vector<double> expected = Components(onProcessor.method->GetForwardField());
  ASSERT_EQ(found.size(), expected.size());
  double sum = 0;
  for (std::size_t i = 0; i < found.size(); ++i)
  {
    sum += std::abs(found[i] - expected[i]);
  }
  EXPECT_LT(sum / double(found.size()), 2e-4) << "mm on average, a ten-thousandth of a voxel";
  EXPECT_LT(onDevice.Error(), 0.6 * ErrorBefore(onDevice));
  EXPECT_NEAR(onDevice.Error(), onProcessor.Error(), 2e-4);
}

/** What crosses in an iteration are numbers, not volumes. */
TEST(CudaRegistrationMethod, ImagesGoToTheDeviceOnceAndWarpsComeBackOnce)
{
  const auto bytesOfRun = [](int iterations, std::uint64_t & toHost) {
    PairType                pair(FixedGrid, MovingGrid);
    ffdp::RegistrationStage stage = FewIterations(Kind::Greedy, Metric::MeanSquares);
    stage.shrinkFactors = { 1 };
    stage.iterations = { iterations };
    pair.method->AddStage(stage);
    pair.method->SetBackend(ffdp::MakeCudaBackend());
    const std::uint64_t toDevicesBefore = cudahost::BytesCopiedToDevices();
    const std::uint64_t toHostBefore = cudahost::BytesCopiedToHost();
    pair.method->Update();
    EXPECT_EQ(pair.method->GetLevelReports().front().iterations, iterations);
    toHost = cudahost::BytesCopiedToHost() - toHostBefore;
    return cudahost::BytesCopiedToDevices() - toDevicesBefore;
  };
  std::uint64_t       toHostOfFew = 0, toHostOfMore = 0;
  const std::uint64_t few = bytesOfRun(3, toHostOfFew);
  const std::uint64_t more = bytesOfRun(7, toHostOfMore);
  const std::uint64_t image = sizeof(float) * 20 * 18 * 15; // the smaller one
  EXPECT_GE(few, 2 * image);
  EXPECT_LT(few, 3 * image);
  EXPECT_LT(more - few, image / 4);
  EXPECT_GE(toHostOfFew, 6 * image); // the warp and its inverse
  const std::uint64_t histogram = sizeof(std::int64_t) * 4096; // which tells whether the moving image is dark outside
  EXPECT_LT(toHostOfFew, 7 * image + histogram);
  EXPECT_LT(toHostOfMore - toHostOfFew, image / 4);
}

TEST(CudaRegistrationMethod, ChangedPixelsAreUsedInTheNextRun)
{
  PairType onDevice = AffineAndGreedy(Metric::MeanSquares, ffdp::MakeCudaBackend());
  PairType onProcessor = AffineAndGreedy(Metric::MeanSquares, nullptr);
  onDevice.method->Update();
  const std::vector<double> before = Components(onDevice.method->GetForwardField());
  for (PairType * pair : { &onDevice, &onProcessor })
  {
    PaintVoxels(pair->moving.GetPointer(), [](const Place & p) { return Organ({ { p[0] + 1, p[1], p[2] - 0.5 } }); });
    pair->moving->Modified();
    pair->method->Update();
  }
  EXPECT_NE(Components(onDevice.method->GetForwardField()), before);
  ExpectSameBits(onDevice.method, onProcessor.method);
}

/** Images that are not of floats are copied to floats by the class, so they run on the device, too. */
TEST(CudaRegistrationMethod, ImagesOfShortsHaveTheBitsOfTheProcessor)
{
  using ShortPairType = OrganPair<itk::Image<short, 3>>;
  const auto run = [](std::shared_ptr<ffdp::Backend> backend) {
    ShortPairType pair(FixedGrid, MovingGrid);
    pair.method->AddStage(FewIterations(Kind::Affine, Metric::MutualInformation));
    pair.method->SetBackend(std::move(backend));
    pair.method->Update();
    return pair.method->GetLinearTransform()->GetParameters();
  };
  const std::uint64_t before = cudahost::BytesCopiedToDevices();
  const auto          found = run(ffdp::MakeCudaBackend());
  EXPECT_GT(cudahost::BytesCopiedToDevices(), before);
  EXPECT_EQ(found, run(nullptr));
}
