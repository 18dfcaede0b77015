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

#include "itkFFDPMetricParity.h"

using namespace ffdp::test;

namespace
{

/** An intensity is off by 5e-5 as it is sampled in float, that is 2e-5 of the width of a bin. The derivative follows
 * that, the value is a mean over many points. */
constexpr ParityTolerance InDouble{ 1e-6, 5e-5 };

/** ITK sums histograms and their derivatives in float, too, where terms cancel: its derivatives of T = float are some
 * percent off. Ours are not, and are compared with ITK in double. Parameters of the transforms are rounded to float:
 * points (up to 20 mm) are off by some 1e-6 mm, intensities by 1e-5. */
constexpr ParityTolerance InFloat{ 1e-5, 1e-4 };

} // namespace

TEST(FusedMattesMutualInformation, AgreesWithItkIn3D)
{
  ExpectParityInAllCases<itk::FusedMattesMutualInformationImageToImageMetricv4,
                         itk::MattesMutualInformationImageToImageMetricv4,
                         3,
                         float,
                         double>(InDouble);
}

TEST(FusedMattesMutualInformation, AgreesWithItkIn2D)
{
  ExpectParityInAllCases<itk::FusedMattesMutualInformationImageToImageMetricv4,
                         itk::MattesMutualInformationImageToImageMetricv4,
                         2,
                         float,
                         double>(InDouble);
}

TEST(FusedMattesMutualInformation, AgreesWithItkOnDoublePixels)
{
  ExpectParityInSomeCases<itk::FusedMattesMutualInformationImageToImageMetricv4,
                          itk::MattesMutualInformationImageToImageMetricv4,
                          3,
                          double,
                          double>(InDouble);
}

TEST(FusedMattesMutualInformation, AgreesWithItkInFloat)
{
  ExpectParityInSomeCases<itk::FusedMattesMutualInformationImageToImageMetricv4,
                          itk::MattesMutualInformationImageToImageMetricv4,
                          3,
                          float,
                          float,
                          double>(InFloat);
}

namespace
{
using MattesType = itk::FusedMattesMutualInformationImageToImageMetricv4<itk::Image<float, 3>>;

MattesType::Pointer
MakeMetric(const RampCase<3> & ramp, MattesType::HistogramKernelEnum kernel)
{
  auto metric = MattesType::New();
  ramp.metricCase.Connect(metric.GetPointer());
  metric->SetHistogramKernel(kernel);
  metric->SetNumberOfHistogramBins(16);
  metric->Initialize();
  return metric;
}
} // namespace

TEST(FusedMattesMutualInformation, GaussianDerivativeIsThatOfTheValueForAField)
{
  const RampCase<3> ramp(TransformKind::Field);
  ExpectLocalDerivativeOfValue(MakeMetric(ramp, MattesType::HistogramKernelEnum::Gaussian).GetPointer(), 1, 5e-3);
}

TEST(FusedMattesMutualInformation, GaussianDerivativeIsThatOfTheValueForAnAffineTransform)
{
  const RampCase<3> ramp(TransformKind::Affine);
  ExpectGlobalDerivativeOfValue(MakeMetric(ramp, MattesType::HistogramKernelEnum::Gaussian).GetPointer(), 5e-3);
}

TEST(FusedMattesMutualInformation, ApproximateKernelFollowsTheGaussianOne)
{
  const RampCase<3>            ramp(TransformKind::Affine);
  const Evaluation<MattesType> gaussian(MakeMetric(ramp, MattesType::HistogramKernelEnum::Gaussian).GetPointer());
  const Evaluation<MattesType> approximate(MakeMetric(ramp, MattesType::HistogramKernelEnum::Approximate).GetPointer());
  EXPECT_NEAR(approximate.value, gaussian.value, 0.1 * std::abs(gaussian.value));
  double dot = 0, a = 0, b = 0;
  for (unsigned int i = 0; i < gaussian.derivative.Size(); ++i)
  {
    dot += gaussian.derivative[i] * approximate.derivative[i];
    a += gaussian.derivative[i] * gaussian.derivative[i];
    b += approximate.derivative[i] * approximate.derivative[i];
  }
  EXPECT_GT(dot, 0.95 * std::sqrt(a * b)); // the same direction within 18 degrees
}
