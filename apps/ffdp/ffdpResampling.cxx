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
#include "ffdpResampling.h"

#include "ffdpFields.h"
#include "ffdpResample.h"

#include "itkFFDPTransformStack.h"
#include "itkMultiThreaderBase.h"

#include <algorithm>
#include <cmath>

namespace
{

/** Where voxel x of the grid is in the image, in voxels. */
void
FindPosition(const itk::FFDPTransformStack & stack, const std::int64_t * x, double * position)
{
  const double index[3] = { double(x[0]), double(x[1]), double(x[2]) };
  if (stack.HasResiduals())
  {
    ffdp::MapPoint(stack.chain, index, position);
    return;
  }
  const ffdp::CompositeMap & map = stack.map;
  const auto &               field = stack.warp.doubles; // ITK's fields of doubles, if there is one
  for (int r = 0; r < 3; ++r)
  {
    position[r] = map.A[3 * r] * index[0] + map.A[3 * r + 1] * index[1] + map.A[3 * r + 2] * index[2] + map.t[r];
    for (int c = 0; c < 3 && field; ++c)
    {
      position[r] += map.S[3 * r + c] * field.Row(c, x[1], x[2])[x[0] * field.elementStride];
    }
  }
}

/** The label with the largest sum of linear weights among the corners around a point; the first of them, x fastest,
 * where two are equal. 0 outside the image. */
template <typename T>
T
VoteLabel(const ffdp::VolumeView<const T> & image, const double * at)
{
  const std::int64_t size[3] = { image.domain.x, image.domain.y, image.domain.z };
  std::int64_t       index[3][2];
  double             share[3][2];
  for (int axis = 0; axis < 3; ++axis)
  {
    if (!(at[axis] >= -0.5 && at[axis] < double(size[axis]) - 0.5))
    {
      return 0;
    }
    const double low = std::floor(at[axis]);
    share[axis][1] = at[axis] - low;
    share[axis][0] = 1 - share[axis][1];
    index[axis][0] = std::max<std::int64_t>(0, std::int64_t(low));
    index[axis][1] = std::min(size[axis] - 1, std::int64_t(low) + 1);
  }
  T      label[8];
  double weight[8];
  int    labels = 0;
  for (int corner = 0; corner < 8; ++corner)
  {
    const int x = corner & 1, y = (corner >> 1) & 1, z = corner >> 2;
    const T   value = image.Row(index[1][y], index[2][z])[index[0][x]];
    const int k = int(std::find(label, label + labels, value) - label);
    if (k == labels)
    {
      label[labels] = value;
      weight[labels++] = 0;
    }
    weight[k] += share[0][x] * share[1][y] * share[2][z];
  }
  return label[std::max_element(weight, weight + labels) - weight];
}

/** T only has to tell labels apart. */
template <typename T>
void
ResampleLabels(const ffdp::ConstPixelView &    image,
               const itk::FFDPTransformStack & stack,
               const ffdp::PixelView &         output)
{
  const ffdp::VolumeView<const T> from(static_cast<const T *>(image.data), image.domain);
  const ffdp::VolumeView<T>       to(static_cast<T *>(output.data), output.domain);
  itk::MultiThreaderBase::New()->ParallelizeArray(
    0,
    itk::SizeValueType(to.domain.z),
    [&](itk::SizeValueType plane) {
      std::int64_t x[3] = { 0, 0, std::int64_t(plane) };
      for (x[1] = 0; x[1] < to.domain.y; ++x[1])
      {
        for (x[0] = 0; x[0] < to.domain.x; ++x[0])
        {
          double at[3];
          FindPosition(stack, x, at);
          to.Row(x[1], x[2])[x[0]] = VoteLabel<T>(from, at);
        }
      }
    },
    nullptr);
}

void
ResampleLabels(const ffdp::ConstPixelView &    image,
               const itk::FFDPTransformStack & stack,
               const ffdp::PixelView &         output)
{
  using Type = ffdp::PixelComponent;
  switch (image.type)
  {
    case Type::Int8:
    case Type::UInt8:
      return ResampleLabels<std::uint8_t>(image, stack, output);
    case Type::Int16:
    case Type::UInt16:
      return ResampleLabels<std::uint16_t>(image, stack, output);
    case Type::Int32:
    case Type::UInt32:
      return ResampleLabels<std::uint32_t>(image, stack, output);
    case Type::Int64:
    case Type::UInt64:
      return ResampleLabels<std::uint64_t>(image, stack, output);
    case Type::Float:
      return ResampleLabels<float>(image, stack, output);
    case Type::Double:
      return ResampleLabels<double>(image, stack, output);
  }
}

} // namespace

void
ResamplePixels(const ffdp::ConstPixelView & image,
               const itk::ImageBase<3> *    imageGrid,
               const CompositeType *        transform,
               const std::string &          interpolation,
               const ffdp::PixelView &      output,
               const itk::ImageBase<3> *    outputGrid)
{
  const auto              region = outputGrid->GetLargestPossibleRegion();
  const auto              imageRegion = imageGrid->GetLargestPossibleRegion();
  itk::FFDPTransformStack stack;
  TransformType::Pointer  sampled;
  std::string             whyNot;
  if (!itk::ReadTransformStack<double, 3>(transform, outputGrid, region, imageGrid, imageRegion, stack, whyNot))
  {
    // a transform of another kind, like a B-spline: its displacements on the grid of the output say all that is asked
    sampled = MakeTransform(SampleTransform(transform, outputGrid));
    stack = itk::FFDPTransformStack();
    itk::ReadTransformStack<double, 3>(sampled, outputGrid, region, imageGrid, imageRegion, stack, whyNot);
  }
  if (interpolation == "label")
  {
    ResampleLabels(image, stack, output);
    return;
  }
  ffdp::ResampleParameters parameters;
  parameters.interpolation = interpolation == "nearest" ? ffdp::Interpolation::Nearest : ffdp::Interpolation::Linear;
  stack.HasResiduals() ? ffdp::ResampleChain(image, stack.map, stack.chain, output, parameters)
                       : ffdp::Resample(image, stack.map, stack.warp, output, parameters);
}

FloatImage::Pointer
ResampleImage(FloatImage *        image,
              const FloatImage *  reference,
              CompositeType *     transform,
              const std::string & interpolation)
{
  auto result = FloatImage::New();
  result->CopyInformation(reference);
  result->SetRegions(reference->GetLargestPossibleRegion());
  result->Allocate();
  const auto         size = result->GetBufferedRegion().GetSize();
  const ffdp::Extent extent{ std::int64_t(size[0]), std::int64_t(size[1]), std::int64_t(size[2]) };
  ResamplePixels(PlaceImage(image).voxels,
                 image,
                 transform,
                 interpolation,
                 ffdp::PixelView(result->GetBufferPointer(), extent),
                 result);
  return result;
}
