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
#ifndef itkFFDPTransformStack_hxx
#define itkFFDPTransformStack_hxx

#include "itkFFDPLinearProbe.h"
#include "itkFFDPTransformStack.h"

#include "itkCompositeTransform.h"
#include "itkDisplacementFieldTransform.h"
#include "itkVectorLinearInterpolateImageFunction.h"

#include <algorithm>
#include <cmath>
#include <typeinfo>
#include <utility>
#include <vector>

namespace itk
{
namespace FFDPTransformStackDetail
{

/** The chain while it is being built: `tail` is what follows the last field, or all that there is before the first. */
struct ChainBuilder
{
  ffdp::WarpChain chain;

  ffdp::AffineMap &
  Tail()
  {
    return chain.steps.empty() ? chain.start : chain.steps.back().after;
  }
  void
  Add(const ffdp::AffineMap & linear)
  {
    this->Tail() = ffdp::Compose(linear, this->Tail());
  }
};

template <typename TParametersValueType, unsigned int VDimension>
bool
AddField(const DisplacementFieldTransform<TParametersValueType, VDimension> * transform,
         ChainBuilder &                                                       builder,
         std::string &                                                        whyNot)
{
  using FieldTransformType = DisplacementFieldTransform<TParametersValueType, VDimension>;
  using FieldType = typename FieldTransformType::DisplacementFieldType;
  using LinearType = VectorLinearInterpolateImageFunction<FieldType, TParametersValueType>;
  const FieldType * const field = transform->GetDisplacementField();
  const auto * const      interpolator = transform->GetInterpolator();
  if (field == nullptr || field->GetBufferPointer() == nullptr || field->GetBufferedRegion().GetNumberOfPixels() == 0)
  {
    whyNot = std::string(transform->GetNameOfClass()) + " has no displacement field";
    return false;
  }
  if (interpolator == nullptr || typeid(*interpolator) != typeid(LinearType))
  {
    whyNot = std::string(transform->GetNameOfClass()) + " does not interpolate its field linearly";
    return false;
  }
  const ImageRegion<VDimension> & region = field->GetBufferedRegion();
  const ffdp::Extent              extent{ static_cast<std::int64_t>(region.GetSize(0)),
                             static_cast<std::int64_t>(region.GetSize(1)),
                             VDimension > 2 ? static_cast<std::int64_t>(region.GetSize(VDimension - 1)) : 1 };
  ffdp::WarpStep                  step;
  step.toIndex = PointToIndex<VDimension>(field, region.GetIndex());
  step.warp = ffdp::WarpView<const TParametersValueType>::Interleaved(
    reinterpret_cast<const TParametersValueType *>(field->GetBufferPointer()), int(VDimension), extent);
  // an optimizer that changes the field modifies the transform, not the field
  step.version = std::max<std::uint64_t>(transform->GetMTime(), field->GetMTime());
  builder.chain.steps.push_back(step);
  return true;
}

/** Adds the steps of a transform in the order in which they are applied to a point. */
template <typename TParametersValueType, unsigned int VDimension>
bool
AddTransform(const Transform<TParametersValueType, VDimension, VDimension> * transform,
             const Probe &                                                   probe,
             ChainBuilder &                                                  builder,
             std::string &                                                   whyNot)
{
  using CompositeType = CompositeTransform<TParametersValueType, VDimension>;
  using FieldTransformType = DisplacementFieldTransform<TParametersValueType, VDimension>;
  if (const auto * const composite = dynamic_cast<const CompositeType *>(transform))
  {
    for (SizeValueType n = composite->GetNumberOfTransforms(); n-- > 0;) // the last one of the queue comes first
    {
      if (!AddTransform<TParametersValueType, VDimension>(
            composite->GetNthTransformConstPointer(n), probe, builder, whyNot))
      {
        return false;
      }
    }
    return true;
  }
  if (const auto * const fieldTransform = dynamic_cast<const FieldTransformType *>(transform))
  {
    return AddField<TParametersValueType, VDimension>(fieldTransform, builder, whyNot);
  }
  if (transform->IsLinear())
  {
    builder.Add(ReadLinear(transform, probe));
    return true;
  }
  whyNot = std::string(transform->GetNameOfClass()) + " is neither linear nor a displacement field";
  return false;
}

/** Coefficients that miss a multiple of 1/64 by no more than rounding get it: the map between two grids of which one is
 * a part, a shift or a multiple of the other is then free of noise. Changes no position by more than 1e-9 voxels. */
inline void
RemoveNoise(ffdp::CompositeMap & map, const std::int64_t * gridSize)
{
  const auto clean = [](double value, double scale) {
    const double near = std::round(value * 64) / 64;
    return std::abs(value - near) * scale < 2e-10 ? near : value;
  };
  for (int r = 0; r < 3; ++r)
  {
    map.t[r] = clean(map.t[r], 1);
    for (int c = 0; c < 3; ++c)
    {
      map.A[3 * r + c] = clean(map.A[3 * r + c], static_cast<double>(gridSize[c]));
    }
  }
}

/** If the grid is a part of the grid of the only field: the field in place, as a view of that part. */
template <typename TView>
bool
ViewFieldOnGrid(const ffdp::AffineMap & gridToField, const std::int64_t * gridSize, const TView & field, TView & view)
{
  std::int64_t       first[3];
  const std::int64_t fieldSize[3] = { field.domain.x, field.domain.y, field.domain.z };
  for (int r = 0; r < 3; ++r)
  {
    if (!(std::abs(gridToField.offset[r]) < 1e15))
    {
      return false;
    }
    first[r] = static_cast<std::int64_t>(std::llround(gridToField.offset[r]));
    double error = std::abs(gridToField.offset[r] - static_cast<double>(first[r]));
    for (int c = 0; c < 3; ++c)
    {
      error += std::abs(gridToField.matrix[3 * r + c] - (r == c ? 1 : 0)) * static_cast<double>(gridSize[c] - 1);
    }
    if (!(error <= 1e-6) || first[r] < 0 || first[r] + gridSize[r] > fieldSize[r])
    {
      return false;
    }
  }
  view = field;
  view.domain = { gridSize[0], gridSize[1], gridSize[2] };
  view.planes = gridSize[2];
  for (auto & component : view.component)
  {
    component += component == nullptr
                   ? 0
                   : first[0] * field.elementStride + first[1] * field.rowStride + first[2] * field.planeStride;
  }
  return true;
}

inline bool
UseFieldInPlace(const ffdp::WarpChain & chain, const std::int64_t * gridSize, FFDPTransformStack & stack)
{
  if (chain.steps.size() != 1)
  {
    return false;
  }
  const ffdp::WarpStep & step = chain.steps.front();
  const ffdp::AffineMap  gridToField = ffdp::Compose(step.toIndex, chain.start);
  ffdp::WarpInput        warp;
  const bool inPlace = step.warp.floats ? ViewFieldOnGrid(gridToField, gridSize, step.warp.floats, warp.floats)
                                        : ViewFieldOnGrid(gridToField, gridSize, step.warp.doubles, warp.doubles);
  if (inPlace)
  {
    stack.warp = warp;
    stack.warpVersion = step.version;
    std::copy_n(step.after.matrix, 9, stack.map.S);
  }
  return inPlace;
}

/** The chain against the transform itself, at points of the grid: a subclass may have changed TransformPoint(). */
template <typename TParametersValueType, unsigned int VDimension>
bool
AgreesWithTransform(const Transform<TParametersValueType, VDimension, VDimension> * transform,
                    const ffdp::AffineMap &                                         gridToPoint,
                    const ffdp::AffineMap &                                         pointToImage,
                    const std::int64_t *                                            gridSize,
                    const ffdp::WarpChain &                                         chain,
                    double                                                          tolerance)
{
  for (const double where : { 0.5, 0.25, 0.75 })
  {
    double index[3], point[3], moved[3] = { 0, 0, 0 }, expected[3], X[3];
    for (int c = 0; c < 3; ++c)
    {
      index[c] = std::floor(where * static_cast<double>(gridSize[c] - 1));
    }
    gridToPoint.Apply(index, point);
    TransformCoordinates(transform, point, moved);
    pointToImage.Apply(moved, expected);
    ffdp::MapPoint(chain, index, X);
    for (unsigned int r = 0; r < VDimension; ++r)
    {
      double size = 1;
      for (unsigned int c = 0; c < VDimension; ++c)
      {
        size += std::abs(pointToImage.matrix[3 * r + c]) * (std::abs(point[c]) + std::abs(moved[c]));
      }
      if (std::abs(X[r] - expected[r]) > tolerance * size) // a field may hold values that are not numbers
      {
        return false;
      }
    }
  }
  return true;
}

/** The whole chain from voxels of a grid to voxels of an image, relative to the starts of the regions. */
template <typename TParametersValueType, unsigned int VDimension>
bool
ReadChain(const Transform<TParametersValueType, VDimension, VDimension> * transform,
          const ffdp::AffineMap &                                         gridToPoint,
          const ffdp::AffineMap &                                         pointToImage,
          const Probe &                                                   probe,
          ffdp::WarpChain &                                               chain,
          std::string &                                                   whyNot)
{
  ChainBuilder builder;
  builder.Add(gridToPoint);
  const bool isStack = AddTransform<TParametersValueType, VDimension>(transform, probe, builder, whyNot);
  builder.Add(pointToImage);
  chain = std::move(builder.chain);
  return isStack;
}

} // namespace FFDPTransformStackDetail

template <typename TParametersValueType, unsigned int VDimension>
bool
ReadTransformStack(const Transform<TParametersValueType, VDimension, VDimension> * transform,
                   const ImageBase<VDimension> *                                   grid,
                   const ImageRegion<VDimension> &                                 gridRegion,
                   const ImageBase<VDimension> *                                   image,
                   const ImageRegion<VDimension> &                                 imageRegion,
                   FFDPTransformStack &                                            stack,
                   std::string &                                                   whyNot)
{
  stack = FFDPTransformStack();
  if (transform == nullptr || grid == nullptr || image == nullptr)
  {
    whyNot = "the transform, the grid or the image is missing";
    return false;
  }
  if constexpr (VDimension != 2 && VDimension != 3)
  {
    whyNot = "images of " + std::to_string(VDimension) + " dimensions are not two- or three-dimensional";
    return false;
  }
  else
  {
    using namespace FFDPTransformStackDetail;
    std::int64_t gridSize[3] = { 1, 1, 1 };
    for (unsigned int c = 0; c < VDimension; ++c)
    {
      gridSize[c] = static_cast<std::int64_t>(gridRegion.GetSize(c));
    }
    const ffdp::AffineMap gridToPoint = IndexToPoint<VDimension>(grid, gridRegion.GetIndex());
    const ffdp::AffineMap pointToImage = PointToIndex<VDimension>(image, imageRegion.GetIndex());
    const Probe           probe = MakeProbe<TParametersValueType, VDimension>(gridToPoint, gridSize);
    try
    {
      ffdp::WarpChain chain;
      if (!ReadChain<TParametersValueType, VDimension>(transform, gridToPoint, pointToImage, probe, chain, whyNot))
      {
        return false;
      }
      if (!AgreesWithTransform<TParametersValueType, VDimension>(
            transform, gridToPoint, pointToImage, gridSize, chain, probe.tolerance))
      {
        whyNot = std::string(transform->GetNameOfClass()) + " does not map points as its kind of transform does";
        return false;
      }
      stack.map = ffdp::LinearPart(chain);
      RemoveNoise(stack.map, gridSize);
      if (!chain.steps.empty() && !UseFieldInPlace(chain, gridSize, stack))
      {
        stack.chain = std::move(chain);
      }
    }
    catch (const ExceptionObject & error)
    {
      whyNot = std::string(transform->GetNameOfClass()) + ": " + error.GetDescription();
      return false;
    }
    return true;
  }
}

} // namespace itk

#endif
