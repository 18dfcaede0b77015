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
#include "itkBSplineTransform.h"
#include "itkCommand.h"
#include "itkEuler3DTransform.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

using namespace ffdp::test;

/** Manners of GridParallelImageRegistrationMethod in a pipeline: events, abort, modified times, errors, starts. */
namespace
{

using Kind = ffdp::RegistrationStage::Kind;
using Volume = itk::Image<float, 3>;
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
  method->SetCommunicator(ffdp::MakeSelfCommunicator());
  expectOneMore("communicator");
  method->SetCheckpointSeconds(120);
  expectOneMore("checkpoint");
}

TEST(GridParallelPipeline, PrintsEverything)
{
  auto pair = QuickPair();
  pair.method->SetBackend(ffdp::MakeCpuBackend(1));
  pair.method->SetCommunicator(ffdp::MakeSelfCommunicator());
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
                             "NumberOfIronedVoxels: ",
                             "LargestInverseError: ",
                             "LevelReports: 2",
                             "stage 0 greedy, 40x36x1: 3 iterations",
                             "Notes: ",
                             "NumberOfImagePairs: 1" })
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

TEST(GridParallelPipeline, NamesWhatIsWrongWithStagesAndTransforms)
{
  auto   pair = QuickPair();
  auto * method = pair.method.GetPointer();
  auto   stage = ShortStage(Kind::Greedy);
  stage.shrinkFactors = { 1, 2 };
  method->SetStages({ stage });
  ExpectErrorWith(ErrorOf(method), "shrink factors must fall");
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

TEST(GridParallelPipeline, StartsFromALinearTransform)
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

TEST(GridParallelPipeline, AnyStackOfFieldsIsAStart)
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
  const auto         start = ffdp::MakeWarpedStart(stack.map, stack.warp, stack.chain, size, indexToPhysical, 2);
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

TEST(GridParallelPipeline, GoesOnFromWhatItFound)
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

TEST(GridParallelPipeline, GoesOnFromACheckpointToTheSameResult)
{
  const std::string directory = testing::TempDir() + "ffdp_grid_parallel_checkpoint";
  const auto        parameters = [](const auto & pair) {
    const auto * field = pair.method->GetTransform()->GetNthTransformConstPointer(1);
    return std::vector<double>(field->GetParameters().begin(), field->GetParameters().end());
  };
  auto whole = QuickPair();
  whole.method->Update();

  auto stopped = QuickPair();
  stopped.method->SetCheckpointDirectory(directory);
  stopped.method->RemoveCheckpoint();
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
  resumed.method->RemoveCheckpoint();
}
