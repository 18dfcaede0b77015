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
#ifndef itkFFDPOwnedPlanes_h
#define itkFFDPOwnedPlanes_h

#include "ffdpRegistration.h"
#include "itkFFDPPixelLayout.h"
#include "itkFFDPTransformStack.h"

#include "itkImage.h"

#include <algorithm>
#include <list>
#include <type_traits>
#include <vector>

/** The planes of an itk::Image that a rank owns: where they are, and how registration sees them. Planes lie along the
 * last axis of a volume; a 2-D image is one plane. */
namespace itk
{
namespace FFDPOwnedPlanesDetail
{

/** The part of an image that some of its planes are. Without planes it is empty, which no pipeline should be asked for.
 */
template <unsigned int VDimension>
ImageRegion<VDimension>
RegionOfPlanes(const ImageRegion<VDimension> & whole, const ffdp::PlaneRange & planes)
{
  constexpr unsigned int  last = VDimension - 1;
  const std::int64_t      count = planes.end - planes.first;
  ImageRegion<VDimension> region = whole;
  if (VDimension == 3)
  {
    region.SetIndex(last, whole.GetIndex(last) + static_cast<IndexValueType>(planes.first));
    region.SetSize(last, static_cast<SizeValueType>(count));
  }
  else if (count == 0)
  {
    region.SetSize(last, 0);
  }
  return region;
}

/** What to ask upstream for: these planes; a single row where there are none. */
template <unsigned int VDimension>
ImageRegion<VDimension>
RegionToRequest(const ImageRegion<VDimension> & whole, const ffdp::PlaneRange & planes)
{
  if (planes.first < planes.end)
  {
    return RegionOfPlanes(whole, planes);
  }
  ImageRegion<VDimension> row = whole;
  for (unsigned int c = 1; c < VDimension; ++c)
  {
    row.SetSize(c, 1);
  }
  return row;
}

/** Where the largest possible region of an image lies, without voxels. */
template <unsigned int VDimension>
ffdp::PlacedImage
PlaceGrid(const ImageBase<VDimension> * image)
{
  const ImageRegion<VDimension> & region = image->GetLargestPossibleRegion();
  ffdp::PlacedImage               placed;
  placed.voxels = ffdp::VolumeView<const float>(nullptr, FFDPExtentOf(region));
  placed.indexToPhysical = FFDPTransformStackDetail::IndexToPoint<VDimension>(image, region.GetIndex());
  return placed;
}

/** Whether these planes are in memory. There is nothing to be missed where there are none. */
template <typename TImage>
bool
HasPlanes(const TImage * image, const ffdp::PlaneRange & planes)
{
  const auto region = RegionOfPlanes(image->GetLargestPossibleRegion(), planes);
  return planes.first >= planes.end || (image->GetBufferPointer() != nullptr && region.GetNumberOfPixels() > 0 &&
                                        image->GetBufferedRegion().IsInside(region));
}

/** Whether nothing lies between the rows and planes of a region in memory. */
template <typename TImage>
bool
IsDense(const TImage * image, const typename TImage::RegionType & region)
{
  bool dense = true;
  for (unsigned int c = 0; c + 1 < TImage::ImageDimension; ++c)
  {
    dense = dense && image->GetBufferedRegion().GetSize(c) == region.GetSize(c);
  }
  return dense;
}

/** The voxels of a region, densely packed. */
template <typename TImage, typename TConvert>
std::vector<float>
CopyRegion(const TImage * image, const typename TImage::RegionType & region, const TConvert & convert)
{
  std::vector<float> voxels(region.GetNumberOfPixels());
  const auto         columns = region.GetSize(0);
  auto               to = voxels.begin();
  auto               row = region.GetIndex();
  while (to != voxels.end())
  {
    const auto * const from = image->GetBufferPointer() + image->ComputeOffset(row);
    to = std::transform(from, from + columns, to, convert);
    for (unsigned int c = 1; c < TImage::ImageDimension; ++c)
    {
      if (++row[c] < region.GetIndex(c) + static_cast<IndexValueType>(region.GetSize(c)))
      {
        break;
      }
      row[c] = region.GetIndex(c);
    }
  }
  return voxels;
}

/** A view of these planes, without voxels. */
template <typename TImage>
ffdp::VolumeView<const float>
ViewOfPlanes(const TImage * image, const ffdp::PlaneRange & planes)
{
  return { nullptr, FFDPExtentOf(image->GetLargestPossibleRegion()), planes.first, planes.end - planes.first };
}

/** Planes that are in memory: floats in place; of other pixels, and of planes that are not dense, a copy in `copies`.
 */
template <typename TImage>
ffdp::PlacedImage
PlaceImage(const TImage * image, const ffdp::PlaneRange & planes, std::list<std::vector<float>> & copies)
{
  using PixelType = typename TImage::PixelType;
  ffdp::PlacedImage placed = PlaceGrid<TImage::ImageDimension>(image);
  placed.voxels = ViewOfPlanes(image, planes);
  if (planes.first >= planes.end)
  {
    return placed;
  }
  const auto region = RegionOfPlanes(image->GetLargestPossibleRegion(), planes);
  if constexpr (std::is_same<PixelType, float>::value)
  {
    if (IsDense(image, region))
    {
      placed.voxels.data = image->GetBufferPointer() + image->ComputeOffset(region.GetIndex());
      return placed;
    }
  }
  copies.push_back(CopyRegion(image, region, [](PixelType pixel) { return static_cast<float>(pixel); }));
  placed.voxels.data = copies.back().data();
  return placed;
}

/** A copy of planes that are in memory, 1 where the mask is not 0. */
template <typename TMaskImage>
ffdp::VolumeView<const float>
PlaceMask(const TMaskImage * mask, const ffdp::PlaneRange & planes, std::list<std::vector<float>> & copies)
{
  using PixelType = typename TMaskImage::PixelType;
  ffdp::VolumeView<const float> view = ViewOfPlanes(mask, planes);
  if (planes.first < planes.end)
  {
    copies.push_back(CopyRegion(mask, RegionOfPlanes(mask->GetLargestPossibleRegion(), planes), [](PixelType pixel) {
      return pixel != 0 ? 1.0f : 0.0f;
    }));
    view.data = copies.back().data();
  }
  return view;
}

} // namespace FFDPOwnedPlanesDetail
} // namespace itk

#endif
