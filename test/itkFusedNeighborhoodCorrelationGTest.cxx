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
#include "itkFusedNeighborhoodCorrelationImageToImageMetricv4.h"

#include "itkFFDPMetricParity.h"

using namespace ffdp::test;

namespace
{

/** Variances of a window are differences of float sums, of squares of the distance from the mean of a tile (up to 50)
 * where the deviation in a window is about 10, less at the rim of a mask: relative errors of 25 and more
 * times the 8 roundings of an intensity, 1e-5. The quotients in a derivative add four of them. */
constexpr ParityTolerance InDouble{ 1e-5, 1e-4 };

/** ITK sums the squares of intensities (100) themselves, in float: 100 times 2^-24 of the variance, for each of 125
 * terms. */
constexpr ParityTolerance InFloat{ 1e-3, 1e-2 };

} // namespace

TEST(FusedNeighborhoodCorrelation, AgreesWithItkIn3D)
{
  ExpectParityInAllCases<itk::FusedNeighborhoodCorrelationImageToImageMetricv4,
                         itk::ANTSNeighborhoodCorrelationImageToImageMetricv4,
                         3,
                         float,
                         double>(InDouble);
}

TEST(FusedNeighborhoodCorrelation, AgreesWithItkIn2D)
{
  ExpectParityInAllCases<itk::FusedNeighborhoodCorrelationImageToImageMetricv4,
                         itk::ANTSNeighborhoodCorrelationImageToImageMetricv4,
                         2,
                         float,
                         double>(InDouble);
}

TEST(FusedNeighborhoodCorrelation, AgreesWithItkOnDoublePixels)
{
  ExpectParityInSomeCases<itk::FusedNeighborhoodCorrelationImageToImageMetricv4,
                          itk::ANTSNeighborhoodCorrelationImageToImageMetricv4,
                          3,
                          double,
                          double>(InDouble);
}

TEST(FusedNeighborhoodCorrelation, AgreesWithItkInFloat)
{
  ExpectParityInSomeCases<itk::FusedNeighborhoodCorrelationImageToImageMetricv4,
                          itk::ANTSNeighborhoodCorrelationImageToImageMetricv4,
                          3,
                          float,
                          float>(InFloat);
}

TEST(FusedNeighborhoodCorrelation, ExactDerivativeIsThatOfTheValueForAField)
{
  using MetricType = itk::FusedNeighborhoodCorrelationImageToImageMetricv4<itk::Image<float, 3>>;
  const RampCase<3> ramp(TransformKind::Field);
  auto              metric = MetricType::New();
  ramp.metricCase.Connect(metric.GetPointer());
  metric->SetDerivativeMode(MetricType::DerivativeModeEnum::Exact);
  metric->Initialize();
  ExpectLocalDerivativeOfValue(metric.GetPointer(), double(ramp.Voxels()), 2e-3);
}

TEST(FusedNeighborhoodCorrelation, ExactDerivativeIsThatOfTheValueForAnAffineTransform)
{
  using MetricType = itk::FusedNeighborhoodCorrelationImageToImageMetricv4<itk::Image<float, 3>>;
  const RampCase<3> ramp(TransformKind::Affine);
  auto              metric = MetricType::New();
  ramp.metricCase.Connect(metric.GetPointer());
  metric->SetDerivativeMode(MetricType::DerivativeModeEnum::Exact);
  metric->Initialize();
  ExpectGlobalDerivativeOfValue(metric.GetPointer(), 2e-3);
}

TEST(FusedNeighborhoodCorrelation, ApproximateDerivativeIsNotThatOfTheValue)
{
  using MetricType = itk::FusedNeighborhoodCorrelationImageToImageMetricv4<itk::Image<float, 3>>;
  const RampCase<3> ramp(TransformKind::Field);
  auto              metric = MetricType::New();
  ramp.metricCase.Connect(metric.GetPointer());
  EXPECT_EQ(metric->GetDerivativeMode(), MetricType::DerivativeModeEnum::ANTSApproximate);
  metric->Initialize();
  const Evaluation<MetricType> approximate(metric.GetPointer());
  metric->SetDerivativeMode(MetricType::DerivativeModeEnum::Exact);
  const Evaluation<MetricType> exact(metric.GetPointer());
  EXPECT_EQ(approximate.points, exact.points);
  EXPECT_NEAR(approximate.value, exact.value, 1e-6);
  EXPECT_GT(LargestMagnitude(exact.derivative), 5 * LargestMagnitude(approximate.derivative));
}
