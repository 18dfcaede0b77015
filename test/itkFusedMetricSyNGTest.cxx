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
#include "itkFusedMetricRegistrationSupport.h"

#include "itkFusedMattesMutualInformationImageToImageMetricv4.h"
#include "itkFusedNeighborhoodCorrelationImageToImageMetricv4.h"

#include "itkBSplineSmoothingOnUpdateDisplacementFieldTransformParametersAdaptor.h"
#include "itkBSplineSyNImageRegistrationMethod.h"
#include "itkSyNImageRegistrationMethod.h"

// The fused metrics in ITK's symmetric normalization: as close to the known deformation as with ITK's metrics.
namespace
{

using ffdp::test::DeformableProblem;
using ffdp::test::ExpectAsCloseAsItk;
using ffdp::test::ExpectFastPath;
using ffdp::test::MakeZeroField;
using ffdp::test::Outcome;

using ImageType = itk::Image<float, 2>;
using SyNType = itk::SyNImageRegistrationMethod<ImageType, ImageType>;
using BSplineSyNType = itk::BSplineSyNImageRegistrationMethod<ImageType, ImageType>;

constexpr int    size = 40;
constexpr double bound = 0.36; // mm: two thirds of the way from 1.1, which ITK goes in fifteen iterations

/** What a method needs beyond images and metric. */
void
SetUp(SyNType *, SyNType::OutputTransformType *, const ImageType *)
{}
void
SetUp(BSplineSyNType * registration, BSplineSyNType::OutputTransformType * transform, const ImageType * grid)
{
  using TransformType = BSplineSyNType::OutputTransformType;
  TransformType::ArrayType updateMesh, totalMesh;
  updateMesh.Fill(10);
  totalMesh.Fill(0);
  transform->SetMeshSizeForTheUpdateField(updateMesh);
  transform->SetMeshSizeForTheTotalField(totalMesh);
  const auto adaptor = itk::BSplineSmoothingOnUpdateDisplacementFieldTransformParametersAdaptor<TransformType>::New();
  adaptor->SetTransform(transform); // first: it looks at it when the meshes are set
  adaptor->SetRequiredSpacing(grid->GetSpacing());
  adaptor->SetRequiredSize(grid->GetBufferedRegion().GetSize());
  adaptor->SetRequiredDirection(grid->GetDirection());
  adaptor->SetRequiredOrigin(grid->GetOrigin());
  adaptor->SetMeshSizeForTheUpdateField(updateMesh);
  adaptor->SetMeshSizeForTheTotalField(totalMesh);
  BSplineSyNType::TransformParametersAdaptorsContainerType adaptors;
  adaptors.push_back(adaptor.GetPointer());
  registration->SetTransformParametersAdaptorsPerLevel(adaptors);
}

/** One level, so that a result depends on little else than the metric. */
template <typename TRegistration, typename TMetric>
Outcome
Register(const DeformableProblem<2> & problem, TMetric * metric, bool downsample)
{
  using TransformType = typename TRegistration::OutputTransformType;
  using FieldType = typename TransformType::DisplacementFieldType;
  metric->SetUseMovingImageGradientFilter(false);
  metric->SetUseFixedImageGradientFilter(false);

  const auto transform = TransformType::New();
  transform->SetDisplacementField(MakeZeroField<FieldType>(problem.fixed.GetPointer()));
  transform->SetInverseDisplacementField(MakeZeroField<FieldType>(problem.fixed.GetPointer()));

  const auto registration = TRegistration::New();
  registration->SetFixedImage(problem.fixed);
  registration->SetMovingImage(problem.moving);
  registration->SetMetric(metric);
  registration->SetInitialTransform(transform);
  registration->InPlaceOn();
  registration->SetDownsampleImagesForMetricDerivatives(downsample);
  registration->SetLearningRate(0.3);
  registration->SetNumberOfLevels(1);
  typename TRegistration::ShrinkFactorsArrayType      shrink(1);
  typename TRegistration::SmoothingSigmasArrayType    sigmas(1);
  typename TRegistration::NumberOfIterationsArrayType iterations(1);
  shrink[0] = 1;
  sigmas[0] = 0;
  iterations[0] = 15;
  registration->SetShrinkFactorsPerLevel(shrink);
  registration->SetSmoothingSigmasPerLevel(sigmas);
  registration->SetNumberOfIterationsPerLevel(iterations);
  SetUp(registration.GetPointer(), transform.GetPointer(), problem.fixed.GetPointer());
  registration->Update();
  return { problem.Error(registration->GetTransform()), double(registration->GetCurrentMetricValue()) };
}

template <typename TMetric>
typename TMetric::Pointer
MakeCorrelation()
{
  const auto                   metric = TMetric::New();
  typename TMetric::RadiusType radius;
  radius.Fill(3);
  metric->SetRadius(radius);
  return metric;
}

template <typename TRegistration>
void
ExpectCorrelationAsItk(bool downsample)
{
  const DeformableProblem<2> problem(size);
  EXPECT_GT(problem.InitialError(), 3 * bound);
  const auto    itk = MakeCorrelation<itk::ANTSNeighborhoodCorrelationImageToImageMetricv4<ImageType, ImageType>>();
  const auto    fused = MakeCorrelation<itk::FusedNeighborhoodCorrelationImageToImageMetricv4<ImageType, ImageType>>();
  const Outcome byFused = Register<TRegistration>(problem, fused.GetPointer(), downsample);
  const Outcome byItk = Register<TRegistration>(problem, itk.GetPointer(), downsample);
  ExpectAsCloseAsItk(byFused, byItk, bound);
  EXPECT_NEAR(byFused.value, byItk.value, 1e-3); // of values near -1
  ExpectFastPath(fused.GetPointer());
}

} // namespace

TEST(FusedMetricSyN, NeighborhoodCorrelationOfDownsampledImages)
{
  ExpectCorrelationAsItk<SyNType>(true);
}

TEST(FusedMetricSyN, NeighborhoodCorrelationThroughFieldsOnBothSides)
{
  ExpectCorrelationAsItk<SyNType>(false);
}

TEST(FusedMetricSyN, MattesThroughFieldsOnBothSides)
{
  const DeformableProblem<2> problem(size);
  const auto                 itk = itk::MattesMutualInformationImageToImageMetricv4<ImageType, ImageType>::New();
  const auto                 fused = itk::FusedMattesMutualInformationImageToImageMetricv4<ImageType, ImageType>::New();
  itk->SetNumberOfHistogramBins(16);
  fused->SetNumberOfHistogramBins(16);
  ExpectAsCloseAsItk(Register<SyNType>(problem, fused.GetPointer(), false),
                     Register<SyNType>(problem, itk.GetPointer(), false),
                     2 * bound); // a coarse histogram of 1600 samples leaves more
  ExpectFastPath(fused.GetPointer());
}

TEST(FusedMetricSyN, BSplineSyNOfDownsampledImages)
{
  ExpectCorrelationAsItk<BSplineSyNType>(true);
}

TEST(FusedMetricSyN, BSplineSyNThroughFieldsOnBothSides)
{
  ExpectCorrelationAsItk<BSplineSyNType>(false);
}
