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

#include "ffdpMetricOption.h"
#include "ffdpStageList.h"
#include "ffdpStageText.h"

#include <algorithm>
#include <cmath>

namespace
{

using Stage = ffdp::RegistrationStage;
using Metric = ffdp::RegistrationMetric;
using Words = std::vector<std::string>;

Stage
ParseTransform(const Source & source)
{
  const Call call = ParseCall(source);
  const struct
  {
    const char * name;
    Stage::Kind  kind;
  } kinds[] = { { "moments", Stage::Kind::Moments },       { "rigid", Stage::Kind::Rigid },
                { "similarity", Stage::Kind::Similarity }, { "affine", Stage::Kind::Affine },
                { "greedy", Stage::Kind::Greedy },         { "syn", Stage::Kind::SyN } };
  const auto known =
    std::find_if(std::begin(kinds), std::end(kinds), [&](const auto & k) { return call.name == k.name; });
  if (known == std::end(kinds))
  {
    source.Refuse("there is no such stage; there are Moments, Rigid, Similarity, Affine, Greedy and SyN");
  }
  Stage      stage(known->kind);
  const bool moments = stage.kind == Stage::Kind::Moments;
  const bool deformable = IsDeformable(stage);
  const auto most = std::size_t(deformable ? 3 : moments ? 2 : 1);
  if (call.fields.size() > most)
  {
    source.Refuse("takes at most " + std::to_string(most) + (most == 1 ? " number" : " numbers"));
  }
  const auto field = [&](std::size_t i) { return i < call.fields.size() ? call.fields[i] : std::string(); };
  if (moments)
  {
    constexpr double HalfTurn = 180;
    stage.searchAngle = field(0).empty() ? stage.searchAngle : source.Number(field(0), "angle", 0);
    if (stage.searchAngle > HalfTurn)
    {
      source.Refuse("the angle '" + field(0) + "' is above 180 degrees");
    }
    stage.searchStep = field(1).empty() ? stage.searchStep : source.Number(field(1), "step", 1);
    return stage;
  }
  if (!field(0).empty())
  {
    stage.learningRate = source.Number(field(0), "learning rate", 0);
    if (stage.learningRate == 0)
    {
      source.Refuse("with a learning rate of 0 nothing moves");
    }
    constexpr double MostVoxels = 100; // an image at a coarse level is hardly larger
    if (stage.learningRate > MostVoxels)
    {
      source.Refuse("the learning rate '" + field(0) + "' is beyond reason: steps of a voxel are long");
    }
  }
  if (stage.kind == Stage::Kind::SyN)
  {
    // ANTs' numbers: the largest step in voxels, and variances instead of sigmas
    stage.learningRate *= field(0).empty() ? 1 : 2;
    stage.gradientSigma = field(1).empty() ? stage.gradientSigma : std::sqrt(source.Number(field(1), "variance", 0));
    stage.warpSigma = field(2).empty() ? stage.warpSigma : std::sqrt(source.Number(field(2), "variance", 0));
    return stage;
  }
  std::string gradientSigma = field(1), warpSigma = field(2);
  stage.sigmasInMm = TakeUnit(gradientSigma);
  if (TakeUnit(warpSigma) != stage.sigmasInMm)
  {
    source.Refuse("both sigmas must be given, in the same unit, if one is in mm");
  }
  stage.gradientSigma = gradientSigma.empty() ? stage.gradientSigma : source.Number(gradientSigma, "sigma", 0);
  stage.warpSigma = warpSigma.empty() ? stage.warpSigma : source.Number(warpSigma, "sigma", 0);
  return stage;
}

void
ParseConvergence(const Source & source, Stage & stage)
{
  const Words fields = SplitList(source.text);
  stage.iterations.clear();
  for (const std::string & word : Split(fields[0], 'x'))
  {
    stage.iterations.push_back(source.Count(word, "number of iterations", 0));
  }
  if (fields.size() > 1)
  {
    stage.tolerance = source.Number(fields[1], "threshold", 0);
  }
  if (fields.size() > 2)
  {
    stage.window = source.Count(fields[2], "window", 2);
  }
  if (fields.size() > 3)
  {
    source.Refuse("has too many fields; it is [100x50x25,1e-3,10]");
  }
}

/** The factors of a level: 4, or one for each axis, as in [4,4,1] or [4,4]. */
ffdp::ShrinkFactor
ParseLevelFactors(const Source & source, const std::string & level, const std::string & word)
{
  const auto number = [&](const std::string & text) { return source.Number(text, "factor of " + level, 1); };
  if (word.empty() || word.front() != '[')
  {
    return number(word);
  }
  const Words axes = SplitList(word);
  if (word.back() != ']' || axes.size() < 2 || axes.size() > 3)
  {
    source.Refuse(level + ", '" + word + "', is neither a factor nor one for each axis, as in [4,4,1]");
  }
  return { number(axes[0]), number(axes[1]), axes.size() == 3 ? number(axes[2]) : 1 };
}

void
ParseShrinkFactors(const Source & source, Stage & stage)
{
  stage.shrinkFactors.clear();
  for (const std::string & word : Split(source.text, 'x'))
  {
    const std::string        level = "level " + std::to_string(stage.shrinkFactors.size() + 1);
    const ffdp::ShrinkFactor factor = ParseLevelFactors(source, level, word);
    const ffdp::ShrinkFactor before = stage.shrinkFactors.empty() ? factor : stage.shrinkFactors.back();
    for (int axis = 0; axis < 3; ++axis)
    {
      if (factor.axis[axis] > before.axis[axis])
      {
        source.Refuse("factors must not rise from level to level, along any axis: " + level + " is '" + word + "'");
      }
    }
    stage.shrinkFactors.push_back(factor);
  }
}

void
ParseSmoothingSigmas(const Source & source, Stage & stage)
{
  std::string text = Trim(source.text);
  stage.smoothingInMm = TakeUnit(text);
  stage.smoothingSigmas.clear();
  for (const std::string & word : Split(text, 'x'))
  {
    stage.smoothingSigmas.push_back(source.Number(word, "sigma", 0));
  }
}

/** A stage with what was said about it. */
struct StageInMaking
{
  Source source; ///< its --transform
  Stage  stage;
  bool   gaveMetrics = false, gaveIterations = false, gaveFactors = false, gaveSigmas = false;

  /** Notes that an option was given, which is possible once. */
  void
  Take(const Source & option, bool & given)
  {
    if (given)
    {
      option.Refuse("is the second " + option.option + " of the stage " + source.text);
    }
    given = true;
  }

  Stage
  Finish()
  {
    if (!gaveMetrics && stage.kind != Stage::Kind::Moments)
    {
      source.Refuse("the stage has no --metric");
    }
    if (std::all_of(stage.metrics.begin(), stage.metrics.end(), [](const Metric & m) { return m.weight == 0; }))
    {
      source.Refuse("all metrics of the stage have a weight of 0: there is nothing to compare");
    }
    if (gaveFactors && !gaveIterations)
    {
      source.Refuse("the stage has --shrink-factors but no --convergence");
    }
    if (gaveIterations && !gaveFactors)
    {
      stage.shrinkFactors.clear();
      for (std::size_t left = stage.iterations.size(); left > 0; --left)
      {
        stage.shrinkFactors.push_back(ffdp::ShrinkFactor::BySpacing(std::ldexp(1.0, int(left) - 1)));
      }
    }
    this->RequireAsMany("shrink factors", stage.shrinkFactors.size());
    if (!stage.smoothingSigmas.empty())
    {
      this->RequireAsMany("smoothing sigmas", stage.smoothingSigmas.size());
    }
    return stage;
  }

private:
  void
  RequireAsMany(const std::string & what, std::size_t count) const
  {
    if (count != stage.iterations.size())
    {
      source.Refuse("the stage has " + std::to_string(stage.iterations.size()) + " numbers of iterations but " +
                    std::to_string(count) + " " + what);
    }
  }
};

const char *
NameOf(StageOption option)
{
  switch (option)
  {
    case StageOption::Transform:
      return "--transform";
    case StageOption::Metric:
      return "--metric";
    case StageOption::Convergence:
      return "--convergence";
    case StageOption::ShrinkFactors:
      return "--shrink-factors";
    case StageOption::SmoothingSigmas:
      return "--smoothing-sigmas";
  }
  return "";
}

void
AddToStage(StageOption option, const Source & source, StageInMaking & making, StageList & list)
{
  switch (option)
  {
    case StageOption::Transform:
      making.stage = ParseTransform(source);
      break;
    case StageOption::Metric:
      if (!making.gaveMetrics)
      {
        making.stage.metrics.clear();
      }
      making.stage.metrics.push_back(ParseMetric(source, list));
      making.gaveMetrics = true;
      break;
    case StageOption::Convergence:
      making.Take(source, making.gaveIterations);
      ParseConvergence(source, making.stage);
      break;
    case StageOption::ShrinkFactors:
      making.Take(source, making.gaveFactors);
      ParseShrinkFactors(source, making.stage);
      break;
    case StageOption::SmoothingSigmas:
      making.Take(source, making.gaveSigmas);
      ParseSmoothingSigmas(source, making.stage);
      break;
  }
}

} // namespace

bool
IsStage(const std::string & transform)
{
  return transform.find('[') != std::string::npos;
}

StageList
ParseStages(const std::vector<StageArgument> & arguments, const ImageNames & images)
{
  StageList                  list;
  std::vector<StageInMaking> making;
  if (!images.fixed.empty() || !images.moving.empty())
  {
    list.pairs.push_back(images);
  }
  for (const StageArgument & argument : arguments)
  {
    const Source source{ NameOf(argument.option), Trim(argument.value) };
    if (argument.option == StageOption::Transform)
    {
      making.emplace_back();
      making.back().source = source;
    }
    else if (making.empty())
    {
      source.Refuse("comes before the --transform of a stage that it could belong to");
    }
    AddToStage(argument.option, source, making.back(), list);
  }
  for (StageInMaking & each : making)
  {
    list.stages.push_back(each.Finish());
  }
  return list;
}

void
RequireAxisFactors(const std::vector<StageArgument> & arguments, int dimension)
{
  for (const StageArgument & argument : arguments)
  {
    const Source source{ NameOf(argument.option), Trim(argument.value) };
    const Words  levels = argument.option == StageOption::ShrinkFactors ? Split(source.text, 'x') : Words();
    for (std::size_t i = 0; i < levels.size(); ++i)
    {
      const bool ofAxes = !levels[i].empty() && levels[i].front() == '[';
      if (ofAxes && SplitList(levels[i]).size() != std::size_t(dimension))
      {
        source.Refuse("the images are " + std::to_string(dimension) + "-D, but level " + std::to_string(i + 1) +
                      " is '" + levels[i] + "'; " + (dimension == 3 ? "[4,4,1]" : "[4,2]") + " would do");
      }
    }
  }
}

std::array<double, 3>
ParseAxisWeights(const std::string & text)
{
  const Source          source{ "--restrict-deformation", Trim(text) };
  const Words           words = Split(source.text, 'x');
  std::array<double, 3> weights{ { 1, 1, 1 } };
  if (words.size() != 2 && words.size() != 3)
  {
    source.Refuse("needs a number per axis, as in 1x1x0");
  }
  for (std::size_t i = 0; i < words.size(); ++i)
  {
    weights[i] = source.Number(words[i], "weight", 0);
  }
  return weights;
}

const char * const StageHelp =
  "Stages, one by one, in the form known from antsRegistration. --transform NAME[...] begins one; what follows belongs "
  "to it:\n"
  "  --transform Rigid[0.25] --metric MI[fixed.nii.gz,moving.nii.gz,1,32] --convergence [100x50,1e-3,10]\n"
  "              --shrink-factors 4x2 --smoothing-sigmas 2x1vox\n"
  "  --transform SyN[0.1,3,0] --metric CC[1,4] --convergence 100x50x25\n"
  "Transforms: Moments[ANGLE,STEP] Rigid[R] Similarity[R] Affine[R] Greedy[R,SIGMA,SIGMA] SyN[STEP,VARIANCE,VARIANCE]\n"
  "  Rigid, Similarity, Affine: the corners of the image move by R voxels of the level in the first iterations, and\n"
  "    by less as the loss gets flat. ANTs' number is mm of the full image: 0.1 there is about 0.1 to 0.25 here.\n"
  "  Greedy: steps are at most R/2 voxels of the level; sigmas smooth the gradient and the warp (2, 2vox or 2mm).\n"
  "  SyN: as in ANTs: the largest step in voxels of the level, and variances of the smoothing in voxels squared.\n"
  "Metrics: CC[FIXED,MOVING,WEIGHT,RADIUS] MI[FIXED,MOVING,WEIGHT,BINS] (or Mattes) MeanSquares[FIXED,MOVING,WEIGHT].\n"
  "  Edges[...] is CC of where the images have edges, for images of different contrast.\n"
  "  Without the two names (CC[1,4], or just CC) --fixed and --moving are compared. Several --metric in a stage are\n"
  "  added by their weights; each may compare images of its own. All voxels are used: ANTs' sampling is ignored.\n"
  "  CC also takes, by name and anywhere: power=N (of the squared correlation; 5 for warps, 1 is what ANTs does),\n"
  "  epsilon=E (contrast that counts as noise, 2e-4), movedSlope=P and fixedSlope=P (parts of the images' slopes "
  "beside\n"
  "  the sampled one in the steps of warps, 1 and 0.3; the second for Greedy), gradient=exact|ants.\n"
  "Convergence: [ITERATIONS,THRESHOLD,WINDOW]. A level ends when the loss falls per iteration, over WINDOW of them, "
  "by\n"
  "  less than THRESHOLD (1e-3) of the range of its losses; ANTs' threshold has another scale.\n"
  "Shrink factors: every axis by 4 in 4x2x1; '[4,4,1]x[2,2,1]x1' has a factor for each axis. When left out, halves "
  "from\n"
  "  level to level by spacing: axes that are sampled finely are shrunk first, until voxels are cubes.\n"
  "Smoothing: what the factors ask for when left out.\n"
  "A --transform without brackets (rigid, affine, deformable) takes the stages of the preset up to that kind.";
