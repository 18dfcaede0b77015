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
#include "ffdpProgressLine.h"
#include "ffdpProgramTestSupport.h"
#include "ffdpTimeLeft.h"

#include <nlohmann/json.hpp>

#include <cmath>

using namespace programtest;

namespace
{

ffdp::RegistrationProgress
SomeProgress()
{
  ffdp::RegistrationProgress progress;
  progress.stage = 2;
  progress.stageName = "greedy";
  progress.level = 2;
  progress.levels = 3;
  progress.iteration = 17;
  progress.iterations = 100;
  progress.value = -0.123456;
  progress.fraction = 0.375;
  return progress;
}

} // namespace

TEST(Progress, ValuePercentageAndTimeLeftFitTheTerminal)
{
  auto progress = SomeProgress();
  for (const double value : { -0.123456, 123456.789, -1e30 })
  {
    progress.value = value;
    for (std::size_t columns = 39; columns <= 200; ++columns)
    {
      const std::string line = MakeTerminalLine(progress, 3600, 4025, columns);
      EXPECT_LE(line.size(), columns);
      EXPECT_NE(line.find(value == -0.123456 ? "-0.123456"
                          : value > 0        ? "1.2346e+05"
                                             : "-1e+30"),
                std::string::npos)
        << line;
      EXPECT_NE(line.find("38 %"), std::string::npos) << line;
      EXPECT_NE(line.find("67:05 left"), std::string::npos) << line;
      EXPECT_TRUE(columns < 60 || line.find("level 3/3  17/100") != std::string::npos) << line;
      EXPECT_TRUE(columns < 79 || line.find("[##") != std::string::npos) << line;
      EXPECT_TRUE(columns < 100 || line.find("60:00 passed") != std::string::npos) << line;
    }
  }
  EXPECT_NE(MakeTerminalLine(progress, 1, std::nan(""), 79).find("?:?? left"), std::string::npos);
}

namespace
{

/** A recorded run: levels with their work, as the engine counts it, and seconds for each iteration. */
struct RecordedLevel
{
  int    stage, level, iterations;
  double work;             ///< of an iteration
  double first, secondsOf; ///< the first iteration takes longer
};

struct Answer
{
  double seconds, left, truth;
};

/** What TimeLeft says while such a run goes on. Of what is left, so much is foreseen. */
std::vector<Answer>
Replay(const std::vector<RecordedLevel> & levels, double foreseen)
{
  std::vector<Answer> answers;
  TimeLeft            timeLeft;
  double              seconds = 0, done = 0;
  for (std::size_t i = 0; i < levels.size(); ++i)
  {
    const RecordedLevel & level = levels[i];
    for (int iteration = 1; iteration <= level.iterations; ++iteration)
    {
      seconds += iteration == 1 ? level.first : level.secondsOf;
      done += level.work;
      double left = level.work * (level.iterations - iteration) * foreseen;
      for (std::size_t k = i + 1; k < levels.size(); ++k)
      {
        left += foreseen * levels[k].work * levels[k].iterations;
      }
      ffdp::RegistrationProgress progress;
      progress.stage = level.stage;
      progress.level = level.level;
      progress.iteration = iteration;
      progress.fraction = done / (done + left);
      answers.push_back({ seconds, timeLeft.Update(progress, seconds), 0 });
    }
  }
  for (Answer & answer : answers)
  {
    answer.truth = seconds - answer.seconds;
  }
  return answers;
}

} // namespace

TEST(Progress, TimeLeftIsNearTheTruthAndDoesNotJump)
{
  // oasis, balanced, on two cores: moments, rigid, affine, greedy, the end; work in millions of voxels.
  const std::vector<RecordedLevel> oasis = {
    { 0, 0, 7, 0.4, 0.05, 0.025 },   { 1, 0, 10, 0.01, 0.01, 0.001 },  { 1, 1, 25, 0.034, 0.016, 0.0016 },
    { 2, 0, 46, 0.01, 0.01, 0.001 }, { 2, 1, 15, 0.034, 0.01, 0.002 }, { 2, 2, 19, 0.23, 0.035, 0.015 },
    { 3, 0, 61, 0.08, 0.03, 0.008 }, { 3, 1, 40, 0.57, 0.08, 0.037 },  { 3, 2, 25, 4.4, 0.6, 0.32 },
    { 4, 0, 12, 8.0, 1.7, 0.5 },
  };
  for (const double foreseen : { 0.8, 1.0, 1.15 })
  {
    const auto   answers = Replay(oasis, foreseen);
    const double all = answers.back().seconds;
    for (std::size_t i = 1; i < answers.size(); ++i)
    {
      const Answer & now = answers[i];
      EXPECT_LE(now.left, 1.25 * answers[i - 1].left + 1e-9) << now.seconds;
      if (now.seconds > 0.2 * all && now.truth > 0.15 * all)
      {
        EXPECT_LT(now.left, 1.5 * now.truth) << now.seconds << " of " << all << ", " << foreseen;
        EXPECT_GT(now.left, now.truth / 1.5) << now.seconds << " of " << all << ", " << foreseen;
      }
      EXPECT_TRUE(now.left > 0 || i + 1 == answers.size()) << now.seconds;
    }
    EXPECT_EQ(answers.back().left, 0);
  }
}

TEST(Progress, TimeLeftOfAResumedRunIsUnknownUntilItMoves)
{
  auto     progress = SomeProgress();
  TimeLeft resumed(5);
  progress.fraction = 0.5;
  EXPECT_TRUE(std::isnan(resumed.Update(progress, 2))); // a half was done before
  ++progress.iteration;
  progress.fraction = 0.6;
  EXPECT_NEAR(resumed.Update(progress, 4), 8 + 5, 1e-9); // a tenth takes 2 seconds, and outputs take 5
  progress.fraction = 1;
  EXPECT_EQ(resumed.Update(progress, 12), 5); // outputs are still to be written
}

TEST(Progress, EveryStageTellsItsTimeLeftMomentsToo)
{
  const Pair    pair("progress");
  const Outcome outcome = RunProgram(pair.folder, pair.Arguments() + " -p fast --log-json " + (pair.folder / "log"));
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  std::istringstream log(ReadText(pair.folder / "log"));
  std::string        line;
  double             fraction = 0;
  int                moments = 0, ends = 0;
  double             value = 0, endFraction = 0;
  while (std::getline(log, line))
  {
    const auto record = nlohmann::json::parse(line);
    EXPECT_GE(record.at("seconds_left").get<double>(), 0) << line;
    EXPECT_GT(record.at("fraction").get<double>(), fraction) << line;
    fraction = record.at("fraction");
    if (record.at("name") == "moments")
    {
      EXPECT_EQ(record.at("iteration"), ++moments);
      EXPECT_EQ(record.at("stage"), 0);
      EXPECT_LE(record.at("value").get<double>(), value) << "the best so far cannot get worse";
      value = record.at("value");
    }
    else if (record.at("name") == "inverse" && ++ends == 1)
    {
      endFraction = fraction;
    }
  }
  EXPECT_EQ(moments, 3 + 4); // 347 rotations, 128 at a time, and the four best are followed up
  EXPECT_EQ(fraction, 1);
  EXPECT_GT(ends, 1);
  EXPECT_LT(endFraction, 0.99);
  EXPECT_NE(outcome.output.find("moments level 1/1 (32x29x28) iteration 1/7 value"), std::string::npos)
    << outcome.output;
  EXPECT_NE(outcome.output.find(" left "), std::string::npos) << outcome.output;
  EXPECT_NE(ReadText(pair.folder / "out_report.html").find("<td>moments</td>"), std::string::npos);
}
