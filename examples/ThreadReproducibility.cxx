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
// Does a result depend on the number of threads? ThreadReproducibility [SIZE]
//
// Evaluates ITK's metrics and the fused ones for an affine transform with 1 to 8 threads, and counts how many different
// results there are, to the last bit of value and derivative. Fails if a fused metric has more than one.

#include "itkFusedMattesMutualInformationImageToImageMetricv4.h"
#include "itkFusedMeanSquaresImageToImageMetricv4.h"
#include "itkFusedNeighborhoodCorrelationImageToImageMetricv4.h"

#include "itkAffineTransform.h"
#include "itkImageRegionIteratorWithIndex.h"
#include "itkMultiThreaderBase.h"

#include <cmath>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <set>
#include <vector>

namespace
{

using ImageType = itk::Image<float, 3>;
using TransformType = itk::AffineTransform<double, 3>;

constexpr itk::ThreadIdType mostThreads = 8;

/** Waves in all directions, moved by `shift` mm. */
ImageType::Pointer
MakeImage(itk::SizeValueType size, double shift)
{
  const auto image = ImageType::New();
  image->SetRegions(ImageType::SizeType{ { size, size, size } });
  image->Allocate();
  for (itk::ImageRegionIteratorWithIndex<ImageType> it(image, image->GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    const auto   i = it.GetIndex();
    const double x = double(i[0]) + shift, y = double(i[1]) - shift, z = double(i[2]);
    it.Set(float(100 + 40 * std::sin(0.31 * x + 0.1 * z) * std::cos(0.27 * y) + 30 * std::sin(0.37 * z - 0.12 * x)));
  }
  return image;
}

/** Different results with 1 to 8 threads. */
template <typename TMetric>
std::size_t
CountResults(ImageType * fixed, ImageType * moving)
{
  std::set<std::vector<double>> results;
  for (itk::ThreadIdType threads = 1; threads <= mostThreads; ++threads)
  {
    itk::MultiThreaderBase::SetGlobalDefaultNumberOfThreads(threads); // for what the metric makes in its constructor
    const auto transform = TransformType::New();
    auto       matrix = transform->GetMatrix();
    matrix[0][1] = 0.02;
    matrix[2][2] = 1.01;
    transform->SetMatrix(matrix);
    const auto metric = TMetric::New();
    metric->SetFixedImage(fixed);
    metric->SetMovingImage(moving);
    metric->SetMovingTransform(transform);
    metric->SetUseFixedImageGradientFilter(false);
    metric->SetUseMovingImageGradientFilter(false);
    metric->SetMaximumNumberOfWorkUnits(threads);
    metric->Initialize();
    typename TMetric::MeasureType    value;
    typename TMetric::DerivativeType derivative;
    metric->GetValueAndDerivative(value, derivative);
    std::vector<double> result(derivative.begin(), derivative.end());
    result.push_back(value);
    results.insert(result);
  }
  return results.size();
}

/** One line of the table; true if ours has one result. */
template <typename TItk, typename TFused>
bool
Compare(const char * name, ImageType * fixed, ImageType * moving)
{
  const std::size_t itkResults = CountResults<TItk>(fixed, moving);
  const std::size_t ourResults = CountResults<TFused>(fixed, moving);
  std::cout << std::left << std::setw(26) << name << std::right << std::setw(6) << itkResults << std::setw(8)
            << ourResults << std::endl;
  return ourResults == 1;
}

int
Run(itk::SizeValueType size)
{
  const auto f = MakeImage(size, 0);
  const auto m = MakeImage(size, 0.7);
  std::cout << "Different results with 1 to " << mostThreads << " threads, " << size << "^3 voxels\n"
            << std::left << std::setw(26) << "metric" << std::right << std::setw(6) << "ITK" << std::setw(8) << "fused"
            << std::endl;
  bool same = Compare<itk::MeanSquaresImageToImageMetricv4<ImageType, ImageType>,
                      itk::FusedMeanSquaresImageToImageMetricv4<ImageType, ImageType>>("mean squares", f, m);
  same &= Compare<itk::MattesMutualInformationImageToImageMetricv4<ImageType, ImageType>,
                  itk::FusedMattesMutualInformationImageToImageMetricv4<ImageType, ImageType>>("Mattes", f, m);
  same &= Compare<itk::ANTSNeighborhoodCorrelationImageToImageMetricv4<ImageType, ImageType>,
                  itk::FusedNeighborhoodCorrelationImageToImageMetricv4<ImageType, ImageType>>(
    "neighborhood correlation", f, m);
  if (!same)
  {
    std::cerr << "A fused metric depends on the number of threads" << std::endl;
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}

} // namespace

int
main(int argc, char ** argv)
{
  const long size = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 48;
  if (argc > 2 || size < 16 || size > 512)
  {
    std::cerr << "Usage: " << argv[0] << " [SIZE (16 to 512)]" << std::endl;
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
