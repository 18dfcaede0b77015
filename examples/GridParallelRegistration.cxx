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
// From two images to a transform, with ITK's pipeline: GridParallelRegistration [SIZE]
//
// The program makes a pair of images that differ by a known rotation and deformation, and fails if it is not recovered.

#include "itkFusedResampleImageFilter.h"
#include "itkGridParallelImageRegistrationMethod.h"

#include "itkCommand.h"
#include "itkImageRegionIteratorWithIndex.h"

#include <cmath>
#include <cstdlib>
#include <iostream>

namespace
{

using ImageType = itk::Image<short, 3>;
using PointType = ImageType::PointType;
using RegistrationType = itk::GridParallelImageRegistrationMethod<ImageType>;

/** Soft blobs in an ellipsoid in the middle of a cube of `extent` mm. */
double
Anatomy(const PointType & p, double extent)
{
  const double unit = extent / 48;
  double       q[3];
  for (unsigned int c = 0; c < 3; ++c)
  {
    q[c] = (p[c] - 0.5 * extent) / unit;
  }
  const double r = std::sqrt(q[0] * q[0] / 324 + q[1] * q[1] / 256 + q[2] * q[2] / 225);
  const double inside = 1 / (1 + std::exp((r - 1) * 20));
  return inside * (200 + 60 * std::sin(q[0] / 2.1 + std::sin(q[1] / 4)) * std::cos(q[1] / 2.4 + std::sin(q[2] / 5)) +
                   50 * std::sin(q[2] / 2.2 + std::sin(q[0] / 3)));
}

/** Where a point of the fixed image is in the moving one: a small warp, then a rotation about the middle. */
PointType
KnownTransform(const PointType & p, double extent)
{
  constexpr double angle = 0.2;
  const double     unit = extent / 48;
  PointType        q = p;
  q[0] += 1.5 * unit * std::sin(p[1] / (7 * unit));
  q[1] += 1.5 * unit * std::cos(p[2] / (8 * unit));
  q[2] += 1.5 * unit * std::sin(p[0] / (6 * unit));
  const double x = q[0] - 0.5 * extent;
  const double y = q[1] - 0.5 * extent;
  q[0] = 0.52 * extent + std::cos(angle) * x - std::sin(angle) * y;
  q[1] = 0.48 * extent + std::sin(angle) * x + std::cos(angle) * y;
  return q;
}

ImageType::Pointer
MakeImage(itk::SizeValueType size, bool isFixed)
{
  const double extent = double(size - 1);
  const auto   image = ImageType::New();
  image->SetRegions(ImageType::SizeType{ { size, size, size } });
  image->Allocate();
  for (itk::ImageRegionIteratorWithIndex<ImageType> it(image, image->GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    PointType point;
    image->TransformIndexToPhysicalPoint(it.GetIndex(), point);
    it.Set(short(Anatomy(isFixed ? KnownTransform(point, extent) : point, extent)));
  }
  return image;
}

/** Mean distance in mm, over the anatomy, between where a transform and the known one take a point. */
double
Error(const ImageType * fixed, const itk::Transform<double, 3, 3> * transform)
{
  const double extent = double(fixed->GetBufferedRegion().GetSize(0) - 1);
  double       sum = 0;
  double       count = 0;
  for (itk::ImageRegionConstIteratorWithIndex<ImageType> it(fixed, fixed->GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    if (it.Get() > 100)
    {
      PointType point;
      fixed->TransformIndexToPhysicalPoint(it.GetIndex(), point);
      const PointType found = transform ? transform->TransformPoint(point) : point;
      sum += found.EuclideanDistanceTo(KnownTransform(point, extent));
      count += 1;
    }
  }
  return sum / count;
}

/** Prints the first and every tenth iteration of a level. */
void
PrintIterations(RegistrationType * registration)
{
  const auto command = itk::FunctionCommand::New();
  command->SetCallback([registration](const itk::EventObject &) {
    if (registration->GetCurrentIteration() % 10 == 1)
    {
      std::cout << "  " << registration->GetCurrentStageName() << ", level " << registration->GetCurrentLevel()
                << ", iteration " << registration->GetCurrentIteration() << ", value "
                << registration->GetCurrentMetricValue() << "  (" << int(100 * registration->GetProgress()) << " %)"
                << std::endl;
    }
    // registration->AbortGenerateDataOn() would stop here: Update() then throws itk::ProcessAborted
  });
  registration->AddObserver(itk::IterationEvent(), command);
}

int
Run(itk::SizeValueType size)
{
  const auto fixed = MakeImage(size, true);
  const auto moving = MakeImage(size, false);

  const auto registration = RegistrationType::New();
  registration->SetFixedImage(fixed);
  registration->SetMovingImage(moving);
  // Without a stage the default ones are run: moments, rigid, affine, greedy. Here: a rigid one and a short warp.
  RegistrationType::StageType rigid;
  rigid.kind = RegistrationType::StageType::Kind::Rigid;
  rigid.shrinkFactors = { 4, 2 };
  rigid.iterations = { 80, 40 };
  registration->AddStage(rigid);
  RegistrationType::StageType greedy;
  greedy.iterations = { 60, 40, 20 };
  registration->AddStage(greedy);
  PrintIterations(registration);
  registration->Update();

  const auto resample = itk::FusedResampleImageFilter<ImageType, ImageType>::New();
  resample->SetInput(moving);
  resample->SetReferenceImage(fixed);
  resample->UseReferenceImageOn();
  resample->SetTransform(registration->GetTransform());
  resample->Update();

  const double before = Error(fixed, nullptr);
  const double after = Error(fixed, registration->GetTransform());
  for (const ffdp::LevelReport & level : registration->GetLevelReports())
  {
    std::cout << level.stageName << " " << level.size.x << "x" << level.size.y << "x" << level.size.z << ": "
              << level.iterations << " iterations, " << level.firstValue << " -> " << level.lastValue << ", "
              << level.seconds << " s" << std::endl;
  }
  std::cout << "error " << before << " -> " << after << " mm, smallest Jacobian " << registration->GetSmallestJacobian()
            << ", " << registration->GetNumberOfFolds() << " folds" << std::endl;
  if (!(after < 0.25 * before) || registration->GetNumberOfFolds() != 0)
  {
    std::cerr << "The transform was not recovered" << std::endl;
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}

} // namespace

int
main(int argc, char ** argv)
{
  const long size = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 96;
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
