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
#ifndef itkFFDPTestGeometry_h
#define itkFFDPTestGeometry_h

#include "itkImage.h"
#include "itkVector.h"

#include <cmath>
#include <random>

/** Grids, images and fields in awkward places: what the tests of our ITK classes share. */
namespace ffdp
{
namespace test
{

/** An orthonormal matrix that is no permutation of the axes. */
template <unsigned int VDimension>
typename itk::ImageBase<VDimension>::DirectionType
ObliqueDirection(double angle)
{
  typename itk::ImageBase<VDimension>::DirectionType direction;
  direction.SetIdentity();
  for (unsigned int axis = 0; axis + 1 < VDimension; ++axis)
  {
    typename itk::ImageBase<VDimension>::DirectionType turn;
    turn.SetIdentity();
    const double a = angle * (1 + 0.5 * axis);
    turn[axis][axis] = std::cos(a);
    turn[axis][axis + 1] = -std::sin(a);
    turn[axis + 1][axis] = std::sin(a);
    turn[axis + 1][axis + 1] = std::cos(a);
    direction = direction * turn;
  }
  return direction;
}

/** Where a grid lies: numbers that are no multiples of each other. */
struct GridSpec
{
  int    size = 12; ///< of the first axis; others are a little shorter
  int    start = 0; ///< index of the first pixel; others follow
  double spacing = 1;
  double angle = 0;  ///< of the direction
  double origin = 0; ///< moves the grid
  bool   anisotropic = false;
};

template <typename TImage>
typename TImage::Pointer
MakeImage(const GridSpec & spec, unsigned int components = 1)
{
  constexpr unsigned int      dimension = TImage::ImageDimension;
  auto                        image = TImage::New();
  typename TImage::RegionType region;
  for (unsigned int c = 0; c < dimension; ++c)
  {
    region.SetSize(c, spec.size - c);
    region.SetIndex(c, spec.start == 0 ? 0 : spec.start + 3 * int(c));
  }
  image->SetRegions(region);
  auto spacing = image->GetSpacing();
  auto origin = image->GetOrigin();
  for (unsigned int c = 0; c < dimension; ++c)
  {
    spacing[c] = spec.spacing * (spec.anisotropic ? 1 + 0.35 * c : 1);
    origin[c] = spec.origin * (1 - 0.4 * c);
  }
  image->SetSpacing(spacing);
  image->SetOrigin(origin);
  image->SetDirection(ObliqueDirection<dimension>(spec.angle));
  image->SetNumberOfComponentsPerPixel(components); // of a VectorImage
  image->Allocate(true);
  return image;
}

/** Vectors of a given size, smooth enough to stay in the grid, different at every pixel. */
template <typename TField>
void
FillField(TField * field, double amplitude, unsigned int seed)
{
  std::mt19937                           generator(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  auto *                                 pixel = field->GetBufferPointer();
  const auto                             count = field->GetBufferedRegion().GetNumberOfPixels();
  for (itk::SizeValueType i = 0; i < count; ++i)
  {
    for (unsigned int c = 0; c < TField::PixelType::Dimension; ++c)
    {
      pixel[i][c] = static_cast<typename TField::PixelType::ValueType>(amplitude * uniform(generator));
    }
  }
}

} // namespace test
} // namespace ffdp

#endif
