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

#include "itkFusedMeanSquaresImageToImageMetricv4.h"
#include "itkFusedNeighborhoodCorrelationImageToImageMetricv4.h"

#include "itkGradientDescentOptimizerv4.h"
#include "itkImageRegistrationMethodv4.h"
#include "itkObjectToObjectMultiMetricv4.h"
#include "itkRegistrationParameterScalesFromPhysicalShift.h"
#include "itkTimeVaryingVelocityFieldImageRegistrationMethodv4.h"

// The fused metrics in what else drives metrics in ITK: a velocity field, several metrics at once, a displacement field
// by gradient descent.
namespace
{

using ffdp::test::AffineProblem;
using ffdp::test::DeformableProblem;
using ffdp::test::ExpectAsCloseAsItk;
using ffdp::test::ExpectFastPath;
using ffdp::test::MakeZeroField;
using ffdp::test::Outcome;

using ImageType = itk::Image<float, 2>;
using ItkMeanSquares = itk::MeanSquaresImageToImageMetricv4<ImageType, ImageType>;
using FusedMeanSquares = itk::FusedMeanSquaresImageToImageMetricv4<ImageType, ImageType>;
using ItkCorrelation = itk::ANTSNeighborhoodCorrelationImageToImageMetricv4<ImageType, ImageType>;
using FusedCorrelation = itk::FusedNeighborhoodCorrelationImageToImageMetricv4<ImageType, ImageType>;

template <typename TMetric>
typename TMetric::Pointer
MakeMetric()
{
  const auto metric = TMetric::New();
  metric->SetUseMovingImageGradientFilter(false);
  metric->SetUseFixedImageGradientFilter(false);
  return metric;
}

template <typename TMetric>
typename TMetric::Pointer
MakeCorrelation()
{
  const auto                   metric = MakeMetric<TMetric>();
  typename TMetric::RadiusType radius;
  radius.Fill(3);
  metric->SetRadius(radius);
  return metric;
}

using VelocityMethod = itk::TimeVaryingVelocityFieldImageRegistrationMethodv4<ImageType, ImageType>;
using VelocityTransform = VelocityMethod::OutputTransformType;
using VelocityField = VelocityTransform::VelocityFieldType;

/** Velocities of zero on the grid of an image, at four points of time. */
VelocityField::Pointer
MakeZeroVelocity(const ImageType * grid)
{
  VelocityField::SizeType size;
  size[0] = grid->GetBufferedRegion().GetSize(0);
  size[1] = grid->GetBufferedRegion().GetSize(1);
  size[2] = 4;
  const auto field = VelocityField::New(); // spacing, origin and direction are the defaults, as in the image
  field->SetRegions(size);
  field->Allocate(true);
  return field;
}

template <typename TMetric>
Outcome
RegisterByVelocity(const DeformableProblem<2> & problem, TMetric * metric)
{
  const auto transform = VelocityTransform::New();
  transform->SetGaussianSpatialSmoothingVarianceForTheTotalField(0);
  transform->SetGaussianSpatialSmoothingVarianceForTheUpdateField(3);
  transform->SetGaussianTemporalSmoothingVarianceForTheTotalField(0);
  transform->SetGaussianTemporalSmoothingVarianceForTheUpdateField(0.5);
  transform->SetVelocityField(MakeZeroVelocity(problem.fixed));
  transform->SetLowerTimeBound(0);
  transform->SetUpperTimeBound(1);
  transform->IntegrateVelocityField();

  const auto registration = VelocityMethod::New();
  registration->SetFixedImage(problem.fixed);
  registration->SetMovingImage(problem.moving);
  registration->SetMetric(metric);
  registration->SetInitialTransform(transform);
  registration->InPlaceOn();
  registration->SetLearningRate(0.5);
  registration->SetNumberOfLevels(1);
  VelocityMethod::ShrinkFactorsArrayType      shrink(1);
  VelocityMethod::SmoothingSigmasArrayType    sigmas(1);
  VelocityMethod::NumberOfIterationsArrayType iterations(1);
  shrink[0] = 1;
  sigmas[0] = 0;
  iterations[0] = 15;
  registration->SetShrinkFactorsPerLevel(shrink);
  registration->SetSmoothingSigmasPerLevel(sigmas);
  registration->SetNumberOfIterationsPerLevel(iterations);
  registration->Update();
  return { problem.Error(transform.GetPointer()), double(registration->GetCurrentMetricValue()) };
}

using FieldTransform = itk::DisplacementFieldTransform<double, 2>;

/** A displacement field by plain gradient descent on all its parameters, with the step that the scales estimator finds:
 * local support without any smoothing, so every voxel counts. */
template <typename TMetric>
Outcome
DescendField(const DeformableProblem<2> & problem, TMetric * metric)
{
  const auto transform = FieldTransform::New();
  transform->SetDisplacementField(MakeZeroField<FieldTransform::DisplacementFieldType>(problem.fixed.GetPointer()));
  metric->SetFixedImage(problem.fixed);
  metric->SetMovingImage(problem.moving);
  metric->SetVirtualDomainFromImage(problem.fixed);
  metric->SetMovingTransform(transform);
  metric->Initialize();
  const auto scales = itk::RegistrationParameterScalesFromPhysicalShift<TMetric>::New();
  scales->SetMetric(metric);
  const auto optimizer = itk::GradientDescentOptimizerv4::New();
  optimizer->SetMetric(metric);
  optimizer->SetScalesEstimator(scales);
  optimizer->SetDoEstimateLearningRateOnce(false);
  optimizer->SetDoEstimateLearningRateAtEachIteration(true);
  optimizer->SetMaximumStepSizeInPhysicalUnits(0.3);
  optimizer->SetNumberOfIterations(30);
  optimizer->StartOptimization();
  return { problem.Error(transform.GetPointer()), double(metric->GetValue()) };
}

using AffineRegistration = itk::ImageRegistrationMethodv4<ImageType, ImageType, AffineProblem<2>::AffineType>;
using MultiMetric = itk::ObjectToObjectMultiMetricv4<2, 2, ImageType>;

/** Affine registration by the sum of two metrics of the same two images. */
Outcome
RegisterByTwo(const AffineProblem<2> & problem, MultiMetric::MetricType * first, MultiMetric::MetricType * second)
{
  const auto multiMetric = MultiMetric::New();
  multiMetric->AddMetric(first);
  multiMetric->AddMetric(second);
  MultiMetric::WeightsArrayType weights(2);
  weights[0] = 0.4;
  weights[1] = 0.6;
  multiMetric->SetMetricWeights(weights);

  const auto scales = itk::RegistrationParameterScalesFromPhysicalShift<MultiMetric>::New();
  scales->SetMetric(multiMetric);
  const auto optimizer = itk::GradientDescentOptimizerv4::New();
  optimizer->SetScalesEstimator(scales);
  optimizer->SetDoEstimateLearningRateOnce(false);
  optimizer->SetDoEstimateLearningRateAtEachIteration(true);
  optimizer->SetMaximumStepSizeInPhysicalUnits(0.2);
  optimizer->SetNumberOfIterations(60);

  const auto transform = AffineProblem<2>::AffineType::New();
  transform->SetCenter(problem.center);
  const auto registration = AffineRegistration::New();
  registration->SetFixedImage(0, problem.fixed);
  registration->SetMovingImage(0, problem.moving);
  registration->SetFixedImage(1, problem.fixed);
  registration->SetMovingImage(1, problem.moving);
  registration->SetMetric(multiMetric);
  registration->SetOptimizer(optimizer);
  registration->SetInitialTransform(transform);
  registration->InPlaceOn();
  registration->SetNumberOfLevels(1);
  AffineRegistration::ShrinkFactorsArrayType   shrink(1);
  AffineRegistration::SmoothingSigmasArrayType sigmas(1);
  shrink[0] = 1;
  sigmas[0] = 0;
  registration->SetShrinkFactorsPerLevel(shrink);
  registration->SetSmoothingSigmasPerLevel(sigmas);
  registration->Update();
  return { problem.Error(transform.GetPointer()), double(optimizer->GetCurrentMetricValue()) };
}

} // namespace

TEST(FusedMetricMethods, TimeVaryingVelocityField)
{
  const DeformableProblem<2> problem(40);
  const auto                 itk = MakeCorrelation<ItkCorrelation>();
  const auto                 fused = MakeCorrelation<FusedCorrelation>();
  // Fifteen iterations go more than half of the way, with either.
  ExpectAsCloseAsItk(RegisterByVelocity(problem, fused.GetPointer()),
                     RegisterByVelocity(problem, itk.GetPointer()),
                     0.5 * problem.InitialError());
  ExpectFastPath(fused.GetPointer());
}

TEST(FusedMetricMethods, DisplacementFieldByGradientDescent)
{
  const DeformableProblem<2> problem(40);
  const auto                 itk = MakeMetric<ItkMeanSquares>();
  const auto                 fused = MakeMetric<FusedMeanSquares>();
  const Outcome              byFused = DescendField(problem, fused.GetPointer());
  const Outcome              byItk = DescendField(problem, itk.GetPointer());
  // Without smoothing only the part along the gradient is found, so the bound is on what is left of the difference.
  EXPECT_LT(byFused.error, 1.02 * byItk.error);
  EXPECT_LT(byFused.error, 0.9 * problem.InitialError());
  EXPECT_NEAR(byFused.value, byItk.value, 0.02 * byItk.value);
  ExpectFastPath(fused.GetPointer());
}

TEST(FusedMetricMethods, MultiMetric)
{
  const AffineProblem<2> problem(48);
  const auto             fusedSquares = MakeMetric<FusedMeanSquares>();
  const auto             fusedCorrelation = MakeCorrelation<FusedCorrelation>();
  const Outcome          byFused = RegisterByTwo(problem, fusedSquares.GetPointer(), fusedCorrelation.GetPointer());
  const auto             itkSquares = MakeMetric<ItkMeanSquares>();
  const auto             itkCorrelation = MakeCorrelation<ItkCorrelation>();
  const Outcome          byItk = RegisterByTwo(problem, itkSquares.GetPointer(), itkCorrelation.GetPointer());
  ExpectAsCloseAsItk(byFused, byItk, 0.1);
  ExpectFastPath(fusedSquares.GetPointer());
  ExpectFastPath(fusedCorrelation.GetPointer());
}
