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
#include "ffdpPresets.h"

namespace
{

using Stage = ffdp::RegistrationStage;
using Metric = ffdp::RegistrationMetric;

Metric
Information(int bins)
{
  Metric metric;
  metric.kind = Metric::Kind::MutualInformation;
  metric.bins = bins;
  return metric;
}

Stage
Linear(Stage::Kind kind, const std::vector<double> & factors, const std::vector<int> & iterations)
{
  Stage stage;
  stage.kind = kind;
  stage.metrics = { Information(32) };
  stage.shrinkFactors = factors;
  stage.iterations = iterations;
  stage.learningRate = 0.25;
  return stage;
}

} // namespace

std::vector<Stage>
MakePreset(const std::string & preset, bool sameModality, const std::string & transform, bool withMoments)
{
  const bool         fast = preset == "fast";
  std::vector<Stage> stages;
  if (withMoments)
  {
    Stage moments;
    moments.kind = Stage::Kind::Moments;
    moments.metrics = { Information(16) };
    stages.push_back(moments);
  }
  if (transform == "rigid")
  {
    stages.push_back(fast ? Linear(Stage::Kind::Rigid, { 4, 2 }, { 100, 80 })
                          : Linear(Stage::Kind::Rigid, { 4, 2, 1 }, { 100, 80, 40 }));
    return stages;
  }
  stages.push_back(Linear(Stage::Kind::Rigid, { 8, 4 }, { 100, 50 }));
  stages.push_back(fast ? Linear(Stage::Kind::Affine, { 8, 4 }, { 100, 80 })
                        : Linear(Stage::Kind::Affine, { 8, 4, 2 }, { 100, 100, 40 }));
  if (transform == "affine")
  {
    return stages;
  }
  Stage greedy;
  greedy.kind = Stage::Kind::Greedy;
  if (!sameModality)
  {
    greedy.metrics = { Information(32) };
  }
  if (fast)
  {
    greedy.shrinkFactors = { 4, 2 };
    greedy.iterations = { 60, 40 };
  }
  else
  {
    greedy.shrinkFactors = { 4, 2, 1 };
    greedy.iterations = preset == "accurate" ? std::vector<int>{ 150, 100, 60 } : std::vector<int>{ 100, 50, 25 };
  }
  stages.push_back(greedy);
  return stages;
}
