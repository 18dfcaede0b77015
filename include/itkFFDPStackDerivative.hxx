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
#ifndef itkFFDPStackDerivative_hxx
#define itkFFDPStackDerivative_hxx

#include "itkFFDPCompatibility.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace itk
{
namespace FFDPMetricDetail
{

template <typename TParametersValueType, unsigned int VDimension>
void
StackDerivative<TParametersValueType, VDimension>::ListSteps(const TransformType * transform, bool isOptimized)
{
  if (const auto * const composite = dynamic_cast<const CompositeType *>(transform))
  {
    for (SizeValueType n = composite->GetNumberOfTransforms(); n-- > 0;) // the last one of the queue comes first
    {
      this->ListSteps(composite->GetNthTransformConstPointer(n),
                      isOptimized && composite->GetNthTransformToOptimize(n));
    }
    return;
  }
  m_Steps.push_back({ transform, dynamic_cast<const FieldTransformType *>(transform), isOptimized });
}

template <typename TParametersValueType, unsigned int VDimension>
bool
StackDerivative<TParametersValueType, VDimension>::OptimizesFirstFieldOnly() const
{
  return !m_Steps.empty() && m_Steps.front().field && m_Steps.front().isOptimized &&
         std::none_of(m_Steps.begin() + 1, m_Steps.end(), [](const Step & step) { return step.isOptimized; });
}

template <typename TParametersValueType, unsigned int VDimension>
bool
StackDerivative<TParametersValueType, VDimension>::AddSegment(const TransformType *                   transform,
                                                              std::size_t                             fieldsBefore,
                                                              const FFDPTransformStackDetail::Probe & probe,
                                                              std::string &                           whyNot)
{
  const SizeValueType first =
    m_Segments.empty() ? 0
                       : m_Segments.back().firstParameter + m_Segments.back().jacobian.front().GetNumberOfParameters();
  m_Segments.push_back({ fieldsBefore, first, { JacobianType(transform, probe) } });
  if (!m_Segments.back().jacobian.front().IsAffine())
  {
    whyNot = "the Jacobian of the moving transform is not affine in the point";
    return false;
  }
  return true;
}

template <typename TParametersValueType, unsigned int VDimension>
bool
StackDerivative<TParametersValueType, VDimension>::ListSegments(const TransformType *                   transform,
                                                                const FFDPTransformStackDetail::Probe & probe,
                                                                std::string &                           whyNot)
{
  if (m_Chain.steps.empty())
  {
    return this->AddSegment(transform, 0, probe, whyNot);
  }
  std::size_t fields = 0;
  for (auto begin = m_Steps.begin();; ++begin) // continues behind a field
  {
    const auto end = std::find_if(begin, m_Steps.end(), [](const Step & step) { return step.field != nullptr; });
    if (std::any_of(begin, end, [](const Step & step) { return step.isOptimized; }))
    {
      auto segment = CompositeType::New();
      for (auto step = end; step-- != begin;) // the one added last is applied first
      {
        segment->AddTransform(const_cast<TransformType *>(step->transform)); // only asked for its Jacobian
        segment->SetNthTransformToOptimize(segment->GetNumberOfTransforms() - 1, step->isOptimized);
      }
      if (!this->AddSegment(segment, fields, probe, whyNot))
      {
        return false;
      }
    }
    if (end == m_Steps.end())
    {
      return true;
    }
    begin = end;
    ++fields;
  }
}

template <typename TParametersValueType, unsigned int VDimension>
bool
StackDerivative<TParametersValueType, VDimension>::AgreesWithField(const FieldTransformType * transform,
                                                                   const ffdp::WarpStep &     step,
                                                                   const ffdp::FieldSlope &   slope)
{
  const auto * const field = transform->GetDisplacementField();
  const auto         region = field->GetBufferedRegion();
  for (const double where : { 0.5, 0.25, 0.75 })
  {
    auto   index = region.GetIndex();
    double displacement = 0; // in voxels, what differences are made of
    for (unsigned int c = 0; c < VDimension; ++c)
    {
      index[c] += static_cast<IndexValueType>(where * static_cast<double>(region.GetSize(c) - 1));
    }
    for (unsigned int c = 0; c < VDimension; ++c)
    {
      displacement = std::max(displacement, std::abs(double(field->GetPixel(index)[c])) / field->GetSpacing()[c]);
    }
    const auto                                  physical = field->template TransformIndexToPhysicalPoint<double>(index);
    typename FieldTransformType::InputPointType input;
    typename FieldTransformType::JacobianPositionType expected;
    input.CastFrom(physical);
    transform->ComputeJacobianWithRespectToPosition(input, expected);
    double point[3] = { 0, 0, 0 };
    double found[9];
    std::copy_n(physical.GetDataPointer(), VDimension, point);
    ffdp::FieldJacobian(step, slope, point, found);
    for (unsigned int i = 0; i < VDimension * VDimension; ++i)
    {
      const double value = expected(i / VDimension, i % VDimension);
      const double tolerance =
        1e3 * std::numeric_limits<TParametersValueType>::epsilon() * (1 + displacement + std::abs(value));
      if (std::abs(found[3 * (i / VDimension) + i % VDimension] - value) > tolerance)
      {
        return false;
      }
    }
  }
  return true;
}

template <typename TParametersValueType, unsigned int VDimension>
bool
StackDerivative<TParametersValueType, VDimension>::ReadSlope(const FieldTransformType * transform,
                                                             const ffdp::WarpStep &     step,
                                                             ffdp::FieldSlope &         slope,
                                                             std::string &              whyNot)
{
  constexpr bool     isPhysical = FFDP_ITK_FIELD_JACOBIAN_IS_PHYSICAL;
  const auto * const field = transform->GetDisplacementField();
  const auto         region = field->GetBufferedRegion();
  if (region != field->GetLargestPossibleRegion())
  {
    whyNot = "a displacement field behind what is optimized is buffered in part only";
    return false;
  }
  for (unsigned int r = 0; r < VDimension; ++r)
  {
    if (!isPhysical && region.GetIndex(r) != 0)
    {
      whyNot = "the index of a displacement field behind what is optimized does not start at 0";
      return false;
    }
    for (unsigned int c = 0; c < VDimension; ++c)
    {
      (isPhysical ? slope.right[3 * c + r] : slope.left[3 * r + c]) =
        field->GetDirection()[r][c] / field->GetSpacing()[isPhysical ? c : r];
    }
  }
  slope.border = isPhysical ? ffdp::FieldSlope::Border::Clamped : ffdp::FieldSlope::Border::Still;
  if (!AgreesWithField(transform, step, slope)) // a subclass may have another idea of it
  {
    whyNot = std::string(transform->GetNameOfClass()) + " does not have the Jacobian of a DisplacementFieldTransform";
    return false;
  }
  return true;
}

template <typename TParametersValueType, unsigned int VDimension>
bool
StackDerivative<TParametersValueType, VDimension>::ReadSlopes(std::string & whyNot)
{
  m_Slopes.assign(m_Chain.steps.size(), ffdp::FieldSlope());
  std::size_t field = 0;
  for (const Step & step : m_Steps)
  {
    if (step.field)
    {
      if (field >= m_Segments.front().fieldsBefore &&
          !ReadSlope(step.field, m_Chain.steps[field], m_Slopes[field], whyNot))
      {
        return false;
      }
      ++field;
    }
  }
  return true;
}

template <typename TParametersValueType, unsigned int VDimension>
bool
StackDerivative<TParametersValueType, VDimension>::Read(const TransformType * transform,
                                                        bool                  hasLocalSupport,
                                                        const GridType *      grid,
                                                        const GridType *      image,
                                                        std::string &         whyNot)
{
  using namespace FFDPTransformStackDetail;
  std::int64_t gridSize[3] = { 1, 1, 1 };
  for (unsigned int c = 0; c < VDimension; ++c)
  {
    gridSize[c] = static_cast<std::int64_t>(grid->GetBufferedRegion().GetSize(c));
  }
  m_HasLocalSupport = hasLocalSupport;
  m_GridToPoint = IndexToPoint<VDimension>(grid, grid->GetBufferedRegion().GetIndex());
  m_ImageToPoint = IndexToPoint<VDimension>(image, image->GetBufferedRegion().GetIndex());
  const auto  pointToImage = PointToIndex<VDimension>(image, image->GetBufferedRegion().GetIndex());
  const Probe probe = MakeProbe<TParametersValueType, VDimension>(m_GridToPoint, gridSize);
  if (!ReadChain<TParametersValueType, VDimension>(transform, m_GridToPoint, pointToImage, probe, m_Chain, whyNot))
  {
    return false;
  }
  m_Steps.clear();
  m_Segments.clear();
  this->ListSteps(transform, true);
  if (hasLocalSupport)
  {
    if (!this->OptimizesFirstFieldOnly())
    {
      whyNot = "more is optimized than one displacement field that is applied first";
      return false;
    }
    m_Segments.push_back({ 1, 0, {} });
    return this->ReadSlopes(whyNot);
  }
  if (std::any_of(m_Steps.begin(), m_Steps.end(), [](const Step & step) { return step.field && step.isOptimized; }))
  {
    whyNot = "displacement fields and linear transforms are optimized together";
    return false;
  }
  if (!this->ListSegments(transform, probe, whyNot))
  {
    return false;
  }
  SizeValueType count = 0;
  for (const Segment & segment : m_Segments)
  {
    count += segment.jacobian.front().GetNumberOfParameters();
  }
  if (m_Segments.empty() || count != transform->GetNumberOfParameters())
  {
    whyNot = "the transforms that are optimized do not have the parameters of the moving transform";
    return false;
  }
  return this->ReadSlopes(whyNot);
}

template <typename TParametersValueType, unsigned int VDimension>
void
StackDerivative<TParametersValueType, VDimension>::Plan(std::size_t segment, ffdp::MetricProblem & problem) const
{
  const std::size_t fields = m_Chain.steps.size();
  const std::size_t before = m_Segments[segment].fieldsBefore;
  const auto &      steps = m_Chain.steps;
  ffdp::AffineMap   after; // what follows the last field, if the derivative is taken there or before, in physical space
  if (before < fields || m_HasLocalSupport)
  {
    after = ffdp::Compose(m_ImageToPoint, steps.back().after);
  }
  for (int r = 0; r < 3; ++r) // ITK's derivatives point downhill
  {
    for (int c = 0; c < 3; ++c)
    {
      const double entry = after.matrix[3 * c + r];
      const double whole = std::round(entry);
      problem.C[3 * r + c] = -(std::abs(entry - whole) < 1e-12 ? whole : entry); // the identity, free of rounding
    }
  }
  problem.within = ffdp::ChainDerivative();
  if (fields > 0 && !(m_HasLocalSupport && before == fields))
  {
    problem.within.chain = m_Chain;
    problem.within.slopes = m_Slopes;
    problem.within.segment = before;
  }
  for (int i = 0; m_HasLocalSupport && before < fields && i < 9; ++i) // the field is before the segment
  {
    problem.within.last[i] = steps[before - 1].after.matrix[3 * (i % 3) + i / 3];
  }
}

template <typename TParametersValueType, unsigned int VDimension>
template <typename TDerivative>
void
StackDerivative<TParametersValueType, VDimension>::Multiply(std::size_t               segment,
                                                            const ffdp::MapGradient & moments,
                                                            double                    scale,
                                                            TDerivative &             derivative) const
{
  const Segment &   at = m_Segments[segment];
  ffdp::MapGradient ofPoints = moments;
  for (int r = 0; at.fieldsBefore == 0 && r < 3; ++r) // else they are those of points already
  {
    for (int c = 0; c < 3; ++c)
    {
      const double * const m = m_GridToPoint.matrix + 3 * c;
      ofPoints[3 * r + c] = ((moments[3 * r] * m[0] + moments[3 * r + 1] * m[1]) + moments[3 * r + 2] * m[2]) +
                            moments[9 + r] * m_GridToPoint.offset[c];
    }
  }
  at.jacobian.front().Multiply(ofPoints, scale, derivative.data_block() + at.firstParameter);
}

} // end namespace FFDPMetricDetail
} // end namespace itk

#endif
