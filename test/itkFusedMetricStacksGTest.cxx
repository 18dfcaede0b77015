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
#include "itkFusedMeanSquaresImageToImageMetricv4.h"

#include "itkFFDPMetricParity.h"

// What parity with ITK's metrics on all kinds of stacks (see itkFFDPMetricParity.h) leaves open: borders of fields,
// points outside them, and whether the derivative is that of the value.

using namespace ffdp::test;

namespace
{

using CaseType = MetricCase<3, float>;
using FusedType = itk::FusedMeanSquaresImageToImageMetricv4<CaseType::ImageType>;
using ItkType = itk::MeanSquaresImageToImageMetricv4<CaseType::ImageType, CaseType::ImageType>;

/** See itkFusedMeanSquaresGTest.cxx. */
constexpr ParityTolerance InDouble{ 1e-6, 8e-6 };

/** The field of a stack in which an affine transform comes before it, as ffdp is told of it, and ITK's. */
template <unsigned int VDimension, typename T>
void
ExpectJacobiansOfItk(Geometry geometry)
{
  using StackCaseType = MetricCase<VDimension, float, T>;
  const StackCaseType metricCase(geometry, TransformKind::Identity, {});
  const auto          fieldTransform = MakeFieldAround(metricCase, 1.7, 0.7, 7);
  const auto          stack = Stack<StackCaseType>(
    { { StackCaseType::MakeAffine(0.05, 1.02).GetPointer(), true }, { fieldTransform.GetPointer(), false } });
  itk::FFDPMetricDetail::StackDerivative<T, VDimension> derivative;
  std::string                                           whyNot;
  ASSERT_TRUE(derivative.Read(stack, false, metricCase.grid, metricCase.moving, whyNot)) << whyNot;
  ffdp::MetricProblem problem;
  derivative.Plan(0, problem);
  ASSERT_EQ(problem.within.slopes.size(), 1u);

  // ITK gives the identity for the index that is one too large, too
  const auto * const                  field = fieldTransform->GetDisplacementField();
  auto                                region = field->GetBufferedRegion();
  itk::SizeValueType                  differences = 0;
  typename decltype(region)::SizeType larger = region.GetSize();
  for (unsigned int c = 0; c < VDimension; ++c)
  {
    ++larger[c];
  }
  region.SetSize(larger);
  auto all = itk::Image<char, VDimension>::New();
  all->SetRegions(region);
  all->Allocate();
  for (itk::ImageRegionConstIteratorWithIndex<itk::Image<char, VDimension>> it(all, region); !it.IsAtEnd(); ++it)
  {
    typename StackCaseType::FieldTransformType::JacobianPositionType expected;
    fieldTransform->ComputeJacobianWithRespectToPosition(it.GetIndex(), expected);
    const auto physical = field->template TransformIndexToPhysicalPoint<double>(it.GetIndex());
    double     point[3] = { 0, 0, 0 };
    double     found[9];
    std::copy_n(physical.GetDataPointer(), VDimension, point);
    ffdp::FieldJacobian(problem.within.chain.steps[0], problem.within.slopes[0], point, found);
    for (unsigned int r = 0; r < VDimension; ++r)
    {
      for (unsigned int c = 0; c < VDimension; ++c)
      {
        // some roundings of differences of up to 2 mm
        const double tolerance = 16 * std::numeric_limits<T>::epsilon();
        differences += std::abs(found[3 * r + c] - expected(r, c)) <= tolerance ? 0 : 1;
      }
    }
  }
  EXPECT_EQ(differences, 0u);
}

/** Waves of a few voxels, 0 in `margin` voxels at the border. */
template <typename TField>
void
FillInside(TField * field, int margin)
{
  const auto region = field->GetBufferedRegion();
  for (itk::ImageRegionIteratorWithIndex<TField> it(field, region); !it.IsAtEnd(); ++it)
  {
    typename TField::PointType point;
    field->TransformIndexToPhysicalPoint(it.GetIndex(), point);
    auto inner = region;
    inner.ShrinkByRadius(itk::SizeValueType(margin));
    for (unsigned int c = 0; c < 3; ++c)
    {
      it.Value()[c] = inner.IsInside(it.GetIndex()) ? 0.6 * std::sin(1.3 * point[c] + 0.7 * point[(c + 1) % 3] + c) : 0;
    }
  }
}

/** A field of `size` voxels of 1 mm from `start` mm on, along all axes. */
CaseType::FieldTransformType::Pointer
MakeCube(unsigned int size, double start, int margin)
{
  auto                           field = CaseType::FieldType::New();
  CaseType::FieldType::SizeType  sizes;
  CaseType::FieldType::PointType origin;
  sizes.Fill(size);
  origin.Fill(start);
  field->SetRegions(sizes);
  field->SetOrigin(origin);
  field->Allocate();
  FillInside(field.GetPointer(), margin);
  auto transform = CaseType::FieldTransformType::New();
  transform->SetDisplacementField(field);
  return transform;
}

} // namespace

TEST(FusedMetricStacks, JacobiansOfFieldsAreThoseOfItkAtEverySample)
{
  for (const Geometry geometry : { Geometry::Plain, Geometry::Oblique, Geometry::Different })
  {
    ExpectJacobiansOfItk<2, double>(geometry);
    ExpectJacobiansOfItk<3, double>(geometry);
    ExpectJacobiansOfItk<3, float>(geometry);
  }
}

TEST(FusedMetricStacks, BordersOfAFieldBehindALinearTransform)
{
  // A translation by less than half a voxel: points of the virtual domain meet all samples of a field on its grid.
  CaseType                                     metricCase(Geometry::Plain, TransformKind::Identity, {});
  auto                                         affine = CaseType::AffineType::New();
  const CaseType::AffineType::OutputVectorType shift(0.31);
  affine->SetTranslation(shift);
  metricCase.movingTransform =
    Stack<CaseType>({ { affine.GetPointer(), true }, { MakeFieldOnGrid(metricCase, 0.7, 3).GetPointer(), false } })
      .GetPointer();
  ExpectParity<FusedType, ItkType>(metricCase, metricCase, InDouble);
}

TEST(FusedMetricStacks, PointsOutsideAFieldSeeTheIdentity)
{
  // The same transform twice: ITK's field has zeros around it, so that no point is outside. (Outside a field, the
  // Jacobian of ITK 5.2 is made of whatever is in memory there.)
  CaseType      metricCase(Geometry::Plain, TransformKind::Identity, {});
  CaseType      padded(Geometry::Plain, TransformKind::Identity, {});
  const auto    affine = CaseType::MakeAffine(0.05, 1.02);
  constexpr int padding = 6;
  metricCase.movingTransform =
    Stack<CaseType>({ { affine.GetPointer(), true }, { MakeCube(11, 2, 3).GetPointer(), false } }).GetPointer();
  padded.movingTransform =
    Stack<CaseType>(
      { { affine.GetPointer(), true }, { MakeCube(11 + 2 * padding, 2 - padding, 3 + padding).GetPointer(), false } })
      .GetPointer();
  ExpectParity<FusedType, ItkType>(metricCase, padded, InDouble);
}

TEST(FusedMetricStacks, AStackInAStackIsTheStack)
{
  // ITK has no Jacobian of a composite behind what is optimized, and throws.
  CaseType   nested(Geometry::Oblique, TransformKind::Identity, {});
  CaseType   flat(Geometry::Oblique, TransformKind::Identity, {});
  const auto optimized = CaseType::MakeAffine(0.05, 1.02);
  const auto constant = CaseType::MakeAffine(-0.04, 0.98);
  const auto field = MakeFieldAround(flat, 1.7, 0.7, 7);
  flat.movingTransform =
    Stack<CaseType>(
      { { optimized.GetPointer(), true }, { constant.GetPointer(), false }, { field.GetPointer(), false } })
      .GetPointer();
  const auto behind = Stack<CaseType>({ { constant.GetPointer(), false }, { field.GetPointer(), false } });
  nested.movingTransform =
    Stack<CaseType>({ { optimized.GetPointer(), true }, { behind.GetPointer(), false } }).GetPointer();
  auto flatMetric = FusedType::New();
  auto nestedMetric = FusedType::New();
  flat.Connect(flatMetric.GetPointer());
  nested.Connect(nestedMetric.GetPointer());
  flatMetric->Initialize();
  nestedMetric->Initialize();
  const Evaluation<FusedType> expected(flatMetric.GetPointer());
  const Evaluation<FusedType> found(nestedMetric.GetPointer());
  EXPECT_TRUE(nestedMetric->GetUsedFastPath()) << nestedMetric->GetFallbackReason();
  EXPECT_EQ(found.value, expected.value);
  EXPECT_EQ(LargestDifference(found.derivative, expected.derivative), 0);
  EXPECT_GT(LargestMagnitude(found.derivative), 0);
}

namespace
{

/** A ramp under a stack whose fields are linear in space: there, the Jacobian of ITK is that of the transform. */
FusedType::Pointer
MakeRampMetric(RampCase<3> & ramp, bool optimizeField)
{
  const auto spread = [](const CaseType::FieldTransformType::Pointer & transform) {
    auto * const field = transform->GetDisplacementField();
    for (itk::ImageRegionIteratorWithIndex<CaseType::FieldType> it(field, field->GetBufferedRegion()); !it.IsAtEnd();
         ++it)
    {
      CaseType::FieldType::PointType p;
      field->TransformIndexToPhysicalPoint(it.GetIndex(), p);
      it.Value()[0] = 0.05 * p[0] - 0.08 * p[1];
      it.Value()[1] = 0.07 * p[0] - 0.04 * p[2];
      it.Value()[2] = 0.06 * p[2] + 0.03 * p[1];
    }
    return transform;
  };
  const CaseType & metricCase = ramp.metricCase;
  const auto       onGrid = MakeFieldOnGrid(metricCase, 0.6, 6);
  const auto       affine = CaseType::MakeAffine(0.05, 1.02);
  const auto       behind = spread(MakeCube(61, -30, 0));
  ramp.metricCase.movingTransform = Stack<CaseType>({ { onGrid.GetPointer(), optimizeField },
                                                      { affine.GetPointer(), !optimizeField },
                                                      { behind.GetPointer(), false } })
                                      .GetPointer();
  auto metric = FusedType::New();
  ramp.metricCase.Connect(metric.GetPointer());
  metric->Initialize();
  return metric;
}

} // namespace

TEST(FusedMetricStacks, DerivativeIsThatOfTheValueForALinearTransform)
{
  RampCase<3> ramp(TransformKind::Identity);
  ExpectGlobalDerivativeOfValue(MakeRampMetric(ramp, false).GetPointer(), 1e-3);
}

TEST(FusedMetricStacks, DerivativeIsThatOfTheValueForAField)
{
  RampCase<3> ramp(TransformKind::Identity);
  ExpectLocalDerivativeOfValue(MakeRampMetric(ramp, true).GetPointer(), double(ramp.Voxels()), 5e-3);
}
