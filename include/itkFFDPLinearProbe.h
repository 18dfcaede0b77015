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
#ifndef itkFFDPLinearProbe_h
#define itkFFDPLinearProbe_h

#include "ffdpAffineMap.h"

#include "itkImageBase.h"
#include "itkMatrixOffsetTransformBase.h"
#include "itkTransform.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

/** Grids and linear transforms as matrices. */
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

/** For the points of a grid. */
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

} // namespace FFDPTransformStackDetail
} // namespace itk

#endif
