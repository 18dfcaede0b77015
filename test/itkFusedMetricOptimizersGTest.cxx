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

#include "itkConjugateGradientLineSearchOptimizerv4.h"
#include "itkGradientDescentOptimizerv4.h"
#include "itkLBFGS2Optimizerv4.h"
#include "itkLBFGSBOptimizerv4.h"
#include "itkLBFGSOptimizerv4.h"
#include "itkRegistrationParameterScalesFromPhysicalShift.h"
#include "itkRegularStepGradientDescentOptimizerv4.h"

// The fused metrics under each optimizer: as close to the known affine transform as with ITK's metrics.
namespace
{

using ProblemType = ffdp::test::AffineProblem<2>;
using ImageType = ProblemType::ImageType;
using TransformType = ProblemType::AffineType;
using ffdp::test::ExpectAsCloseAsItk;
using ffdp::test::ExpectFastPath;
using ffdp::test::Outcome;

using ItkMeanSquares = itk::MeanSquaresImageToImageMetricv4<ImageType, ImageType>;
using FusedMeanSquares = itk::FusedMeanSquaresImageToImageMetricv4<ImageType, ImageType>;
using ItkMattes = itk::MattesMutualInformationImageToImageMetricv4<ImageType, ImageType>;
using FusedMattes = itk::FusedMattesMutualInformationImageToImageMetricv4<ImageType, ImageType>;

constexpr int    size = 48;
constexpr double bound = 0.1; // mm; at the start it is about 2

/** Settings of an optimizer that depend on nothing but it. */
void
SetUp(itk::GradientDescentOptimizerv4 * optimizer)
{
  optimizer->SetDoEstimateLearningRateOnce(false);
  optimizer->SetDoEstimateLearningRateAtEachIteration(true);
  optimizer->SetMaximumStepSizeInPhysicalUnits(0.2);
  optimizer->SetNumberOfIterations(60);
}
void
SetUp(itk::ConjugateGradientLineSearchOptimizerv4Template<double> * optimizer)
{
  optimizer->SetDoEstimateLearningRateOnce(true);
  optimizer->SetLowerLimit(0);
  optimizer->SetUpperLimit(5);
  optimizer->SetEpsilon(0.1);
  optimizer->SetMaximumLineSearchIterations(10);
  optimizer->SetNumberOfIterations(30);
}
void
SetUp(itk::RegularStepGradientDescentOptimizerv4<double> * optimizer)
{
  optimizer->SetLearningRate(1);
  optimizer->SetMinimumStepLength(1e-4);
  optimizer->SetNumberOfIterations(60);
}
void
SetUp(itk::LBFGSOptimizerv4 * optimizer)
{
  optimizer->SetMaximumNumberOfFunctionEvaluations(200);
  optimizer->SetGradientConvergenceTolerance(1e-6);
  optimizer->SetDefaultStepLength(0.1);
}
void
SetUp(itk::LBFGSBOptimizerv4 * optimizer)
{
  optimizer->SetNumberOfIterations(40);
  optimizer->SetCostFunctionConvergenceFactor(1e3);
  constexpr unsigned int                     parameters = 6;
  itk::LBFGSBOptimizerv4::BoundSelectionType select(parameters);
  itk::LBFGSBOptimizerv4::BoundValueType     any(parameters);
  select.Fill(0); // unbounded
  any.Fill(0);
  optimizer->SetBoundSelection(select);
  optimizer->SetLowerBound(any);
  optimizer->SetUpperBound(any);
}
void
SetUp(itk::LBFGS2Optimizerv4 * optimizer)
{
  optimizer->SetMaximumIterations(40);
  optimizer->SetSolutionAccuracy(1e-6);
}

/** An affine registration by one optimizer, without levels: metric, scales and optimizer alone. */
template <typename TOptimizer, typename TMetric>
Outcome
Optimize(TMetric * metric)
{
  const ProblemType problem(size);
  const auto        transform = TransformType::New();
  transform->SetCenter(problem.center);
  metric->SetFixedImage(problem.fixed);
  metric->SetMovingImage(problem.moving);
  metric->SetMovingTransform(transform);
  metric->SetUseMovingImageGradientFilter(false);
  metric->SetUseFixedImageGradientFilter(false);
  metric->Initialize();

  const auto scales = itk::RegistrationParameterScalesFromPhysicalShift<TMetric>::New();
  scales->SetMetric(metric);
  const auto optimizer = TOptimizer::New();
  optimizer->SetMetric(metric);
  optimizer->SetScalesEstimator(scales);
  SetUp(optimizer.GetPointer());
  optimizer->StartOptimization();
  return { problem.Error(transform.GetPointer()), double(metric->GetValue()) };
}

template <typename TOptimizer>
void
ExpectMeanSquaresAsItk()
{
  const auto itk = ItkMeanSquares::New();
  const auto fused = FusedMeanSquares::New();
  ExpectAsCloseAsItk(Optimize<TOptimizer>(fused.GetPointer()), Optimize<TOptimizer>(itk.GetPointer()), bound);
  ExpectFastPath(fused.GetPointer());
}

template <typename TOptimizer>
void
ExpectMattesAsItk()
{
  const auto itk = ItkMattes::New();
  const auto fused = FusedMattes::New();
  itk->SetNumberOfHistogramBins(24);
  fused->SetNumberOfHistogramBins(24);
  ExpectAsCloseAsItk(Optimize<TOptimizer>(fused.GetPointer()), Optimize<TOptimizer>(itk.GetPointer()), bound);
  ExpectFastPath(fused.GetPointer());
}

} // namespace

TEST(FusedMetricOptimizers, GradientDescent)
{
  ExpectMeanSquaresAsItk<itk::GradientDescentOptimizerv4>();
  ExpectMattesAsItk<itk::GradientDescentOptimizerv4>();
}

TEST(FusedMetricOptimizers, ConjugateGradientLineSearch)
{
  ExpectMeanSquaresAsItk<itk::ConjugateGradientLineSearchOptimizerv4Template<double>>();
  ExpectMattesAsItk<itk::ConjugateGradientLineSearchOptimizerv4Template<double>>();
}

TEST(FusedMetricOptimizers, RegularStepGradientDescent)
{
  ExpectMeanSquaresAsItk<itk::RegularStepGradientDescentOptimizerv4<double>>();
  ExpectMattesAsItk<itk::RegularStepGradientDescentOptimizerv4<double>>();
}

TEST(FusedMetricOptimizers, LBFGS)
{
  ExpectMeanSquaresAsItk<itk::LBFGSOptimizerv4>();
  ExpectMattesAsItk<itk::LBFGSOptimizerv4>();
}

TEST(FusedMetricOptimizers, LBFGSB)
{
  ExpectMeanSquaresAsItk<itk::LBFGSBOptimizerv4>();
  ExpectMattesAsItk<itk::LBFGSBOptimizerv4>();
}

TEST(FusedMetricOptimizers, LBFGS2)
{
  ExpectMeanSquaresAsItk<itk::LBFGS2Optimizerv4>();
  ExpectMattesAsItk<itk::LBFGS2Optimizerv4>();
}
