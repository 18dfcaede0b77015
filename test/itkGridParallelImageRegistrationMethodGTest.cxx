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

#include "itkGridParallelTestSupport.h"

#include "itkAffineTransform.h"
#include "itkResampleImageFilter.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

using namespace ffdp::test;

namespace
{

using Kind = ffdp::RegistrationStage::Kind;
using Metric = ffdp::RegistrationMetric::Kind;
using Volume = itk::Image<float, 3>;
using Slice = itk::Image<short, 2>;

/** Mean absolute difference between the fixed image and the moving one that a transform (null: none) was applied to. */
template <typename TImage>
double
ImageError(const TImage *                                                  fixed,
           const TImage *                                                  moving,
           const itk::CompositeTransform<double, TImage::ImageDimension> * t)
{
  const auto resample = itk::ResampleImageFilter<TImage, TImage>::New();
  resample->SetInput(moving);
  resample->SetReferenceImage(fixed);
  resample->UseReferenceImageOn();
  if (t)
  {
    resample->SetTransform(t);
  }
  resample->Update();
  const auto * a = fixed->GetBufferPointer();
  const auto * b = resample->GetOutput()->GetBufferPointer();
  const auto   count = fixed->GetBufferedRegion().GetNumberOfPixels();
  double       sum = 0;
  for (itk::SizeValueType i = 0; i < count; ++i)
  {
    sum += std::abs(double(a[i]) - double(b[i]));
  }
  return sum / double(count);
}

/** The displacement field of a composite that has one. */
template <unsigned int VDimension>
const typename itk::DisplacementFieldTransform<double, VDimension>::DisplacementFieldType *
FieldOf(const itk::CompositeTransform<double, VDimension> * composite, unsigned int position)
{
  using FieldTransform = itk::DisplacementFieldTransform<double, VDimension>;
  return dynamic_cast<const FieldTransform *>(composite->GetNthTransformConstPointer(position))->GetDisplacementField();
}

} // namespace

TEST(GridParallelImageRegistrationMethod, RecoversARotationAndAWarpOfVolumes)
{
  CenteredGrid movingGrid;
  movingGrid.size = { { 50, 36, 44 } };
  movingGrid.spacing = { { 0.9, 1.2, 0.9 } };
  movingGrid.angle = 0.2;
  movingGrid.start = -7;
  OrganPair<Volume> pair({}, movingGrid);
  pair.method->AddStage(ShortStage(Kind::Rigid));
  pair.method->AddStage(ShortStage(Kind::Greedy, Metric::MeanSquares));
  EXPECT_EQ(pair.method->GetTransform(), nullptr);
  pair.method->Update();
  const auto identity = itk::AffineTransform<double, 3>::New();
  EXPECT_GT(MeanError(pair.fixed.GetPointer(), identity.GetPointer(), pair.known), 1.8);
  EXPECT_LT(pair.Error(), 0.5); // half a voxel
  EXPECT_LT(ImageError(pair.fixed.GetPointer(), pair.moving.GetPointer(), pair.method->GetTransform()),
            0.3 * ImageError<Volume>(pair.fixed, pair.moving, nullptr));
  EXPECT_EQ(pair.method->GetNumberOfFolds(), 0u);
  EXPECT_GT(pair.method->GetSmallestJacobian(), 0.4);
  EXPECT_LT(pair.method->GetSmallestJacobian(), 1);
  EXPECT_EQ(pair.method->GetNumberOfInverseFolds(), 0u);
  EXPECT_GT(pair.method->GetSmallestInverseJacobian(), 0.4);

  // the field first, the affine second
  const auto * const composite = pair.method->GetTransform();
  ASSERT_EQ(composite->GetNumberOfTransforms(), 2u);
  EXPECT_STREQ(composite->GetNthTransformConstPointer(0)->GetNameOfClass(), "AffineTransform");
  EXPECT_EQ(FieldOf<3>(composite, 1)->GetBufferedRegion().GetSize(), pair.fixed->GetBufferedRegion().GetSize());
}

TEST(GridParallelImageRegistrationMethod, RecoversARotationAndAWarpByTwoHalves)
{
  OrganPair<Volume> pair;
  pair.method->AddStage(ShortStage(Kind::Rigid));
  pair.method->AddStage(ShortStage(Kind::SyN, Metric::MeanSquares));
  pair.method->Update();
  EXPECT_LT(pair.Error(), 0.5);
  EXPECT_EQ(pair.method->GetNumberOfFolds(), 0u);
  EXPECT_STREQ(pair.method->GetLevelReports().back().stageName, "SyN");
}

TEST(GridParallelImageRegistrationMethod, RecoversARotationAndAWarpOfSlicesOfIntegers)
{
  CenteredGrid grid;
  grid.size = { { 56, 52, 1 } };
  grid.spacing = { { 0.8, 0.9, 1 } };
  OrganPair<Slice> pair(grid, grid);
  pair.method->AddStage(ShortStage(Kind::Rigid));
  pair.method->AddStage(ShortStage(Kind::Greedy, Metric::MeanSquares));
  pair.method->Update();
  EXPECT_LT(pair.Error(), 0.5); // half a voxel
  EXPECT_LT(ImageError(pair.fixed.GetPointer(), pair.moving.GetPointer(), pair.method->GetTransform()),
            0.3 * ImageError<Slice>(pair.fixed, pair.moving, nullptr));
  EXPECT_EQ(pair.method->GetNumberOfFolds(), 0u);
}

TEST(GridParallelImageRegistrationMethod, DefaultStagesFindTheWayFromFar)
{
  CenteredGrid grid;
  grid.size = { { 110, 90, 1 } };
  KnownTransform known;
  known.angle = 0.6;
  known.shift = 30;
  OrganPair<Slice> pair(grid, grid, known);
  EXPECT_TRUE(pair.method->GetStages().empty());
  pair.method->Update();
  EXPECT_LT(pair.Error(), 0.5);
  const auto & levels = pair.method->GetLevelReports();
  ASSERT_FALSE(levels.empty());
  EXPECT_STREQ(levels.front().stageName, "moments");
  EXPECT_STREQ(levels.back().stageName, "greedy");
  // who says where to start is believed, even if it is upside down; from less far, linear stages find back by
  // themselves
  const auto upsideDown = itk::AffineTransform<double, 2>::New();
  upsideDown->Rotate2D(std::acos(-1.0));
  pair.method->SetInitialTransform(upsideDown);
  pair.method->Update();
  EXPECT_GT(pair.Error(), 2);
}

TEST(GridParallelImageRegistrationMethod, IndexOfTheGridsDoesNotMatter)
{
  CenteredGrid moved;
  moved.start = 30; // the same places under other indices
  OrganPair<Volume> plain, indexed(moved, moved);
  for (auto & stage : { ShortStage(Kind::Rigid), ShortStage(Kind::Greedy) })
  {
    plain.method->AddStage(stage);
    indexed.method->AddStage(stage);
  }
  plain.method->Update();
  indexed.method->Update();
  EXPECT_LT(LargestDifference([&](const Place & p) { return Move(plain.method->GetTransform(), p); },
                              [&](const Place & p) { return Move(indexed.method->GetTransform(), p); }),
            1e-9);
  EXPECT_EQ(FieldOf<3>(indexed.method->GetTransform(), 1)->GetBufferedRegion().GetIndex(),
            (itk::Index<3>{ { 0, 0, 0 } }));
}

TEST(GridParallelImageRegistrationMethod, ATransformTurnsWithTheWorld)
{
  const auto turn = ObliqueDirection<3>(0.4);
  const auto rotate = [&](const Place & p, bool back) {
    itk::Vector<double, 3> v(p.data());
    v = back ? itk::Matrix<double, 3, 3>(turn.GetTranspose()) * v : turn * v;
    return Place{ { v[0], v[1], v[2] } };
  };
  const auto start = itk::AffineTransform<double, 3>::New();
  start->Rotate(0, 1, 0.06);
  start->Translate(itk::Vector<double, 3>(0.7));
  OrganPair<Volume> plain;
  plain.method->SetInitialTransform(start);
  plain.method->AddStage(ShortStage(Kind::Greedy)); // steps of linear stages are along the axes of space
  plain.method->Update();

  CenteredGrid oblique;
  oblique.angle = 0.4;
  const auto fixed = Paint<Volume>(oblique, [&](const Place & p) { return Organ(plain.known(rotate(p, true))); });
  const auto moving = Paint<Volume>(oblique, [&](const Place & p) { return Organ(rotate(p, true)); });
  const auto turnedStart = itk::AffineTransform<double, 3>::New();
  turnedStart->SetMatrix(turn * start->GetMatrix() * itk::Matrix<double, 3, 3>(turn.GetTranspose()));
  turnedStart->SetOffset(turn * start->GetOffset());
  const auto turned = itk::GridParallelImageRegistrationMethod<Volume>::New();
  turned->SetFixedImage(fixed);
  turned->SetMovingImage(moving);
  turned->SetInitialTransform(turnedStart);
  turned->AddStage(ShortStage(Kind::Greedy));
  turned->Update();
  EXPECT_LT(
    LargestDifference([&](const Place & p) { return Move(plain.method->GetTransform(), p); },
                      [&](const Place & p) { return rotate(Move(turned->GetTransform(), rotate(p, false)), true); }),
    1e-3);
}

TEST(GridParallelImageRegistrationMethod, PixelTypesAndMixturesOfThemGiveTheSame)
{
  const CenteredGrid   grid;
  const auto           whole = [](double v) { return std::round(v); };
  const KnownTransform known;
  const auto           fixed = [&](const Place & p) { return whole(Organ(known(p))); };
  const auto           moving = [&](const Place & p) { return whole(Organ(p)); };
  auto                 stage = ShortStage(Kind::Greedy);
  stage.iterations = { 5, 2 };
  using Unsigned = itk::Image<unsigned char, 3>;
  using Double = itk::Image<double, 3>;
  const auto floats = itk::GridParallelImageRegistrationMethod<Volume>::New();
  const auto mixed = itk::GridParallelImageRegistrationMethod<Unsigned, Double>::New();
  floats->SetFixedImage(Paint<Volume>(grid, fixed));
  floats->SetMovingImage(Paint<Volume>(grid, moving));
  mixed->SetFixedImage(Paint<Unsigned>(grid, fixed));
  mixed->SetMovingImage(Paint<Double>(grid, moving));
  floats->AddStage(stage);
  mixed->AddStage(stage);
  floats->Update();
  mixed->Update();
  const auto * a = FieldOf<3>(floats->GetTransform(), 1);
  const auto * b = FieldOf<3>(mixed->GetTransform(), 1);
  const auto   bytes = a->GetBufferedRegion().GetNumberOfPixels() * sizeof(itk::Vector<double, 3>);
  EXPECT_EQ(std::memcmp(a->GetBufferPointer(), b->GetBufferPointer(), bytes), 0);
}

TEST(GridParallelImageRegistrationMethod, BytesDoNotDependOnWorkUnits)
{
  OrganPair<Volume> pair;
  auto              rigid = ShortStage(Kind::Rigid, Metric::MutualInformation);
  auto              greedy = ShortStage(Kind::Greedy);
  rigid.iterations = { 10, 3 };
  greedy.iterations = { 8, 3 };
  pair.method->SetStages({ rigid, greedy });
  std::vector<std::vector<double>> results;
  for (const unsigned int units : { 1u, 3u })
  {
    pair.method->SetNumberOfWorkUnits(units);
    pair.method->Update();
    const auto *        field = FieldOf<3>(pair.method->GetTransform(), 1);
    const auto *        values = field->GetBufferPointer()->GetDataPointer();
    std::vector<double> result(values, values + 3 * field->GetBufferedRegion().GetNumberOfPixels());
    const auto          affine = pair.method->GetTransform()->GetNthTransformConstPointer(0)->GetParameters();
    result.insert(result.end(), affine.begin(), affine.end());
    results.push_back(result);
  }
  EXPECT_EQ(std::memcmp(results[0].data(), results[1].data(), results[0].size() * sizeof(double)), 0);
}

TEST(GridParallelImageRegistrationMethod, MasksMatter)
{
  OrganPair<Slice> pair({ { { 64, 60, 1 } } }, { { { 64, 60, 1 } } });
  using Mask = itk::Image<unsigned char, 2>;
  // a strong pattern that stands still, on one side of the moving image
  for (itk::ImageRegionIteratorWithIndex<Slice> it(pair.moving, pair.moving->GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    const auto x = it.GetIndex()[0], y = it.GetIndex()[1];
    if (x >= 40)
    {
      it.Set(static_cast<short>(400 * ((x / 4 + y / 4) % 2)));
    }
  }
  pair.method->AddStage(ShortStage(Kind::Rigid, Metric::MeanSquares));
  pair.known.size = 0;
  pair.fixed = Paint<Slice>({ { { 64, 60, 1 } } }, [&](const Place & p) { return Organ(pair.known(p)); });
  pair.method->SetFixedImage(pair.fixed);
  pair.method->Update();
  const double without = pair.Error();
  const auto   left = Paint<Mask>({ { { 64, 60, 1 } } }, [](const Place & p) { return p[0] < 6 ? 5 : 0; });
  pair.method->SetMovingMask(left);
  pair.method->Update();
  EXPECT_LT(pair.Error(), 0.3);
  EXPECT_GT(without, 3 * pair.Error());
  pair.method->SetMovingMask(nullptr);
  pair.method->SetFixedMask(Paint<Mask>({ { { 64, 60, 1 } } }, [](const Place & p) { return p[0] < 2 ? 1 : 0; }));
  pair.method->Update();
  EXPECT_LT(pair.Error(), 0.3);
}

TEST(GridParallelImageRegistrationMethod, FurtherPairsAreComparedByTheMetricsThatNameThem)
{
  OrganPair<Slice> pair({ { { 64, 60, 1 } } }, { { { 64, 60, 1 } } });
  std::mt19937_64  generator(7);
  const auto       noise = [&](const Place &) { return double(generator() % 100); };
  const auto       fixed = pair.fixed, moving = pair.moving;
  pair.method->SetFixedImage(Paint<Slice>({ { { 64, 60, 1 } } }, noise));
  pair.method->SetMovingImage(Paint<Slice>({ { { 64, 60, 1 } } }, noise));
  EXPECT_EQ(pair.method->AddImagePair(fixed, moving), 1u);
  auto stage = ShortStage(Kind::Rigid);
  pair.method->SetStages({ stage });
  pair.method->Update();
  EXPECT_GT(pair.Error(), 1);
  ASSERT_EQ(pair.method->GetNotes().size(), 1u);
  EXPECT_NE(pair.method->GetNotes().front().find("image pair 1"), std::string::npos);
  stage.metrics.front().pair = 1;
  pair.method->SetStages({ stage });
  pair.method->AddStage(ShortStage(Kind::Greedy, Metric::MeanSquares));
  auto stages = pair.method->GetStages();
  stages[1].metrics.front().pair = 1;
  pair.method->SetStages(stages);
  pair.method->Update();
  EXPECT_LT(pair.Error(), 0.35);
  // without stages all pairs are compared
  pair.method->SetStages({});
  pair.method->Update();
  for (const std::string & note : pair.method->GetNotes())
  {
    EXPECT_EQ(note.find("image pair"), std::string::npos) << note;
  }
  pair.method->ClearImagePairs();
  EXPECT_EQ(pair.method->GetNumberOfImagePairs(), 1u);
  EXPECT_EQ(pair.method->GetFixedImage(1), nullptr);
}
