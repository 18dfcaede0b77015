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
#include "ffdpStatistics.h"

#include <algorithm>

namespace ffdp
{
namespace
{

/** The images' variances to an order of magnitude, from a few planes of the grid: they keep products of variances in
 * the range of a float, whatever the unit of the intensities. */
void
EstimateVariances(const MetricProblem & problem, unsigned threads, LocalCorrelationParameters & parameters)
{
  constexpr std::int64_t  Planes = 4;
  MetricPlanes            at(problem, 1, true);
  std::vector<Statistics> fixed;
  std::vector<Statistics> moving;
  for (std::int64_t i = 0; i < std::min(Planes, problem.grid.z); ++i)
  {
    const std::int64_t z = problem.grid.z * (2 * i + 1) / (2 * std::min(Planes, problem.grid.z));
    at.Load(z, z + 1, threads);
    fixed.push_back(PlaneStatistics(at.Fixed(), at.Valid(), threads).front());
    moving.push_back(PlaneStatistics(at.Moving(), at.Valid(), threads).front());
  }
  const auto variance = [](const std::vector<Statistics> & parts) {
    const double v = CombineStatistics(parts).Variance();
    return v > 0 ? v : 1.0;
  };
  parameters.fixedVariance = variance(fixed);
  parameters.movingVariance = variance(moving);
}

/** Planes to compute at a time: windows reach beyond them, so that few make much extra work. */
std::int64_t
PlanesPerPiece(const Extent & grid, bool exact)
{
  const std::int64_t voxels = exact ? 131072 : 262144; // exact derivatives take more memory elsewhere
  return std::min(grid.z, std::max<std::int64_t>(4, voxels / (grid.x * grid.y)));
}

} // namespace

MetricResult
EvaluateLocalCorrelation(const MetricProblem &              problem,
                         const LocalCorrelationParameters & asked,
                         const MetricDerivative &           derivative)
{
  CheckProblem(problem, derivative);
  const unsigned             threads = ResolveThreads(problem.threads);
  LocalCorrelationParameters parameters = asked;
  parameters.maskWindows = true;
  parameters.normalizer = 1;
  EstimateVariances(problem, threads, parameters);

  const std::int64_t       planes = problem.grid.z;
  const bool               exact = derivative && parameters.gradient == LocalCorrelationParameters::Gradient::Exact;
  const std::int64_t       piece = PlanesPerPiece(problem.grid, exact);
  const std::int64_t       halo = LocalCorrelationHalo(parameters, bool(derivative));
  const std::int64_t       capacity = std::min(planes, piece + 2 * halo);
  MetricPlanes             at(problem, capacity, true);
  AlignedBuffer<float>     weights(derivative ? std::size_t(piece * problem.grid.x * problem.grid.y) : 0);
  LocalCorrelationResult   whole;
  std::vector<MapGradient> moments;
  for (std::int64_t first = 0; first < planes; first += piece)
  {
    const std::int64_t count = std::min(piece, planes - first);
    at.Load(std::max<std::int64_t>(0, first - halo), std::min(planes, first + count + halo), threads);
    LocalCorrelationOutputs outputs;
    if (derivative)
    {
      outputs.movingGradient = VolumeView<float>(weights.Data(), problem.grid, first, count);
    }
    whole.Append(LocalCorrelation(at.Fixed(), at.Moving(), at.Valid(), first, count, parameters, outputs, threads));
    if (derivative)
    {
      const std::vector<MapGradient> m = at.Differentiate(outputs.movingGradient, derivative, threads);
      moments.insert(moments.end(), m.begin(), m.end());
    }
  }

  MetricResult result;
  result.voxels = whole.Count();
  result.value = result.voxels > 0 ? whole.Loss() : 0.0;
  if (derivative.moments)
  {
    result.moments = AddPlanes(moments);
  }
  return result;
}

} // namespace ffdp
