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
#include "itkFusedMeanSquaresImageToImageMetricv4.h"
#include "itkFusedNeighborhoodCorrelationImageToImageMetricv4.h"

#include "itkGradientDescentOptimizerv4.h"
#include "itkImageMaskSpatialObject.h"
#include "itkImageRegistrationMethodv4.h"
#include "itkMersenneTwisterRandomVariateGenerator.h"
#include "itkRegistrationParameterScalesFromPhysicalShift.h"

// The fused metrics in ITK's multi-level registration: as close to the known transform as with ITK's metrics.
namespace
{

using ffdp::test::AffineProblem;
using ffdp::test::ExpectAsCloseAsItk;
using ffdp::test::ExpectFastPath;
using ffdp::test::Outcome;

using ProblemType = AffineProblem<3>;
using ImageType = ProblemType::ImageType;
using TransformType = ProblemType::AffineType;
using RegistrationType = itk::ImageRegistrationMethodv4<ImageType, ImageType, TransformType>;
using MaskType = itk::ImageMaskSpatialObject<3>;

constexpr int size = 20;

using FieldTransformType = itk::DisplacementFieldTransform<double, 3>;

template <typename TMetric>
Outcome
Register(const ProblemType &  problem,
         TMetric *            metric,
         const MaskType *     fixedMask = nullptr,
         FieldTransformType * movingInitial = nullptr)
{
  metric->SetUseMovingImageGradientFilter(false);
  metric->SetUseFixedImageGradientFilter(false);
  metric->SetFixedImageMask(fixedMask);
  // Behind a field, the estimator of the scales looks at random points.
  itk::Statistics::MersenneTwisterRandomVariateGenerator::GetInstance()->SetSeed(1);

  const auto scales = itk::RegistrationParameterScalesFromPhysicalShift<TMetric>::New();
  scales->SetMetric(metric);
  metric->SetMaximumNumberOfWorkUnits(1); // ITK's sums depend on which thread comes first: one gives the same each time
  const auto optimizer = itk::GradientDescentOptimizerv4::New();
  optimizer->SetScalesEstimator(scales);
  optimizer->SetDoEstimateLearningRateOnce(false);
  optimizer->SetDoEstimateLearningRateAtEachIteration(true);
  optimizer->SetMaximumStepSizeInPhysicalUnits(0.2);
  optimizer->SetNumberOfIterations(20);

  const auto transform = TransformType::New();
  transform->SetCenter(problem.center);
  const auto registration = RegistrationType::New();
  registration->SetFixedImage(problem.fixed);
  registration->SetMovingImage(problem.moving);
  registration->SetMetric(metric);
  registration->SetOptimizer(optimizer);
  registration->SetInitialTransform(transform);
  if (movingInitial)
  {
    registration->SetMovingInitialTransform(movingInitial);
  }
  registration->InPlaceOn();
  registration->SetNumberOfLevels(2);
  RegistrationType::ShrinkFactorsArrayType   shrink(2);
  RegistrationType::SmoothingSigmasArrayType sigmas(2);
  shrink[0] = 2;
  shrink[1] = 1;
  sigmas[0] = 1;
  sigmas[1] = 0;
  registration->SetShrinkFactorsPerLevel(shrink);
  registration->SetSmoothingSigmasPerLevel(sigmas);
  registration->Update();
  return { problem.Error(transform.GetPointer()), optimizer->GetCurrentMetricValue() };
}

template <typename TMetric>
typename TMetric::Pointer
MakeCorrelation()
{
  const auto                   metric = TMetric::New();
  typename TMetric::RadiusType radius;
  radius.Fill(2);
  metric->SetRadius(radius);
  return metric;
}

} // namespace

TEST(FusedMetricRegistration, MeanSquares)
{
  const ProblemType problem(size);
  const auto        itk = itk::MeanSquaresImageToImageMetricv4<ImageType, ImageType>::New();
  const auto        fused = itk::FusedMeanSquaresImageToImageMetricv4<ImageType, ImageType>::New();
  ExpectAsCloseAsItk(Register(problem, fused.GetPointer()), Register(problem, itk.GetPointer()), 0.15);
  ExpectFastPath(fused.GetPointer());
}

TEST(FusedMetricRegistration, Mattes)
{
  const ProblemType problem(size);
  const auto        itk = itk::MattesMutualInformationImageToImageMetricv4<ImageType, ImageType>::New();
  const auto        fused = itk::FusedMattesMutualInformationImageToImageMetricv4<ImageType, ImageType>::New();
  itk->SetNumberOfHistogramBins(24);
  fused->SetNumberOfHistogramBins(24);
  ExpectAsCloseAsItk(Register(problem, fused.GetPointer()), Register(problem, itk.GetPointer()), 0.15);
  ExpectFastPath(fused.GetPointer());
}

TEST(FusedMetricRegistration, NeighborhoodCorrelation)
{
  const ProblemType problem(size);
  const auto        itk = MakeCorrelation<itk::ANTSNeighborhoodCorrelationImageToImageMetricv4<ImageType, ImageType>>();
  const auto fused = MakeCorrelation<itk::FusedNeighborhoodCorrelationImageToImageMetricv4<ImageType, ImageType>>();
  ExpectAsCloseAsItk(Register(problem, fused.GetPointer()), Register(problem, itk.GetPointer()), 0.15);
  ExpectFastPath(fused.GetPointer());
}

TEST(FusedMetricRegistration, NeighborhoodCorrelationExactDerivative)
{
  const ProblemType problem(size);
  const auto fused = MakeCorrelation<itk::FusedNeighborhoodCorrelationImageToImageMetricv4<ImageType, ImageType>>();
  fused->SetDerivativeMode(itk::FusedImageToImageMetricv4Enums::DerivativeMode::Exact);
  EXPECT_LT(Register(problem, fused.GetPointer()).error, 0.15);
  ExpectFastPath(fused.GetPointer());
}

TEST(FusedMetricRegistration, MeanSquaresWithMask)
{
  const ProblemType problem(size);
  const auto        maskImage = ffdp::test::MakeImageOf<MaskType::ImageType>(
    size, [&](const auto & p) { return (p - problem.center).GetNorm() < 0.4 * size ? 1 : 0; });
  const auto mask = MaskType::New();
  mask->SetImage(maskImage);
  mask->Update();
  const auto itk = itk::MeanSquaresImageToImageMetricv4<ImageType, ImageType>::New();
  const auto fused = itk::FusedMeanSquaresImageToImageMetricv4<ImageType, ImageType>::New();
  ExpectAsCloseAsItk(Register(problem, fused.GetPointer(), mask.GetPointer()),
                     Register(problem, itk.GetPointer(), mask.GetPointer()),
                     0.2);
  ExpectFastPath(fused.GetPointer());
}

namespace
{

/** The affine problem with a deformation F that is known and follows the transform: moving(F(A x)) = fixed(x). */
struct ProblemBehindField
{
  ProblemType                 problem{ size };
  FieldTransformType::Pointer field = FieldTransformType::New();

  ProblemBehindField()
  {
    // wider than the images, so that ITK 5.2 reads no displacement that is not there
    using FieldType = FieldTransformType::DisplacementFieldType;
    FieldType::PointType origin;
    origin.Fill(-10);
    auto                displacements = FieldType::New();
    FieldType::SizeType sizes;
    sizes.Fill(size + 20);
    displacements->SetRegions(sizes);
    displacements->SetOrigin(origin);
    displacements->Allocate();
    for (itk::ImageRegionIteratorWithIndex<FieldType> it(displacements, displacements->GetBufferedRegion());
         !it.IsAtEnd();
         ++it)
    {
      FieldType::PointType p;
      displacements->TransformIndexToPhysicalPoint(it.GetIndex(), p);
      for (unsigned int c = 0; c < 3; ++c)
      {
        it.Value()[c] = 1.5 * std::sin(0.3 * p[(c + 1) % 3] + 0.2 * p[c] + c);
      }
    }
    field->SetDisplacementField(displacements);
    const auto inverse = TransformType::New();
    problem.known->GetInverse(inverse);
    problem.moving = ffdp::test::MakeImageOf<ImageType>(size, [&](const auto & p) {
      auto y = p; // solves F(y) = p: the slope of the displacement is below 0.8
      for (int i = 0; i < 60; ++i)
      {
        y += p - field->TransformPoint(y);
      }
      return ffdp::test::Anatomy(inverse->TransformPoint(y));
    });
  }
};

} // namespace

TEST(FusedMetricRegistration, MeanSquaresBehindAField)
{
  const ProblemBehindField known;
  const auto               itk = itk::MeanSquaresImageToImageMetricv4<ImageType, ImageType>::New();
  const auto               fused = itk::FusedMeanSquaresImageToImageMetricv4<ImageType, ImageType>::New();
  ExpectAsCloseAsItk(Register(known.problem, fused.GetPointer(), nullptr, known.field),
                     Register(known.problem, itk.GetPointer(), nullptr, known.field),
                     0.15);
  ExpectFastPath(fused.GetPointer());
  // the field matters: without it, the transform is not found
  EXPECT_GT(Register(known.problem, fused.GetPointer()).error, 0.3);
}

TEST(FusedMetricRegistration, MattesBehindAField)
{
  const ProblemBehindField known;
  const auto               itk = itk::MattesMutualInformationImageToImageMetricv4<ImageType, ImageType>::New();
  const auto               fused = itk::FusedMattesMutualInformationImageToImageMetricv4<ImageType, ImageType>::New();
  itk->SetNumberOfHistogramBins(24);
  fused->SetNumberOfHistogramBins(24);
  ExpectAsCloseAsItk(Register(known.problem, fused.GetPointer(), nullptr, known.field),
                     Register(known.problem, itk.GetPointer(), nullptr, known.field),
                     0.15);
  ExpectFastPath(fused.GetPointer());
}
