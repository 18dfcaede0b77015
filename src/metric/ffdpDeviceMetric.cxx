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
#include "ffdpDeviceMetric.h"

#include "ffdpDeviceSamples.h"

#include <algorithm>

namespace ffdp
{

/** What stays on the device between evaluations. */
class DeviceMetric::Implementation
{
public:
  explicit Implementation(std::shared_ptr<Backend> backend)
    : m_Backend(std::move(backend))
    , m_Images(*m_Backend)
  {}

  Backend &
  GetBackend() const
  {
    return *m_Backend;
  }
  DeviceImageCache &
  Images()
  {
    return m_Images;
  }

private:
  std::shared_ptr<Backend> m_Backend;
  DeviceImageCache         m_Images;
};

namespace
{

/** Planes to compute at a time; windows reach beyond them by `halo`, so that few would make much extra work. */
std::int64_t
PlanesPerPiece(const Backend & backend, const Extent & grid, std::int64_t halo)
{
  const std::int64_t planes = 4 * backend.FewVoxels() / (grid.x * grid.y);
  return std::min(grid.z, std::max<std::int64_t>({ 1, planes, 2 * halo }));
}

/** Calls work(first, count) for pieces that cover the grid. */
template <typename TWork>
void
ForEachPiece(const Extent & grid, std::int64_t piece, const TWork & work)
{
  for (std::int64_t first = 0; first < grid.z; first += piece)
  {
    work(first, std::min(piece, grid.z - first));
  }
}

void
Append(std::vector<MapGradient> & all, const std::vector<MapGradient> & part)
{
  all.insert(all.end(), part.begin(), part.end());
}

/** The variances of both images to an order of magnitude, from a few planes: they keep products of variances in the
 * range of a float. */
void
EstimateVariances(Backend & backend, DeviceSamples & at, const Extent & grid, LocalCorrelationParameters & parameters)
{
  constexpr std::int64_t  MostPlanes = 4;
  const std::int64_t      planes = std::min(MostPlanes, grid.z);
  std::vector<Statistics> fixed, moving;
  for (std::int64_t i = 0; i < planes; ++i)
  {
    const std::int64_t z = grid.z * (2 * i + 1) / (2 * planes);
    at.Load(z, z + 1);
    fixed.push_back(backend.PlaneStatistics(at.Fixed()).front());
    moving.push_back(backend.PlaneStatistics(at.Moving()).front());
  }
  const auto variance = [](const std::vector<Statistics> & parts) {
    const double v = CombineStatistics(parts).Variance();
    return v > 0 ? v : 1.0;
  };
  parameters.fixedVariance = variance(fixed);
  parameters.movingVariance = variance(moving);
}

} // namespace

DeviceMetric::DeviceMetric(std::shared_ptr<Backend> backend)
  : m_Implementation(std::make_unique<Implementation>(std::move(backend)))
{}

DeviceMetric::~DeviceMetric() = default;

const Backend &
DeviceMetric::GetBackend() const
{
  return m_Implementation->GetBackend();
}

std::uint64_t
DeviceMetric::UploadedImageBytes() const
{
  return m_Implementation->Images().UploadedBytes();
}

std::string
DeviceMetric::WhyNot(const MetricProblem & problem)
{
  if (!problem.fixed.image.floats || !problem.moving.image.floats)
  {
    return "an image is not of floats";
  }
  if (!problem.fixed.chain.steps.empty() || !problem.moving.chain.steps.empty() || problem.within)
  {
    return "a transform has several displacement fields, or one that is not on the virtual domain";
  }
  return {};
}

MetricResult
DeviceMetric::EvaluateMeanSquares(const MetricProblem & problem, const MetricDerivative & derivative)
{
  Backend &                backend = m_Implementation->GetBackend();
  const std::int64_t       piece = PlanesPerPiece(backend, problem.grid, 0);
  DeviceSamples            at(backend, m_Implementation->Images(), problem, piece);
  PlaneSums                whole;
  std::vector<MapGradient> moments;
  ForEachPiece(problem.grid, piece, [&](std::int64_t first, std::int64_t count) {
    at.Load(first, first + count);
    // the gradient takes the place of the moving image, which is not needed after it
    const VolumeView<float> weights = derivative ? at.Moving() : VolumeView<float>();
    whole.Append(backend.MeanSquares(at.Moving(), at.Fixed(), at.Valid(), weights, {}, 1));
    Append(moments, at.Differentiate(weights, derivative));
  });
  MetricResult result;
  result.voxels = whole.Count();
  result.value = result.voxels > 0 ? whole.Mean() : 0.0;
  result.moments = derivative.moments ? AddPlanes(moments) : MapGradient{};
  return result;
}

MetricResult
DeviceMetric::EvaluateLocalCorrelation(const MetricProblem &              problem,
                                       const LocalCorrelationParameters & asked,
                                       const MetricDerivative &           derivative)
{
  Backend &                  backend = m_Implementation->GetBackend();
  LocalCorrelationParameters parameters = asked;
  parameters.maskWindows = true;
  parameters.normalizer = 1;
  const Extent &           grid = problem.grid;
  const std::int64_t       halo = LocalCorrelationHalo(parameters, bool(derivative));
  const std::int64_t       piece = PlanesPerPiece(backend, grid, halo);
  DeviceSamples            at(backend, m_Implementation->Images(), problem, std::min(grid.z, piece + 2 * halo));
  DeviceArray<float>       gradient(backend, derivative ? piece * grid.x * grid.y : 0);
  LocalCorrelationResult   whole;
  std::vector<MapGradient> moments;
  EstimateVariances(backend, at, grid, parameters);
  ForEachPiece(grid, piece, [&](std::int64_t first, std::int64_t count) {
    at.Load(std::max<std::int64_t>(0, first - halo), std::min(grid.z, first + count + halo));
    LocalCorrelationOutputs outputs;
    if (derivative)
    {
      outputs.movingGradient = VolumeView<float>(gradient.Data(), grid, first, count);
    }
    whole.Append(backend.LocalCorrelation(at.Fixed(), at.Moving(), at.Valid(), first, count, parameters, outputs));
    Append(moments, at.Differentiate(outputs.movingGradient, derivative));
  });
  MetricResult result;
  result.voxels = whole.Count();
  result.value = result.voxels > 0 ? whole.Loss() : 0.0;
  result.moments = derivative.moments ? AddPlanes(moments) : MapGradient{};
  return result;
}

MetricResult
DeviceMetric::EvaluateMutualInformation(const MetricProblem &               problem,
                                        const MutualInformationParameters & parameters,
                                        const MetricDerivative &            derivative)
{
  Backend &          backend = m_Implementation->GetBackend();
  const RangeGuard   guard(parameters.movingRange);
  const std::int64_t piece = PlanesPerPiece(backend, problem.grid, 0);
  DeviceSamples      at(backend, m_Implementation->Images(), problem, piece);
  JointHistogram     histogram(parameters);
  const auto         load = [&](std::int64_t first, std::int64_t count) {
    at.Load(first, first + count);
    backend.PullIntoRange(at.Moving(), guard);
  };
  ForEachPiece(problem.grid, piece, [&](std::int64_t first, std::int64_t count) {
    load(first, count);
    histogram += backend.ComputeJointHistogram(parameters, at.Fixed(), at.Moving(), at.Valid());
  });
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
    DeviceArray<float>       gradient(backend, piece * problem.grid.x * problem.grid.y);
    std::vector<MapGradient> moments;
    ForEachPiece(problem.grid, piece, [&](std::int64_t first, std::int64_t count) {
      if (piece < problem.grid.z) // otherwise the samples of the histogram are still there
      {
        load(first, count);
      }
      const VolumeView<float> weights(gradient.Data(), problem.grid, first, count);
      backend.MutualInformationGradient(information, at.Fixed(), at.Moving(), at.Valid(), weights, {});
      Append(moments, at.Differentiate(weights, derivative));
    });
    result.moments = derivative.moments ? AddPlanes(moments) : MapGradient{};
  }
  return result;
}

} // namespace ffdp
