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

#include "itkANTSNeighborhoodCorrelationImageToImageMetricv4.h"
#include "itkComposeDisplacementFieldsImageFilter.h"
#include "itkDiscreteGaussianImageFilter.h"
#include "itkMattesMutualInformationImageToImageMetricv4.h"
#include "itkMeanSquaresImageToImageMetricv4.h"
#include "itkResampleImageFilter.h"
#include "itkShrinkImageFilter.h"
#include "itkSmoothingRecursiveGaussianImageFilter.h"

// ITK's classes on the data of our primitives, in grids with spacing 1, where voxels and mm are the same. The number of
// threads is ITK's global default, which the program sets.
namespace ffdp
{
namespace benchmark
{
namespace
{

/** GetValueAndDerivative for all parameters of a displacement field. Initialize(), which computes the gradient of the
 * moving image, is not timed, although a registration pays for it whenever it warps an image. */
template <typename TMetric>
Work
MetricWork(const typename TMetric::Pointer & metric, const Extent & size, unsigned threads)
{
  const auto fixed = ToItk(MakeImage(size, 1));
  metric->SetFixedImage(fixed);
  metric->SetMovingImage(ToItk(MakeImage(size, 2)));
  metric->SetVirtualDomainFromImage(fixed);
  metric->SetMovingTransform(MakeTransform(size));
  metric->SetMaximumNumberOfWorkUnits(threads);
  metric->Initialize();
  return [metric] {
    typename TMetric::MeasureType    value;
    typename TMetric::DerivativeType derivative(metric->GetNumberOfParameters());
    metric->GetValueAndDerivative(value, derivative);
  };
}

Work
NeighborhoodCorrelation(const Extent & size, unsigned threads)
{
  using MetricType = itk::ANTSNeighborhoodCorrelationImageToImageMetricv4<ImageType, ImageType>;
  const auto             metric = MetricType::New();
  MetricType::RadiusType radius;
  radius.Fill(3);
  metric->SetRadius(radius);
  return MetricWork<MetricType>(metric, size, threads);
}

Work
Mattes(const Extent & size, unsigned threads)
{
  using MetricType = itk::MattesMutualInformationImageToImageMetricv4<ImageType, ImageType>;
  const auto metric = MetricType::New();
  metric->SetNumberOfHistogramBins(32);
  return MetricWork<MetricType>(metric, size, threads);
}

Work
MeanSquaresWork(const Extent & size, unsigned threads)
{
  using MetricType = itk::MeanSquaresImageToImageMetricv4<ImageType, ImageType>;
  return MetricWork<MetricType>(MetricType::New(), size, threads);
}

Work
Resample(const Extent & size, unsigned)
{
  using FilterType = itk::ResampleImageFilter<ImageType, ImageType>; // linear by default
  const auto moving = ToItk(MakeImage(size, 2));
  const auto filter = FilterType::New();
  filter->SetInput(moving);
  filter->SetTransform(MakeTransform(size));
  filter->SetReferenceImage(moving);
  filter->UseReferenceImageOn();
  return FilterWork(filter);
}

Work
RecursiveGaussian(const Extent & size, unsigned)
{
  using FilterType = itk::SmoothingRecursiveGaussianImageFilter<FloatFieldType, FloatFieldType>;
  const auto filter = FilterType::New();
  filter->SetInput(ToItk<FloatFieldType>(MakeField(size, 3)));
  filter->SetSigma(1);
  return FilterWork(filter);
}

Work
ComposeFields(const Extent & size, unsigned)
{
  using FilterType = itk::ComposeDisplacementFieldsImageFilter<FloatFieldType>;
  const auto filter = FilterType::New();
  filter->SetDisplacementField(ToItk<FloatFieldType>(MakeField(size, 3)));
  filter->SetWarpingField(ToItk<FloatFieldType>(MakeField(size, 0.5)));
  return FilterWork(filter);
}

Work
DiscreteGaussianAndShrink(const Extent & size, unsigned)
{
  using GaussianType = itk::DiscreteGaussianImageFilter<ImageType, ImageType>;
  using ShrinkType = itk::ShrinkImageFilter<ImageType, ImageType>;
  const auto gaussian = GaussianType::New();
  gaussian->SetInput(ToItk(MakeImage(size, 1)));
  gaussian->SetVariance(1); // sigma: half the factor, in voxels
  const auto shrink = ShrinkType::New();
  shrink->SetInput(gaussian->GetOutput());
  shrink->SetShrinkFactors(2);
  return [gaussian, shrink] {
    gaussian->Modified();
    shrink->Update();
  };
}

// Metrics take microseconds per voxel; filters are timed at full size.
constexpr std::int64_t mostSizeOfMetrics = 80;
constexpr std::int64_t mostSizeOfFilters = 256;

} // namespace

const ItkCounterpart &
ItkNeighborhoodCorrelation()
{
  static const ItkCounterpart itk{ "ANTSNeighborhoodCorrelation", mostSizeOfMetrics, NeighborhoodCorrelation };
  return itk;
}
const ItkCounterpart &
ItkMattes()
{
  static const ItkCounterpart itk{ "MattesMutualInformation", mostSizeOfMetrics, Mattes };
  return itk;
}
const ItkCounterpart &
ItkMeanSquares()
{
  static const ItkCounterpart itk{ "MeanSquares", mostSizeOfMetrics, MeanSquaresWork };
  return itk;
}
const ItkCounterpart &
ItkResample()
{
  static const ItkCounterpart itk{ "ResampleImageFilter", mostSizeOfFilters, Resample };
  return itk;
}
const ItkCounterpart &
ItkRecursiveGaussian()
{
  static const ItkCounterpart itk{ "SmoothingRecursiveGaussian", mostSizeOfFilters, RecursiveGaussian };
  return itk;
}
const ItkCounterpart &
ItkCompose()
{
  static const ItkCounterpart itk{ "ComposeDisplacementFields", mostSizeOfFilters, ComposeFields };
  return itk;
}
const ItkCounterpart &
ItkDiscreteGaussianAndShrink()
{
  static const ItkCounterpart itk{ "DiscreteGaussian+Shrink", mostSizeOfFilters, DiscreteGaussianAndShrink };
  return itk;
}

} // namespace benchmark
} // namespace ffdp
