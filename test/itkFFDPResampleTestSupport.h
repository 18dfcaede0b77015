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
#ifndef itkFFDPResampleTestSupport_h
#define itkFFDPResampleTestSupport_h

#include "itkFFDPPixelLayout.h"
#include "itkFFDPTestGeometry.h"

#include "itkAffineTransform.h"
#include "itkCompositeTransform.h"
#include "itkDisplacementFieldTransform.h"
#include "itkNearestNeighborInterpolateImageFunction.h"
#include "itkTranslationTransform.h"

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

/** Images, transforms and settings of the resampling filter. */
namespace ffdp
{
namespace test
{

/** The components of all pixels of an image, as doubles and as they are. */
template <typename TImage>
struct Components
{
  using LayoutType = itk::FFDPPixelLayout<TImage>;
  using ComponentType = typename LayoutType::ComponentType;

  static std::vector<ComponentType>
  Of(const TImage * image)
  {
    const auto * const first = reinterpret_cast<const ComponentType *>(image->GetBufferPointer());
    const auto         count = image->GetBufferedRegion().GetNumberOfPixels();
    return { first, first + count * itk::SizeValueType(LayoutType::GetNumberOfComponents(image)) };
  }

  static void
  FillRandom(TImage * image, unsigned int seed)
  {
    std::mt19937                           generator(seed);
    const bool                             isInteger = std::is_integral<ComponentType>::value;
    const double                           lowest = double(std::numeric_limits<ComponentType>::lowest());
    const double                           highest = double(std::numeric_limits<ComponentType>::max());
    std::uniform_real_distribution<double> uniform(isInteger ? std::max(lowest, -1000.0) : -100,
                                                   isInteger ? std::min(highest, 1000.0) : 100);
    auto * const first = reinterpret_cast<ComponentType *>(image->GetBufferPointer());
    const auto   count = Of(image).size();
    for (std::size_t i = 0; i < count; ++i)
    {
      first[i] = static_cast<ComponentType>(uniform(generator));
    }
  }
};

/** The kinds of transform, for the output grid that `spec` describes. */
template <unsigned int D>
std::vector<typename itk::Transform<double, D, D>::Pointer>
Transforms(const GridSpec & spec)
{
  using FieldType = itk::Image<itk::Vector<double, D>, D>;
  const auto makeField = [](const GridSpec & where, unsigned int seed) {
    auto field = MakeImage<FieldType>(where);
    FillField(field.GetPointer(), 1.5, seed);
    auto transform = itk::DisplacementFieldTransform<double, D>::New();
    transform->SetDisplacementField(field);
    return transform;
  };
  auto affine = itk::AffineTransform<double, D>::New();
  auto matrix = affine->GetMatrix();
  auto offset = affine->GetOffset();
  for (unsigned int r = 0; r < D; ++r)
  {
    offset[r] = 0.37 - 0.21 * r;
    for (unsigned int c = 0; c < D; ++c)
    {
      matrix[r][c] += 0.0413 * r - 0.0317 * c + 0.0101;
    }
  }
  affine->SetMatrix(matrix);
  affine->SetOffset(offset);
  auto translation = itk::TranslationTransform<double, D>::New();
  auto shift = translation->GetOffset();
  shift.Fill(0.3141);
  translation->SetOffset(shift);
  GridSpec other = spec;
  other.angle += 0.1;
  other.spacing *= 1.37;
  other.start = -3;
  const auto onGrid = makeField(spec, 3), offGrid = makeField(other, 4);

  std::vector<typename itk::Transform<double, D, D>::Pointer> all;
  const auto compose = [&](std::initializer_list<itk::Transform<double, D, D> *> queue) {
    auto composite = itk::CompositeTransform<double, D>::New();
    for (auto * transform : queue)
    {
      composite->AddTransform(transform);
    }
    all.push_back(composite.GetPointer());
  };
  all.push_back(translation.GetPointer());
  all.push_back(affine.GetPointer());
  all.push_back(onGrid.GetPointer());
  compose({ affine, onGrid });
  compose({ affine, offGrid, translation });
  compose({ offGrid, onGrid });
  return all;
}

template <typename TFilter>
void
Configure(TFilter *                                filter,
          const typename TFilter::InputImageType * input,
          const typename TFilter::ImageBaseType *  grid,
          const typename TFilter::TransformType *  transform,
          bool                                     nearest)
{
  filter->SetInput(input);
  filter->SetTransform(transform);
  filter->SetOutputParametersFromImage(grid);
  if (nearest)
  {
    filter->SetInterpolator(
      itk::NearestNeighborInterpolateImageFunction<typename TFilter::InputImageType, double>::New());
  }
}

} // namespace test
} // namespace ffdp

#endif
