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
#include "ffdpRegistration.h"

#include "ffdpRegistrationTestSupport.h"
#include "ffdpTestFolder.h"

#include <filesystem>
#include <fstream>

using namespace ffdp;
using namespace ffdp::test;

namespace
{

/** Short stages of all kinds; ten iterations each at most. */
std::vector<RegistrationStage>
ShortStages()
{
  RegistrationStage moments;
  moments.kind = Kind::Moments;
  moments.searchAngle = 15;
  moments.metrics.front().kind = Metric::MutualInformation;
  RegistrationStage affine = LinearStage(Kind::Affine, Metric::MutualInformation);
  RegistrationStage greedy = GreedyStage();
  RegistrationStage again = LinearStage(Kind::Rigid, Metric::MeanSquares);
  RegistrationStage syn = GreedyStage();
  syn.kind = Kind::SyN;
  syn.metrics.front().ofEdges = true;
  std::vector<RegistrationStage> stages = { moments, affine, greedy, again, syn };
  for (RegistrationStage & stage : stages)
  {
    stage.iterations = { 3, 2 };
    stage.window = 2;
    stage.tolerance = 1e-9;
  }
  return stages;
}

class RegistrationCheckpointTest : public testing::Test
{
protected:
  RegistrationCheckpointTest()
    : m_Folder(testing::UnitTest::GetInstance()->current_test_info()->name())
    , m_Fixed({ 32, 28, 24 }, { { 1.6, 1.6, 1.6 } }, KnownWarp)
    , m_Moving({ 32, 28, 24 }, { { 1.6, 1.6, 1.6 } }, Same)
  {
    m_Checkpoint.directory = m_Folder.Path();
    m_Checkpoint.seconds = 0; // after each iteration
  }

  /** Stops after so many reports: those of iterations, then those of the end. */
  RegistrationResult
  Run(const std::vector<RegistrationStage> & stages, int stopAfter, const RegistrationCheckpoint & checkpoint)
  {
    const auto backend = MakeCpuBackend(2);
    const auto self = MakeSelfCommunicator();
    m_Reports = 0;
    return Register(
      *backend,
      *self,
      { { m_Fixed.Placed(), m_Moving.Placed(), {}, {} } },
      m_Start,
      stages,
      [&](const RegistrationProgress &) { return ++m_Reports != stopAfter; },
      checkpoint);
  }

  /** Stops after a report and goes on, with a checkpoint. The result is to be that of a run which was not stopped. */
  void
  StopAndGoOn(const std::vector<RegistrationStage> & stages, const RegistrationResult & whole, int stop)
  {
    SCOPED_TRACE("stopped after report " + std::to_string(stop));
    EXPECT_THROW(Run(stages, stop, m_Checkpoint), RegistrationAborted);
    const auto resumed = Run(stages, Never, m_Checkpoint);
    EXPECT_EQ(resumed.notes.size(), whole.notes.size() + 1) << "did not go on from the checkpoint";
    EXPECT_TRUE(std::equal(whole.affine.matrix, whole.affine.matrix + 9, resumed.affine.matrix));
    EXPECT_TRUE(SameBytes(whole.warp, resumed.warp));
    EXPECT_TRUE(SameBytes(whole.inverseWarp, resumed.inverseWarp));
    EXPECT_EQ(whole.ironed, resumed.ironed);
    EXPECT_EQ(whole.inverseResidual, resumed.inverseResidual);
    ASSERT_EQ(whole.levels.size(), resumed.levels.size());
    for (std::size_t i = 0; i < whole.levels.size(); ++i)
    {
      EXPECT_EQ(whole.levels[i].iterations, resumed.levels[i].iterations);
      EXPECT_EQ(whole.levels[i].lastValue, resumed.levels[i].lastValue);
      EXPECT_STREQ(whole.levels[i].stageName, resumed.levels[i].stageName);
    }
    RemoveCheckpoint(m_Checkpoint);
  }

  static constexpr int Never = -1;

  TestFolder             m_Folder;
  TestImage              m_Fixed, m_Moving;
  RegistrationStart      m_Start;
  RegistrationCheckpoint m_Checkpoint;
  int                    m_Reports = 0; ///< of the last run
};

} // namespace

TEST_F(RegistrationCheckpointTest, ARunThatIsInterruptedAnywhereEndsInTheSameBytes)
{
  const auto stages = ShortStages();
  const auto whole = Run(stages, Never, {});
  const int  reports = m_Reports;
  ASSERT_GT(reports, 12);
  for (int stop = 1; stop < reports; stop += Sanitized ? 7 : 1)
  {
    StopAndGoOn(stages, whole, stop);
  }
}

TEST_F(RegistrationCheckpointTest, TheEndGoesOnWhereItWasInterrupted)
{
  // little but a warp that folds: it takes many passes until it agrees with its inverse
  const Warp<float> steep = SteepWarp(m_Fixed.voxels.domain, 6, 2);
  m_Start.warp = steep.View();
  RegistrationStage greedy = GreedyStage();
  greedy.iterations = { 1 };
  greedy.shrinkFactors = { 1 };
  greedy.warpSigma = 0;
  const auto whole = Run({ greedy }, Never, {});
  const int  reports = m_Reports;
  ASSERT_GT(reports, 10) << "too easy";
  for (int stop = 2; stop < reports; stop += Sanitized ? 3 : 1)
  {
    StopAndGoOn({ greedy }, whole, stop);
    EXPECT_EQ(m_Reports, reports - stop) << "something was done again";
  }
}

TEST_F(RegistrationCheckpointTest, WhatIsKilledGoesOnFromTheLastSave)
{
  // A copy of the file, taken in the middle, is what a kill leaves behind.
  const auto  stages = ShortStages();
  const auto  file = m_Checkpoint.directory + "/ffdp-state";
  const auto  backend = MakeCpuBackend(2);
  const auto  self = MakeSelfCommunicator();
  int         calls = 0;
  std::string kept;
  const auto  whole = Register(
    *backend,
    *self,
    { { m_Fixed.Placed(), m_Moving.Placed(), {}, {} } },
    AffineMap(),
    stages,
    [&](const RegistrationProgress &) {
      if (++calls == 9)
      {
        std::ifstream in(file, std::ios::binary);
        kept.assign(std::istreambuf_iterator<char>(in), {});
      }
      return true;
    },
    m_Checkpoint);
  ASSERT_FALSE(kept.empty());
  {
    std::ofstream(file, std::ios::binary) << kept;
    std::ofstream(file + ".unfinished", std::ios::binary) << kept.substr(0, kept.size() / 2);
  }
  int        after = 0;
  const auto resumed = Register(
    *backend,
    *self,
    { { m_Fixed.Placed(), m_Moving.Placed(), {}, {} } },
    AffineMap(),
    stages,
    [&](const RegistrationProgress &) {
      ++after;
      return true;
    },
    m_Checkpoint);
  EXPECT_EQ(after, calls - 8);
  EXPECT_TRUE(SameBytes(whole.warp, resumed.warp));
  // a run that had finished has nothing left to do
  EXPECT_TRUE(SameBytes(Run(stages, 1, m_Checkpoint).warp, whole.warp));
  RemoveCheckpoint(m_Checkpoint);
  EXPECT_TRUE(std::filesystem::is_empty(m_Checkpoint.directory));
}

TEST_F(RegistrationCheckpointTest, StagesWithoutLevelsAreKeptToo)
{
  auto stages = ShortStages();
  stages.resize(1); // moments alone
  const auto result = Run(stages, Never, m_Checkpoint);
  EXPECT_TRUE(std::filesystem::exists(m_Checkpoint.directory + "/ffdp-state"));
  const auto again = Run(stages, Never, m_Checkpoint);
  EXPECT_TRUE(std::equal(result.affine.matrix, result.affine.matrix + 9, again.affine.matrix));
}

TEST_F(RegistrationCheckpointTest, RefusesStateOfAnotherProblemAndBrokenFiles)
{
  auto stages = ShortStages();
  EXPECT_THROW(Run(stages, 8, m_Checkpoint), RegistrationAborted);
  stages[2].gradientSigma = 1.5;
  EXPECT_THROW(Run(stages, Never, m_Checkpoint), std::invalid_argument);
  stages = ShortStages();
  for (const ShrinkFactor & factor : { ShrinkFactor::BySpacing(1), ShrinkFactor(1, 1, 1.01) })
  {
    stages[2].shrinkFactors.back() = factor;
    EXPECT_THROW(Run(stages, Never, m_Checkpoint), std::invalid_argument) << factor.bySpacing;
  }
  stages = ShortStages();
  m_Moving.voxels.values[100] += 1;
  EXPECT_THROW(Run(stages, Never, m_Checkpoint), std::invalid_argument);
  m_Moving.voxels.values[100] -= 1;
  const auto file = m_Checkpoint.directory + "/ffdp-state";
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 5);
  EXPECT_THROW(Run(stages, Never, m_Checkpoint), std::runtime_error);
  std::ofstream(file) << "something else";
  EXPECT_THROW(Run(stages, Never, m_Checkpoint), std::exception);
}

TEST_F(RegistrationCheckpointTest, RefusesStateInWhichAByteHasChanged)
{
  const auto stages = ShortStages();
  EXPECT_THROW(Run(stages, 8, m_Checkpoint), RegistrationAborted);
  const auto     file = m_Checkpoint.directory + "/ffdp-state";
  const auto     size = std::int64_t(std::filesystem::file_size(file));
  constexpr int  Places = 40;
  constexpr char Flipped = 0x40;
  std::fstream   state(file, std::ios::in | std::ios::out | std::ios::binary);
  const auto     flipAt = [&](std::int64_t place) {
    state.seekg(place);
    const char byte = char(state.get() ^ Flipped);
    state.seekp(place);
    state.put(byte);
    state.flush();
  };
  for (int i = 0; i < Places; ++i)
  {
    const std::int64_t place = i < Places / 2 ? i * 9 : i * (size - 1) / (Places - 1); // most numbers are at the front
    flipAt(place);
    EXPECT_THROW(Run(stages, Never, m_Checkpoint), std::exception) << place;
    flipAt(place);
  }
  EXPECT_NO_THROW(Run(stages, Never, m_Checkpoint));
}

TEST_F(RegistrationCheckpointTest, NamesWhatCannotBeWritten)
{
  m_Checkpoint.directory = "/proc/nowhere/ffdp";
  EXPECT_THROW(Run(ShortStages(), Never, m_Checkpoint), std::exception);
}
