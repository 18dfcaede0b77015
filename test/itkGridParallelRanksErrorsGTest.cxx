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

#include "itkCommand.h"
#include "itkObjectFactoryBase.h"
#include "itkVersion.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

using namespace ffdp::test;

/** GridParallelImageRegistrationMethod over ranks: what stops one of them stops all. */
namespace
{

using Kind = ffdp::RegistrationStage::Kind;

template <typename TMethod, typename TFunction>
void
Observe(TMethod * method, const itk::EventObject & event, const TFunction & function)
{
  const auto command = itk::FunctionCommand::New();
  command->SetCallback([function](const itk::EventObject &) { function(); });
  method->AddObserver(event, command);
}

/** Whether this rank, a thread or a process, has no memory left for fields. */
thread_local bool hasNoMemory = false;

/** A field that has no voxels where there is no memory. */
class ScarceField : public RankPair<3>::MethodType::FieldType
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(ScarceField);

  using Self = ScarceField;
  using Superclass = RankPair<3>::MethodType::FieldType;
  using Pointer = itk::SmartPointer<Self>;

  itkFactorylessNewMacro(Self);

  void
  Allocate(bool initialize) override
  {
    if (hasNoMemory)
    {
      throw itk::MemoryAllocationError(__FILE__, __LINE__, "there is no memory", "");
    }
    Superclass::Allocate(initialize);
  }

protected:
  ScarceField() = default;
  ~ScarceField() override = default;
};

/** Puts them in place of fields. */
class ScarceFieldFactory : public itk::ObjectFactoryBase
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(ScarceFieldFactory);

  using Self = ScarceFieldFactory;
  using Pointer = itk::SmartPointer<Self>;

  itkFactorylessNewMacro(Self);

  const char *
  GetITKSourceVersion() const override
  {
    return ITK_SOURCE_VERSION;
  }
  const char *
  GetDescription() const override
  {
    return "Fields that have no voxels where there is no memory";
  }

protected:
  ScarceFieldFactory()
  {
    this->RegisterOverride(typeid(ScarceField::Superclass).name(),
                           typeid(ScarceField).name(),
                           "for a test",
                           true,
                           itk::CreateObjectFunction<ScarceField>::New());
  }
  ~ScarceFieldFactory() override = default;
};

/** What Update() complains about; empty if it does not. */
template <typename TMethod>
std::string
ErrorOf(TMethod * method)
{
  try
  {
    method->Update();
  }
  catch (const itk::ExceptionObject & error)
  {
    return error.GetDescription();
  }
  return "";
}

/** Every rank has an error with these words. */
template <typename TMethod>
void
ExpectErrorWith(TMethod * method, const std::string & words)
{
  const std::string error = ErrorOf(method);
  EXPECT_NE(error.find(words), std::string::npos) << error;
  EXPECT_EQ(method->GetTransform(), nullptr);
  EXPECT_EQ(method->GetLinearTransform(), nullptr);
  EXPECT_EQ(method->GetForwardField(), nullptr);
}

} // namespace

TEST(GridParallelRanksErrors, OneRankThatAbortsStopsAll)
{
  OnRanks([&](ffdp::Communicator & communicator) {
    RankPair<3> ours(&communicator);
    ours.method->AddStage(FewIterations(Kind::Greedy));
    int  iterations = 0;
    bool stop = communicator.Rank() == communicator.Size() - 1;
    Observe(ours.method.GetPointer(), itk::IterationEvent(), [&] {
      if (++iterations == 4 && stop)
      {
        ours.method->AbortGenerateDataOn();
      }
    });
    EXPECT_THROW(ours.method->Update(), itk::ProcessAborted);
    EXPECT_EQ(iterations, 4);
    EXPECT_EQ(ours.method->GetForwardField(), nullptr);
    EXPECT_EQ(ours.method->GetTransform(), nullptr);

    // all go on together afterwards
    stop = false;
    ours.method->Update();
    EXPECT_EQ(iterations, 12);
    EXPECT_NE(ours.method->GetForwardField(), nullptr);
  });
}

TEST(GridParallelRanksErrors, AnObserverThatThrowsStopsAll)
{
  OnRanks([&](ffdp::Communicator & communicator) {
    RankPair<3> ours(&communicator);
    ours.method->AddStage(FewIterations(Kind::Greedy));
    Observe(ours.method.GetPointer(), itk::IterationEvent(), [&] {
      if (communicator.Rank() == 0)
      {
        throw itk::RangeError(__FILE__, __LINE__, "from an observer", "");
      }
    });
    if (communicator.Rank() == 0)
    {
      EXPECT_THROW(ours.method->Update(), itk::RangeError);
    }
    else
    {
      EXPECT_THROW(ours.method->Update(), itk::ProcessAborted);
    }
  });
}

TEST(GridParallelRanksErrors, AnObserverThatThrowsAtTheEndStopsAll)
{
  OnRanks([&](ffdp::Communicator & communicator) {
    RankPair<3> ours(&communicator);
    ours.method->AddStage(FewIterations(Kind::Greedy));
    const bool isFirst = communicator.Rank() == 0;
    bool       fails = isFirst;
    Observe(ours.method.GetPointer(), itk::ProgressEvent(), [&] {
      if (fails && ours.method->GetProgress() == 1)
      {
        throw itk::RangeError(__FILE__, __LINE__, "from an observer", "");
      }
    });
    if (isFirst)
    {
      EXPECT_THROW(ours.method->Update(), itk::RangeError);
    }
    else
    {
      EXPECT_THROW(ours.method->Update(), itk::ProcessAborted);
    }
    EXPECT_EQ(ours.method->GetForwardField(), nullptr);
    fails = false;
    EXPECT_EQ(ErrorOf(ours.method.GetPointer()), "");
  });
}

TEST(GridParallelRanksErrors, MemoryThatOneRankLacksForFieldsIsAnErrorOnAll)
{
  const auto factory = ScarceFieldFactory::New();
  itk::ObjectFactoryBase::RegisterFactory(factory);
  OnRanks([&](ffdp::Communicator & communicator) {
    RankPair<3> ours(&communicator);
    ours.method->AddStage(FewIterations(Kind::Greedy));
    hasNoMemory = communicator.Rank() == communicator.Size() - 1;
    ExpectErrorWith(ours.method.GetPointer(), "there is no memory");
    hasNoMemory = false;
    ASSERT_EQ(ErrorOf(ours.method.GetPointer()), "");
    if (communicator.Size() > 1)
    {
      hasNoMemory = communicator.Rank() == 0;
      EXPECT_THROW(ours.method->GatherTransforms(), itk::ExceptionObject);
      hasNoMemory = false;
    }
    ours.method->GatherTransforms();
    EXPECT_NE(ours.method->GetTransform(), nullptr);
  });
  itk::ObjectFactoryBase::UnRegisterFactory(factory);
}

TEST(GridParallelRanksErrors, AnInputThatOneRankCannotReadIsAnErrorOnAll)
{
  OnRanks([&](ffdp::Communicator & communicator) {
    const int   last = communicator.Size() - 1;
    RankPair<3> ours(&communicator);
    ours.method->AddStage(FewIterations(Kind::Rigid));
    ours.moving->fails = communicator.Rank() == last;
    ExpectErrorWith(ours.method.GetPointer(), "the disk is on fire");
    const std::string again = ErrorOf(ours.method.GetPointer());
    EXPECT_NE(again.find("the disk is on fire"), std::string::npos) << again;
    EXPECT_EQ(again.find("Rank " + std::to_string(last) + " failed") != std::string::npos, communicator.Rank() != last);
    if (communicator.Rank() == last)
    {
      ours.method->SetMovingImage(nullptr); // found missing before anything is read
    }
    ExpectErrorWith(ours.method.GetPointer(), "Moving");
    ours.moving->fails = false;
    ours.method->SetMovingImage(ours.moving->GetOutput());
    EXPECT_EQ(ErrorOf(ours.method.GetPointer()), "");
  });
}

TEST(GridParallelRanksErrors, AFailureWithoutWordsIsAFailure)
{
  OnRanks([&](ffdp::Communicator & communicator) {
    RankPair<3> ours(&communicator);
    ours.method->AddStage(FewIterations(Kind::Rigid));
    if (communicator.Rank() == 0)
    {
      ours.fixed->value = [](const Place &) -> double { throw itk::ExceptionObject(); };
    }
    EXPECT_THROW(ours.method->Update(), itk::ExceptionObject);
  });
}

TEST(GridParallelRanksErrors, ImagesAreJudgedAsAWhole)
{
  OnRanks([&](ffdp::Communicator & communicator) {
    RankPair<3> ours(&communicator);
    auto *      method = ours.method.GetPointer();
    method->AddStage(FewIterations(Kind::Rigid));
    const auto organ = ours.fixed->value;
    const auto paint = [&](const std::function<double(const Place &)> & value) {
      ours.fixed->value = value;
      ours.fixed->Modified();
    };
    paint([](const Place & p) { return p[2] < -17 ? std::numeric_limits<double>::quiet_NaN() : Organ(p); });
    const std::string error = ErrorOf(method);
    EXPECT_NE(error.find("fixed image has "), std::string::npos) << error;
    EXPECT_NE(error.find(" voxels that are infinite or not a number"), std::string::npos) << error;
    paint([](const Place &) { return 7; });
    ExpectErrorWith(method, "fixed image is constant");
    paint([&](const Place & p) { return p[2] < 0 ? 0 : organ(p); }); // on some ranks it is
    EXPECT_EQ(ErrorOf(method), "");

    using Mask = itk::Image<unsigned char, 3>;
    const auto mask = PaintedSource<Mask>::New();
    mask->grid = ours.moving->grid;
    mask->value = [](const Place &) { return 0; };
    method->SetMovingMask(mask->GetOutput());
    ExpectErrorWith(method, "moving mask is empty");
  });
}

/** ITK takes such a part for the whole, so the ranks would register different images. */
TEST(GridParallelRanksErrors, APartWithoutASourceIsRefused)
{
  OnRanks([&](ffdp::Communicator & communicator) {
    RankPair<3> ours(&communicator);
    ours.method->AddStage(FewIterations(Kind::Rigid));
    ours.method->UpdateOutputInformation();
    ours.fixed->GetOutput()->SetRequestedRegion(ours.method->GetOwnedRegion());
    if (ours.method->GetOwnedRegion().GetNumberOfPixels() > 0)
    {
      ours.fixed->Update();
    }
    const RankPair<3>::FixedType::Pointer part = ours.fixed->GetOutput();
    part->DisconnectPipeline();
    ours.method->SetFixedImage(part);
    if (communicator.Size() == 1)
    {
      EXPECT_EQ(ErrorOf(ours.method.GetPointer()), ""); // the part is the whole
    }
    else
    {
      ExpectErrorWith(ours.method.GetPointer(), "An image of a part of the planes needs a source");
    }
  });
}

TEST(GridParallelRanksErrors, RanksThatDisagreeAreToldSo)
{
  OnRanks([&](ffdp::Communicator & communicator) {
    if (communicator.Size() == 1)
    {
      return;
    }
    const bool  other = communicator.Rank() == 1;
    RankPair<3> ours(&communicator);
    ours.method->AddStage(FewIterations(other ? Kind::Affine : Kind::Rigid));
    ExpectErrorWith(ours.method.GetPointer(), "Rank 1 has another problem than rank 0");
    ours.method->SetStages({ FewIterations(Kind::Rigid) });
    ours.moving->grid.spacing[0] = other ? 1.5 : 1.9;
    ours.moving->Modified();
    ExpectErrorWith(ours.method.GetPointer(), "Rank 1 has another problem than rank 0");
  });
}
