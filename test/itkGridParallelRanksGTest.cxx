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
#include "itkGridParallelRanksSupport.h"

#include "ffdpPartition.h"

#include "itkCommand.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace ffdp::test;

/** GridParallelImageRegistrationMethod over ranks: each asks for and gets its planes, with the bytes of one process. */
namespace
{

using Kind = ffdp::RegistrationStage::Kind;
using Mask = itk::Image<unsigned char, 3>;

/** The vectors that a field has in memory are those of a whole one. */
template <typename TField>
void
ExpectPartOf(const TField * whole, const TField * part)
{
  ASSERT_NE(part, nullptr);
  ASSERT_NE(whole, nullptr);
  const auto & region = part->GetBufferedRegion();
  EXPECT_EQ(part->GetLargestPossibleRegion(), whole->GetBufferedRegion());
  EXPECT_EQ(part->GetOrigin(), whole->GetOrigin());
  EXPECT_EQ(part->GetSpacing(), whole->GetSpacing());
  EXPECT_EQ(part->GetDirection(), whole->GetDirection());
  if (region.GetNumberOfPixels() > 0)
  {
    ASSERT_TRUE(whole->GetBufferedRegion().IsInside(region));
    const auto * const from = whole->GetBufferPointer() + whole->ComputeOffset(region.GetIndex());
    EXPECT_EQ(
      std::memcmp(part->GetBufferPointer(), from, region.GetNumberOfPixels() * sizeof(typename TField::PixelType)), 0);
  }
}

template <typename TTransform>
std::vector<double>
ParametersOf(const TTransform * transform)
{
  EXPECT_NE(transform, nullptr);
  return transform ? std::vector<double>(transform->GetParameters().begin(), transform->GetParameters().end())
                   : std::vector<double>();
}

template <typename TMethod>
void
ExpectSame(TMethod * one, TMethod * ours)
{
  EXPECT_EQ(ParametersOf(ours->GetLinearTransform()), ParametersOf(one->GetLinearTransform()));
  ExpectPartOf(one->GetForwardField(), ours->GetForwardField());
  ExpectPartOf(one->GetInverseField(), ours->GetInverseField());
  EXPECT_EQ(ours->GetForwardField()->GetBufferedRegion().GetSize(), ours->GetOwnedRegion().GetSize());
  EXPECT_EQ(ours->GetSmallestJacobian(), one->GetSmallestJacobian());
  EXPECT_EQ(ours->GetLargestInverseError(), one->GetLargestInverseError());
  ASSERT_EQ(ours->GetLevelReports().size(), one->GetLevelReports().size());
  EXPECT_EQ(ours->GetLevelReports().back().lastValue, one->GetLevelReports().back().lastValue);
}

/** What is inside is on some ranks only. */
PaintedSource<Mask>::Pointer
MakeMask(const CenteredGrid & grid)
{
  const auto mask = PaintedSource<Mask>::New();
  mask->grid = grid;
  mask->value = [](const Place & p) { return p[2] > -4 ? 3 : 0; };
  return mask;
}

} // namespace

TEST(GridParallelRanks, FieldsAreThePlanesOfOneProcess)
{
  RankPair<3> one;
  const auto  stages = { FewIterations(Kind::Rigid), FewIterations(Kind::Greedy) };
  const auto  fixedMask = MakeMask(one.fixed->grid);
  one.method->SetFixedMask(fixedMask->GetOutput());
  one.method->SetStages(stages);
  one.method->Update();
  OnRanks([&](ffdp::Communicator & communicator) {
    RankPair<3> ours(&communicator);
    const auto  mask = MakeMask(ours.fixed->grid);
    ours.method->SetFixedMask(mask->GetOutput());
    ours.method->SetStages(stages);
    ours.method->Update();
    ExpectSame(one.method.GetPointer(), ours.method.GetPointer());
    EXPECT_EQ(ours.method->GetTransform() == nullptr, communicator.Size() > 1);
    EXPECT_EQ(ours.method->GetInverseTransform() == nullptr, communicator.Size() > 1);

    // what ITK does to a field that a filter gets: its planes are the whole
    using FieldType = RankPair<3>::MethodType::FieldType;
    const_cast<FieldType *>(ours.method->GetForwardField())->UpdateOutputInformation();

    // on one rank first, then on all
    const int last = communicator.Size() - 1;
    ours.method->GatherTransforms(last);
    EXPECT_EQ(ours.method->GetTransform() != nullptr, communicator.Rank() == last);
    ours.method->GatherTransforms();
    EXPECT_EQ(ParametersOf(ours.method->GetTransform()), ParametersOf(one.method->GetTransform()));
    EXPECT_EQ(ParametersOf(ours.method->GetInverseTransform()), ParametersOf(one.method->GetInverseTransform()));
    ours.method->Update(); // nothing has changed
    EXPECT_EQ(ours.fixed->requests.size(), 1u);
    EXPECT_NE(ours.method->GetTransform(), nullptr);

    ours.method->SetCommunicator(nullptr);
    if (communicator.Size() > 1)
    {
      EXPECT_THROW(ours.method->GatherTransforms(), itk::ExceptionObject); // these are planes of another partition
    }
  });
}

TEST(GridParallelRanks, AllRunWhenOneHasSomethingNew)
{
  OnRanks([&](ffdp::Communicator & communicator) {
    RankPair<3> ours(&communicator);
    ours.method->AddStage(FewIterations(Kind::Rigid));
    int        runs = 0;
    const auto count = itk::FunctionCommand::New();
    count->SetCallback([&](const itk::EventObject &) { ++runs; });
    ours.method->AddObserver(itk::StartEvent(), count);
    ours.method->Update();
    EXPECT_EQ(runs, 1);
    if (communicator.Rank() == communicator.Size() - 1)
    {
      ours.moving->Modified();
    }
    ours.method->Update();
    ours.method->Update();
    EXPECT_EQ(runs, 2);
    if (communicator.Rank() == 0)
    {
      ours.method->Modified();
    }
    ours.method->UpdateLargestPossibleRegion();
    ours.method->UpdateLargestPossibleRegion();
    EXPECT_EQ(runs, 3);
    EXPECT_EQ(ours.fixed->requests.size(), 1u); // it is still there
  });
}

TEST(GridParallelRanks, MoreInMemoryThanARankOwnsDoesNotMatter)
{
  RankPair<3> one;
  const auto  fixedMask = MakeMask(one.fixed->grid);
  one.method->SetFixedMask(fixedMask->GetOutput());
  one.method->AddStage(FewIterations(Kind::Greedy));
  one.method->Update();
  OnRanks([&](ffdp::Communicator & communicator) {
    for (const unsigned int margin : { 0u, 2u }) // with a margin, planes are not dense
    {
      RankPair<3> ours(&communicator);
      const auto  mask = MakeMask(ours.fixed->grid);
      ours.fixed->paintsAll = true;
      ours.moving->paintsAll = true;
      mask->paintsAll = true;
      ours.fixed->margin = ours.moving->margin = mask->margin = margin;
      ours.method->SetFixedMask(mask->GetOutput());
      ours.method->AddStage(FewIterations(Kind::Greedy));
      ours.method->Update();
      ExpectSame(one.method.GetPointer(), ours.method.GetPointer());
    }
  });
}

TEST(GridParallelRanks, AskUpstreamForTheirPlanesOnly)
{
  OnRanks([&](ffdp::Communicator & communicator) {
    RankPair<3> ours(&communicator);
    ours.method->AddStage(FewIterations(Kind::Rigid));
    ours.method->Update();
    const auto expectPlanes = [&](const auto & source) {
      const auto whole = source->GetOutput()->GetLargestPossibleRegion();
      const auto own = ffdp::Partition(std::int64_t(whole.GetSize(2)), communicator.Size()).Owned(communicator.Rank());
      ASSERT_EQ(source->requests.size(), 1u);
      const auto & asked = source->requests.front();
      if (own.first < own.end)
      {
        EXPECT_EQ(asked.GetSize(0), whole.GetSize(0));
        EXPECT_EQ(asked.GetSize(1), whole.GetSize(1));
        EXPECT_EQ(asked.GetIndex(2), whole.GetIndex(2) + own.first);
        EXPECT_EQ(asked.GetSize(2), itk::SizeValueType(own.end - own.first));
      }
      else
      {
        EXPECT_EQ(asked.GetNumberOfPixels(), whole.GetSize(0)); // a row: ITK has no way to ask for nothing
      }
    };
    expectPlanes(ours.fixed);
    expectPlanes(ours.moving);
    const auto region = ours.method->GetOwnedRegion();
    if (region.GetNumberOfPixels() > 0)
    {
      EXPECT_EQ(ours.fixed->requests.front(), region);
    }
    std::int64_t voxels = std::int64_t(region.GetNumberOfPixels());
    communicator.Sum(&voxels, 1);
    EXPECT_EQ(voxels, 20 * 18 * 41);
  });
}

TEST(GridParallelRanks, OfSlicesTheFirstRankOwnsAll)
{
  RankPair<2> one;
  one.method->AddStage(FewIterations(Kind::Greedy));
  one.method->Update();
  OnRanks([&](ffdp::Communicator & communicator) {
    RankPair<2> ours(&communicator);
    ours.method->AddStage(FewIterations(Kind::Greedy));
    ours.method->Update();
    ExpectSame(one.method.GetPointer(), ours.method.GetPointer());
    EXPECT_EQ(ours.method->GetOwnedRegion().GetNumberOfPixels(), communicator.Rank() == 0 ? 360u : 0u);
    EXPECT_EQ(ours.fixed->requests.front().GetNumberOfPixels(), communicator.Rank() == 0 ? 360u : 20u);
    ours.method->GatherTransforms();
    EXPECT_EQ(ParametersOf(ours.method->GetTransform()), ParametersOf(one.method->GetTransform()));
  });
}

TEST(GridParallelRanks, ATransformWithoutAFieldIsCompleteEverywhere)
{
  RankPair<3> one;
  one.method->AddStage(FewIterations(Kind::Affine));
  one.method->Update();
  OnRanks([&](ffdp::Communicator & communicator) {
    RankPair<3> ours(&communicator);
    EXPECT_THROW(ours.method->GatherTransforms(), itk::ExceptionObject);
    ours.method->AddStage(FewIterations(Kind::Affine));
    ours.method->Update();
    EXPECT_EQ(ours.method->GetForwardField(), nullptr);
    EXPECT_EQ(ours.method->GetInverseField(), nullptr);
    EXPECT_EQ(ParametersOf(ours.method->GetTransform()), ParametersOf(one.method->GetTransform()));
    EXPECT_EQ(ParametersOf(ours.method->GetInverseTransform()), ParametersOf(one.method->GetInverseTransform()));
    EXPECT_EQ(ParametersOf(ours.method->GetLinearTransform()),
              ParametersOf(ours.method->GetTransform()->GetNthTransformConstPointer(0)));
    ours.method->GatherTransforms();
    EXPECT_EQ(ours.method->GetTransform()->GetNumberOfTransforms(), 1u);
    EXPECT_THROW(ours.method->GatherTransforms(communicator.Size()), itk::ExceptionObject);
  });
}

TEST(GridParallelRanks, StartFromAField)
{
  RankPair<3> first;
  first.method->SetStages({ FewIterations(Kind::Rigid), FewIterations(Kind::Greedy) });
  first.method->Update();
  // once on the fixed grid, as it was found, and once behind another step, where displacements are added up
  const auto shifted = itk::CompositeTransform<double, 3>::New();
  const auto shift = itk::AffineTransform<double, 3>::New();
  shift->Translate(itk::Vector<double, 3>(0.4));
  shifted->AddTransform(const_cast<itk::CompositeTransform<double, 3> *>(first.method->GetTransform()));
  shifted->AddTransform(shift);
  auto stage = FewIterations(Kind::Greedy);
  stage.shrinkFactors = { 1 };
  stage.iterations = { 2 };
  for (const itk::CompositeTransform<double, 3> * const start :
       { first.method->GetTransform(), const_cast<const itk::CompositeTransform<double, 3> *>(shifted.GetPointer()) })
  {
    RankPair<3> one;
    one.method->SetInitialTransform(start);
    one.method->AddStage(stage);
    one.method->Update();
    OnRanks([&](ffdp::Communicator & communicator) {
      RankPair<3> ours(&communicator);
      ours.method->SetInitialTransform(start);
      ours.method->AddStage(stage);
      ours.method->Update();
      ExpectSame(one.method.GetPointer(), ours.method.GetPointer());
    });
  }
}
