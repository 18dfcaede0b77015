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
// Built with MPI, `mpirun -n 4 GridParallelRegistration` shares the work and the images among four processes.

#include "ffdpMpiCommunicator.h"
#include "itkFusedResampleImageFilter.h"
#include "itkGridParallelImageRegistrationMethod.h"

#include "itkCommand.h"
#include "itkImageRegionIteratorWithIndex.h"
#include "itkImageSource.h"

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <vector>

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

/** Makes the part of an image that is asked for. A reader of a format that streams is such a source, too. */
class AnatomySource : public itk::ImageSource<ImageType>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(AnatomySource);

  using Self = AnatomySource;
  using Superclass = itk::ImageSource<ImageType>;
  using Pointer = itk::SmartPointer<Self>;

  itkNewMacro(Self);
  itkOverrideGetNameOfClassMacro(AnatomySource);

  itkSetMacro(Size, itk::SizeValueType);
  itkSetMacro(IsFixed, bool);

protected:
  AnatomySource() = default;
  ~AnatomySource() override = default;

  void
  GenerateOutputInformation() override
  {
    this->GetOutput()->SetLargestPossibleRegion(
      ImageType::RegionType(ImageType::SizeType{ { m_Size, m_Size, m_Size } }));
  }

  void
  GenerateData() override
  {
    this->AllocateOutputs();
    ImageType * const image = this->GetOutput();
    const double      extent = double(m_Size - 1);
    for (itk::ImageRegionIteratorWithIndex<ImageType> it(image, image->GetBufferedRegion()); !it.IsAtEnd(); ++it)
    {
      PointType point;
      image->TransformIndexToPhysicalPoint(it.GetIndex(), point);
      it.Set(short(Anatomy(m_IsFixed ? KnownTransform(point, extent) : point, extent)));
    }
  }

private:
  itk::SizeValueType m_Size{ 0 };
  bool               m_IsFixed{ false };
};

AnatomySource::Pointer
MakeSource(itk::SizeValueType size, bool isFixed)
{
  auto source = AnatomySource::New();
  source->SetSize(size);
  source->SetIsFixed(isFixed);
  return source;
}

struct MeanErrors
{
  double before;
  double after;
};

/** Mean distance in mm, over the anatomy, between where a point belongs and where it is without a transform and with
 * the one that was found: A (x + u(x)) + t. Each process looks at the voxels that it owns. */
MeanErrors
MeasureErrors(const RegistrationType * registration, ffdp::Communicator & communicator)
{
  const ImageType * const fixed = registration->GetFixedImage();
  const double            extent = double(fixed->GetLargestPossibleRegion().GetSize(0) - 1);
  std::vector<double>     sums(3, 0.0);
  for (itk::ImageRegionConstIteratorWithIndex<ImageType> it(fixed, registration->GetOwnedRegion()); !it.IsAtEnd(); ++it)
  {
    if (it.Get() > 100)
    {
      PointType point;
      fixed->TransformIndexToPhysicalPoint(it.GetIndex(), point);
      const PointType truth = KnownTransform(point, extent);
      const PointType warped = point + registration->GetForwardField()->GetPixel(it.GetIndex());
      sums[0] += point.EuclideanDistanceTo(truth);
      sums[1] += registration->GetLinearTransform()->TransformPoint(warped).EuclideanDistanceTo(truth);
      sums[2] += 1;
    }
  }
  const std::vector<double> all = communicator.Gather(sums);
  for (std::size_t i = 0; i < 3; ++i)
  {
    sums[i] = 0;
    for (std::size_t at = i; at < all.size(); at += 3)
    {
      sums[i] += all[at];
    }
  }
  return { sums[0] / sums[2], sums[1] / sums[2] };
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

/** Each process ends with the planes of the moving image, on the fixed grid, that it owns. */
void
Resample(RegistrationType * registration, AnatomySource * moving)
{
  registration->GatherTransforms(); // the whole transform on each process; one alone has it without
  const auto resample = itk::FusedResampleImageFilter<ImageType, ImageType>::New();
  resample->SetInput(moving->GetOutput());
  resample->SetReferenceImage(registration->GetFixedImage());
  resample->UseReferenceImageOn();
  resample->SetTransform(registration->GetTransform());
  if (registration->GetOwnedRegion().GetNumberOfPixels() > 0)
  {
    resample->UpdateOutputInformation();
    resample->GetOutput()->SetRequestedRegion(registration->GetOwnedRegion());
    resample->Update();
  }
}

int
Run(itk::SizeValueType size, ffdp::Communicator & communicator)
{
  const auto fixed = MakeSource(size, true);
  const auto moving = MakeSource(size, false);
  const bool prints = communicator.Rank() == 0;

  const auto registration = RegistrationType::New();
  registration->SetCommunicator(&communicator);
  registration->SetFixedImage(fixed->GetOutput());
  registration->SetMovingImage(moving->GetOutput());
  // Without a stage the default ones are run: moments, rigid, affine, greedy. Here: a rigid one and a short warp.
  RegistrationType::StageType rigid(RegistrationType::StageType::Kind::Rigid);
  rigid.shrinkFactors = { 4, 2 };
  rigid.iterations = { 80, 40 };
  registration->AddStage(rigid);
  RegistrationType::StageType greedy;
  greedy.iterations = { 60, 40, 20 };
  registration->AddStage(greedy);
  if (prints)
  {
    PrintIterations(registration);
  }
  registration->Update();

  const MeanErrors error = MeasureErrors(registration, communicator);
  Resample(registration, moving);
  if (prints)
  {
    for (const ffdp::LevelReport & level : registration->GetLevelReports())
    {
      std::cout << level.stageName << " " << level.size.x << "x" << level.size.y << "x" << level.size.z << ": "
                << level.iterations << " iterations, " << level.firstValue << " -> " << level.lastValue << ", "
                << level.seconds << " s" << std::endl;
    }
    std::cout << "error " << error.before << " -> " << error.after << " mm, smallest Jacobian "
              << registration->GetSmallestJacobian() << ", " << registration->GetNumberOfFolds() << " folds"
              << std::endl;
  }
  if (!(error.after < 0.25 * error.before) || registration->GetNumberOfFolds() != 0)
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
#ifdef FFDP_USE_MPI
  int threads = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &threads); // only the thread that calls Update() calls MPI
#endif
  int result = EXIT_FAILURE;
  try
  {
#ifdef FFDP_USE_MPI
    const auto communicator = ffdp::MakeMpiCommunicator(MPI_COMM_WORLD);
#else
    const auto communicator = ffdp::MakeSelfCommunicator();
#endif
    result = Run(itk::SizeValueType(size), *communicator);
  }
  catch (const std::exception & error)
  {
    std::cerr << argv[0] << ": " << error.what() << std::endl;
#ifdef FFDP_USE_MPI
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE); // the others may wait for this one
#endif
  }
#ifdef FFDP_USE_MPI
  MPI_Finalize();
#endif
  return result;
}
