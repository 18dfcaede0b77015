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
#include "ffdpBenchmarkCase.h"
#include "ffdpItkData.h"

#include "itkAffineTransform.h"
#include "itkCompositeTransform.h"
#include "itkFusedMattesMutualInformationImageToImageMetricv4.h"
#include "itkFusedMeanSquaresImageToImageMetricv4.h"
#include "itkFusedNeighborhoodCorrelationImageToImageMetricv4.h"
#include "itkFusedResampleImageFilter.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

// Our ITK classes against those that they replace: one function sets up both, so nothing but the class differs.
namespace ffdp
{
namespace benchmark
{
namespace
{

using ItkCorrelationMetric = itk::ANTSNeighborhoodCorrelationImageToImageMetricv4<ImageType, ImageType>;
using FusedCorrelationMetric = itk::FusedNeighborhoodCorrelationImageToImageMetricv4<ImageType, ImageType>;
using ItkMattesMetric = itk::MattesMutualInformationImageToImageMetricv4<ImageType, ImageType>;
using FusedMattesMetric = itk::FusedMattesMutualInformationImageToImageMetricv4<ImageType, ImageType>;
using ItkMeanSquaresMetric = itk::MeanSquaresImageToImageMetricv4<ImageType, ImageType>;
using FusedMeanSquaresMetric = itk::FusedMeanSquaresImageToImageMetricv4<ImageType, ImageType>;
using ItkResampleFilter = itk::ResampleImageFilter<ImageType, ImageType>;
using FusedResampleFilter = itk::FusedResampleImageFilter<ImageType, ImageType>;

template <typename T>
constexpr bool isFused = std::is_same<T, FusedCorrelationMetric>::value || std::is_same<T, FusedMattesMetric>::value ||
                         std::is_same<T, FusedMeanSquaresMetric>::value || std::is_same<T, FusedResampleFilter>::value;

/** A time of the superclass must not pass for one of ours. */
template <typename TFused>
void
RequireFastPath(const TFused * object)
{
  if constexpr (isFused<TFused>)
  {
    if (!object->GetUsedFastPath())
    {
      throw std::runtime_error(std::string(object->GetNameOfClass()) +
                               " did without its fast path: " + object->GetFallbackReason());
    }
  }
}

void
SetUp(ItkCorrelationMetric * metric)
{
  ItkCorrelationMetric::RadiusType radius;
  radius.Fill(3);
  metric->SetRadius(radius);
}
void
SetUp(ItkMattesMetric * metric)
{
  metric->SetNumberOfHistogramBins(32);
}
void
SetUp(ItkMeanSquaresMetric *)
{}

/** GetValueAndDerivative for all parameters of a displacement field of the virtual domain. The derivative array is
 * there before; Initialize() is not timed. */
template <typename TMetric>
Work
MetricOfField(const Extent & size, unsigned threads)
{
  using DerivativeType = typename TMetric::DerivativeType;
  const auto metric = TMetric::New();
  SetUp(metric.GetPointer());
  const auto fixed = ToItk(MakeImage(size, 1));
  metric->SetFixedImage(fixed);
  metric->SetMovingImage(ToItk(MakeImage(size, 2)));
  metric->SetVirtualDomainFromImage(fixed);
  metric->SetMovingTransform(MakeTransform(size));
  metric->SetUseFixedImageGradientFilter(false); // the default of ours, and what ANTs does
  metric->SetUseMovingImageGradientFilter(false);
  metric->SetMaximumNumberOfWorkUnits(threads);
  metric->Initialize();
  const auto derivative = std::make_shared<DerivativeType>(metric->GetNumberOfParameters());
  return [metric, derivative] {
    typename TMetric::MeasureType value;
    metric->GetValueAndDerivative(value, *derivative);
    RequireFastPath(metric.GetPointer());
  };
}

/** A field, then an affine transform, linear interpolation, to the grid of the image. The output is there before. */
template <typename TFilter>
Work
ResampleComposite(const Extent & size, unsigned threads)
{
  using AffineType = itk::AffineTransform<double, 3>;
  const auto affine = AffineType::New();
  auto       matrix = affine->GetMatrix();
  matrix[0][0] = 1.02;
  matrix[0][1] = 0.03;
  matrix[1][0] = -0.02;
  matrix[2][1] = 0.01;
  affine->SetMatrix(matrix);
  const auto composite = itk::CompositeTransform<double, 3>::New();
  composite->AddTransform(affine);
  composite->AddTransform(MakeTransform(size)); // what is added last is applied first

  const auto moving = ToItk(MakeImage(size, 2));
  const auto filter = TFilter::New();
  filter->SetInput(moving);
  filter->SetTransform(composite);
  filter->SetReferenceImage(moving);
  filter->UseReferenceImageOn();
  filter->SetNumberOfWorkUnits(threads);
  filter->Update();
  RequireFastPath(filter.GetPointer());
  return FilterWork(filter);
}

// All are timed at the size of the floors, 128^3. ITK's correlation takes seconds there, so once is enough.
constexpr std::int64_t mostSize = 128;

const ItkCounterpart &
CorrelationCounterpart()
{
  static const ItkCounterpart itk{ "ANTSNeighborhoodCorrelation", mostSize, MetricOfField<ItkCorrelationMetric>, 1 };
  return itk;
}
const ItkCounterpart &
MattesCounterpart()
{
  static const ItkCounterpart itk{ "MattesMutualInformation", mostSize, MetricOfField<ItkMattesMetric> };
  return itk;
}
const ItkCounterpart &
MeanSquaresCounterpart()
{
  static const ItkCounterpart itk{ "MeanSquares", mostSize, MetricOfField<ItkMeanSquaresMetric> };
  return itk;
}
const ItkCounterpart &
ResampleCounterpart()
{
  static const ItkCounterpart itk{ "ResampleImageFilter", mostSize, ResampleComposite<ItkResampleFilter> };
  return itk;
}

} // namespace

std::vector<BenchmarkCase>
FusedClassCases()
{
  return {
    // Two images (4 each) and a field of doubles (24) in, the derivative (24) out.
    { "metric_lncc", 56, MetricOfField<FusedCorrelationMetric>, &CorrelationCounterpart(), {} },
    // The same, and images and field once more: the histogram must be complete before the derivative.
    { "metric_mattes", 88, MetricOfField<FusedMattesMetric>, &MattesCounterpart(), {} },
    { "metric_mean_squares", 56, MetricOfField<FusedMeanSquaresMetric>, &MeanSquaresCounterpart(), {} },
    // Field and image in, resampled image out.
    { "resample_composite", 32, ResampleComposite<FusedResampleFilter>, &ResampleCounterpart(), {} },
  };
}

} // namespace benchmark
} // namespace ffdp
