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
#include "ffdpMeanSquares.h"
#include "ffdpMetricPlanes.h"

#include <algorithm>

namespace ffdp
{

MetricResult
EvaluateMeanSquares(const MetricProblem & problem, const MetricDerivative & derivative)
{
  CheckProblem(problem, derivative);
  const auto                planes = std::size_t(problem.grid.z);
  std::vector<double>       sums(planes);
  std::vector<std::int64_t> counts(planes);
  std::vector<MapGradient>  moments(derivative.moments ? planes : 0);

  SweepPlanes(problem, true, [&](MetricPlanes & at, const PlaneRange & range, unsigned, unsigned threads) {
    // the gradient takes the place of the moving image, which is not needed after it
    const VolumeView<float> weights = derivative ? at.Moving() : VolumeView<float>();
    const MeanSquaresResult part = MeanSquares(at.Moving(), at.Fixed(), at.Valid(), weights, {}, 1, threads);
    std::copy(part.planeSums.begin(), part.planeSums.end(), sums.begin() + range.first);
    std::copy(part.planeCounts.begin(), part.planeCounts.end(), counts.begin() + range.first);
    if (derivative)
    {
      const std::vector<MapGradient> m = at.Differentiate(weights, derivative, threads);
      std::copy(m.begin(), m.end(), moments.begin() + (derivative.moments ? range.first : 0));
    }
  });

  PlaneSums whole;
  whole.planeSums = std::move(sums);
  whole.planeCounts = std::move(counts);
  MetricResult result;
  result.voxels = whole.Count();
  result.value = result.voxels > 0 ? whole.Mean() : 0.0;
  if (derivative.moments)
  {
    result.moments = AddPlanes(moments);
  }
  return result;
}

} // namespace ffdp
