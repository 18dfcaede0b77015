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
#include "ffdpStageList.h"
#include "itkGridParallelTestSupport.h"

#include "itkAffineTransform.h"
#include "itkBSplineTransform.h"
#include "itkCommand.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

using namespace ffdp::test;

/** Manners of GridParallelImageRegistrationMethod in a pipeline: events, abort, modified times, errors, checkpoints. */
namespace
{

using Kind = ffdp::RegistrationStage::Kind;
using Slice = itk::Image<short, 2>;
using Mask = itk::Image<unsigned char, 2>;

const CenteredGrid Small{ { { 40, 36, 1 } } };

template <typename TImage = Slice>
OrganPair<TImage>
QuickPair(int iterations = 3)
{
  OrganPair<TImage> pair(Small, Small);
  auto              stage = ShortStage(Kind::Greedy);
  stage.iterations = { iterations, iterations };
  stage.tolerance = -1; // all of them
  pair.method->AddStage(stage);
  return pair;
}

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

void
ExpectErrorWith(const std::string & error, const std::string & words)
{
  EXPECT_NE(error.find(words), std::string::npos) << "\"" << error << "\" does not say \"" << words << "\"";
}

template <typename TMethod>
unsigned long
Observe(TMethod * method, const itk::EventObject & event, const std::function<void()> & call)
{
  const auto command = itk::FunctionCommand::New();
  command->SetCallback([call](const itk::EventObject &) { call(); });
  return method->AddObserver(event, command);
}

} // namespace

TEST(GridParallelPipeline, EventsFireOncePerIteration)
{
  auto               pair = QuickPair();
  auto *             method = pair.method.GetPointer();
  int                iterations = 0, progresses = 0;
  itk::SizeValueType lastLevel = 0;
  Observe(method, itk::IterationEvent(), [&] {
    ++iterations;
    lastLevel = method->GetCurrentLevel();
    EXPECT_EQ(method->GetCurrentStage(), 0u);
    EXPECT_EQ(method->GetCurrentStageName(), "greedy");
    EXPECT_EQ(method->GetCurrentIteration(), itk::SizeValueType((iterations - 1) % 3 + 1));
    EXPECT_LT(method->GetCurrentMetricValue(), 0);
    EXPECT_GT(method->GetCurrentStep(), 0);
    EXPECT_EQ(method->GetCurrentProgress().levels, 2);
  });
  float last = 0;
  Observe(method, itk::ProgressEvent(), [&] {
    ++progresses;
    EXPECT_GE(method->GetProgress(), last);
    last = method->GetProgress();
  });
  method->Update();
  int reported = 0;
  for (const auto & level : method->GetLevelReports())
  {
    reported += level.iterations;
  }
  EXPECT_EQ(iterations, 6);
  EXPECT_EQ(reported, 6);
  EXPECT_GE(progresses, 6);
  EXPECT_EQ(lastLevel, 1u);
  EXPECT_EQ(last, 1);
}

TEST(GridParallelPipeline, CanBeAbortedAndRunAgain)
{
  auto          pair = QuickPair();
  auto *        method = pair.method.GetPointer();
  int           iterations = 0;
  unsigned long abort = Observe(method, itk::IterationEvent(), [&] {
    if (++iterations == 4)
    {
      method->AbortGenerateDataOn();
    }
  });
  EXPECT_THROW(method->Update(), itk::ProcessAborted);
  EXPECT_EQ(iterations, 4);
  EXPECT_EQ(method->GetTransform(), nullptr);
  method->RemoveObserver(abort);
  method->Update();
  EXPECT_NE(method->GetTransform(), nullptr);

  // what an observer throws comes through as it is
  Observe(method, itk::IterationEvent(), [] { throw itk::RangeError(__FILE__, __LINE__, "from an observer", ""); });
  method->Modified();
  EXPECT_THROW(method->Update(), itk::RangeError);
}

TEST(GridParallelPipeline, WhatAnObserverThrowsAtTheEndComesThrough)
{
  auto   pair = QuickPair();
  auto * method = pair.method.GetPointer();
  bool   fails = true;
  Observe(method, itk::ProgressEvent(), [&] {
    if (fails && method->GetProgress() == 1)
    {
      throw itk::RangeError(__FILE__, __LINE__, "from an observer", "");
    }
  });
  EXPECT_THROW(method->Update(), itk::RangeError);
  EXPECT_EQ(method->GetTransform(), nullptr);
  fails = false;
  method->Update();
  EXPECT_NE(method->GetTransform(), nullptr);
}

TEST(GridParallelPipeline, WhatAnObserverThrowsComesThroughWhenTheStateCannotBeSaved)
{
  auto                         pair = QuickPair();
  const ffdp::test::TestFolder folder("lost-checkpoint");
  const std::string            directory = folder.Path();
  pair.method->SetCheckpointDirectory(directory);
  Observe(pair.method.GetPointer(), itk::IterationEvent(), [&] {
    std::filesystem::remove_all(directory);
    throw itk::RangeError(__FILE__, __LINE__, "from an observer", "");
  });
  EXPECT_THROW(pair.method->Update(), itk::RangeError);
}

TEST(GridParallelPipeline, AFailedRunHasNothingOfTheRunBefore)
{
  auto       pair = QuickPair();
  auto *     method = pair.method.GetPointer();
  const auto expectNothingAfterFailure = [&](const Slice * moving) {
    method->SetMovingImage(pair.moving);
    method->Update();
    EXPECT_EQ(method->GetLevelReports().size(), 2u);
    EXPECT_LT(method->GetSmallestJacobian(), 1);
    method->SetMovingImage(moving);
    EXPECT_THROW(method->Update(), itk::ExceptionObject);
    EXPECT_EQ(method->GetTransform(), nullptr);
    EXPECT_EQ(method->GetForwardField(), nullptr);
    EXPECT_TRUE(method->GetLevelReports().empty());
    EXPECT_EQ(method->GetSmallestJacobian(), 1);
    EXPECT_EQ(method->GetCurrentIteration(), 0u);
  };
  expectNothingAfterFailure(Paint<Slice>(Small, [](const Place &) { return 7; })); // found when all is read
  expectNothingAfterFailure(nullptr);                                              // found before
}

TEST(GridParallelPipeline, RunsOnceUntilSomethingChanges)
{
  auto   pair = QuickPair();
  auto * method = pair.method.GetPointer();
  int    runs = 0;
  Observe(method, itk::StartEvent(), [&] { ++runs; });
  const auto initial = itk::AffineTransform<double, 2>::New();
  method->SetInitialTransform(initial);
  method->Update();
  method->Update();
  EXPECT_EQ(runs, 1);
  int        expected = 1;
  const auto expectOneMore = [&](const char * what) {
    method->Update();
    method->Update();
    EXPECT_EQ(runs, ++expected) << what;
  };
  pair.moving->Modified();
  expectOneMore("image");
  initial->Translate(itk::Vector<double, 2>(0.5));
  expectOneMore("transform");
  method->AddStage(ShortStage(Kind::Greedy));
  expectOneMore("stages");
  method->SetFixedMask(Paint<Mask>(Small, [](const Place &) { return 1; }));
  expectOneMore("mask");
  method->SetBackend(ffdp::MakeCpuBackend(1));
  expectOneMore("backend");
  const auto communicator = ffdp::MakeSelfCommunicator();
  method->SetCommunicator(communicator.get());
  EXPECT_EQ(method->GetCommunicator(), communicator.get());
  expectOneMore("communicator");
  method->SetCheckpointSeconds(120);
  expectOneMore("checkpoint");
}

TEST(GridParallelPipeline, PrintsEverything)
{
  auto pair = QuickPair();
  pair.method->SetBackend(ffdp::MakeCpuBackend(1));
  const auto communicator = ffdp::MakeSelfCommunicator();
  pair.method->SetCommunicator(communicator.get());
  pair.method->Update();
  pair.method->SetCheckpointDirectory("some/where");
  std::ostringstream text;
  pair.method->Print(text);
  for (const char * word : { "GridParallelImageRegistrationMethod",
                             "Stages: 1",
                             "greedy: 1 x local correlation of pair 0",
                             "CheckpointDirectory: some/where",
                             "CheckpointSeconds: 60",
                             "Backend: ",
                             "Communicator: rank 0 of 1",
                             "CurrentProgress: stage 0 greedy, level 1, iteration 3",
                             "SmallestJacobian: ",
                             "NumberOfFolds: 0",
                             "SmallestInverseJacobian: ",
                             "NumberOfInverseFolds: 0",
                             "NumberOfIronedVoxels: ",
                             "LargestInverseError: ",
                             "LevelReports: 2",
                             "stage 0 greedy, 40x36x1: 3 iterations",
                             "Notes: ",
                             "NumberOfImagePairs: 1",
                             "LinearTransform: ",
                             "InverseLinearTransform: ",
                             "FieldRegion: ",
                             "ForwardField: ",
                             "InverseField: " })
  {
    EXPECT_NE(text.str().find(word), std::string::npos) << word;
  }
}

TEST(GridParallelPipeline, NamesWhatIsWrongWithTheImages)
{
  using Real = itk::Image<float, 2>;
  const auto empty = itk::GridParallelImageRegistrationMethod<Real>::New();
  ExpectErrorWith(ErrorOf(empty.GetPointer()), "Fixed");
  empty->SetFixedImage(Paint<Real>(Small, Organ));
  ExpectErrorWith(ErrorOf(empty.GetPointer()), "Moving");

  auto   pair = QuickPair<Real>();
  auto * method = pair.method.GetPointer();
  method->SetMovingImage(Paint<Real>(Small, [](const Place &) { return 7; }));
  ExpectErrorWith(ErrorOf(method), "moving image is constant");
  const auto broken = Paint<Real>(Small, Organ);
  broken->GetBufferPointer()[17] = std::numeric_limits<float>::quiet_NaN();
  method->SetMovingImage(broken);
  ExpectErrorWith(ErrorOf(method), "moving image has 1 voxels that are infinite or not a number");
  const auto unallocated = Real::New();
  unallocated->SetRegions(pair.fixed->GetBufferedRegion());
  method->SetMovingImage(unallocated);
  ExpectErrorWith(ErrorOf(method), "moving image has no voxels");
  method->SetMovingImage(pair.moving);

  CenteredGrid other = Small;
  other.spacing = { { 1.1, 1, 1 } };
  method->AddImagePair(Paint<Real>(other, Organ), pair.moving);
  ExpectErrorWith(ErrorOf(method), "fixed image of pair 1 is not on the grid of the fixed image");
  method->ClearImagePairs();
  EXPECT_THROW(method->AddImagePair(pair.fixed, nullptr), itk::ExceptionObject);

  method->SetFixedMask(Paint<Mask>(other, [](const Place &) { return 1; }));
  ExpectErrorWith(ErrorOf(method), "fixed mask is not on the grid of the fixed image");
  method->SetFixedMask(nullptr);
  method->SetMovingMask(Paint<Mask>(Small, [](const Place &) { return 0; }));
  ExpectErrorWith(ErrorOf(method), "moving mask is empty");
  method->SetMovingMask(nullptr);
  EXPECT_EQ(ErrorOf(method), "");
}

TEST(GridParallelPipeline, ADefaultStageIsTheLastOfThePreset)
{
  const auto method = QuickPair().method;
  method->SetStages({});
  method->AddStage({});
  ASSERT_EQ(method->GetStages().size(), 1u);
  EXPECT_EQ(ffdp::DescribeStage(method->GetStages().front()), ffdp::DescribeStage(ffdp::MakeStages().back()));
  std::ostringstream text;
  method->Print(text);
  EXPECT_NE(text.str().find("100 at 1/4 50 at 1/2 25 at 1/1 by spacing"), std::string::npos) << text.str();
}

TEST(GridParallelPipeline, NamesWhatIsWrongWithStagesAndTransforms)
{
  auto   pair = QuickPair();
  auto * method = pair.method.GetPointer();
  auto   stage = ShortStage(Kind::Greedy);
  stage.shrinkFactors = { 1, 2 };
  method->SetStages({ stage });
  ExpectErrorWith(ErrorOf(method), "shrink factors must not rise");
  EXPECT_EQ(method->GetTransform(), nullptr);
  stage = ShortStage(Kind::Greedy);
  stage.metrics.front().pair = 3;
  method->SetStages({ stage });
  ExpectErrorWith(ErrorOf(method), "pair of images that there is not");

  method->SetStages({ ShortStage(Kind::Rigid, ffdp::RegistrationMetric::Kind::MutualInformation) });
  const auto away = itk::AffineTransform<double, 2>::New();
  away->Translate(itk::Vector<double, 2>(500.0));
  method->SetInitialTransform(away);
  method->SetMovingMask(Paint<Mask>(Small, [](const Place &) { return 1; }));
  ExpectErrorWith(ErrorOf(method), "do not overlap");
  method->SetMovingMask(nullptr);
  const auto flat = itk::AffineTransform<double, 2>::New();
  flat->Scale(0);
  method->SetInitialTransform(flat);
  ExpectErrorWith(ErrorOf(method), "cannot be inverted");
  const auto spline = itk::BSplineTransform<double, 2, 3>::New();
  method->SetInitialTransform(spline);
  ExpectErrorWith(ErrorOf(method), "BSplineTransform is neither linear nor a displacement field");
  method->SetInitialTransform(nullptr);
  EXPECT_EQ(ErrorOf(method), "");
}

TEST(GridParallelPipeline, GoesOnFromACheckpointToTheSameResult)
{
  const ffdp::test::TestFolder folder("checkpoint");
  const std::string            directory = folder.Path();
  const auto                   parameters = [](const auto & pair) {
    const auto * field = pair.method->GetTransform()->GetNthTransformConstPointer(1);
    return std::vector<double>(field->GetParameters().begin(), field->GetParameters().end());
  };
  auto whole = QuickPair();
  whole.method->Update();

  auto stopped = QuickPair();
  stopped.method->SetCheckpointDirectory(directory);
  Observe(stopped.method.GetPointer(), itk::IterationEvent(), [&] {
    stopped.method->SetAbortGenerateData(stopped.method->GetCurrentLevel() == 1);
  });
  EXPECT_THROW(stopped.method->Update(), itk::ProcessAborted);

  auto resumed = QuickPair();
  int  iterations = 0;
  Observe(resumed.method.GetPointer(), itk::IterationEvent(), [&] { ++iterations; });
  resumed.method->SetCheckpointDirectory(directory);
  resumed.method->Update();
  EXPECT_EQ(iterations, 2); // of six, four were done
  EXPECT_EQ(parameters(resumed), parameters(whole));
  resumed.method->RemoveCheckpoint();
  resumed.method->Modified();
  resumed.method->Update();
  EXPECT_EQ(iterations, 8);
}
