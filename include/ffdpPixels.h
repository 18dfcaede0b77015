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
#ifndef ffdpPixels_h
#define ffdpPixels_h

#include "ffdpVolume.h"

#include <cstdint>
#include <type_traits>

/** Pixels as an ITK image holds them: any arithmetic type, one or several components side by side. */
namespace ffdp
{

/** The type of a component, known at run time. */
enum class PixelComponent
{
  Int8,
  UInt8,
  Int16,
  UInt16,
  Int32,
  UInt32,
  Int64,
  UInt64,
  Float,
  Double
};

/** The component of a C++ type, by size and sign: char and long are among them, bool and long double are not. */
template <typename T>
constexpr PixelComponent
PixelComponentOf()
{
  static_assert(std::is_arithmetic<T>::value && !std::is_same<T, bool>::value && sizeof(T) <= 8,
                "pixels have integer components of up to 64 bits, or float, or double");
  if (std::is_floating_point<T>::value)
  {
    return sizeof(T) == 4 ? PixelComponent::Float : PixelComponent::Double;
  }
  const bool isSigned = std::is_signed<T>::value;
  switch (sizeof(T))
  {
    case 1:
      return isSigned ? PixelComponent::Int8 : PixelComponent::UInt8;
    case 2:
      return isSigned ? PixelComponent::Int16 : PixelComponent::UInt16;
    case 4:
      return isSigned ? PixelComponent::Int32 : PixelComponent::UInt32;
    default:
      return isSigned ? PixelComponent::Int64 : PixelComponent::UInt64;
  }
}

/** Pixels [first, first + count) along each axis x, y, z of a volume. */
struct PixelBox
{
  std::int64_t first[3] = { 0, 0, 0 };
  std::int64_t count[3] = { 0, 0, 0 };

  bool
  IsEmpty() const
  {
    return count[0] <= 0 || count[1] <= 0 || count[2] <= 0;
  }
};

/** A box of pixels of a volume of `domain` pixels, x fastest. Never owns memory. As with VolumeView, indices are those
 * of the whole volume, so a pixel gets the same value whichever box it is computed in. Strides are in pixels. */
template <bool VConst>
struct BasicPixelView
{
  using Pointer = std::conditional_t<VConst, const void *, void *>;

  Pointer        data = nullptr; ///< first component of the first pixel of the box
  PixelComponent type = PixelComponent::Float;
  int            components = 1;
  Extent         domain;
  PixelBox       box;
  std::int64_t   rowStride = 0;
  std::int64_t   planeStride = 0;

  BasicPixelView() = default;

  /** A whole volume, densely packed. */
  template <typename T>
  BasicPixelView(T * pixels, const Extent & whole, int componentsPerPixel = 1)
    : BasicPixelView(VolumeView<T>(pixels, whole))
  {
    components = componentsPerPixel;
  }

  /** A densely packed box of a volume of size `whole`. */
  template <typename T>
  BasicPixelView(T * pixels, const Extent & whole, const PixelBox & held, int componentsPerPixel = 1)
    : data(pixels)
    , type(PixelComponentOf<std::remove_const_t<T>>())
    , components(componentsPerPixel)
    , domain(whole)
    , box(held)
    , rowStride(held.count[0])
    , planeStride(held.count[0] * held.count[1])
  {}

  /** Planes of scalars. */
  template <typename T>
  BasicPixelView(const VolumeView<T> & view)
    : data(view.data)
    , type(PixelComponentOf<std::remove_const_t<T>>())
    , domain(view.domain)
    , box{ { 0, 0, view.firstPlane }, { view.domain.x, view.domain.y, view.planes } }
    , rowStride(view.rowStride)
    , planeStride(view.planeStride)
  {}

  explicit operator bool() const { return data != nullptr; }

  /** A view of the same pixels that cannot write them. */
  operator BasicPixelView<true>() const
  {
    BasicPixelView<true> view;
    view.data = data;
    view.type = type;
    view.components = components;
    view.domain = domain;
    view.box = box;
    view.rowStride = rowStride;
    view.planeStride = planeStride;
    return view;
  }
};

using PixelView = BasicPixelView<false>;
using ConstPixelView = BasicPixelView<true>;

} // namespace ffdp

#endif
