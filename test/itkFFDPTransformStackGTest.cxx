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
#include "itkFFDPTransformStack.h"

#include "itkFFDPTestGeometry.h"

#include "itkAffineTransform.h"
#include "itkBSplineTransform.h"
#include "itkCompositeTransform.h"
#include "itkEuler3DTransform.h"
#include "itkGaussianSmoothingOnUpdateDisplacementFieldTransform.h"
#include "itkIdentityTransform.h"
#include "itkImageRegionConstIteratorWithIndex.h"
#include "itkScaleTransform.h"
#include "itkTranslationTransform.h"
#include "itkVectorNearestNeighborInterpolateImageFunction.h"

#include <gtest/gtest.h>

using namespace ffdp::test;

namespace
{

template <typename T, unsigned int D>
struct Kit
{
  using ImageType = itk::Image<float, D>;
  using FieldType = itk::Image<itk::Vector<T, D>, D>;
  using TransformType = itk::Transform<T, D, D>;
  using CompositeType = itk::CompositeTransform<T, D>;
  using FieldTransformType = itk::DisplacementFieldTransform<T, D>;
  using AffineType = itk::AffineTransform<T, D>;

  static typename AffineType::Pointer
  Affine(double strength)
  {
    auto                            affine = AffineType::New();
    typename AffineType::MatrixType matrix;
    typename AffineType::OffsetType offset;
    for (unsigned int r = 0; r < D; ++r)
    {
      offset[r] = static_cast<T>(strength * (3.1 - 1.7 * r));
      for (unsigned int c = 0; c < D; ++c)
      {
        matrix[r][c] = static_cast<T>((r == c) + strength * (0.11 * r - 0.07 * c + 0.03));
      }
    }
    affine->SetMatrix(matrix);
    affine->SetOffset(offset);
    return affine;
  }

  static typename FieldTransformType::Pointer
  Field(const GridSpec & spec, double amplitude, unsigned int seed)
  {
    auto field = MakeImage<FieldType>(spec);
    FillField(field.GetPointer(), amplitude, seed);
    auto transform = FieldTransformType::New();
    transform->SetDisplacementField(field);
    return transform;
  }

  static typename CompositeType::Pointer
  Composite(std::initializer_list<TransformType *> queue)
  {
    auto composite = CompositeType::New();
    for (TransformType * transform : queue)
    {
      composite->AddTransform(transform);
    }
    return composite;
  }
};

/** A x + t + S u(x) in double for a point of the grid, u from the field in place or from residual planes. */
struct Positions
{
  const itk::FFDPTransformStack & stack;
  ffdp::Extent                    size;
  std::vector<float>              residuals;
  ffdp::WarpView<const float>     residualView;

  Positions(const itk::FFDPTransformStack & s, const ffdp::Extent & extent)
    : stack(s)
    , size(extent)
  {
    if (stack.HasResiduals())
    {
      residuals.resize(3 * std::size_t(size.Voxels()));
      const auto view = ffdp::WarpView<float>::Planar(residuals.data(), size);
      for (std::int64_t z = 0; z < size.z; ++z) // plane by plane: a chunk must not differ from the whole
      {
        stack.FillResiduals(view.Planes(z, 1), 2);
      }
      residualView = view;
    }
  }

  double
  Component(int c, std::int64_t x, std::int64_t y, std::int64_t z) const
  {
    if (stack.HasResiduals())
    {
      return residualView.Row(c, y, z)[x];
    }
    const double * const doubles = stack.warp.doubles ? stack.warp.doubles.Row(c, y, z) : nullptr;
    const float * const  floats = stack.warp.floats ? stack.warp.floats.Row(c, y, z) : nullptr;
    return doubles ? doubles[x * stack.warp.doubles.elementStride]
                   : (floats ? floats[x * stack.warp.floats.elementStride] : 0);
  }

  double
  At(int r, std::int64_t x, std::int64_t y, std::int64_t z) const
  {
    const auto & m = stack.map;
    double       X = m.A[3 * r] * x + m.A[3 * r + 1] * y + m.A[3 * r + 2] * z + m.t[r];
    for (int c = 0; c < 3; ++c)
    {
      X += m.S[3 * r + c] * Component(c, x, y, z);
    }
    return X;
  }
};

/** Compares the stack with the transform at every point of a region of the grid. Returns the stack. */
template <typename T, unsigned int D>
itk::FFDPTransformStack
ExpectSamePositions(const itk::Transform<T, D, D> * transform,
                    const itk::ImageBase<D> *       grid,
                    const itk::ImageRegion<D> &     region,
                    const itk::ImageBase<D> *       image)
{
  itk::FFDPTransformStack stack;
  std::string             whyNot;
  EXPECT_TRUE((itk::ReadTransformStack<T, D>(transform, grid, region, image, stack, whyNot))) << whyNot;
  const ffdp::Extent size{ std::int64_t(region.GetSize(0)),
                           std::int64_t(region.GetSize(1)),
                           D > 2 ? std::int64_t(region.GetSize(D - 1)) : 1 };
  const Positions    positions(stack, size);

  // ITK rounds points of up to 150 mm to T in each of at most 4 steps; a voxel has at least 0.7 mm. Residuals are
  // floats of up to 40 voxels.
  const double points = 4 * 150 / 0.7 * std::numeric_limits<T>::epsilon();
  const double tolerance = 2 * points + (stack.HasResiduals() ? 40 * 1.2e-7 : 0) + 2e-9;
  double       worst = 0;
  auto         dummy = itk::Image<char, D>::New();
  dummy->CopyInformation(grid);
  dummy->SetRegions(region);
  dummy->Allocate();
  itk::ImageRegionConstIteratorWithIndex<itk::Image<char, D>> it(dummy, region);
  for (; !it.IsAtEnd(); ++it)
  {
    typename itk::Transform<T, D, D>::InputPointType point;
    grid->TransformIndexToPhysicalPoint(it.GetIndex(), point);
    const auto                            moved = transform->TransformPoint(point);
    itk::ContinuousIndex<double, D>       index;
    typename itk::ImageBase<D>::PointType movedInDouble;
    std::int64_t                          x[3] = { 0, 0, 0 };
    for (unsigned int c = 0; c < D; ++c)
    {
      movedInDouble[c] = moved[c];
      x[c] = it.GetIndex()[c] - region.GetIndex(c);
    }
    const bool inside = image->TransformPhysicalPointToContinuousIndex(movedInDouble, index);
    (void)inside;
    for (unsigned int r = 0; r < D; ++r)
    {
      const double expected = index[r] - image->GetBufferedRegion().GetIndex(r);
      worst = std::max(worst, std::abs(positions.At(int(r), x[0], x[1], x[2]) - expected));
    }
    if (D == 2)
    {
      EXPECT_EQ(positions.At(2, x[0], x[1], x[2]), 0);
    }
  }
  EXPECT_LE(worst, tolerance);
  return stack;
}

const GridSpec obliqueGrid{ 12, 5, 0.9, 0.4, 20, true };
const GridSpec obliqueImage{ 15, -7, 0.7, -0.3, 16, true };
const std::vector<GridSpec> &
Grids()
{
  static const std::vector<GridSpec> grids{ GridSpec{}, GridSpec{ 9, 4, 1.3, 0, -8, false }, obliqueGrid };
  return grids;
}

template <typename T, unsigned int D>
void
TestOnGrid()
{
  using K = Kit<T, D>;
  for (const GridSpec & spec : Grids())
  {
    const auto grid = MakeImage<typename K::ImageType>(spec);
    const auto image = MakeImage<typename K::ImageType>(obliqueImage);
    const auto region = grid->GetBufferedRegion();
    const auto field = K::Field(spec, 2.5, 3);
    const auto affine = K::Affine(0.5);
    const auto check = [&](const typename K::TransformType * transform, bool hasWarp) {
      const auto stack = ExpectSamePositions<T, D>(transform, grid, region, image);
      EXPECT_FALSE(stack.HasResiduals());
      EXPECT_EQ(bool(stack.warp), hasWarp);
      const void * const memory = field->GetDisplacementField()->GetBufferPointer();
      if (hasWarp) // ITK's own memory
      {
        EXPECT_EQ(memory,
                  sizeof(T) == 4 ? static_cast<const void *>(stack.warp.floats.component[0])
                                 : static_cast<const void *>(stack.warp.doubles.component[0]));
      }
    };
    const auto identity = itk::IdentityTransform<T, D>::New();
    const auto translation = itk::TranslationTransform<T, D>::New();
    auto       shift = translation->GetOffset();
    shift.Fill(T(1.25));
    translation->SetOffset(shift);
    const auto scale = itk::ScaleTransform<T, D>::New();
    auto       center = scale->GetCenter();
    center.Fill(T(4));
    scale->SetCenter(center);
    auto factors = scale->GetScale();
    factors.Fill(T(1.2));
    factors[0] = T(0.8);
    scale->SetScale(factors);
    check(identity, false);
    check(translation, false);
    check(scale, false);
    check(affine, false);
    check(field, true);
    check(K::Composite({ affine, field }), true);
    check(K::Composite({ translation, affine }), false);
    const auto inner = K::Composite({ scale, field });
    check(K::Composite({ affine, translation, inner, identity }), true); // nested, identity first
    check(K::Composite({}), false);

    auto smaller = region; // a part of the grid reads a part of the field
    smaller.ShrinkByRadius(2);
    const auto part = ExpectSamePositions<T, D>(K::Composite({ affine, field }), grid.GetPointer(), smaller, image);
    EXPECT_TRUE(bool(part.warp));
  }
}

} // namespace

TEST(FFDPTransformStack, FieldOnGrid2D)
{
  TestOnGrid<double, 2>();
  TestOnGrid<float, 2>();
}

TEST(FFDPTransformStack, FieldOnGrid3D)
{
  TestOnGrid<double, 3>();
  TestOnGrid<float, 3>();
}

TEST(FFDPTransformStack, SubclassesOfFieldsAndOfMatrices)
{
  const auto grid = MakeImage<itk::Image<float, 3>>(obliqueGrid);
  const auto image = MakeImage<itk::Image<float, 3>>(obliqueImage);
  const auto euler = itk::Euler3DTransform<double>::New();
  euler->SetRotation(0.2, -0.3, 0.1);
  ExpectSamePositions<double, 3>(euler, grid, grid->GetBufferedRegion(), image);
  const auto smoothing = itk::GaussianSmoothingOnUpdateDisplacementFieldTransform<double, 3>::New();
  const auto field = MakeImage<Kit<double, 3>::FieldType>(obliqueGrid);
  FillField(field.GetPointer(), 2, 9);
  smoothing->SetDisplacementField(field);
  const auto stack = ExpectSamePositions<double, 3>(smoothing, grid, grid->GetBufferedRegion(), image);
  EXPECT_TRUE(bool(stack.warp.doubles));
}

TEST(FFDPTransformStack, SaysWhyNot)
{
  using K = Kit<double, 2>;
  const auto              grid = MakeImage<K::ImageType>(obliqueGrid);
  const auto              region = grid->GetBufferedRegion();
  itk::FFDPTransformStack stack;
  std::string             whyNot;
  const auto              read = [&](const K::TransformType * transform) {
    whyNot.clear();
    return itk::ReadTransformStack<double, 2>(transform, grid, region, grid, stack, whyNot);
  };
  // a B-spline transform, alone and in a composite
  const auto spline = itk::BSplineTransform<double, 2, 3>::New();
  EXPECT_FALSE(read(spline));
  EXPECT_NE(whyNot.find("BSplineTransform"), std::string::npos);
  EXPECT_FALSE(read(K::Composite({ K::Affine(0.1), spline })));
  // a field that is not interpolated linearly
  const auto field = K::Field(obliqueGrid, 1, 5);
  field->SetInterpolator(itk::VectorNearestNeighborInterpolateImageFunction<K::FieldType, double>::New());
  EXPECT_FALSE(read(field));
  EXPECT_NE(whyNot.find("linear"), std::string::npos);
  // no field, no transform
  EXPECT_FALSE(read(K::FieldTransformType::New()));
  EXPECT_FALSE(read(nullptr));
  EXPECT_FALSE(whyNot.empty());
  // a subclass that maps points in its own way
  class Odd : public K::FieldTransformType
  {
  public:
    using Self = Odd;
    using Pointer = itk::SmartPointer<Self>;
    itkNewMacro(Self);
    OutputPointType
    TransformPoint(const InputPointType & point) const override
    {
      OutputPointType moved = K::FieldTransformType::TransformPoint(point);
      moved[0] += 0.01;
      return moved;
    }
  };
  const auto odd = Odd::New();
  odd->SetDisplacementField(K::Field(obliqueGrid, 1, 5)->GetDisplacementField());
  EXPECT_FALSE(read(odd));
  EXPECT_FALSE(whyNot.empty());
}

namespace
{

template <typename T, unsigned int D>
void
TestGeneral()
{
  using K = Kit<T, D>;
  for (const GridSpec & spec : Grids())
  {
    const auto grid = MakeImage<typename K::ImageType>(spec);
    const auto image = MakeImage<typename K::ImageType>(obliqueImage);
    const auto onGrid = K::Field(spec, 1.5, 3);
    GridSpec   other = spec; // turned, finer, shifted: parts of the grid lie outside
    other.angle += 0.2;
    other.spacing *= 0.83;
    other.origin += 0.77;
    other.start = 2;
    const auto offGrid = K::Field(other, 2.5, 4);
    const auto affine = K::Affine(0.3);
    const auto check = [&](const typename K::TransformType * transform) {
      const auto stack = ExpectSamePositions<T, D>(transform, grid, grid->GetBufferedRegion(), image);
      EXPECT_TRUE(stack.HasResiduals());
      EXPECT_FALSE(bool(stack.warp));
    };
    check(offGrid);
    check(K::Composite({ affine, offGrid }));
    check(K::Composite({ onGrid, affine }));          // the field comes after a linear step
    check(K::Composite({ offGrid, affine, onGrid })); // two fields
    check(K::Composite({ onGrid, onGrid }));
    check(K::Composite({ affine, K::Composite({ offGrid, onGrid }), affine }));
  }
}

} // namespace

TEST(FFDPTransformStack, GeneralStacks)
{
  TestGeneral<double, 2>();
  TestGeneral<double, 3>();
}

TEST(FFDPTransformStack, GeneralStacksOfFloats)
{
  TestGeneral<float, 3>();
}
