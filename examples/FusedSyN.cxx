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
// Symmetric normalization (SyN) with ITK's method and the fused local correlation: FusedSyN [SIZE]
//
// The program makes a pair of images that differ by a known deformation, and fails if it is not recovered.

#include "itkFusedNeighborhoodCorrelationImageToImageMetricv4.h"

#include "itkCommand.h"
#include "itkDisplacementFieldTransformParametersAdaptor.h"
#include "itkImageRegionIteratorWithIndex.h"
#include "itkShrinkImageFilter.h"
#include "itkSyNImageRegistrationMethod.h"
#include "itkTimeProbe.h"

#include <cmath>
#include <cstdlib>
#include <iostream>

namespace
{

using ImageType = itk::Image<float, 3>;
using PointType = ImageType::PointType;
using TransformType = itk::DisplacementFieldTransform<double, 3>;
using FieldType = TransformType::DisplacementFieldType;
using MetricType = itk::FusedNeighborhoodCorrelationImageToImageMetricv4<ImageType, ImageType>;
using RegistrationType = itk::SyNImageRegistrationMethod<ImageType, ImageType>;

/** An image with structure everywhere. */
double
Anatomy(const PointType & p)
{
  return 50 + 20 * std::sin(0.45 * p[0] + 0.6 * std::sin(0.2 * p[2])) * std::cos(0.38 * p[1]) +
         20 * std::cos(0.41 * p[2] + 0.15 * p[1]) * std::sin(0.33 * p[0] + 0.4) + 8 * std::sin(0.5 * p[1] - 0.2 * p[2]);
}

/** The known deformation v in mm. It vanishes at the border of the image. */
PointType
Displace(const PointType & p, double extent)
{
  double window = 3;
  for (unsigned int c = 0; c < 3; ++c)
  {
    const double x = std::min(std::max(p[c] / extent, 0.0), 1.0);
    window *= std::sin(itk::Math::pi * x);
  }
  PointType displaced = p;
  displaced[0] += window * std::cos(0.07 * p[1]);
  displaced[1] += window * std::sin(0.06 * p[2] + 0.5);
  displaced[2] -= window * std::cos(0.05 * p[0] + 0.3);
  return displaced;
}

ImageType::Pointer
MakeImage(itk::SizeValueType size, bool displaced)
{
  const auto image = ImageType::New();
  image->SetRegions(ImageType::SizeType{ { size, size, size } });
  image->Allocate();
  for (itk::ImageRegionIteratorWithIndex<ImageType> it(image, image->GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    PointType point;
    image->TransformIndexToPhysicalPoint(it.GetIndex(), point);
    it.Set(float(Anatomy(displaced ? Displace(point, double(size - 1)) : point)));
  }
  return image;
}

/** The moving image is the anatomy at y + v(y), so a transform is right if T(x) + v(T(x)) = x. Root mean square of the
 * difference in mm. */
double
Error(const ImageType * image, const TransformType * transform)
{
  const double extent = double(image->GetBufferedRegion().GetSize(0) - 1);
  double       sum = 0;
  for (itk::ImageRegionConstIteratorWithIndex<ImageType> it(image, image->GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    PointType point;
    image->TransformIndexToPhysicalPoint(it.GetIndex(), point);
    sum += (Displace(transform->TransformPoint(point), extent) - point).GetSquaredNorm();
  }
  return std::sqrt(sum / double(image->GetBufferedRegion().GetNumberOfPixels()));
}

FieldType::Pointer
MakeZeroField(const ImageType * grid)
{
  const auto field = FieldType::New();
  field->CopyInformation(grid);
  field->SetRegions(grid->GetBufferedRegion());
  field->Allocate(true);
  return field;
}

MetricType::Pointer
MakeMetric()
{
  const auto             metric = MetricType::New();
  MetricType::RadiusType radius;
  radius.Fill(3); // windows of 7 x 7 x 7
  metric->SetRadius(radius);
  return metric;
}

/** Mean of the squared local correlation, between 0 and 1. */
double
Similarity(ImageType * fixed, ImageType * moving, TransformType * transform)
{
  const auto metric = MakeMetric();
  metric->SetFixedImage(fixed);
  metric->SetMovingImage(moving);
  metric->SetMovingTransform(transform);
  metric->Initialize();
  return -metric->GetValue();
}

/** Tells the fields of a level which grid they have. */
RegistrationType::TransformParametersAdaptorsContainerType
MakeAdaptors(ImageType * fixed, TransformType * transform, const RegistrationType::ShrinkFactorsArrayType & factors)
{
  RegistrationType::TransformParametersAdaptorsContainerType adaptors;
  for (unsigned int level = 0; level < factors.Size(); ++level)
  {
    const auto shrink = itk::ShrinkImageFilter<ImageType, ImageType>::New();
    shrink->SetInput(fixed);
    shrink->SetShrinkFactors(static_cast<unsigned int>(factors[level]));
    shrink->UpdateOutputInformation();
    const ImageType * grid = shrink->GetOutput();
    const auto        adaptor = itk::DisplacementFieldTransformParametersAdaptor<TransformType>::New();
    adaptor->SetRequiredSpacing(grid->GetSpacing());
    adaptor->SetRequiredSize(grid->GetLargestPossibleRegion().GetSize());
    adaptor->SetRequiredDirection(grid->GetDirection());
    adaptor->SetRequiredOrigin(grid->GetOrigin());
    adaptor->SetTransform(transform);
    adaptors.push_back(adaptor.GetPointer());
  }
  return adaptors;
}

RegistrationType::Pointer
MakeRegistration(ImageType * fixed, ImageType * moving, MetricType * metric, TransformType * transform)
{
  const auto registration = RegistrationType::New();
  registration->SetFixedImage(fixed);
  registration->SetMovingImage(moving);
  registration->SetMetric(metric);
  registration->SetInitialTransform(transform);
  registration->InPlaceOn();
  registration->SetLearningRate(0.4);
  registration->SetGaussianSmoothingVarianceForTheUpdateField(3);
  registration->SetGaussianSmoothingVarianceForTheTotalField(0);
  registration->SetNumberOfLevels(2);
  RegistrationType::ShrinkFactorsArrayType      factors(2);
  RegistrationType::SmoothingSigmasArrayType    sigmas(2);
  RegistrationType::NumberOfIterationsArrayType iterations(2);
  factors[0] = 2;
  factors[1] = 1;
  sigmas[0] = 1;
  sigmas[1] = 0;
  iterations[0] = 15;
  iterations[1] = 10;
  registration->SetShrinkFactorsPerLevel(factors);
  registration->SetSmoothingSigmasPerLevel(sigmas);
  registration->SetNumberOfIterationsPerLevel(iterations);
  auto adaptors = MakeAdaptors(fixed, transform, factors);
  registration->SetTransformParametersAdaptorsPerLevel(adaptors);

  const auto * observed = registration.GetPointer();
  const auto   command = itk::FunctionCommand::New();
  command->SetCallback([observed](const itk::EventObject &) {
    std::cout << "  level " << observed->GetCurrentLevel() << ", iteration " << observed->GetCurrentIteration()
              << ", value " << observed->GetCurrentMetricValue() << std::endl;
  });
  registration->AddObserver(itk::IterationEvent(), command);
  return registration;
}

int
Run(itk::SizeValueType size)
{
  const auto fixed = MakeImage(size, false);
  const auto moving = MakeImage(size, true);
  const auto transform = TransformType::New();
  transform->SetDisplacementField(MakeZeroField(fixed));
  transform->SetInverseDisplacementField(MakeZeroField(fixed));
  const double errorBefore = Error(fixed, transform);
  const double similarityBefore = Similarity(fixed, moving, transform);

  std::cout << "SyN, " << size << "^3 voxels of 1 mm, local correlation in windows of 7^3" << std::endl;
  const auto     metric = MakeMetric();
  const auto     registration = MakeRegistration(fixed, moving, metric, transform);
  itk::TimeProbe clock;
  clock.Start();
  registration->Update();
  clock.Stop();

  const double errorAfter = Error(fixed, transform);
  const double similarityAfter = Similarity(fixed, moving, transform);
  std::cout << "  similarity " << similarityBefore << " -> " << similarityAfter << "\n  error " << errorBefore << " -> "
            << errorAfter << " mm\n  " << clock.GetTotal() << " s, metric "
            << (metric->GetUsedFastPath() ? "on its fast path" : "not on its fast path: " + metric->GetFallbackReason())
            << std::endl;

  if (!(errorAfter < 0.25 * errorBefore) || !(similarityAfter > similarityBefore))
  {
    std::cerr << "The deformation was not recovered" << std::endl;
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}

} // namespace

int
main(int argc, char ** argv)
{
  const long size = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 64;
  if (argc > 2 || size < 32 || size > 512)
  {
    std::cerr << "Usage: " << argv[0] << " [SIZE (32 to 512)]" << std::endl;
    return EXIT_FAILURE;
  }
  try
  {
    return Run(itk::SizeValueType(size));
  }
  catch (const std::exception & error)
  {
    std::cerr << argv[0] << ": " << error.what() << std::endl;
    return EXIT_FAILURE;
  }
}
