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
#include "itkFusedMattesMutualInformationImageToImageMetricv4.h"
#include "itkFusedMeanSquaresImageToImageMetricv4.h"
#include "itkFusedNeighborhoodCorrelationImageToImageMetricv4.h"

#include "ffdpAllocationMeter.h"
#include "itkFFDPMetricTestSupport.h"
#include "itkFFDPTestStacks.h"

#include <cstring>

using namespace ffdp::test;

namespace
{

using ImageType = itk::Image<float, 3>;
using MeanSquaresType = itk::FusedMeanSquaresImageToImageMetricv4<ImageType>;
using CorrelationType = itk::FusedNeighborhoodCorrelationImageToImageMetricv4<ImageType>;
using MattesType = itk::FusedMattesMutualInformationImageToImageMetricv4<ImageType>;
using CaseType = MetricCase<3, float>;

CaseType
StackCase(Geometry geometry, StackKind kind, int size)
{
  CaseType metricCase(geometry, TransformKind::Identity, {}, size);
  metricCase.movingTransform = MakeStack(kind, metricCase);
  return metricCase;
}

/** 64 voxels wide: eight pieces of planes, so that both ways to share them out are taken. */
template <typename TMetric>
void
ExpectSameBytesForAnyThreads(const CaseType & metricCase)
{
  auto metric = TMetric::New();
  metricCase.Connect(metric.GetPointer());
  metric->SetMaximumNumberOfWorkUnits(1);
  metric->Initialize();
  const Evaluation<TMetric> expected(metric.GetPointer());
  for (const unsigned int threads : { 2u, 3u, 7u, 11u })
  {
    metric->SetMaximumNumberOfWorkUnits(threads);
    metric->Initialize();
    const Evaluation<TMetric> found(metric.GetPointer());
    EXPECT_TRUE(metric->GetUsedFastPath()) << metric->GetFallbackReason();
    EXPECT_EQ(metric->GetNumberOfWorkUnitsUsed(), threads);
    EXPECT_EQ(found.value, expected.value);
    EXPECT_EQ(found.points, expected.points);
    ASSERT_EQ(found.derivative.Size(), expected.derivative.Size());
    EXPECT_EQ(std::memcmp(found.derivative.data_block(),
                          expected.derivative.data_block(),
                          expected.derivative.Size() * sizeof(double)),
              0)
      << threads << " threads";
  }
}

template <typename TMetric>
void
ExpectSameBytesForAnyThreads()
{
  ExpectSameBytesForAnyThreads<TMetric>(CaseType(Geometry::Plain, TransformKind::AffineAfterField, {}, 64));
  ExpectSameBytesForAnyThreads<TMetric>(CaseType(Geometry::Different, TransformKind::Affine, { true, true }, 64));
  ExpectSameBytesForAnyThreads<TMetric>(CaseType(Geometry::Oblique, TransformKind::FieldOnCoarserGrid, {}, 24));
  ExpectSameBytesForAnyThreads<TMetric>(StackCase(Geometry::Plain, StackKind::BeforeField, 64));
  ExpectSameBytesForAnyThreads<TMetric>(StackCase(Geometry::Oblique, StackKind::AroundField, 24));
  ExpectSameBytesForAnyThreads<TMetric>(StackCase(Geometry::Oblique, StackKind::FieldBeforeStack, 24));
}

/** Peak of what an evaluation allocates, the derivative being there already. */
template <typename TMetric>
std::size_t
MemoryOfEvaluation(const CaseType & metricCase)
{
  auto metric = TMetric::New();
  metricCase.Connect(metric.GetPointer());
  metric->Initialize();
  typename TMetric::MeasureType    value;
  typename TMetric::DerivativeType derivative(metric->GetNumberOfParameters());
  const std::size_t bytes = MeasurePeakAllocation([&] { metric->GetValueAndDerivative(value, derivative); });
  EXPECT_TRUE(metric->GetUsedFastPath());
  return bytes;
}

} // namespace

TEST(FusedMetricBytes, MeanSquaresDoesNotDependOnThreads)
{
  ExpectSameBytesForAnyThreads<MeanSquaresType>();
}
TEST(FusedMetricBytes, CorrelationDoesNotDependOnThreads)
{
  ExpectSameBytesForAnyThreads<CorrelationType>();
}
TEST(FusedMetricBytes, MattesDoesNotDependOnThreads)
{
  ExpectSameBytesForAnyThreads<MattesType>();
}

TEST(FusedMetricBytes, EvaluationNeedsLessThan8MBAt128)
{
  constexpr std::size_t limit = 8000000;
  const CaseType        metricCase(Geometry::Plain, TransformKind::Field, {}, 128);
  EXPECT_LT(MemoryOfEvaluation<MeanSquaresType>(metricCase), limit);
  EXPECT_LT(MemoryOfEvaluation<CorrelationType>(metricCase), limit);
  EXPECT_LT(MemoryOfEvaluation<MattesType>(metricCase), limit);
}

TEST(FusedMetricBytes, NoFieldOfJacobiansIsKept)
{
  // A gradient per voxel would be 10.6 MB, a matrix of floats 31.9 MB.
  constexpr std::size_t limit = 8000000;
  for (const StackKind kind : { StackKind::BeforeField, StackKind::FieldBeforeField })
  {
    const CaseType metricCase = StackCase(Geometry::Plain, kind, 96);
    EXPECT_LT(MemoryOfEvaluation<MeanSquaresType>(metricCase), limit);
    EXPECT_LT(MemoryOfEvaluation<CorrelationType>(metricCase), limit);
    EXPECT_LT(MemoryOfEvaluation<MattesType>(metricCase), limit);
  }
}

TEST(FusedMetricBytes, EvaluationDoesNotModifyTheMetric)
{
  // Scales estimators sample their points anew when the time stamp has moved.
  const CaseType metricCase(Geometry::Oblique, TransformKind::Affine, {});
  auto           metric = MattesType::New();
  metricCase.Connect(metric.GetPointer());
  metric->Initialize();
  const auto                   before = metric->GetMTime();
  const auto                   domain = metric->GetVirtualDomainTimeStamp().GetMTime();
  const Evaluation<MattesType> evaluation(metric.GetPointer());
  EXPECT_EQ(metric->GetMTime(), before);
  EXPECT_EQ(metric->GetVirtualDomainTimeStamp().GetMTime(), domain);
  EXPECT_GT(evaluation.points, 0u);
}

TEST(FusedMetricBytes, ADerivativeOfAnotherSizeIsResizedAndOverwritten)
{
  const CaseType metricCase(Geometry::Oblique, TransformKind::Field, { true, false });
  auto           metric = MeanSquaresType::New();
  metricCase.Connect(metric.GetPointer());
  metric->Initialize();
  const Evaluation<MeanSquaresType> expected(metric.GetPointer());
  MeanSquaresType::DerivativeType   derivative(5);
  metric->GetDerivative(derivative);
  EXPECT_EQ(LargestDifference(derivative, expected.derivative), 0);
  derivative.Fill(7); // points that are not valid must get 0
  metric->GetDerivative(derivative);
  EXPECT_EQ(LargestDifference(derivative, expected.derivative), 0);
}
