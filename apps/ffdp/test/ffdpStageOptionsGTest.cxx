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
#include "ffdpStageOptions.h"

#include "ffdpCommandError.h"

#include <gtest/gtest.h>

#include <cmath>

namespace
{

using Stage = ffdp::RegistrationStage;
using Metric = ffdp::RegistrationMetric;
using Option = StageOption;

const ImageNames Images{ "f.nii", "m.nii" };

/** The message of what is refused, or nothing. */
std::string
RefusalOf(const std::vector<StageArgument> & arguments, const ImageNames & images = Images)
{
  try
  {
    ParseStages(arguments, images);
  }
  catch (const CommandError & error)
  {
    return error.what();
  }
  return "";
}

} // namespace

TEST(StageOptions, EachFieldLandsInItsPlace)
{
  const StageList list = ParseStages({ { Option::Transform, "Moments[30,10]" },
                                       { Option::Transform, "Rigid[0.1]" },
                                       { Option::Metric, "MI[a.nii,b.nii,0.5,24,Regular,0.25]" },
                                       { Option::Convergence, " [100x50x25,1e-6,12]" },
                                       { Option::ShrinkFactors, "4x2.5x1" },
                                       { Option::SmoothingSigmas, "2x1x0.5vox" },
                                       { Option::Transform, "Greedy[0.75,3mm,0.25mm]" },
                                       { Option::Metric, "CC[1,4]" },
                                       { Option::Metric, "MeanSquares[a.nii,b.nii,0.1]" },
                                       { Option::Convergence, "40x20" },
                                       { Option::SmoothingSigmas, "2x1mm" },
                                       { Option::Transform, "SyN[0.1,3,0.25]" },
                                       { Option::Metric, "CC" },
                                       { Option::Metric, "CC[power=2,gradient=ANTs]" },
                                       { Option::Metric, "CC[1,2, epsilon = 1e-3 ,movedSlope=0,fixedSlope=0.5]" } },
                                     Images);
  ASSERT_EQ(list.stages.size(), 4u);
  const Stage & moments = list.stages[0];
  EXPECT_EQ(moments.kind, Stage::Kind::Moments);
  EXPECT_EQ(moments.searchAngle, 30);
  EXPECT_EQ(moments.searchStep, 10);
  ASSERT_EQ(moments.metrics.size(), 1u);
  EXPECT_EQ(moments.metrics[0].kind, Metric::Kind::MutualInformation);

  const Stage & rigid = list.stages[1];
  EXPECT_EQ(rigid.kind, Stage::Kind::Rigid);
  EXPECT_EQ(rigid.learningRate, 0.1);
  ASSERT_EQ(rigid.metrics.size(), 1u);
  EXPECT_EQ(rigid.metrics[0].kind, Metric::Kind::MutualInformation);
  EXPECT_EQ(rigid.metrics[0].pair, 1);
  EXPECT_EQ(rigid.metrics[0].weight, 0.5);
  EXPECT_EQ(rigid.metrics[0].bins, 24);
  EXPECT_EQ(rigid.iterations, (std::vector<int>{ 100, 50, 25 }));
  EXPECT_EQ(rigid.tolerance, 1e-6);
  EXPECT_EQ(rigid.window, 12);
  EXPECT_EQ(rigid.shrinkFactors, (std::vector<ffdp::ShrinkFactor>{ 4, 2.5, 1 }));
  EXPECT_EQ(rigid.smoothingSigmas, (std::vector<double>{ 2, 1, 0.5 }));
  EXPECT_FALSE(rigid.smoothingInMm);

  const Stage & greedy = list.stages[2];
  EXPECT_EQ(greedy.kind, Stage::Kind::Greedy);
  EXPECT_EQ(greedy.learningRate, 0.75);
  EXPECT_EQ(greedy.gradientSigma, 3);
  EXPECT_EQ(greedy.warpSigma, 0.25);
  EXPECT_TRUE(greedy.sigmasInMm);
  ASSERT_EQ(greedy.metrics.size(), 2u);
  EXPECT_EQ(greedy.metrics[0].kind, Metric::Kind::LocalCorrelation);
  EXPECT_EQ(greedy.metrics[0].radius, 4);
  EXPECT_EQ(greedy.metrics[0].pair, 0);
  EXPECT_EQ(greedy.metrics[1].kind, Metric::Kind::MeanSquares);
  EXPECT_EQ(greedy.metrics[1].pair, 1);
  EXPECT_EQ(greedy.metrics[1].weight, 0.1);
  const auto bySpacing = &ffdp::ShrinkFactor::BySpacing; // halves when left out
  EXPECT_EQ(greedy.shrinkFactors, (std::vector<ffdp::ShrinkFactor>{ bySpacing(2), bySpacing(1) }));
  EXPECT_EQ(greedy.smoothingSigmas, (std::vector<double>{ 2, 1 }));
  EXPECT_TRUE(greedy.smoothingInMm);

  const Stage & syn = list.stages[3];
  EXPECT_EQ(syn.kind, Stage::Kind::SyN);
  EXPECT_DOUBLE_EQ(syn.learningRate, 0.2); // a tenth of a voxel
  ASSERT_EQ(syn.metrics.size(), 3u);
  EXPECT_EQ(syn.metrics[0].power, 0); // what suits the stage
  EXPECT_TRUE(syn.metrics[0].exactGradient);
  EXPECT_EQ(syn.metrics[1].power, 2);
  EXPECT_FALSE(syn.metrics[1].exactGradient);
  EXPECT_EQ(syn.metrics[2].radius, 2);
  EXPECT_EQ(syn.metrics[2].epsilon, 1e-3);
  EXPECT_EQ(syn.metrics[2].movedSlope, 0);
  EXPECT_EQ(syn.metrics[2].fixedSlope, 0.5);
  EXPECT_DOUBLE_EQ(syn.gradientSigma, std::sqrt(3.0));
  EXPECT_DOUBLE_EQ(syn.warpSigma, 0.5);
  EXPECT_EQ(syn.iterations, Stage().iterations);
  EXPECT_EQ(syn.shrinkFactors, Stage().shrinkFactors);
  EXPECT_TRUE(syn.smoothingSigmas.empty());

  ASSERT_EQ(list.pairs.size(), 2u);
  EXPECT_EQ(list.pairs[0].fixed, "f.nii");
  EXPECT_EQ(list.pairs[1].moving, "b.nii");
  ASSERT_EQ(list.notes.size(), 1u); // about sampling
  EXPECT_NE(list.notes[0].find("every voxel"), std::string::npos);
}

TEST(StageOptions, ALevelMayHaveAFactorForEachAxis)
{
  const StageArgument begin{ Option::Transform, "Greedy[]" }, metric{ Option::Metric, "CC" };
  const auto          parse = [&](const std::string & factors) {
    return ParseStages({ begin, metric, { Option::Convergence, "9x9x9" }, { Option::ShrinkFactors, factors } }, Images)
      .stages[0]
      .shrinkFactors;
  };
  EXPECT_EQ(parse("[4,4,1]x[2, 2,1] x1"), (std::vector<ffdp::ShrinkFactor>{ { 4, 4, 1 }, { 2, 2, 1 }, 1 }));
  EXPECT_EQ(parse("[4,2]x[2,2]x1"), (std::vector<ffdp::ShrinkFactor>{ { 4, 2, 1 }, { 2, 2, 1 }, 1 }));

  const auto refusalOf = [&](const std::string & factors) {
    return RefusalOf({ begin, metric, { Option::Convergence, "9x9" }, { Option::ShrinkFactors, factors } });
  };
  const std::pair<const char *, const char *> refused[] = {
    { "[4,4,1]x[2,2,2]", "along any axis: level 2 is '[2,2,2]'" },
    { "[4,4,1]x2", "level 2 is '2'" },
    { "[4]x1", "level 1, '[4]'" },
    { "[4,4,1,1]x1", "level 1, '[4,4,1,1]'" },
    { "4x[2,2,1", "level 2, '[2,2,1'" },
    { "4x[2,two,1]", "the factor of level 2 'two'" },
    { "[4,0.5,1]x1", "the factor of level 1 '0.5'" },
    { "4x", "the factor of level 2 ''" },
    { "[4,4,nan]x1", "the factor of level 1 'nan'" },
  };
  for (const auto & [factors, expected] : refused)
  {
    const std::string message = refusalOf(factors);
    EXPECT_EQ(message.rfind("--shrink-factors '" + std::string(factors) + "': ", 0), 0u) << message;
    EXPECT_NE(message.find(expected), std::string::npos) << message;
  }
}

TEST(StageOptions, FactorsOfAxesAreAsManyAsAxes)
{
  const auto refusalOf = [](const std::string & factors, int dimension) -> std::string {
    try
    {
      RequireAxisFactors({ { Option::Convergence, "[9x9]" }, { Option::ShrinkFactors, factors } }, dimension);
    }
    catch (const CommandError & error)
    {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusalOf("[4,4,1]x2", 3), "");
  EXPECT_EQ(refusalOf("[4,2]x1", 2), "");
  EXPECT_EQ(refusalOf("4x1", 2), "");
  EXPECT_NE(refusalOf("4x[2,1]", 3).find("'4x[2,1]': the images are 3-D, but level 2 is '[2,1]'"), std::string::npos);
  EXPECT_NE(refusalOf("[4,2,1]x1", 2).find("the images are 2-D, but level 1 is '[4,2,1]'"), std::string::npos);
}

/** The same defaults as in C++. */
TEST(StageOptions, NumbersThatAreLeftOutAreThoseOfTheKind)
{
  const std::pair<const char *, Stage::Kind> kinds[] = {
    { "Moments[]", Stage::Kind::Moments },       { "Rigid[]", Stage::Kind::Rigid },
    { "Similarity[]", Stage::Kind::Similarity }, { "Affine[]", Stage::Kind::Affine },
    { "Greedy[]", Stage::Kind::Greedy },         { "SyN[]", Stage::Kind::SyN },
  };
  for (const auto & [text, kind] : kinds)
  {
    const Stage parsed = ParseStages({ { Option::Transform, text }, { Option::Metric, "MI" } }, Images).stages.front();
    const Stage usual(kind);
    EXPECT_EQ(parsed.kind, kind);
    EXPECT_EQ(parsed.learningRate, usual.learningRate) << text;
    EXPECT_EQ(parsed.gradientSigma, usual.gradientSigma) << text;
    EXPECT_EQ(parsed.warpSigma, usual.warpSigma) << text;
    EXPECT_EQ(parsed.sigmasInMm, usual.sigmasInMm) << text;
    EXPECT_EQ(parsed.iterations, usual.iterations) << text;
    EXPECT_EQ(parsed.shrinkFactors, usual.shrinkFactors) << text;
    EXPECT_EQ(parsed.searchAngle, usual.searchAngle) << text;
  }
}

TEST(StageOptions, MetricsMayNameTheOnlyImages)
{
  const StageList list =
    ParseStages({ { Option::Transform, "Affine[]" }, { Option::Metric, "Mattes[a.nii,b.nii,1,32]" } }, {});
  ASSERT_EQ(list.pairs.size(), 1u);
  EXPECT_EQ(list.pairs[0].fixed, "a.nii");
  EXPECT_EQ(list.stages[0].metrics[0].pair, 0);
  EXPECT_EQ(list.stages[0].learningRate, 0.25);
}

TEST(StageOptions, EdgesAreLocalCorrelationOfOtherImages)
{
  const StageList list = ParseStages(
    { { Option::Transform, "Greedy[0.5]" }, { Option::Metric, "Edges[0.7,4,power=2]" }, { Option::Metric, "CC" } },
    Images);
  const Metric & edges = list.stages[0].metrics[0];
  EXPECT_EQ(edges.kind, Metric::Kind::LocalCorrelation);
  EXPECT_TRUE(edges.ofEdges);
  EXPECT_EQ(edges.weight, 0.7);
  EXPECT_EQ(edges.radius, 4);
  EXPECT_EQ(edges.power, 2);
  EXPECT_EQ(edges.pair, 0);
  EXPECT_FALSE(list.stages[0].metrics[1].ofEdges);
}

TEST(StageOptions, EachErrorIsNamed)
{
  const StageArgument begin{ Option::Transform, "Rigid[0.1]" }, metric{ Option::Metric, "CC" };
  const struct
  {
    std::vector<StageArgument> arguments;
    std::string                expected;
  } cases[] = {
    { { { Option::Transform, "Elastic[1]" } }, "no such stage" },
    { { { Option::Transform, "Rigid[0.1" } }, "closing bracket" },
    { { { Option::Transform, "Rigid[fast]" } }, "the learning rate 'fast'" },
    { { { Option::Transform, "Rigid[0]" } }, "nothing moves" },
    { { { Option::Transform, "Rigid[1,2]" } }, "at most 1 number" },
    { { { Option::Transform, "Greedy[1,2mm,1]" } }, "same unit" },
    { { { Option::Transform, "SyN[0.1,-3]" } }, "the variance '-3'" },
    { { begin }, "no --metric" },
    { { metric, begin }, "before the --transform" },
    { { begin, { Option::Metric, "NCC[1,2]" } }, "no such metric" },
    { { begin, { Option::Metric, "CC[4]" } }, "CC[1,4]" },
    { { begin, { Option::Metric, "CC[a.nii]" } }, "names one image" },
    { { begin, { Option::Metric, "CC[1,0.5]" } }, "the radius '0.5'" },
    { { begin, { Option::Metric, "CC[1,2.5]" } }, "whole number" },
    { { begin, { Option::Metric, "CC[1,2,power=0]" } }, "the power '0'" },
    { { begin, { Option::Metric, "CC[1,2,power=9]" } }, "above 8" },
    { { begin, { Option::Metric, "CC[1,2,power=]" } }, "the power ''" },
    { { begin, { Option::Metric, "CC[1,2,fixedSlope=1.5]" } }, "above 1" },
    { { begin, { Option::Metric, "CC[1,2,gradient=best]" } }, "neither exact nor ants" },
    { { begin, { Option::Metric, "CC[1,2,pwoer=2]" } }, "'pwoer=2': there is no such name; there are power" },
    { { begin, { Option::Metric, "CC[pwoer=2]" } }, "there is no such name" },
    { { begin, { Option::Metric, "MI[1,32,power=2]" } }, "only CC and Edges have fields with names" },
    { { begin, { Option::Metric, "CC[1,2,power=2,Power=3]" } }, "twice" },
    { { begin, { Option::Metric, "CC[1,2,epsilon=1e300]" } }, "above 1" },
    { { begin, { Option::Metric, "MI[0,32]" } }, "weight of 0" },
    { { begin, { Option::Metric, "MI[0,32]" }, { Option::Metric, "CC[0,2]" } }, "weight of 0" },
    { { { Option::Transform, "Rigid[1e30]" } }, "beyond reason" },
    { { { Option::Transform, "Moments[181]" } }, "above 180" },
    { { begin, metric, { Option::Convergence, "9" }, { Option::Convergence, "5" } }, "second --convergence" },
    { { begin, metric, { Option::ShrinkFactors, "2" }, { Option::ShrinkFactors, "1" } }, "second --shrink-factors" },
    { { begin, metric, { Option::SmoothingSigmas, "2" }, { Option::SmoothingSigmas, "1" } }, "second --smoothing" },
    { { begin, { Option::Metric, "MI[1,4]" } }, "the number of bins '4'" },
    { { begin, { Option::Metric, "MI[-1,32]" } }, "the weight '-1'" },
    { { begin, { Option::Metric, "MI[1,32,Often]" } }, "'Often' is not a way to sample" },
    { { begin, metric, { Option::Convergence, "[100xmany]" } }, "the number of iterations 'many'" },
    { { begin, metric, { Option::Convergence, "[100,0,1]" } }, "the window '1'" },
    { { begin, metric, { Option::Convergence, "[100,0,10,3]" } }, "too many fields" },
    { { begin, metric, { Option::Convergence, "100x50" }, { Option::ShrinkFactors, "4" } }, "1 shrink factors" },
    { { begin, metric, { Option::Convergence, "100x50" }, { Option::ShrinkFactors, "2x4" } }, "must not rise" },
    { { begin, metric, { Option::ShrinkFactors, "4x2" } }, "no --convergence" },
    { { begin, metric, { Option::Convergence, "9x9" }, { Option::SmoothingSigmas, "2x1x0" } }, "3 smoothing sigmas" },
    { { begin, metric, { Option::Convergence, "9x9" }, { Option::SmoothingSigmas, "2x1cm" } }, "the sigma '1cm'" },
  };
  for (const auto & c : cases)
  {
    const std::string message = RefusalOf(c.arguments);
    EXPECT_NE(message.find(c.expected), std::string::npos) << c.expected << " not in: " << message;
    EXPECT_EQ(message.rfind("--", 0), 0u) << message; // names the option
  }
  EXPECT_NE(RefusalOf({ begin, metric }, {}).find("no --fixed"), std::string::npos);
}

TEST(StageOptions, AxisWeights)
{
  EXPECT_EQ(ParseAxisWeights("1x0.5x0"), (std::array<double, 3>{ { 1, 0.5, 0 } }));
  EXPECT_EQ(ParseAxisWeights("0x1"), (std::array<double, 3>{ { 0, 1, 1 } }));
  EXPECT_THROW(ParseAxisWeights("1"), CommandError);
  EXPECT_THROW(ParseAxisWeights("1x1x-1"), CommandError);
}
