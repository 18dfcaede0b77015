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
#ifndef itkFFDPMetricProblem_h
#define itkFFDPMetricProblem_h

#include "ffdpImageMetric.h"
#include "itkFFDPTransformStack.h"

#include "itkImage.h"
#include "itkImageMaskSpatialObject.h"
#include "itkTransform.h"

#include <string>
#include <type_traits>

/** From ITK's images, masks and transforms to what ffdp's metrics take. */
namespace itk
{
namespace FFDPMetricDetail
{

/** Images that are read as they are. */
template <typename TImage>
constexpr bool
IsReadable()
{
  constexpr unsigned int dimension = TImage::ImageDimension;
  return (dimension == 2 || dimension == 3) && (std::is_same<TImage, Image<float, dimension>>::value ||
                                                std::is_same<TImage, Image<double, dimension>>::value);
}

template <unsigned int VDimension>
ffdp::Extent
ToExtent(const ImageRegion<VDimension> & region)
{
  return ffdp::Extent{ static_cast<std::int64_t>(region.GetSize(0)),
                       static_cast<std::int64_t>(region.GetSize(1)),
                       VDimension > 2 ? static_cast<std::int64_t>(region.GetSize(VDimension - 1)) : 1 };
}

template <typename TImage>
ffdp::VolumeView<const typename TImage::PixelType>
ViewPixels(const TImage * image)
{
  return { image->GetBufferPointer(), ToExtent(image->GetBufferedRegion()) };
}

/** The image, its mask and the transform from the grid to it. Returns false and says why not if the fast path cannot
 * read them. */
template <typename TImage, typename TGrid, typename TParametersValueType, unsigned int VDimension>
bool
ReadImage(const TImage *                                                  image,
          const SpatialObject<VDimension> *                               mask,
          const Transform<TParametersValueType, VDimension, VDimension> * transform,
          const TGrid *                                                   grid,
          ffdp::MetricImage &                                             result,
          std::string &                                                   whyNot);

/** The mask alone: SpatialObject::IsInsideInWorldSpace() as a look-up in an image. */
template <unsigned int VDimension>
bool
ReadMask(const SpatialObject<VDimension> * mask,
         const ImageBase<VDimension> *     image,
         ffdp::MetricImage &               result,
         std::string &                     whyNot);

/** The steps of itk::CentralDifferenceImageFunction: half a spacing to both sides along each physical axis. */
template <unsigned int VDimension>
ffdp::ImageDifferences
ReadDifferences(const ImageBase<VDimension> * image);

} // end namespace FFDPMetricDetail
} // end namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkFFDPMetricProblem.hxx"
#endif

#endif
