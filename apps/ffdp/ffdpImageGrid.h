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
#ifndef ffdpImageGrid_h
#define ffdpImageGrid_h

#include "ffdpAffineMap.h"
#include "ffdpCommunicator.h"
#include "ffdpPartition.h"

#include "itkImageBase.h"

/** From a voxel index to mm (LPS). */
inline ffdp::AffineMap
IndexToPhysical(const itk::ImageBase<3> * image)
{
  const auto      direction = image->GetDirection();
  const auto      spacing = image->GetSpacing();
  const auto      origin = image->GetOrigin();
  ffdp::AffineMap map;
  for (unsigned int i = 0; i < 3; ++i)
  {
    for (unsigned int j = 0; j < 3; ++j)
    {
      map.matrix[3 * i + j] = direction[i][j] * spacing[j];
    }
    map.offset[i] = origin[i];
  }
  return map;
}

/** Of the whole image, whichever planes are in memory. */
inline ffdp::Extent
ExtentOf(const itk::ImageBase<3> * image)
{
  const auto size = image->GetLargestPossibleRegion().GetSize();
  return { std::int64_t(size[0]), std::int64_t(size[1]), std::int64_t(size[2]) };
}

/** The planes that are in memory. */
inline ffdp::PlaneRange
PlanesOf(const itk::ImageBase<3> * image)
{
  const auto region = image->GetBufferedRegion();
  return { region.GetIndex(2), region.GetIndex(2) + std::int64_t(region.GetSize(2)) };
}

/** An image without voxels with the grid of another, of two dimensions or three: of a third axis that only one has, one
 * voxel in its default place. */
template <typename TImage, unsigned int VDimension>
typename TImage::Pointer
CopyGrid(const itk::ImageBase<VDimension> * from)
{
  constexpr unsigned int         Axes = VDimension < TImage::ImageDimension ? VDimension : TImage::ImageDimension;
  typename TImage::SizeType      size;
  typename TImage::SpacingType   spacing;
  typename TImage::PointType     origin;
  typename TImage::DirectionType direction;
  size.Fill(1);
  spacing.Fill(1);
  origin.Fill(0);
  direction.SetIdentity();
  for (unsigned int i = 0; i < Axes; ++i)
  {
    size[i] = from->GetLargestPossibleRegion().GetSize(i);
    spacing[i] = from->GetSpacing()[i];
    origin[i] = from->GetOrigin()[i];
    for (unsigned int j = 0; j < Axes; ++j)
    {
      direction[i][j] = from->GetDirection()[i][j];
    }
  }
  auto image = TImage::New();
  image->SetRegions(size);
  image->SetSpacing(spacing);
  image->SetOrigin(origin);
  image->SetDirection(direction);
  return image;
}

/** A field of another type or dimension: of each vector the components that both have, and 0. */
template <typename TTo, typename TFrom>
typename TTo::Pointer
ConvertField(const TFrom * from)
{
  constexpr unsigned int Components =
    TTo::ImageDimension < TFrom::ImageDimension ? TTo::ImageDimension : TFrom::ImageDimension;
  const auto to = CopyGrid<TTo>(from);
  to->Allocate(true);
  const auto count = to->GetBufferedRegion().GetNumberOfPixels();
  for (itk::SizeValueType i = 0; i < count; ++i)
  {
    for (unsigned int c = 0; c < Components; ++c)
    {
      to->GetBufferPointer()[i][c] = from->GetBufferPointer()[i][c];
    }
  }
  return to;
}

/** An image with the geometry of a grid and room for the planes that this rank owns, which may be none. */
template <typename TImage>
typename TImage::Pointer
MakeOwnPlanes(const itk::ImageBase<3> * grid, const ffdp::Communicator & communicator)
{
  const auto owned = ffdp::Partition(ExtentOf(grid).z, communicator.Size()).Owned(communicator.Rank());
  auto       region = grid->GetLargestPossibleRegion();
  auto       image = TImage::New();
  image->CopyInformation(grid);
  image->SetLargestPossibleRegion(region);
  region.SetIndex(2, owned.first);
  region.SetSize(2, itk::SizeValueType(owned.end - owned.first));
  image->SetBufferedRegion(region);
  image->SetRequestedRegion(region);
  image->Allocate();
  return image;
}

#endif
