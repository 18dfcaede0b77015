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

#include "itkFFDPMetricTestSupport.h"
#include "itkFFDPTestStacks.h"

#include "itkBSplineTransform.h"
#include "itkBSplineTransformInitializer.h"
#include "itkMultiThreaderBase.h"
#include "itkEllipseSpatialObject.h"
#include "itkNearestNeighborInterpolateImageFunction.h"

using namespace ffdp::test;

namespace
{

using CaseType = MetricCase<3, float>;
using ImageType = CaseType::ImageType;
using FusedType = itk::FusedMeanSquaresImageToImageMetricv4<ImageType>;
using ItkType = itk::MeanSquaresImageToImageMetricv4<ImageType, ImageType>;
using FusedMattesType = itk::FusedMattesMutualInformationImageToImageMetricv4<ImageType>;
using ItkMattesType = itk::MattesMutualInformationImageToImageMetricv4<ImageType, ImageType>;

/** ITK adds up what threads find in the order in which they end, so that bits can be compared for one thread only; and
 * the metrics of 5.2 take the global number, not the one that they are told. */
class OneThread
{
public:
  OneThread()
    : m_Before(itk::MultiThreaderBase::GetGlobalDefaultNumberOfThreads())
  {
    itk::MultiThreaderBase::SetGlobalDefaultNumberOfThreads(1);
  }
  ~OneThread() { itk::MultiThreaderBase::SetGlobalDefaultNumberOfThreads(m_Before); }

private:
  itk::ThreadIdType m_Before;
};

/** What the superclass computes, bit for bit, and a reason that holds the given words. */
template <typename TFused, typename TItk, typename TSetUp>
void
ExpectSuperclass(const CaseType & metricCase, const std::string & words, const TSetUp & setUp)
{
  const OneThread oneThread;
  auto            fused = TFused::New();
  auto            itkMetric = TItk::New();
  metricCase.Connect(fused.GetPointer());
  metricCase.Connect(itkMetric.GetPointer());
  setUp(fused.GetPointer());
  setUp(itkMetric.GetPointer());
  fused->SetMaximumNumberOfWorkUnits(1);
  itkMetric->SetMaximumNumberOfWorkUnits(1);
  itkMetric->Initialize();
  fused->Initialize();
  EXPECT_FALSE(fused->GetUsedFastPath());
  const Evaluation<TItk> expected(itkMetric.GetPointer());
  const Evaluation<TItk> found(fused.GetPointer());
  EXPECT_FALSE(fused->GetUsedFastPath());
  EXPECT_NE(fused->GetFallbackReason().find(words), std::string::npos) << fused->GetFallbackReason();
  EXPECT_EQ(found.value, expected.value);
  EXPECT_EQ(found.points, expected.points);
  EXPECT_EQ(LargestDifference(found.derivative, expected.derivative), 0);
  EXPECT_GT(LargestMagnitude(expected.derivative), 0);
}

template <typename TSetUp>
void
ExpectSuperclass(const CaseType & metricCase, const std::string & words, const TSetUp & setUp)
{
  ExpectSuperclass<FusedType, ItkType>(metricCase, words, setUp);
}

CaseType
AffineCase()
{
  return CaseType(Geometry::Different, TransformKind::Affine, {});
}

CaseType
BSplineCase()
{
  CaseType metricCase = AffineCase();
  using BSplineType = itk::BSplineTransform<double, 3, 3>;
  auto transform = BSplineType::New();
  auto initializer = itk::BSplineTransformInitializer<BSplineType, ImageType>::New();
  initializer->SetTransform(transform);
  initializer->SetImage(metricCase.grid);
  BSplineType::MeshSizeType mesh;
  mesh.Fill(3);
  initializer->SetTransformDomainMeshSize(mesh);
  initializer->InitializeTransform();
  auto parameters = transform->GetParameters();
  for (unsigned int p = 0; p < parameters.Size(); ++p)
  {
    parameters[p] = 0.4 * std::sin(0.7 * p);
  }
  transform->SetParametersByValue(parameters);
  metricCase.movingTransform = transform.GetPointer();
  return metricCase;
}

const auto Nothing = [](auto *) {};

} // namespace

TEST(FusedMetricFallback, BSplineTransform)
{
  ExpectSuperclass(BSplineCase(), "BSplineTransform", Nothing);
}

TEST(FusedMetricFallback, BSplineTransformWithMattes)
{
  ExpectSuperclass<FusedMattesType, ItkMattesType>(BSplineCase(), "BSplineTransform", Nothing);
}

TEST(FusedMetricFallback, SampledPointSet)
{
  const CaseType metricCase = AffineCase();
  const auto     setUp = [&](auto * metric) {
    using PointSetType = typename std::remove_reference_t<decltype(*metric)>::VirtualPointSetType;
    auto points = PointSetType::New();
    for (unsigned int i = 0; i < 50; ++i)
    {
      auto index = metricCase.grid->GetBufferedRegion().GetIndex();
      for (unsigned int c = 0; c < 3; ++c)
      {
        index[c] += 4 + (i * (c + 3)) % 9;
      }
      typename PointSetType::PointType point;
      metricCase.grid->TransformIndexToPhysicalPoint(index, point);
      points->SetPoint(i, point);
    }
    metric->SetVirtualSampledPointSet(points);
    metric->SetUseSampledPointSet(true);
    metric->SetUseVirtualSampledPointSet(true);
  };
  ExpectSuperclass(metricCase, "sampled point set", setUp);
  ExpectSuperclass<FusedMattesType, ItkMattesType>(metricCase, "sampled point set", setUp);
}

TEST(FusedMetricFallback, OtherInterpolator)
{
  ExpectSuperclass(AffineCase(), "interpolator", [](auto * metric) {
    metric->SetFixedInterpolator(itk::NearestNeighborInterpolateImageFunction<ImageType, double>::New());
  });
}

TEST(FusedMetricFallback, OtherMask)
{
  auto ellipse = itk::EllipseSpatialObject<3>::New();
  ellipse->SetRadiusInObjectSpace(9);
  ellipse->Update();
  const auto setUp = [&](auto * metric) { metric->SetMovingImageMask(ellipse.GetPointer()); };
  ExpectSuperclass(AffineCase(), "EllipseSpatialObject", setUp);
  ExpectSuperclass<FusedMattesType, ItkMattesType>(AffineCase(), "EllipseSpatialObject", setUp);
}

TEST(FusedMetricFallback, GradientFilter)
{
  ExpectSuperclass(
    AffineCase(), "UseMovingImageGradientFilter", [](auto * metric) { metric->SetUseMovingImageGradientFilter(true); });
}

TEST(FusedMetricFallback, GradientOfTheFixedImage)
{
  ExpectSuperclass(AffineCase(), "gradient source", [](auto * metric) {
    metric->SetGradientSource(std::remove_reference_t<decltype(*metric)>::GradientSourceEnum::GRADIENT_SOURCE_BOTH);
  });
}

TEST(FusedMetricFallback, FloatingPointCorrection)
{
  ExpectSuperclass(
    AffineCase(), "UseFloatingPointCorrection", [](auto * metric) { metric->SetUseFloatingPointCorrection(true); });
}

TEST(FusedMetricFallback, FieldAndLinearTransformAreOptimizedTogether)
{
  CaseType metricCase(Geometry::Oblique, TransformKind::AffineAfterField, {});
  auto *   composite = dynamic_cast<CaseType::CompositeType *>(metricCase.movingTransform.GetPointer());
  composite->SetAllTransformsToOptimizeOn();
  auto metric = FusedType::New();
  metricCase.Connect(metric.GetPointer());
  metric->Initialize(); // an evaluation is not asked for: ITK has no derivative for this either
  EXPECT_FALSE(metric->GetUsedFastPath());
  EXPECT_NE(metric->GetFallbackReason().find("optimized together"), std::string::npos) << metric->GetFallbackReason();
}

namespace
{

/** Its Jacobian is its own business. */
class OtherFieldTransform : public CaseType::FieldTransformType
{
public:
  using Self = OtherFieldTransform;
  using Superclass = CaseType::FieldTransformType;
  using Pointer = itk::SmartPointer<Self>;
  itkNewMacro(Self);

  void
  ComputeJacobianWithRespectToPosition(const InputPointType &, JacobianPositionType & jacobian) const override
  {
    jacobian.set_identity();
    jacobian(0, 1) = 0.5;
  }
  using Superclass::ComputeJacobianWithRespectToPosition;
};

/** An affine transform that is optimized, then a field. */
CaseType
CaseBeforeField(CaseType::FieldTransformType * field)
{
  CaseType metricCase(Geometry::Plain, TransformKind::Identity, {});
  metricCase.movingTransform =
    Stack<CaseType>({ { CaseType::MakeAffine(0.05, 1.02).GetPointer(), true }, { field, false } }).GetPointer();
  return metricCase;
}

} // namespace

TEST(FusedMetricFallback, FieldWithAJacobianOfItsOwn)
{
  const CaseType grid(Geometry::Plain, TransformKind::Identity, {});
  auto           field = OtherFieldTransform::New();
  field->SetDisplacementField(MakeFieldAround(grid, 1.7, 0.7, 7)->GetModifiableDisplacementField());
  ExpectSuperclass(CaseBeforeField(field), "does not have the Jacobian", Nothing);
}

#if !FFDP_ITK_FIELD_JACOBIAN_IS_PHYSICAL
TEST(FusedMetricFallback, FieldBehindWhoseIndexDoesNotStartAtZero)
{
  // ITK 5.2 takes borders to be at 0 and at the size. In this field no sample is read that is not there.
  auto                            image = CaseType::FieldType::New();
  CaseType::FieldType::RegionType region;
  CaseType::FieldType::PointType  origin;
  region.SetSize(itk::Size<3>{ { 40, 40, 40 } });
  region.SetIndex(itk::Index<3>{ { 2, 2, 2 } });
  origin.Fill(-14);
  image->SetRegions(region);
  image->SetOrigin(origin);
  image->Allocate();
  FillField(image.GetPointer(), 0.5, 3);
  auto field = CaseType::FieldTransformType::New();
  field->SetDisplacementField(image);
  ExpectSuperclass(CaseBeforeField(field), "does not start at 0", Nothing);
}
#endif

TEST(FusedMetricFallback, ManyBins)
{
  ExpectSuperclass<FusedMattesType, ItkMattesType>(
    AffineCase(), "256 bins", [](auto * metric) { metric->SetNumberOfHistogramBins(300); });
}

TEST(FusedMetricFallback, ValueAloneMayBeFast)
{
  auto           metric = FusedType::New();
  const CaseType metricCase = AffineCase();
  metricCase.Connect(metric.GetPointer());
  metric->SetUseMovingImageGradientFilter(true);
  metric->Initialize();
  EXPECT_FALSE(metric->GetUsedFastPath());
  metric->GetValue(); // needs no gradient
  EXPECT_TRUE(metric->GetUsedFastPath());
  EXPECT_EQ(metric->GetFallbackReason(), "");
}

TEST(FusedMetricFallback, GradientFiltersAreOffByDefault)
{
  EXPECT_FALSE(FusedType::New()->GetUseMovingImageGradientFilter());
  EXPECT_FALSE(FusedMattesType::New()->GetUseFixedImageGradientFilter());
}
