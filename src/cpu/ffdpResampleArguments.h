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
#ifndef ffdpResampleArguments_h
#define ffdpResampleArguments_h

#include "ffdpCellBlock.h"
#include "ffdpCheck.h"
#include "ffdpResample.h"
#include "ffdpResamplePlan.h"
#include "ffdpVoxelInline.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

/** What a call to the resampler is given, checked and as plain numbers: the same on all devices. */
namespace ffdp
{

/** Calls action(T{}) with the C++ type of a component, where the action can run: on the host or on a device. */
#if defined(__CUDACC__)
#  pragma nv_exec_check_disable
#endif
template <typename TAction>
FFDP_VOXEL_INLINE auto
WithComponentType(PixelComponent type, TAction && action)
{
  switch (type)
  {
    case PixelComponent::Int8:
      return action(std::int8_t{});
    case PixelComponent::UInt8:
      return action(std::uint8_t{});
    case PixelComponent::Int16:
      return action(std::int16_t{});
    case PixelComponent::UInt16:
      return action(std::uint16_t{});
    case PixelComponent::Int32:
      return action(std::int32_t{});
    case PixelComponent::UInt32:
      return action(std::uint32_t{});
    case PixelComponent::Int64:
      return action(std::int64_t{});
    case PixelComponent::UInt64:
      return action(std::uint64_t{});
    case PixelComponent::Float:
      return action(float{});
    case PixelComponent::Double:
      break;
  }
  return action(double{});
}

/** Bytes of a pixel. */
template <typename TView>
std::size_t
PixelSizeOf(const TView & view)
{
  return std::size_t(view.components) * WithComponentType(view.type, [](auto t) { return sizeof(t); });
}

/** Bytes from the first to the last pixel of a view. */
template <typename TView>
std::int64_t
SpanOf(const TView & view)
{
  const std::int64_t * const count = view.box.count;
  const std::int64_t         pixels = (count[2] - 1) * view.planeStride + (count[1] - 1) * view.rowStride + count[0];
  return view.box.IsEmpty() ? 0 : pixels * std::int64_t(PixelSizeOf(view));
}

template <typename TView>
void
RequirePixels(const TView & view, const char * name)
{
  Require(bool(view), std::string(name) + " is missing");
  Require(view.components > 0, std::string(name) + " has no components");
  const std::int64_t size[3] = { view.domain.x, view.domain.y, view.domain.z };
  for (int c = 0; c < 3; ++c)
  {
    Require(size[c] > 0 && size[c] <= SamplerLongestAxis,
            std::string(name) + " has an axis without pixels or with more than 2^28");
    Require(view.box.first[c] >= 0 && view.box.count[c] >= 0 && view.box.first[c] + view.box.count[c] <= size[c],
            std::string(name) + " holds pixels outside its volume");
  }
}

inline void
CheckResample(const ConstPixelView & image, const PixelView & output, const ResampleParameters & parameters)
{
  RequirePixels(image, "the image to resample");
  RequirePixels(output, "the output of the resampler");
  Require(!image.box.IsEmpty(), "the image to resample holds no pixels");
  Require(image.components == output.components, "the image and the output differ in their number of components");
  Require(parameters.outside.empty() || parameters.outside.size() == std::size_t(output.components),
          "the value outside differs from the output in its number of components");
}

/** The field lies on the grid of the output and holds the planes of its box. */
inline void
CheckFieldOfResample(const WarpInput & u, const PixelView & output)
{
  RequirePixels(output, "the output of the resampler");
  RequireFixedGrid(u, output.domain, output.box.first[2], output.box.first[2] + output.box.count[2]);
}

inline BlockMap
MakeBlockMap(const CompositeMap & map)
{
  BlockMap plan;
  bool     finite = true;
  for (int i = 0; i < 9; ++i)
  {
    plan.A[i] = map.A[i];
    plan.S[i] = map.S[i];
    finite = finite && std::isfinite(map.A[i]) && std::isfinite(map.S[i]);
  }
  for (int c = 0; c < 3; ++c)
  {
    plan.t[c] = map.t[c];
    finite = finite && std::isfinite(map.t[c]);
  }
  Require(finite, "the map of the resampler has an entry that is not finite");
  return plan;
}

inline BlockGrid
MakeBlockGrid(const ConstPixelView & image)
{
  BlockGrid          grid;
  const std::int64_t size[3] = { image.domain.x, image.domain.y, image.domain.z };
  for (int c = 0; c < 3; ++c)
  {
    grid.size[c] = std::int32_t(size[c]);
    grid.first[c] = std::int32_t(image.box.first[c]);
    grid.end[c] = std::int32_t(image.box.first[c] + image.box.count[c]);
  }
  return grid;
}

/** The bytes of a pixel of the output that is outside the image. */
inline std::vector<char>
MakeOutsidePixel(const PixelView & output, const ResampleParameters & parameters)
{
  std::vector<char> pixel(PixelSizeOf(output));
  if (parameters.outsidePixel)
  {
    std::copy_n(static_cast<const char *>(parameters.outsidePixel), pixel.size(), pixel.data());
    return pixel;
  }
  std::vector<double> values = parameters.outside;
  values.resize(std::size_t(output.components), 0.0);
  WithComponentType(output.type, [&](auto t) {
    for (std::size_t c = 0; c < values.size(); ++c)
    {
      reinterpret_cast<decltype(t) *>(pixel.data())[c] = CastComponent<decltype(t)>(values[c]);
    }
  });
  return pixel;
}

/** Whether pixels are resampled in float where float is enough. */
inline bool
IsResampledInFloat(const ConstPixelView & image, const PixelView & output, const ResampleParameters & parameters)
{
  return parameters.interpolation == Interpolation::Linear && image.components == 1 &&
         image.type == PixelComponent::Float && output.type == PixelComponent::Float;
}

/** The plan for that; `outside` is MakeOutsidePixel(). */
inline FloatPlan
MakeFloatPlan(const ConstPixelView & image, const CompositeMap & map, const std::vector<char> & outside)
{
  FloatPlan               plan;
  const PixelBox &        box = image.box;
  VolumeView<const float> held(static_cast<const float *>(image.data), { box.count[0], box.count[1], box.count[2] });
  held.rowStride = image.rowStride;
  held.planeStride = image.planeStride;
  plan.sampler = MakeSamplerPlan(held, "the image to resample", map, {});
  const std::int64_t size[3] = { image.domain.x, image.domain.y, image.domain.z };
  for (int c = 0; c < 3; ++c)
  {
    plan.box.first[c] = std::int32_t(box.first[c]);
    plan.box.size[c] = std::int32_t(size[c]);
  }
  std::copy_n(outside.data(), sizeof(float), reinterpret_cast<char *>(&plan.box.outside));
  return plan;
}

} // namespace ffdp

#endif
