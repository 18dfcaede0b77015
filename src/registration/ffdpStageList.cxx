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
#include <cmath>
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

std::vector<ShrinkFactor>
BySpacing(const std::vector<double> & factors)
{
  std::vector<ShrinkFactor> shrink;
  for (const double factor : factors)
  {
    shrink.push_back(ShrinkFactor::BySpacing(factor));
  }
  return shrink;
}

RegistrationStage
LinearStage(Kind kind, const std::vector<double> & factors, const std::vector<int> & iterations)
{
  RegistrationStage stage(kind);
  stage.shrinkFactors = BySpacing(factors);
  stage.iterations = iterations;
  return stage;
}

/** The default stage, and how a preset differs from it. */
RegistrationStage
GreedyStage(const StagePreset & preset)
{
  RegistrationStage stage;
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
      stage.iterations = { 60, 20, 2 };
      stage.learningRate = 0.7;
      stage.gradientSigma = 1.3;
      stage.warpSigma = std::max(stage.warpSigma, 0.7); // less is left to iron at the end, which takes most of the time
      break;
    case StagePreset::Effort::Balanced:
      break;
    case StagePreset::Effort::Accurate:
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

RegistrationStage::RegistrationStage(Kind kindOfStage)
  : kind(kindOfStage)
{
  switch (kind)
  {
    case Kind::Moments:
      metrics = { Information(16) };
      break;
    case Kind::Rigid:
    case Kind::Similarity:
    case Kind::Affine:
      metrics = { Information(32) };
      learningRate = 0.25;
      break;
    case Kind::Greedy:
      break;
    case Kind::SyN: // SyN[0.25,3,0] of ANTs
      learningRate = 0.5;
      gradientSigma = std::sqrt(3.0);
      warpSigma = 0;
      break;
  }
}

std::vector<RegistrationStage>
MakeStages(const StagePreset & preset)
{
  const bool                     fast = preset.effort == StagePreset::Effort::Fast;
  std::vector<RegistrationStage> stages;
  if (preset.withMoments)
  {
    stages.emplace_back(Kind::Moments);
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
DescribeFactor(const ShrinkFactor & factor)
{
  const double(&axis)[3] = factor.axis;
  std::ostringstream text;
  if (axis[0] == axis[1] && axis[1] == axis[2])
  {
    text << axis[0];
  }
  else
  {
    text << "[" << axis[0] << "," << axis[1] << "," << axis[2] << "]";
  }
  return text.str();
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
    text << " " << stage.iterations[i] << " at 1/" << DescribeFactor(stage.shrinkFactors[i]);
    const bool nextIsBySpacing = i + 1 < stage.shrinkFactors.size() && stage.shrinkFactors[i + 1].bySpacing;
    text << (stage.shrinkFactors[i].bySpacing && !nextIsBySpacing ? " by spacing" : "");
  }
  text << ", learning rate " << stage.learningRate;
  if (IsDeformable(stage))
  {
    text << ", sigmas " << stage.gradientSigma << " and " << stage.warpSigma << (stage.sigmasInMm ? " mm" : " voxels");
  }
  return text.str();
}

} // namespace ffdp
