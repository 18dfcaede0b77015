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

#include "itkFFDPTransformStack.h"

#include "itkCompositeTransform.h"
#include "itkDisplacementFieldTransform.h"
#include "itkMatrixOffsetTransformBase.h"
#include "itkVectorLinearInterpolateImageFunction.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <typeinfo>
#include <utility>
#include <vector>

namespace itk
{
namespace FFDPTransformStackDetail
{

/** From indices relative to the start of a region to physical points. */
template <unsigned int VDimension>
ffdp::AffineMap
IndexToPoint(const ImageBase<VDimension> * image, const Index<VDimension> & start)
{
  ffdp::AffineMap map;
  for (unsigned int r = 0; r < VDimension; ++r)
  {
    map.offset[r] = image->GetOrigin()[r];
    for (unsigned int c = 0; c < VDimension; ++c)
    {
      map.matrix[3 * r + c] = image->GetDirection()[r][c] * image->GetSpacing()[c];
      map.offset[r] += map.matrix[3 * r + c] * static_cast<double>(start[c]);
    }
  }
  return map;
}

/** From physical points to indices relative to the start of a region. */
template <unsigned int VDimension>
ffdp::AffineMap
PointToIndex(const ImageBase<VDimension> * image, const Index<VDimension> & start)
{
  ffdp::AffineMap map;
  for (unsigned int r = 0; r < VDimension; ++r)
  {
    map.offset[r] = -static_cast<double>(start[r]);
    for (unsigned int c = 0; c < VDimension; ++c)
    {
      map.matrix[3 * r + c] = image->GetInverseDirection()[r][c] / image->GetSpacing()[r];
      map.offset[r] -= map.matrix[3 * r + c] * image->GetOrigin()[c];
    }
  }
  return map;
}

template <typename TParametersValueType, unsigned int VDimension>
void
TransformCoordinates(const Transform<TParametersValueType, VDimension, VDimension> * transform,
                     const double *                                                  from,
                     double *                                                        to)
{
  typename Transform<TParametersValueType, VDimension, VDimension>::InputPointType point;
  for (unsigned int c = 0; c < VDimension; ++c)
  {
    point[c] = static_cast<TParametersValueType>(from[c]);
  }
  const auto moved = transform->TransformPoint(point);
  for (unsigned int c = 0; c < VDimension; ++c)
  {
    to[c] = moved[c];
  }
}

/** Where the transforms are asked: around a point of the grid, as far as the grid goes, in physical units. */
struct Probe
{
  double center[3] = { 0, 0, 0 };
  double reach = 1;
  double tolerance = 0; ///< of a coordinate, by the precision of the transform's points
};

/** The matrix of a linear transform from its values at points that are as far apart as the grid is wide. */
template <typename TParametersValueType, unsigned int VDimension>
ffdp::AffineMap
ProbeLinear(const Transform<TParametersValueType, VDimension, VDimension> * transform, const Probe & probe)
{
  ffdp::AffineMap map;
  double          moved[3] = { 0, 0, 0 };
  TransformCoordinates(transform, probe.center, moved);
  for (unsigned int c = 0; c < VDimension; ++c)
  {
    double at[3] = { probe.center[0], probe.center[1], probe.center[2] };
    double there[3];
    at[c] += probe.reach;
    TransformCoordinates(transform, at, there);
    // the step that the point really made, after it was rounded to the type of the transform's points
    const double step = static_cast<TParametersValueType>(at[c]) -
                        static_cast<double>(static_cast<TParametersValueType>(probe.center[c]));
    for (unsigned int r = 0; r < VDimension; ++r)
    {
      map.matrix[3 * r + c] = (there[r] - moved[r]) / step;
    }
  }
  for (unsigned int r = 0; r < VDimension; ++r)
  {
    map.offset[r] = moved[r];
    for (unsigned int c = 0; c < VDimension; ++c)
    {
      map.offset[r] -= map.matrix[3 * r + c] * probe.center[c];
    }
  }
  return map;
}

/** Matrix and offset of a linear transform: as it stores them where it does, else from its values. */
template <typename TParametersValueType, unsigned int VDimension>
ffdp::AffineMap
ReadLinear(const Transform<TParametersValueType, VDimension, VDimension> * transform, const Probe & probe)
{
  using MatrixOffsetType = MatrixOffsetTransformBase<TParametersValueType, VDimension, VDimension>;
  if (const auto * const matrixOffset = dynamic_cast<const MatrixOffsetType *>(transform))
  {
    ffdp::AffineMap map;
    for (unsigned int r = 0; r < VDimension; ++r)
    {
      map.offset[r] = matrixOffset->GetOffset()[r];
      for (unsigned int c = 0; c < VDimension; ++c)
      {
        map.matrix[3 * r + c] = matrixOffset->GetMatrix()[r][c];
      }
    }
    double stored[3];
    double told[3] = { 0, 0, 0 };
    map.Apply(probe.center, stored);
    TransformCoordinates(transform, probe.center, told);
    bool same = true;
    for (unsigned int c = 0; c < VDimension; ++c)
    {
      same = same && std::abs(stored[c] - told[c]) <= probe.tolerance * (1 + std::abs(told[c]));
    }
    if (same) // a subclass may keep its parameters elsewhere
    {
      return map;
    }
  }
  return ProbeLinear(transform, probe);
}

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

template <typename TParametersValueType, unsigned int VDimension>
Probe
MakeProbe(const ffdp::AffineMap & gridToPoint, const std::int64_t * gridSize)
{
  Probe  probe;
  double center[3];
  for (int c = 0; c < 3; ++c)
  {
    center[c] = 0.5 * static_cast<double>(gridSize[c] - 1);
  }
  gridToPoint.Apply(center, probe.center);
  for (unsigned int r = 0; r < VDimension; ++r)
  {
    double width = 0;
    for (unsigned int c = 0; c < VDimension; ++c)
    {
      width += std::abs(gridToPoint.matrix[3 * r + c]) * static_cast<double>(gridSize[c]);
    }
    probe.reach = r == 0 ? width : std::max(probe.reach, width);
  }
  probe.tolerance = 256 * static_cast<double>(std::numeric_limits<TParametersValueType>::epsilon());
  return probe;
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
