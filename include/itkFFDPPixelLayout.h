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
#ifndef itkFFDPPixelLayout_h
#define itkFFDPPixelLayout_h

#include "ffdpPixels.h"

#include "itkFixedArray.h"
#include "itkImage.h"
#include "itkVectorImage.h"

#include <type_traits>

/** How the pixels of an ITK image type lie in memory, as far as ffdp can read them in place. */
namespace itk
{
namespace FFDPPixelLayoutDetail
{

template <typename T>
constexpr bool IsComponent =
  std::is_arithmetic<T>::value && !std::is_same<T, bool>::value && !std::is_same<T, long double>::value;

/** A pixel that is a number, or that is a FixedArray and nothing else. */
template <typename TPixel, typename = void>
struct Pixel
{
  using ComponentType = std::conditional_t<IsComponent<TPixel>, TPixel, char>;
  static constexpr bool         isKnown = IsComponent<TPixel>;
  static constexpr unsigned int length = 1;
};

template <typename TPixel>
struct Pixel<TPixel,
             std::enable_if_t<std::is_base_of<FixedArray<typename TPixel::ValueType, TPixel::Length>, TPixel>::value>>
{
  static constexpr bool isComponent = IsComponent<typename TPixel::ValueType>;
  using ComponentType = std::conditional_t<isComponent, typename TPixel::ValueType, char>;
  static constexpr unsigned int length = TPixel::Length;
  static constexpr bool         isKnown = isComponent && sizeof(TPixel) == length * sizeof(ComponentType);
};

} // namespace FFDPPixelLayoutDetail

/** Other images: not known. */
template <typename TImage>
struct FFDPPixelLayout
{
  static constexpr bool isKnown = false;
};

template <typename TPixel, unsigned int VDimension>
struct FFDPPixelLayout<Image<TPixel, VDimension>>
{
  using ImageType = Image<TPixel, VDimension>;
  using PixelType = FFDPPixelLayoutDetail::Pixel<TPixel>;
  using ComponentType = typename PixelType::ComponentType;
  static constexpr bool isKnown = PixelType::isKnown && (VDimension == 2 || VDimension == 3);

  static int
  GetNumberOfComponents(const ImageType *)
  {
    return static_cast<int>(PixelType::length);
  }
  static const ComponentType *
  GetComponents(const TPixel & pixel)
  {
    return reinterpret_cast<const ComponentType *>(&pixel);
  }
  static bool
  HasComponents(const TPixel &, int count)
  {
    return count == static_cast<int>(PixelType::length);
  }
};

template <typename TComponent, unsigned int VDimension>
struct FFDPPixelLayout<VectorImage<TComponent, VDimension>>
{
  using ImageType = VectorImage<TComponent, VDimension>;
  using PixelType = typename ImageType::PixelType;
  using ComponentType = TComponent;
  static constexpr bool isKnown =
    FFDPPixelLayoutDetail::IsComponent<TComponent> && (VDimension == 2 || VDimension == 3);

  static int
  GetNumberOfComponents(const ImageType * image)
  {
    return static_cast<int>(image->GetNumberOfComponentsPerPixel());
  }
  static const ComponentType *
  GetComponents(const PixelType & pixel)
  {
    return pixel.GetDataPointer();
  }
  /** Without components: zero. */
  static bool
  HasComponents(const PixelType & pixel, int count)
  {
    return pixel.GetSize() == 0 || static_cast<int>(pixel.GetSize()) == count;
  }
};

/** Voxels along three axes. */
template <unsigned int VDimension>
ffdp::Extent
FFDPExtentOf(const ImageRegion<VDimension> & region)
{
  return { static_cast<std::int64_t>(region.GetSize(0)),
           static_cast<std::int64_t>(region.GetSize(1)),
           VDimension > 2 ? static_cast<std::int64_t>(region.GetSize(VDimension - 1)) : 1 };
}

/** A region in indices relative to the start of a larger one. */
template <unsigned int VDimension>
ffdp::PixelBox
FFDPBoxOf(const ImageRegion<VDimension> & region, const ImageRegion<VDimension> & whole)
{
  ffdp::PixelBox box;
  box.count[2] = 1;
  for (unsigned int c = 0; c < VDimension; ++c)
  {
    box.first[c] = static_cast<std::int64_t>(region.GetIndex(c) - whole.GetIndex(c));
    box.count[c] = static_cast<std::int64_t>(region.GetSize(c));
  }
  return box;
}

/** The pixels that an image has in memory, as a box of its largest possible region. */
template <typename TImage>
auto
FFDPViewOf(TImage * image)
{
  using LayoutType = FFDPPixelLayout<std::remove_const_t<TImage>>;
  using ComponentType = std::conditional_t<std::is_const<TImage>::value,
                                           const typename LayoutType::ComponentType,
                                           typename LayoutType::ComponentType>;
  const auto & whole = image->GetLargestPossibleRegion();
  return ffdp::BasicPixelView<std::is_const<TImage>::value>(
    reinterpret_cast<ComponentType *>(image->GetBufferPointer()),
    FFDPExtentOf(whole),
    FFDPBoxOf(image->GetBufferedRegion(), whole),
    LayoutType::GetNumberOfComponents(image));
}

} // namespace itk

#endif
