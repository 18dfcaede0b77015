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
// Resamples an image file through a composite transform within a given amount of memory, whatever its size.
//
//   StreamingResample input.mha output.mha BUDGET_MB [--make N]
//
// The filter asks the reader only for the part of the input that a piece of the output reaches through the transform,
// so input and output are never in memory as a whole. With --make the program first writes an input of N^3 floats,
// piece by piece, too. Reports the memory that it took at most, and fails if that is more than the budget and a little.
#include "itkFusedResampleImageFilter.h"

#include "itkAffineTransform.h"
#include "itkCompositeTransform.h"
#include "itkDisplacementFieldTransform.h"
#include "itkImageFileReader.h"
#include "itkImageFileWriter.h"
#include "itkImageRegionIteratorWithIndex.h"
#include "itkImageRegionSplitterSlowDimension.h"
#include "itkMetaImageIO.h"

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string>

#if defined(__unix__) || defined(__APPLE__)
#  include <sys/resource.h>
#endif

namespace
{

using ImageType = itk::Image<float, 3>;
using FieldType = itk::Image<itk::Vector<double, 3>, 3>;
using FilterType = itk::FusedResampleImageFilter<ImageType, ImageType>;
using ReaderType = itk::ImageFileReader<ImageType>;
using WriterType = itk::ImageFileWriter<ImageType>;

constexpr double bytesPerMegabyte = 1e6;
constexpr double overhead = 8; // megabytes for code, thread stacks and what the allocator keeps

/** The most memory that this process has had so far, in megabytes; 0 where that cannot be asked. */
double
PeakMegabytes()
{
#if defined(__APPLE__)
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / bytesPerMegabyte;
#elif defined(__unix__)
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024.0 / bytesPerMegabyte;
#else
  return 0;
#endif
}

/** Waves, made for the region that is asked for. */
class WaveSource : public itk::ImageSource<ImageType>
{
public:
  using Self = WaveSource;
  using Pointer = itk::SmartPointer<Self>;
  itkNewMacro(Self);

  itk::SizeValueType size = 0;

protected:
  void
  GenerateOutputInformation() override
  {
    ImageType::RegionType region;
    region.SetSize(ImageType::SizeType::Filled(size));
    this->GetOutput()->SetLargestPossibleRegion(region);
  }
  void
  DynamicThreadedGenerateData(const ImageType::RegionType & region) override
  {
    for (itk::ImageRegionIteratorWithIndex<ImageType> it(this->GetOutput(), region); !it.IsAtEnd(); ++it)
    {
      const auto i = it.GetIndex();
      it.Set(static_cast<float>(std::sin(0.2 * i[0]) + std::cos(0.15 * i[1]) + std::sin(0.1 * i[2])));
    }
  }
};

/** Uncompressed, because only then a part of the file can be read or written. */
WriterType::Pointer
MakeWriter(const std::string & fileName, const ImageType * image, unsigned int pieces)
{
  const auto writer = WriterType::New();
  writer->SetImageIO(itk::MetaImageIO::New());
  writer->SetFileName(fileName);
  writer->SetInput(image);
  writer->UseCompressionOff();
  writer->SetNumberOfStreamDivisions(pieces);
  return writer;
}

/** A rotation about the center of the image, then a smooth deformation on a coarse grid of its own. */
itk::CompositeTransform<double, 3>::Pointer
MakeTransform(const ImageType * image)
{
  const auto   size = image->GetLargestPossibleRegion().GetSize();
  const auto   affine = itk::AffineTransform<double, 3>::New();
  const auto   field = FieldType::New();
  const int    knots = 9;
  auto         spacing = image->GetSpacing();
  auto         center = image->GetOrigin();
  const double width = spacing[0] * static_cast<double>(size[0]);
  for (unsigned int c = 0; c < 3; ++c)
  {
    center[c] += image->GetSpacing()[c] * 0.5 * static_cast<double>(size[c] - 1);
    spacing[c] *= static_cast<double>(size[c]) / (knots - 1);
  }
  affine->SetCenter(center);
  affine->Rotate(0, 1, 0.1);
  field->SetRegions(FieldType::SizeType::Filled(knots));
  field->SetOrigin(image->GetOrigin());
  field->SetSpacing(spacing);
  field->Allocate();
  for (itk::ImageRegionIteratorWithIndex<FieldType> it(field, field->GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    FieldType::PixelType displacement(0.0);
    displacement[2] = 0.02 * width * std::sin(0.8 * static_cast<double>(it.GetIndex()[0]));
    it.Set(displacement);
  }
  const auto deformation = itk::DisplacementFieldTransform<double, 3>::New();
  deformation->SetDisplacementField(field);
  const auto composite = itk::CompositeTransform<double, 3>::New();
  composite->AddTransform(affine);
  composite->AddTransform(deformation);
  return composite;
}

/** The most that one of `pieces` pieces holds of input and output, in megabytes. */
double
LargestPiece(FilterType * filter, unsigned int pieces)
{
  const auto     splitter = itk::ImageRegionSplitterSlowDimension::New();
  const auto     whole = filter->GetOutput()->GetLargestPossibleRegion();
  const unsigned count = splitter->GetNumberOfSplits(whole, pieces);
  double         largest = 0;
  for (unsigned piece = 0; piece < count; ++piece)
  {
    auto region = whole;
    splitter->GetSplit(piece, count, region);
    filter->GetOutput()->SetRequestedRegion(region);
    filter->GetOutput()->PropagateRequestedRegion();
    const auto pixels = region.GetNumberOfPixels() + filter->GetInput()->GetRequestedRegion().GetNumberOfPixels();
    largest = std::max(largest, static_cast<double>(pixels * sizeof(float)) / bytesPerMegabyte);
  }
  return largest;
}

int
Run(const std::string & inputName, const std::string & outputName, double budget, int makeSize)
{
  if (makeSize > 0)
  {
    const auto source = WaveSource::New();
    source->size = static_cast<itk::SizeValueType>(makeSize);
    MakeWriter(inputName, source->GetOutput(), static_cast<unsigned int>(makeSize))->Update();
  }
  const auto reader = ReaderType::New();
  reader->SetImageIO(itk::MetaImageIO::New());
  reader->SetFileName(inputName);
  reader->UpdateOutputInformation();
  reader->GetOutput()->ReleaseDataFlagOn(); // a piece is let go before the next one is read

  const auto filter = FilterType::New();
  filter->SetInput(reader->GetOutput());
  filter->SetOutputParametersFromImage(reader->GetOutput());
  filter->SetTransform(MakeTransform(reader->GetOutput()));
  filter->GetOutput()->ReleaseDataFlagOn();
  filter->UpdateOutputInformation();

  const auto   region = filter->GetOutput()->GetLargestPossibleRegion();
  const auto   planes = static_cast<unsigned int>(region.GetSize(2));
  const double imageSize = static_cast<double>(region.GetNumberOfPixels() * sizeof(float)) / bytesPerMegabyte;
  unsigned int pieces = 1;
  while (pieces < planes && LargestPiece(filter, pieces) > budget)
  {
    pieces = std::min(planes, pieces + std::max(1u, pieces / 4));
  }
  const double piece = LargestPiece(filter, pieces);
  if (piece > budget)
  {
    std::cerr << "StreamingResample: a single plane of the output needs " << piece
              << " MB of input and output, more than "
              << "the budget of " << budget << " MB\n";
    return EXIT_FAILURE;
  }

  const double before = PeakMegabytes();
  MakeWriter(outputName, filter->GetOutput(), pieces)->Update();
  const double growth = PeakMegabytes() - before;
  std::cout << "image " << imageSize << " MB, budget " << budget << " MB, " << pieces << " pieces of at most " << piece
            << " MB, peak memory grew by " << growth << " MB\n";
  if (!filter->GetUsedFastPath())
  {
    std::cerr << "StreamingResample: " << filter->GetFallbackReason() << "\n";
    return EXIT_FAILURE;
  }
  if (growth > budget + overhead)
  {
    std::cerr << "StreamingResample: the budget was not kept\n";
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}

} // namespace

int
main(int argc, char * argv[])
{
  const bool make = argc == 6 && std::string(argv[4]) == "--make";
  if (argc != 4 && !make)
  {
    std::cerr << "usage: " << argv[0] << " input.mha output.mha BUDGET_MB [--make N]\n";
    return EXIT_FAILURE;
  }
  const double budget = std::atof(argv[3]);
  const int    makeSize = make ? std::atoi(argv[5]) : 0;
  if (!(budget > 0) || (make && makeSize < 2))
  {
    std::cerr << "StreamingResample: the budget must be positive, and the image to make at least 2 voxels wide\n";
    return EXIT_FAILURE;
  }
  try
  {
    return Run(argv[1], argv[2], budget, makeSize);
  }
  catch (const std::exception & error)
  {
    std::cerr << "StreamingResample: " << error.what() << "\n";
    return EXIT_FAILURE;
  }
}
