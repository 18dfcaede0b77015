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
#ifndef itkFFDPTestStacks_h
#define itkFFDPTestStacks_h

#include "itkFFDPMetricTestSupport.h"

#include <initializer_list>
#include <utility>

/** Stacks in which something is optimized that has displacement fields before or behind it. */
namespace ffdp
{
namespace test
{

/** In the order in which transforms are applied. Fields that are "behind" lie on a grid of their own, which all points
 * of the tests are mapped into: outside it, the Jacobian of ITK 5.2 is that of memory which is not the field's. */
enum class StackKind
{
  AfterField,       ///< a field on the virtual domain, then an affine transform that is optimized
  AfterOtherFields, ///< two fields on other grids, then the same
  BeforeField,      ///< the same, then a field: what itk::ImageRegistrationMethodv4 makes of a field to start from
  BetweenFields,    ///< the same between fields, in a composite in a composite
  AroundField,      ///< rigid, field, affine: both linear transforms are optimized
  FieldBeforeField, ///< a field on the virtual domain that is optimized, then another one
  FieldBeforeStack, ///< the same, then an affine transform, a field, an affine transform and a field
};
constexpr int StackKinds = 7;

/** A field whose grid has its middle where the virtual domain has it, and is `width` times as wide. */
template <typename TCase>
typename TCase::FieldTransformType::Pointer
MakeFieldAround(const TCase & metricCase, double width, double amplitude, unsigned int seed)
{
  using FieldType = typename TCase::FieldType;
  constexpr unsigned int                  dimension = FieldType::ImageDimension;
  const auto                              grid = metricCase.grid.GetPointer();
  auto                                    field = FieldType::New();
  auto                                    spacing = grid->GetSpacing();
  auto                                    size = grid->GetBufferedRegion().GetSize();
  itk::ContinuousIndex<double, dimension> middle, middleOfGrid;
  for (unsigned int c = 0; c < dimension; ++c)
  {
    middleOfGrid[c] = double(grid->GetBufferedRegion().GetIndex(c)) + 0.5 * double(size[c] - 1);
    size[c] -= 2;
    spacing[c] *= width * double(size[c] + 1) / double(size[c] - 1);
    middle[c] = 0.5 * double(size[c] - 1);
  }
  field->SetRegions(size);
  field->SetSpacing(spacing);
  field->SetDirection(grid->GetDirection());
  field->Allocate();
  itk::Point<double, dimension> from, to;
  field->TransformContinuousIndexToPhysicalPoint(middle, from);
  grid->TransformContinuousIndexToPhysicalPoint(middleOfGrid, to);
  field->SetOrigin(field->GetOrigin() + (to - from));
  FillField(field.GetPointer(), amplitude, seed);
  auto transform = TCase::FieldTransformType::New();
  transform->SetDisplacementField(field);
  return transform;
}

/** A field on the virtual domain itself. */
template <typename TCase>
typename TCase::FieldTransformType::Pointer
MakeFieldOnGrid(const TCase & metricCase, double amplitude, unsigned int seed)
{
  auto field = TCase::FieldType::New();
  field->CopyInformation(metricCase.grid);
  field->SetRegions(metricCase.grid->GetBufferedRegion());
  field->Allocate();
  FillField(field.GetPointer(), amplitude, seed);
  auto transform = TCase::FieldTransformType::New();
  transform->SetDisplacementField(field);
  return transform;
}

template <typename TCase>
struct StackStep
{
  typename TCase::TransformType::Pointer transform;
  bool                                   isOptimized;
};

/** A composite of transforms that are given in the order in which they are applied. */
template <typename TCase>
typename TCase::CompositeType::Pointer
Stack(std::initializer_list<StackStep<TCase>> steps)
{
  auto composite = TCase::CompositeType::New();
  for (auto step = std::rbegin(steps); step != std::rend(steps); ++step) // the one added last is applied first
  {
    composite->AddTransform(step->transform);
    composite->SetNthTransformToOptimize(composite->GetNumberOfTransforms() - 1, step->isOptimized);
  }
  return composite;
}

template <typename TCase>
typename TCase::TransformType::Pointer
MakeStack(StackKind kind, const TCase & metricCase)
{
  using StepType = StackStep<TCase>;
  const StepType optimized{ TCase::MakeAffine(0.05, 1.02).GetPointer(), true };
  const StepType constant{ TCase::MakeAffine(-0.04, 0.98).GetPointer(), false };
  const StepType onGrid{ MakeFieldOnGrid(metricCase, 0.6, 6).GetPointer(), false };
  const StepType behind{ MakeFieldAround(metricCase, 1.7, 0.7, 7).GetPointer(), false };
  const StepType farBehind{ MakeFieldAround(metricCase, 2.1, 0.5, 8).GetPointer(), false };
  const StepType field{ onGrid.transform, true };
  switch (kind)
  {
    case StackKind::AfterField:
      return Stack<TCase>({ onGrid, optimized }).GetPointer();
    case StackKind::AfterOtherFields:
      return Stack<TCase>(
               { constant, { MakeFieldAround(metricCase, 0.8, 0.6, 9).GetPointer(), false }, behind, optimized })
        .GetPointer();
    case StackKind::BeforeField:
      return Stack<TCase>({ optimized, behind }).GetPointer();
    case StackKind::BetweenFields:
      return Stack<TCase>(
               { onGrid, { Stack<TCase>({ constant, optimized, behind }).GetPointer(), true }, constant, farBehind })
        .GetPointer();
    case StackKind::AroundField:
      return Stack<TCase>({ { TCase::MakeRigid(0.04).GetPointer(), true }, behind, optimized }).GetPointer();
    case StackKind::FieldBeforeField:
      return Stack<TCase>({ field, behind }).GetPointer();
    default:
      return Stack<TCase>({ field, constant, behind, constant, farBehind }).GetPointer();
  }
}

} // namespace test
} // namespace ffdp

#endif
