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

#include <sstream>

namespace ffdp
{
namespace
{

using Kind = RegistrationStage::Kind;

void
SetInformationStage(RegistrationStage & stage, Kind kind, int bins)
{
  stage.kind = kind;
  stage.metrics.front().kind = RegistrationMetric::Kind::MutualInformation;
  stage.metrics.front().bins = bins;
}

void
SetLinearStage(RegistrationStage &         stage,
               Kind                        kind,
               const std::vector<double> & factors,
               const std::vector<int> &    iterations)
{
  SetInformationStage(stage, kind, 32);
  stage.shrinkFactors = factors;
  stage.iterations = iterations;
  stage.learningRate = 0.25;
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
MakeDefaultStages()
{
  std::vector<RegistrationStage> stages(4);
  SetInformationStage(stages[0], Kind::Moments, 16);
  SetLinearStage(stages[1], Kind::Rigid, { 8, 4 }, { 100, 50 });
  SetLinearStage(stages[2], Kind::Affine, { 8, 4, 2 }, { 100, 100, 40 });
  stages[3].kind = Kind::Greedy;
  return stages;
}

std::string
DescribeStage(const RegistrationStage & stage)
{
  std::ostringstream text;
  text << NameOf(stage.kind) << ":";
  for (const RegistrationMetric & metric : stage.metrics)
  {
    text << " " << metric.weight << " x " << NameOfMetric(metric.kind) << " of pair " << metric.pair << ",";
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
