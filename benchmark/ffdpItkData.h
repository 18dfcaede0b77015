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
#ifndef ffdpItkData_h
#define ffdpItkData_h

#include "ffdpBenchmarkCase.h"
#include "ffdpBenchmarkData.h"

#include "itkDisplacementFieldTransform.h"
#include "itkImage.h"

#include <algorithm>

/** The data of the benchmark as ITK's images and transforms, in grids with spacing 1, where voxels and mm are the same.
 */
namespace ffdp
{
namespace benchmark
{

using ImageType = itk::Image<float, 3>;
using FloatFieldType = itk::Image<itk::Vector<float, 3>, 3>;
using FieldTransformType = itk::DisplacementFieldTransform<double, 3>;
using DoubleFieldType = FieldTransformType::DisplacementFieldType;

template <typename TImage>
typename TImage::Pointer
Allocate(const Extent & size)
{
  typename TImage::SizeType itkSize;
  itkSize[0] = itk::SizeValueType(size.x);
  itkSize[1] = itk::SizeValueType(size.y);
  itkSize[2] = itk::SizeValueType(size.z);
  const auto image = TImage::New();
  image->SetRegions(itkSize);
  image->Allocate();
  return image;
}

inline ImageType::Pointer
ToItk(const Image & image)
{
  const auto result = Allocate<ImageType>(image.size);
  std::copy(image.voxels.begin(), image.voxels.end(), result->GetBufferPointer());
  return result;
}

template <typename TField>
typename TField::Pointer
ToItk(const Field & field)
{
  using ComponentType = typename TField::PixelType::ComponentType;
  const auto        result = Allocate<TField>(field.size);
  auto *            vectors = result->GetBufferPointer();
  const std::size_t voxels = field.values.size() / 3;
  for (unsigned c = 0; c < 3; ++c)
  {
    for (std::size_t i = 0; i < voxels; ++i)
    {
      vectors[i][c] = ComponentType(field.values[c * voxels + i]);
    }
  }
  return result;
}

inline FieldTransformType::Pointer
MakeTransform(const Extent & size)
{
  const auto transform = FieldTransformType::New();
  transform->SetDisplacementField(ToItk<DoubleFieldType>(MakeField(size, 3)));
  return transform;
}

/** Runs a filter again, from input to output. */
template <typename TFilter>
Work
FilterWork(const itk::SmartPointer<TFilter> & filter)
{
  return [filter] {
    filter->Modified();
    filter->Update();
  };
}

} // namespace benchmark
} // namespace ffdp

#endif
