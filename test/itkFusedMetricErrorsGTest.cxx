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
#include "itkFusedNeighborhoodCorrelationImageToImageMetricv4.h"

#include "itkFFDPMetricTestSupport.h"

#include <limits>

using namespace ffdp::test;

namespace
{

using CaseType = MetricCase<3, float>;
using ImageType = CaseType::ImageType;
using CorrelationType = itk::FusedNeighborhoodCorrelationImageToImageMetricv4<ImageType>;
using MattesType = itk::FusedMattesMutualInformationImageToImageMetricv4<ImageType>;

/** Runs the body and expects an exception of ITK whose text holds the given words. */
template <typename TBody>
void
ExpectError(const std::string & words, const TBody & body)
{
  try
  {
    body();
    ADD_FAILURE() << "no exception about: " << words;
  }
  catch (const itk::ExceptionObject & error)
  {
    EXPECT_NE(std::string(error.GetDescription()).find(words), std::string::npos) << error.GetDescription();
  }
}

CaseType
AffineCase()
{
  return CaseType(Geometry::Plain, TransformKind::Affine, {});
}

template <typename TMetric>
typename TMetric::Pointer
Connected(const CaseType & metricCase)
{
  auto metric = TMetric::New();
  metricCase.Connect(metric.GetPointer());
  return metric;
}

/** Claims to have more parameters than an unsigned int can count. */
class HugeTransform : public itk::TranslationTransform<double, 3>
{
public:
  using Self = HugeTransform;
  using Superclass = itk::TranslationTransform<double, 3>;
  using Pointer = itk::SmartPointer<Self>;
  itkNewMacro(Self);

  NumberOfParametersType
  GetNumberOfParameters() const override
  {
    return NumberOfParametersType(std::numeric_limits<unsigned int>::max()) + 3;
  }
};

} // namespace

TEST(FusedMetricErrors, MissingImages)
{
  auto metric = Connected<CorrelationType>(AffineCase());
  metric->SetFixedImage(nullptr);
  ExpectError("SetFixedImage()", [&] { metric->Initialize(); });
  metric = Connected<CorrelationType>(AffineCase());
  metric->SetMovingImage(nullptr);
  ExpectError("SetMovingImage()", [&] { metric->Initialize(); });
}

TEST(FusedMetricErrors, EvaluationBeforeInitialize)
{
  auto metric = CorrelationType::New();
  ExpectError("Initialize()", [&] { metric->GetValue(); });
}

TEST(FusedMetricErrors, NoOverlapIsWhatItIsInItk)
{
  const CaseType metricCase = AffineCase();
  auto           origin = metricCase.moving->GetOrigin();
  origin.Fill(1000);
  metricCase.moving->SetOrigin(origin);
  const auto correlation = Connected<CorrelationType>(metricCase);
  correlation->Initialize();
  const Evaluation<CorrelationType> evaluation(correlation.GetPointer()); // and a warning
  EXPECT_EQ(evaluation.value, std::numeric_limits<double>::max());
  EXPECT_EQ(evaluation.points, 0u);
  EXPECT_EQ(evaluation.derivative.Size(), 12u);
  EXPECT_EQ(LargestMagnitude(evaluation.derivative), 0);
  EXPECT_EQ(correlation->GetValue(), std::numeric_limits<double>::max());

  const auto mattes = Connected<MattesType>(metricCase);
  mattes->Initialize();
  ExpectError("do not overlap", [&] { mattes->GetValue(); });
  ExpectError("CenteredTransformInitializer", [&] { Evaluation<MattesType>(mattes.GetPointer()); });
}

TEST(FusedMetricErrors, ConstantImage)
{
  const CaseType metricCase = AffineCase();
  metricCase.moving->FillBuffer(3);
  const auto metric = Connected<MattesType>(metricCase);
  ExpectError("moving image is constant", [&] { metric->Initialize(); });
}

TEST(FusedMetricErrors, FlatImagesCountAsAlikeInCorrelation)
{
  const CaseType metricCase = AffineCase();
  metricCase.moving->FillBuffer(3);
  const auto metric = Connected<CorrelationType>(metricCase);
  metric->Initialize();
  const Evaluation<CorrelationType> evaluation(metric.GetPointer());
  EXPECT_EQ(evaluation.value, -1); // as in ITK
  EXPECT_EQ(LargestMagnitude(evaluation.derivative), 0);
}

TEST(FusedMetricErrors, EmptyMask)
{
  CaseType metricCase(Geometry::Plain, TransformKind::Affine, { true, false });
  auto     image = CaseType::MaskType::ImageType::New();
  image->SetRegions(metricCase.fixed->GetBufferedRegion());
  image->Allocate(true);
  metricCase.fixedMask->SetImage(image);
  const auto correlation = Connected<CorrelationType>(metricCase);
  ExpectError("mask of the fixed image is empty", [&] { correlation->Initialize(); });
  const auto mattes = Connected<MattesType>(metricCase);
  ExpectError("mask of the fixed image is empty", [&] { mattes->Initialize(); });
}

TEST(FusedMetricErrors, MaskBesideTheImage)
{
  CaseType metricCase(Geometry::Plain, TransformKind::Affine, { false, true });
  auto     image = CaseType::MaskType::ImageType::New();
  image->SetRegions(metricCase.fixed->GetBufferedRegion());
  image->Allocate();
  image->FillBuffer(1);
  auto origin = image->GetOrigin();
  origin.Fill(500);
  image->SetOrigin(origin);
  metricCase.movingMask->SetImage(image);
  const auto metric = Connected<MattesType>(metricCase);
  ExpectError("moving image inside its mask", [&] { metric->Initialize(); });
}

TEST(FusedMetricErrors, FieldOnAnotherGrid)
{
  const CaseType metricCase(Geometry::Oblique, TransformKind::Field, {});
  const auto     metric = Connected<CorrelationType>(metricCase);
  metric->SetVirtualDomainFromImage(CaseType(Geometry::Different, TransformKind::Field, {}).grid);
  ExpectError("displacement field must have the same size", [&] { metric->Initialize(); });
}

TEST(FusedMetricErrors, MoreParametersThanItkCanCount)
{
  CaseType metricCase = AffineCase();
  metricCase.movingTransform = HugeTransform::New().GetPointer();
  const auto metric = Connected<CorrelationType>(metricCase);
  ExpectError("coarser displacement field", [&] { metric->Initialize(); });
}

TEST(FusedMetricErrors, OptionsThatItkHasNot)
{
  const auto correlation = Connected<CorrelationType>(AffineCase());
  correlation->SetDerivativeMode(CorrelationType::DerivativeModeEnum::Exact);
  correlation->SetUseMovingImageGradientFilter(true);
  correlation->Initialize();
  ExpectError("ANTSApproximate", [&] { Evaluation<CorrelationType>(correlation.GetPointer()); });
  const auto mattes = Connected<MattesType>(AffineCase());
  mattes->SetHistogramKernel(MattesType::HistogramKernelEnum::Gaussian);
  mattes->SetUseMovingImageGradientFilter(true);
  mattes->Initialize();
  ExpectError("HistogramKernel to Mattes", [&] { Evaluation<MattesType>(mattes.GetPointer()); });
}

TEST(FusedMetricErrors, NotANumberInAnImageDoesNotCount)
{
  const CaseType metricCase = AffineCase();
  metricCase.moving->GetBufferPointer()[3000] = std::numeric_limits<float>::quiet_NaN();
  const auto metric = Connected<MattesType>(metricCase);
  metric->Initialize();
  const Evaluation<MattesType> evaluation(metric.GetPointer());
  EXPECT_TRUE(std::isfinite(evaluation.value));
  EXPECT_GT(evaluation.points, 1000u);
}

TEST(FusedMetricErrors, PrintsItsSettings)
{
  auto metric = CorrelationType::New();
  metric->SetDerivativeMode(CorrelationType::DerivativeModeEnum::Exact);
  std::ostringstream text;
  metric->Print(text);
  EXPECT_NE(text.str().find("DerivativeMode: Exact"), std::string::npos);
  EXPECT_NE(text.str().find("UsedFastPath"), std::string::npos);
  EXPECT_STREQ(metric->GetNameOfClass(), "FusedNeighborhoodCorrelationImageToImageMetricv4");
}
