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
#include "itkGridParallelImageRegistrationMethod.h"

#include "ffdpTestFolder.h"
#include "itkGridParallelTestSupport.h"

#include "itkAffineTransform.h"
#include "itkEuler3DTransform.h"
#include "itkHDF5TransformIOFactory.h"
#include "itkTransformFileReader.h"
#include "itkTransformFileWriter.h"

#include <gtest/gtest.h>

#include <string>

using namespace ffdp::test;

/** Transforms that go into GridParallelImageRegistrationMethod and that come out of it. */
namespace
{

using Kind = ffdp::RegistrationStage::Kind;
using Volume = itk::Image<float, 3>;
using Slice = itk::Image<short, 2>;

/** A composite with a field that is on another grid than the fixed image, between two linear transforms. */
itk::CompositeTransform<double, 3>::Pointer
AwkwardComposite()
{
  using FieldTransform = itk::DisplacementFieldTransform<double, 3>;
  using Field = FieldTransform::DisplacementFieldType;
  const auto field = MakeImage<Field>({ 14, 0, 3.1, 0.3, -24, true });
  for (itk::ImageRegionIteratorWithIndex<Field> it(field, field->GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    Field::PixelType v;
    for (unsigned int c = 0; c < 3; ++c)
    {
      v[c] = 1.5 * std::sin(0.4 * double(it.GetIndex()[c]) + c);
    }
    it.Set(v);
  }
  const auto warp = FieldTransform::New();
  warp->SetDisplacementField(field);
  const auto before = itk::Euler3DTransform<double>::New();
  before->SetRotation(0.1, -0.05, 0.2);
  const auto                                        after = itk::AffineTransform<double, 3>::New();
  itk::AffineTransform<double, 3>::OutputVectorType shift;
  shift.Fill(1.5);
  after->Scale(1.1);
  after->Translate(shift);
  const auto composite = itk::CompositeTransform<double, 3>::New();
  composite->AddTransform(after);
  composite->AddTransform(warp);
  composite->AddTransform(before);
  return composite;
}

} // namespace

TEST(GridParallelTransforms, InverseUndoesTheTransform)
{
  CenteredGrid grid;
  grid.spacing = { { 1, 1.1, 0.9 } };
  grid.angle = 0.3;
  grid.start = 11;
  OrganPair<Volume> pair(grid, {});
  pair.method->SetStages({ ShortStage(Kind::Rigid), ShortStage(Kind::Greedy) });
  pair.method->Update();
  const auto * forward = pair.method->GetTransform();
  const auto * inverse = pair.method->GetInverseTransform();
  const auto   itkInverse = forward->GetInverseTransform(); // ITK's own, from the two fields
  ASSERT_NE(itkInverse.GetPointer(), nullptr);
  double     sum = 0, count = 0, apart = 0;
  const auto region = pair.fixed->GetBufferedRegion();
  for (itk::ImageRegionConstIteratorWithIndex<Volume> it(pair.fixed, region); !it.IsAtEnd(); ++it)
  {
    bool interior = true;
    for (unsigned int c = 0; c < 3; ++c)
    {
      const auto at = it.GetIndex()[c] - region.GetIndex(c);
      interior = interior && at >= 5 && at < itk::IndexValueType(region.GetSize(c)) - 5;
    }
    if (interior)
    {
      Volume::PointType point;
      pair.fixed->TransformIndexToPhysicalPoint(it.GetIndex(), point);
      const auto there = forward->TransformPoint(point);
      sum += inverse->TransformPoint(there).EuclideanDistanceTo(point);
      apart = std::max(apart, itkInverse->TransformPoint(there).EuclideanDistanceTo(inverse->TransformPoint(there)));
      count += 1;
    }
  }
  EXPECT_LT(sum / count, 0.1); // voxels are about 1 mm wide
  EXPECT_LT(apart, 1e-9);
  EXPECT_LT(pair.method->GetLargestInverseError(), 0.5);
}

TEST(GridParallelTransforms, TransformsCanBeWrittenAndReadBack)
{
  itk::HDF5TransformIOFactory::RegisterOneFactory();
  CenteredGrid grid;
  grid.start = 9;
  grid.angle = 0.25;
  OrganPair<Volume> pair(grid, {});
  auto              rigid = ShortStage(Kind::Rigid);
  auto              greedy = ShortStage(Kind::Greedy);
  rigid.iterations = greedy.iterations = { 5, 2 };
  pair.method->SetStages({ rigid, greedy });
  pair.method->Update();
  const ffdp::test::TestFolder folder("transforms");
  const std::string            file = folder.Path() + "/pair.h5";
  for (const auto * transform : { pair.method->GetTransform(), pair.method->GetInverseTransform() })
  {
    const auto writer = itk::TransformFileWriterTemplate<double>::New();
    writer->SetInput(transform);
    writer->SetFileName(file);
    writer->Update();
    const auto reader = itk::TransformFileReaderTemplate<double>::New();
    reader->SetFileName(file);
    reader->Update();
    ASSERT_EQ(reader->GetTransformList()->size(), 1u);
    const auto * read =
      dynamic_cast<const itk::Transform<double, 3, 3> *>(reader->GetTransformList()->front().GetPointer());
    ASSERT_NE(read, nullptr);
    EXPECT_LT(LargestDifference([&](const Place & p) { return Move(transform, p); },
                                [&](const Place & p) { return Move(read, p); }),
              1e-9);
  }
}

TEST(GridParallelTransforms, StartsFromALinearTransform)
{
  KnownTransform known;
  known.angle = 2; // too far for a rigid stage without a start
  known.shift = 6;
  OrganPair<Slice> pair({ { { 64, 60, 1 } } }, { { { 64, 60, 1 } } }, known);
  pair.method->AddStage(ShortStage(Kind::Rigid));
  pair.method->Update();
  EXPECT_GT(pair.Error(), 5);
  const auto turn = itk::AffineTransform<double, 2>::New();
  turn->Rotate2D(1.9);
  const auto   shift = itk::AffineTransform<double, 2>::New();
  const double by[2] = { 5, -4 };
  shift->Translate(itk::Vector<double, 2>(by));
  const auto composite = itk::CompositeTransform<double, 2>::New();
  composite->AddTransform(shift);
  composite->AddTransform(turn);
  pair.method->SetInitialTransform(composite);
  pair.method->Update();
  EXPECT_LT(pair.Error(), 1); // what is left is the warp
}

TEST(GridParallelTransforms, AnyStackOfFieldsIsAStart)
{
  const auto   composite = AwkwardComposite();
  CenteredGrid grid;
  grid.size = { { 18, 16, 14 } };
  grid.spacing = { { 1.5, 1.2, 1.9 } };
  grid.angle = -0.2;
  grid.start = 6;
  const auto              image = Paint<Volume>(grid, Organ);
  const auto              region = image->GetBufferedRegion();
  itk::FFDPTransformStack stack;
  std::string             whyNot;
  ASSERT_TRUE((itk::ReadTransformStack<double, 3>(composite, image, region, image, region, stack, whyNot))) << whyNot;
  const auto         indexToPhysical = itk::FFDPTransformStackDetail::IndexToPoint<3>(image, region.GetIndex());
  const ffdp::Extent size{ 18, 16, 14 };
  const auto start = ffdp::MakeWarpedStart(stack.map, stack.warp, stack.chain, size, { 0, size.z }, indexToPhysical, 2);
  ASSERT_EQ(start.warp.size(), std::size_t(3 * size.Voxels()));
  double      largest = 0, moved = 0;
  std::size_t at = 0;
  const auto  n = std::size_t(size.Voxels());
  for (itk::ImageRegionConstIteratorWithIndex<Volume> it(image, region); !it.IsAtEnd(); ++it, ++at)
  {
    Volume::PointType point;
    image->TransformIndexToPhysicalPoint(it.GetIndex(), point);
    const Place truth = ToPlace<3>(composite->TransformPoint(point));
    const Place warped{ { double(it.GetIndex()[0] - region.GetIndex(0)) + start.warp[at],
                          double(it.GetIndex()[1] - region.GetIndex(1)) + start.warp[n + at],
                          double(it.GetIndex()[2] - region.GetIndex(2)) + start.warp[2 * n + at] } };
    const Place found = start.affine(indexToPhysical(warped));
    largest = std::max(largest, std::hypot(found[0] - truth[0], found[1] - truth[1], found[2] - truth[2]));
    moved = std::max(moved, double(std::abs(start.warp[at])));
  }
  EXPECT_GT(moved, 0.5);
  EXPECT_LT(largest, 1e-5); // the warp is kept as float
}

TEST(GridParallelTransforms, GoesOnFromWhatItFound)
{
  OrganPair<Slice> pair({ { { 64, 60, 1 } } }, { { { 64, 60, 1 } } });
  pair.method->SetStages({ ShortStage(Kind::Rigid), ShortStage(Kind::Greedy) });
  pair.method->Update();
  const double first = pair.Error();
  auto         stage = ShortStage(Kind::Greedy);
  stage.shrinkFactors = { 1 };
  stage.iterations = { 0 };
  const auto again = OrganPair<Slice>::MethodType::New();
  again->SetFixedImage(pair.fixed);
  again->SetMovingImage(pair.moving);
  again->SetInitialTransform(pair.method->GetTransform());
  again->AddStage(stage);
  again->Update();
  EXPECT_NEAR(MeanError(pair.fixed.GetPointer(), again->GetTransform(), pair.known), first, 0.02);
  again->SetStages({}); // the default ones, without those that cannot follow a warp
  again->Update();
  for (const auto & level : again->GetLevelReports())
  {
    EXPECT_STREQ(level.stageName, "greedy");
  }
}
