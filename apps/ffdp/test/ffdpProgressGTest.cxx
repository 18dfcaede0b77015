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

TEST(Progress, TimeLeftFollowsTheSpeedOfTheLevel)
{
  auto     progress = SomeProgress();
  TimeLeft fresh, resumed;
  progress.stage = progress.level = 0;
  progress.iteration = 1;
  progress.fraction = 0.1;
  EXPECT_NEAR(fresh.Update(progress, 2), 18, 1e-9);
  progress.iteration = 2;
  EXPECT_TRUE(std::isnan(resumed.Update(progress, 2))); // a tenth was done before
  progress.iteration = 3;
  progress.fraction = 0.2;
  EXPECT_NEAR(fresh.Update(progress, 3), 12, 1e-9);
  EXPECT_NEAR(resumed.Update(progress, 3), 8, 1e-9);
  progress.level = 1; // the speed of the level before, until this one is known
  progress.fraction = 0.5;
  EXPECT_NEAR(resumed.Update(progress, 8), 5, 1e-9);
  progress.fraction = 0.6;
  EXPECT_NEAR(resumed.Update(progress, 12), 16, 1e-9);
  progress.fraction = 1;
  EXPECT_EQ(resumed.Update(progress, 12), 0);
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
