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
#include "ffdpImageMetric.h"
#include "ffdpMetricPlanes.h"
#include "ffdpParallel.h"
#include "ffdpRangeGuard.h"

#include <algorithm>
#include <memory>

#define FFDP_KERNEL_FILE "ffdpMetricPlanesKernel.h"
#include "ffdpForEachInstructionSet.h"

namespace ffdp
{
namespace
{

void
PullIntoRange(const RangeGuard & guard, const VolumeView<float> & values, unsigned threads)
{
  const auto kernel = FFDP_SELECT_KERNEL(PullIntoRange);
  ParallelFor(values.planes, threads, [&](std::int64_t plane, unsigned) {
    for (std::int64_t y = 0; y < values.domain.y; ++y)
    {
      float * const row = values.Row(y, values.firstPlane + plane);
      kernel(row, values.domain.x, guard.lowest, guard.low, guard.high, guard.highest);
    }
  });
}

} // namespace

MetricResult
EvaluateMutualInformation(const MetricProblem &               problem,
                          const MutualInformationParameters & parameters,
                          const MetricDerivative &            derivative)
{
  CheckProblem(problem, derivative);
  JointHistogram   histogram(parameters);
  const RangeGuard guard(parameters.movingRange);
  const bool       masked = bool(problem.fixed.mask) || bool(problem.moving.mask);

  std::vector<std::unique_ptr<JointHistogram>> parts(ResolveThreads(problem.threads));
  SweepPlanes(problem, masked, [&](MetricPlanes & at, const PlaneRange &, unsigned worker, unsigned threads) {
    PullIntoRange(guard, at.Moving(), threads);
    const JointHistogram part = ComputeJointHistogram(parameters, at.Fixed(), at.Moving(), at.Valid(), threads);
    if (parts[worker])
    {
      *parts[worker] += part;
    }
    else
    {
      parts[worker] = std::make_unique<JointHistogram>(part);
    }
  });
  for (const auto & part : parts)
  {
    if (part)
    {
      histogram += *part;
    }
  }

  MetricResult result;
  result.voxels = histogram.samples;
  if (histogram.samples == 0)
  {
    return result;
  }
  const MutualInformation information = FinishMutualInformation(histogram);
  result.value = information.value;
  if (derivative)
  {
    std::vector<MapGradient> moments(derivative.moments ? std::size_t(problem.grid.z) : 0);
    SweepPlanes(problem, masked, [&](MetricPlanes & at, const PlaneRange & range, unsigned, unsigned threads) {
      PullIntoRange(guard, at.Moving(), threads);
      const VolumeView<float> weights = at.Weights();
      MutualInformationGradient(information, at.Fixed(), at.Moving(), at.Valid(), weights, {}, threads);
      const std::vector<MapGradient> m = at.Differentiate(weights, derivative, threads);
      std::copy(m.begin(), m.end(), moments.begin() + (derivative.moments ? range.first : 0));
    });
    if (derivative.moments)
    {
      result.moments = AddPlanes(moments);
    }
  }
  return result;
}

} // namespace ffdp
