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
#ifndef itkFFDPMetricProblem_hxx
#define itkFFDPMetricProblem_hxx

#include <typeinfo>
#include <utility>

namespace itk
{
namespace FFDPMetricDetail
{

template <unsigned int VDimension>
bool
ReadMask(const SpatialObject<VDimension> * mask,
         const ImageBase<VDimension> *     image,
         ffdp::MetricImage &               result,
         std::string &                     whyNot)
{
  using namespace FFDPTransformStackDetail;
  using MaskType = ImageMaskSpatialObject<VDimension>;
  if (mask == nullptr)
  {
    return true;
  }
  if (typeid(*mask) != typeid(MaskType)) // a subclass may have another idea of inside
  {
    whyNot = std::string("a mask is a ") + mask->GetNameOfClass() + ", not an ImageMaskSpatialObject of unsigned char";
    return false;
  }
  const auto * const maskImage = static_cast<const MaskType *>(mask)->GetImage();
  if (maskImage == nullptr || maskImage->GetBufferPointer() == nullptr)
  {
    whyNot = "a mask has no image";
    return false;
  }
  const auto * const toObject = mask->GetObjectToWorldTransformInverse();
  ffdp::AffineMap    worldToObject;
  for (unsigned int r = 0; r < VDimension; ++r)
  {
    worldToObject.offset[r] = toObject->GetOffset()[r];
    for (unsigned int c = 0; c < VDimension; ++c)
    {
      worldToObject.matrix[3 * r + c] = toObject->GetMatrix()[r][c];
    }
  }
  result.mask = ViewPixels(static_cast<const typename MaskType::ImageType *>(maskImage));
  result.maskVersion = maskImage->GetMTime();
  const auto toWorld = IndexToPoint<VDimension>(image, image->GetBufferedRegion().GetIndex());
  const auto toMask = PointToIndex<VDimension>(maskImage, maskImage->GetBufferedRegion().GetIndex());
  result.toMask = ffdp::Compose(toMask, ffdp::Compose(worldToObject, toWorld));
  return true;
}

template <typename TImage, typename TGrid, typename TParametersValueType, unsigned int VDimension>
bool
ReadImage(const TImage *                                                  image,
          const SpatialObject<VDimension> *                               mask,
          const Transform<TParametersValueType, VDimension, VDimension> * transform,
          const TGrid *                                                   grid,
          ffdp::MetricImage &                                             result,
          std::string &                                                   whyNot)
{
  FFDPTransformStack                  stack;
  const ImageBase<VDimension> * const gridBase = grid;
  const ImageBase<VDimension> * const imageBase = image;
  if (!ReadMask(mask, imageBase, result, whyNot) ||
      !ReadTransformStack<TParametersValueType, VDimension>(
        transform, gridBase, grid->GetBufferedRegion(), imageBase, stack, whyNot))
  {
    return false;
  }
  result.image = ViewPixels(image);
  result.version = image->GetMTime();
  result.map = stack.map;
  result.warp = stack.warp;
  result.chain = std::move(stack.chain);
  return true;
}

template <unsigned int VDimension>
ffdp::ImageDifferences
ReadDifferences(const ImageBase<VDimension> * image)
{
  ffdp::ImageDifferences differences;
  differences.dimension = static_cast<int>(VDimension);
  const ffdp::AffineMap toIndex =
    FFDPTransformStackDetail::PointToIndex<VDimension>(image, image->GetBufferedRegion().GetIndex());
  for (unsigned int c = 0; c < VDimension; ++c)
  {
    differences.distance[c] = image->GetSpacing()[c];
    for (unsigned int r = 0; r < VDimension; ++r)
    {
      differences.step[c][r] = 0.5 * image->GetSpacing()[c] * toIndex.matrix[3 * r + c];
    }
  }
  return differences;
}

} // end namespace FFDPMetricDetail
} // end namespace itk

#endif
