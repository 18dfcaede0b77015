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
#include "ffdpLoss.h"

#include <cmath>

namespace ffdp
{
namespace
{

/** Index of the moving image from index of the fixed one: X = P (A (F (x + u)) + t). */
CompositeMap
MakeIndexMap(const LevelPair & images, const AffineMap & physical)
{
  const AffineMap map = Compose(images.physicalToMoving, Compose(physical, images.fixedToPhysical));
  CompositeMap    composite;
  std::copy(map.matrix, map.matrix + 9, composite.A);
  std::copy(map.offset, map.offset + 3, composite.t);
  std::copy(map.matrix, map.matrix + 9, composite.S);
  return composite;
}

} // namespace

Loss::Loss(Backend &                               backend,
           Communicator &                          communicator,
           const std::vector<LevelPair> &          pairs,
           const std::vector<RegistrationMetric> & metrics,
           std::int64_t                            planesAtATime)
  : m_Backend(backend)
  , m_Communicator(communicator)
  , m_PlanesAtATime(planesAtATime)
{
  Require(!pairs.empty() && !metrics.empty(), "a registration needs a pair of images and a metric");
  m_Planes = Partition(pairs.front().fixed.domain.z, communicator.Size()).Owned(communicator.Rank());
  for (const LevelPair & images : pairs)
  {
    Pair pair;
    pair.images = images;
    RequireSameDomain(pairs.front().fixed.domain, images.fixed.domain, "the fixed images of two pairs");
    m_Pairs.push_back(std::move(pair));
  }
  for (const RegistrationMetric & metric : metrics)
  {
    Require(metric.pair >= 0 && metric.pair < int(pairs.size()), "a metric names a pair of images that there is not");
    Term term;
    term.metric = metric;
    this->PrepareTerm(term);
    Pair & pair = m_Pairs[std::size_t(metric.pair)];
    if (metric.kind == RegistrationMetric::Kind::LocalCorrelation)
    {
      pair.halo = std::max(pair.halo, LocalCorrelationHalo(term.correlation, true));
    }
    m_Terms.push_back(std::move(term));
  }
  const Extent & domain = this->Domain();
  for (Pair & pair : m_Pairs)
  {
    const std::int64_t capacity = planesAtATime + 2 * pair.halo;
    pair.moving = SampledImage(backend, communicator, pair.images.moving, m_JoinedPlanes);
    pair.moved = PlaneWindow<float>(backend, domain, 1, capacity);
    pair.movedEdges = EdgeStrips<float>(backend, communicator, domain, pair.halo);
    pair.fixedHere = ExtendedImage(backend, communicator, pair.images.fixed, m_JoinedPlanes);
    if (pair.IsMasked())
    {
      pair.mask = PlaneWindow<std::uint8_t>(backend, domain, 1, capacity);
      pair.maskEdges = EdgeStrips<std::uint8_t>(backend, communicator, domain, pair.halo);
      if (pair.HasMovingMask())
      {
        pair.movingMask = SampledImage(backend, communicator, pair.images.movingMask, m_JoinedPlanes);
        pair.movedMask = PlaneWindow<float>(backend, domain, 1, capacity);
      }
    }
  }
  m_LossGradient = PlaneWindow<float>(backend, domain, 1, planesAtATime);
}

Statistics
Loss::MeasureImage(const VolumeView<const float> & image) const
{
  constexpr std::size_t Numbers = 6;
  std::vector<double>   own;
  if (image.planes > 0)
  {
    for (const Statistics & plane : m_Backend.PlaneStatistics(image))
    {
      own.insert(own.end(),
                 { double(plane.count),
                   double(plane.notFinite),
                   double(plane.minimum),
                   double(plane.maximum),
                   plane.mean,
                   plane.squares });
    }
  }
  const std::vector<double> all = m_Communicator.Gather(own);
  std::vector<Statistics>   planes;
  for (std::size_t i = 0; i + Numbers <= all.size(); i += Numbers)
  {
    planes.push_back(
      { std::int64_t(all[i]), std::int64_t(all[i + 1]), float(all[i + 2]), float(all[i + 3]), all[i + 4], all[i + 5] });
  }
  const Statistics statistics = CombineStatistics(planes);
  Require(statistics.count > 0 && statistics.maximum > statistics.minimum,
          "an image is constant: there is nothing to align");
  return statistics;
}

IntensityRange
Loss::MeasureRange(const VolumeView<const float> & image, const Statistics & statistics) const
{
  constexpr std::int64_t Bins = 4096;
  IntensityHistogram     histogram;
  histogram.low = statistics.minimum;
  histogram.high = statistics.maximum;
  histogram.counts.assign(std::size_t(Bins), 0);
  if (image.planes > 0)
  {
    histogram = m_Backend.MeasureHistogram(image, statistics.minimum, statistics.maximum, Bins);
  }
  m_Communicator.Sum(histogram.counts.data(), histogram.counts.size());
  const IntensityRange range = RobustRange(histogram, 0.001, 0.999);
  return range.low < range.high ? range : IntensityRange{ statistics.minimum, statistics.maximum };
}

void
Loss::PrepareTerm(Term & term)
{
  const RegistrationMetric & metric = term.metric;
  const LevelPair &          images = m_Pairs[std::size_t(metric.pair)].images;
  const Statistics           fixed = this->MeasureImage(images.fixed);
  const Statistics           moving = this->MeasureImage(images.moving);
  switch (metric.kind)
  {
    case RegistrationMetric::Kind::LocalCorrelation:
      term.correlation.radius = { { metric.radius, metric.radius, metric.radius } };
      term.correlation.gradient =
        metric.exactGradient ? LocalCorrelationParameters::Gradient::Exact : LocalCorrelationParameters::Gradient::ANTs;
      term.correlation.epsilon = metric.epsilon;
      term.correlation.fixedVariance = fixed.Variance();
      term.correlation.movingVariance = moving.Variance();
      term.correlation.normalizer = this->Domain().Voxels();
      break;
    case RegistrationMetric::Kind::MutualInformation:
      term.histogram.kind = MutualInformationKind::BSpline;
      term.histogram.bins = metric.bins;
      term.histogram.fixedRange = this->MeasureRange(images.fixed, fixed);
      term.histogram.movingRange = this->MeasureRange(images.moving, moving);
      break;
    case RegistrationMetric::Kind::MeanSquares:
      term.scale = 1 / std::sqrt(fixed.Variance() * moving.Variance());
      break;
  }
}

void
Loss::PrepareFixedWarp(Pair & pair)
{
  if (pair.movedFixed.Capacity() == 0)
  {
    const Extent &     domain = this->Domain();
    const std::int64_t capacity = m_PlanesAtATime + 2 * pair.halo;
    pair.fixed = SampledImage(m_Backend, m_Communicator, pair.images.fixed, m_JoinedPlanes);
    pair.movedFixed = PlaneWindow<float>(m_Backend, domain, 1, capacity);
    pair.movedFixedEdges = EdgeStrips<float>(m_Backend, m_Communicator, domain, pair.halo);
    if (pair.HasFixedMask())
    {
      pair.fixedMask = SampledImage(m_Backend, m_Communicator, pair.images.fixedMask, m_JoinedPlanes);
      pair.movedFixedMask = PlaneWindow<float>(m_Backend, domain, 1, capacity);
    }
  }
}

void
Loss::Begin(const AffineMap &             physical,
            const WarpView<const float> & u,
            const WarpView<const float> & r,
            bool                          withGradient)
{
  m_Warp = u;
  m_FixedWarp = r;
  m_FixedMoves = r.IsGiven();
  const Extent & domain = this->Domain();
  for (Pair & pair : m_Pairs)
  {
    pair.map = MakeIndexMap(pair.images, physical);
    pair.planeGradients.assign(std::size_t(m_Planes.end - m_Planes.first), MapGradient{});
    pair.moving.Prepare(pair.map, this->Displacement(), domain, m_Planes, withGradient);
    if (pair.HasMovingMask())
    {
      pair.movingMask.Prepare(pair.map, this->Displacement(), domain, m_Planes, false);
    }
    if (m_FixedMoves)
    {
      this->PrepareFixedWarp(pair);
      pair.fixed.Prepare(CompositeMap{}, m_FixedWarp, domain, m_Planes, withGradient);
      if (pair.HasFixedMask())
      {
        pair.fixedMask.Prepare(CompositeMap{}, m_FixedWarp, domain, m_Planes, false);
      }
    }
    else
    {
      pair.fixedHere.Extend(WithHalo(Partition(domain.z, m_Communicator.Size()), pair.halo));
    }
    this->SwapEdges(pair);
    this->RestartWindows(pair, m_Planes.first);
  }
  if (m_FixedMoves && m_FixedLossGradient.Capacity() == 0)
  {
    m_FixedLossGradient = PlaneWindow<float>(m_Backend, domain, 1, m_PlanesAtATime);
  }
  for (Term & term : m_Terms)
  {
    term.sums.planeSums.assign(std::size_t(m_Planes.end - m_Planes.first), 0.0);
    term.sums.planeCounts.assign(std::size_t(m_Planes.end - m_Planes.first), 0);
  }
  this->MeasureInformation();
}

void
Loss::SwapEdges(Pair & pair)
{
  pair.movedEdges.Swap([&](const VolumeView<float> & planes) { pair.moving.Sample(planes); });
  if (m_FixedMoves)
  {
    pair.movedFixedEdges.Swap([&](const VolumeView<float> & planes) { pair.fixed.Sample(planes); });
  }
  if (pair.IsMasked())
  {
    pair.maskEdges.Swap([&](const VolumeView<std::uint8_t> & planes) { this->SampleMask(pair, planes); });
  }
  if (m_Planes.first >= m_Planes.end) // others fill their windows with what they wait for
  {
    pair.movedEdges.Finish();
    pair.movedFixedEdges.Finish();
    pair.maskEdges.Finish();
  }
}

void
Loss::RestartWindows(Pair & pair, std::int64_t first)
{
  pair.moved.Restart(first);
  pair.movedFixed.Restart(first);
  pair.mask.Restart(first);
}

/** Mutual information is known only when all planes have been seen: these terms go through the images twice. */
void
Loss::MeasureInformation()
{
  for (Term & term : m_Terms)
  {
    if (term.metric.kind != RegistrationMetric::Kind::MutualInformation)
    {
      continue;
    }
    Pair &         pair = m_Pairs[std::size_t(term.metric.pair)];
    JointHistogram histogram(term.histogram);
    for (std::int64_t first = m_Planes.first; first < m_Planes.end; first += m_PlanesAtATime)
    {
      const std::int64_t end = std::min(m_Planes.end, first + m_PlanesAtATime);
      this->SampleUpTo(pair, first, end);
      histogram +=
        m_Backend.ComputeJointHistogram(term.histogram,
                                        this->ComparedFixed(pair, first, end),
                                        VolumeView<const float>(pair.moved.Volume().Planes(first, end - first)),
                                        pair.Mask());
    }
    m_Communicator.Sum(&histogram.samples, 1);
    m_Communicator.Sum(histogram.counts.data(), histogram.counts.size());
    Require(histogram.samples > 0, "the images do not overlap (or the masks leave nothing of the overlap)");
    term.information = FinishMutualInformation(histogram, m_FixedMoves);
  }
}

void
Loss::SampleUpTo(Pair & pair, std::int64_t first, std::int64_t end)
{
  const std::int64_t low = std::max<std::int64_t>(0, first - pair.halo);
  const std::int64_t high = std::min(this->Domain().z, end + pair.halo);
  if (low < pair.moved.First() || low > pair.moved.End())
  {
    this->RestartWindows(pair, low);
  }
  const auto advance = [&](auto & window, auto & edges, const auto & sample) {
    window.Keep(low);
    const std::int64_t from = window.End();
    if (from < high)
    {
      window.Grow(high);
      const auto       planes = window.Volume().Planes(from, high - from);
      const PlaneRange left = edges.Fill(planes);
      if (left.first < left.end)
      {
        sample(planes.Planes(left.first, left.end - left.first));
      }
    }
  };
  advance(pair.moved, pair.movedEdges, [&](const VolumeView<float> & planes) { pair.moving.Sample(planes); });
  if (m_FixedMoves)
  {
    advance(
      pair.movedFixed, pair.movedFixedEdges, [&](const VolumeView<float> & planes) { pair.fixed.Sample(planes); });
  }
  if (pair.IsMasked())
  {
    advance(
      pair.mask, pair.maskEdges, [&](const VolumeView<std::uint8_t> & planes) { this->SampleMask(pair, planes); });
  }
}

void
Loss::SampleMask(Pair & pair, const VolumeView<std::uint8_t> & mask)
{
  const auto sample = [&](SampledImage & image, PlaneWindow<float> & window) -> VolumeView<const float> {
    window.Restart(mask.firstPlane);
    window.Grow(mask.EndPlane());
    image.Sample(window.Volume());
    return window.Volume();
  };
  VolumeView<const float> fixedMask = pair.images.fixedMask;
  VolumeView<const float> movedMask;
  if (pair.HasFixedMask() && m_FixedMoves)
  {
    fixedMask = sample(pair.fixedMask, pair.movedFixedMask);
  }
  if (pair.HasMovingMask())
  {
    movedMask = sample(pair.movingMask, pair.movedMask);
  }
  m_Backend.CombineMasks(fixedMask, movedMask, mask);
}

VolumeView<const float>
Loss::ComparedFixed(Pair & pair, std::int64_t first, std::int64_t end)
{
  if (m_FixedMoves)
  {
    return pair.movedFixed.Volume();
  }
  return pair.fixedHere.View(
    { std::max<std::int64_t>(0, first - pair.halo), std::min(this->Domain().z, end + pair.halo) });
}

void
Loss::EvaluateTerm(Term & term, std::int64_t first, std::int64_t end, bool withGradient)
{
  if (term.metric.kind == RegistrationMetric::Kind::MutualInformation && !withGradient)
  {
    return; // Begin() knows the value already
  }
  Pair & pair = m_Pairs[std::size_t(term.metric.pair)];
  this->SampleUpTo(pair, first, end);
  const VolumeView<const float>        fixed = this->ComparedFixed(pair, first, end);
  const VolumeView<const float>        moved = pair.moved.Volume();
  const VolumeView<const float>        movedHere = moved.Planes(first, end - first);
  const VolumeView<const std::uint8_t> mask = pair.Mask();
  const auto                           gradientHere = [&](PlaneWindow<float> & window) {
    window.Restart(first);
    window.Grow(end);
    return window.Volume();
  };
  const VolumeView<float> gradient = withGradient ? gradientHere(m_LossGradient) : VolumeView<float>();
  const VolumeView<float> fixedGradient =
    withGradient && m_FixedMoves ? gradientHere(m_FixedLossGradient) : VolumeView<float>();
  const auto keep = [&](const PlaneSums & sums) {
    std::copy(sums.planeSums.begin(), sums.planeSums.end(), term.sums.planeSums.begin() + (first - m_Planes.first));
    std::copy(
      sums.planeCounts.begin(), sums.planeCounts.end(), term.sums.planeCounts.begin() + (first - m_Planes.first));
  };
  switch (term.metric.kind)
  {
    case RegistrationMetric::Kind::LocalCorrelation: {
      LocalCorrelationOutputs outputs;
      outputs.movingGradient = gradient;
      outputs.fixedGradient = fixedGradient;
      keep(m_Backend.LocalCorrelation(fixed, moved, mask, first, end - first, term.correlation, outputs));
      break;
    }
    case RegistrationMetric::Kind::MutualInformation:
      m_Backend.MutualInformationGradient(term.information, fixed, movedHere, mask, gradient, fixedGradient);
      break;
    case RegistrationMetric::Kind::MeanSquares:
      keep(m_Backend.MeanSquares(
        movedHere, fixed.Planes(first, end - first), mask, gradient, fixedGradient, this->Domain().Voxels()));
      break;
  }
}

void
Loss::WarpGradient(std::int64_t first, std::int64_t end, const WarpView<float> & gradient)
{
  bool accumulate = false;
  for (Term & term : m_Terms)
  {
    Pair & pair = m_Pairs[std::size_t(term.metric.pair)];
    this->EvaluateTerm(term, first, end, true);
    // alone, the scale of a term means nothing to the optimizer
    const float scale = m_Terms.size() > 1 ? float(term.metric.weight * term.scale) : 1.0f;
    const auto  add = [&](SampledImage & image, const VolumeView<float> & lossGradient, float factor) {
      if (factor != 1)
      {
        m_Backend.Scale(lossGradient, factor);
      }
      image.SampleBackward(lossGradient, gradient, false, accumulate);
      accumulate = true;
    };
    add(pair.moving, m_LossGradient.Volume(), scale);
    if (m_FixedMoves)
    {
      add(pair.fixed, m_FixedLossGradient.Volume(), -scale);
    }
  }
}

void
Loss::AddMapGradient(std::int64_t first, std::int64_t end)
{
  WarpView<float> warpGradient;
  if (m_Warp)
  {
    if (m_MapScratch.Capacity() == 0)
    {
      m_MapScratch = PlaneWindow<float>(m_Backend, this->Domain(), 3, m_PlanesAtATime);
    }
    m_MapScratch.Restart(first);
    m_MapScratch.Grow(end);
    warpGradient = m_MapScratch.Warp();
  }
  for (Term & term : m_Terms)
  {
    Pair & pair = m_Pairs[std::size_t(term.metric.pair)];
    this->EvaluateTerm(term, first, end, true);
    std::vector<MapGradient> planes = pair.moving.SampleBackward(m_LossGradient.Volume(), warpGradient, true);
    if (m_Warp)
    {
      this->AddWarpedMapGradient(pair, warpGradient, planes);
    }
    const double factor = term.metric.weight * term.scale;
    for (std::size_t plane = 0; plane < planes.size(); ++plane)
    {
      MapGradient & sum = pair.planeGradients[std::size_t(first - m_Planes.first) + plane];
      for (std::size_t i = 0; i < sum.size(); ++i)
      {
        sum[i] += planes[plane][i] * factor;
      }
    }
  }
}

void
Loss::AddWarpedMapGradient(const Pair & pair, const WarpView<float> & gradient, std::vector<MapGradient> & planes) const
{
  // X = A (x + u) + t, so dL/dA = sum of d x^T + d u^T, where d = dL/dX. The sampler gives dL/du = A^T d.
  AffineMap A;
  std::copy(pair.map.A, pair.map.A + 9, A.matrix);
  const AffineMap inverse = A.Inverse();
  const auto      products = m_Backend.WarpProducts(gradient, m_Warp);
  for (std::size_t plane = 0; plane < planes.size(); ++plane)
  {
    for (int i = 0; i < 3; ++i)
    {
      for (int j = 0; j < 3; ++j)
      {
        for (int k = 0; k < 3; ++k)
        {
          planes[plane][std::size_t(3 * i + j)] += inverse.matrix[3 * k + i] * products[plane][std::size_t(3 * k + j)];
        }
      }
    }
  }
}

void
Loss::AddValue(std::int64_t first, std::int64_t end)
{
  for (Term & term : m_Terms)
  {
    this->EvaluateTerm(term, first, end, false);
  }
}

double
Loss::MeanOf(const PlaneSums & own) const
{
  PlaneSums all;
  all.planeSums = m_Communicator.Gather(own.planeSums);
  all.planeCounts = { own.Count() };
  m_Communicator.Sum(all.planeCounts.data(), 1);
  return all.Mean();
}

double
Loss::Value() const
{
  double value = 0;
  for (const Term & term : m_Terms)
  {
    double own = 0;
    switch (term.metric.kind)
    {
      case RegistrationMetric::Kind::LocalCorrelation:
        own = -this->MeanOf(term.sums);
        break;
      case RegistrationMetric::Kind::MutualInformation:
        own = term.information.value;
        break;
      case RegistrationMetric::Kind::MeanSquares:
        own = this->MeanOf(term.sums);
        break;
    }
    value += term.metric.weight * term.scale * own;
  }
  return value;
}

MapGradient
Loss::PhysicalMapGradient() const
{
  MapGradient total{};
  for (const Pair & pair : m_Pairs)
  {
    std::vector<double> own;
    for (const MapGradient & plane : pair.planeGradients)
    {
      own.insert(own.end(), plane.begin(), plane.end());
    }
    MapGradient               index{};
    const std::vector<double> all = m_Communicator.Gather(own);
    for (std::size_t i = 0; i < all.size(); ++i)
    {
      index[i % index.size()] += all[i];
    }
    // X = P (A (F x) + t): dL/dA = P^T (dL/dA_index F^T + dL/dt_index F_t^T), dL/dt = P^T dL/dt_index
    const AffineMap & P = pair.images.physicalToMoving;
    const AffineMap & F = pair.images.fixedToPhysical;
    for (int i = 0; i < 3; ++i)
    {
      for (int k = 0; k < 3; ++k)
      {
        const double transposed = P.matrix[3 * k + i];
        total[9 + i] += transposed * index[9 + k];
        for (int j = 0; j < 3; ++j)
        {
          double sum = index[9 + k] * F.offset[j];
          for (int l = 0; l < 3; ++l)
          {
            sum += index[3 * k + l] * F.matrix[3 * j + l];
          }
          total[3 * i + j] += transposed * sum;
        }
      }
    }
  }
  return total;
}

} // namespace ffdp
