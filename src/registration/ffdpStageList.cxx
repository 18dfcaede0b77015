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
#include "ffdpStageList.h"

#include "ffdpRegistrationEstimate.h"

#include <algorithm>
#include <sstream>

namespace ffdp
{
namespace
{

using Kind = RegistrationStage::Kind;

RegistrationMetric
Information(int bins)
{
  RegistrationMetric metric;
  metric.kind = RegistrationMetric::Kind::MutualInformation;
  metric.bins = bins;
  return metric;
}

RegistrationMetric
Correlation(int radius)
{
  RegistrationMetric metric;
  metric.radius = radius;
  return metric;
}

/** What images from different scanners have in common, on the scale of windows and on that of tissues. */
std::vector<RegistrationMetric>
EdgesAndInformation(const std::vector<int> & radii)
{
  std::vector<RegistrationMetric> metrics = { Information(32) };
  metrics.front().weight = 0.1;
  for (const int radius : radii)
  {
    metrics.push_back(Correlation(radius));
    metrics.back().ofEdges = true;
    metrics.back().weight = 1.0 / double(radii.size());
  }
  return metrics;
}

RegistrationStage
LinearStage(Kind kind, const std::vector<double> & factors, const std::vector<int> & iterations)
{
  RegistrationStage stage;
  stage.kind = kind;
  stage.metrics = { Information(32) };
  stage.shrinkFactors = factors;
  stage.iterations = iterations;
  stage.learningRate = 0.25;
  return stage;
}

RegistrationStage
GreedyStage(const StagePreset & preset)
{
  RegistrationStage stage;
  stage.kind = Kind::Greedy;
  stage.gradientSigma = 1.4;
  stage.warpSigma = 0.55;
  if (!preset.sameModality)
  {
    stage.metrics = EdgesAndInformation({ 3 });
    stage.warpSigma =
      0.9; // where the two contrasts show different edges, a warp follows them: less so if it is stiffer
  }
  // Longer steps deform more before the smoothing of the warp holds them, and more is ironed at the end, which takes it
  // back: Documentation/Registration.md has the figures.
  switch (preset.effort)
  {
    case StagePreset::Effort::Fast:
      stage.shrinkFactors = { 4, 2, 1 };
      stage.iterations = { 60, 20, 2 };
      stage.learningRate = 0.7;
      stage.gradientSigma = 1.3;
      stage.warpSigma = std::max(stage.warpSigma, 0.7); // less is left to iron at the end, which takes most of the time
      break;
    case StagePreset::Effort::Balanced:
      stage.shrinkFactors = { 4, 2, 1 };
      stage.iterations = { 100, 50, 25 };
      stage.learningRate = 0.55;
      break;
    case StagePreset::Effort::Accurate:
      stage.shrinkFactors = { 4, 2, 1 };
      stage.iterations = { 100, 100, 50 };
      stage.learningRate = 0.65;
      stage.tolerance = 5e-4;
      stage.metrics = preset.sameModality ? std::vector<RegistrationMetric>{ Correlation(2), Correlation(4) }
                                          : EdgesAndInformation({ 2, 4 });
      break;
  }
  return stage;
}

const char *
NameOfMetric(RegistrationMetric::Kind kind)
{
  switch (kind)
  {
    case RegistrationMetric::Kind::LocalCorrelation:
      return "local correlation";
    case RegistrationMetric::Kind::MutualInformation:
      return "mutual information";
    case RegistrationMetric::Kind::MeanSquares:
      return "mean squares";
  }
  return "";
}

} // namespace

std::vector<RegistrationStage>
MakeStages(const StagePreset & preset)
{
  const bool                     fast = preset.effort == StagePreset::Effort::Fast;
  std::vector<RegistrationStage> stages;
  if (preset.withMoments)
  {
    RegistrationStage moments;
    moments.kind = Kind::Moments;
    moments.metrics = { Information(16) };
    stages.push_back(moments);
  }
  if (preset.last == StagePreset::Last::Rigid)
  {
    stages.push_back(fast ? LinearStage(Kind::Rigid, { 4, 2 }, { 100, 80 })
                          : LinearStage(Kind::Rigid, { 4, 2, 1 }, { 100, 80, 40 }));
    return stages;
  }
  stages.push_back(LinearStage(Kind::Rigid, { 8, 4 }, { 100, 50 }));
  stages.push_back(fast ? LinearStage(Kind::Affine, { 8, 4 }, { 100, 80 })
                        : LinearStage(Kind::Affine, { 8, 4, 2 }, { 100, 100, 40 }));
  if (preset.last == StagePreset::Last::Deformable)
  {
    stages.push_back(GreedyStage(preset));
  }
  return stages;
}

std::string
DescribeStage(const RegistrationStage & stage)
{
  std::ostringstream text;
  text << NameOf(stage.kind) << ":";
  for (const RegistrationMetric & metric : stage.metrics)
  {
    text << " " << metric.weight << " x " << NameOfMetric(metric.kind) << (metric.ofEdges ? " of the edges" : "")
         << " of pair " << metric.pair << ",";
  }
  text << " iterations";
  for (std::size_t i = 0; i < stage.shrinkFactors.size() && i < stage.iterations.size(); ++i)
  {
    text << " " << stage.iterations[i] << " at 1/" << stage.shrinkFactors[i];
  }
  text << ", learning rate " << stage.learningRate;
  if (IsDeformable(stage))
  {
    text << ", sigmas " << stage.gradientSigma << " and " << stage.warpSigma << (stage.sigmasInMm ? " mm" : " voxels");
  }
  return text.str();
}

} // namespace ffdp
