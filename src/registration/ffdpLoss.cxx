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
    pair.moved = PlaneWindow<float>(backend, domain, 1, capacity);
    if (pair.IsMasked())
    {
      pair.mask = PlaneWindow<std::uint8_t>(backend, domain, 1, capacity);
      if (pair.images.movingMask)
      {
        pair.movedMask = PlaneWindow<float>(backend, domain, 1, planesAtATime + 2 * pair.halo);
      }
    }
  }
  m_LossGradient = PlaneWindow<float>(backend, domain, 1, planesAtATime);
}

Statistics
Loss::MeasureImage(const VolumeView<const float> & image) const
{
  const Statistics statistics = CombineStatistics(m_Backend.PlaneStatistics(image));
  Require(statistics.count > 0 && statistics.maximum > statistics.minimum,
          "an image is constant: there is nothing to align");
  return statistics;
}

IntensityRange
Loss::MeasureRange(const VolumeView<const float> & image, const Statistics & statistics) const
{
  const IntensityHistogram histogram = m_Backend.MeasureHistogram(image, statistics.minimum, statistics.maximum, 4096);
  const IntensityRange     range = RobustRange(histogram, 0.001, 0.999);
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
Loss::Begin(const AffineMap & physical, const WarpView<const float> & u, const WarpView<const float> & r)
{
  m_Warp = u;
  m_FixedWarp = r;
  const Extent & domain = this->Domain();
  for (Pair & pair : m_Pairs)
  {
    pair.map = MakeIndexMap(pair.images, physical);
    const std::int64_t capacity = m_PlanesAtATime + 2 * pair.halo;
    if (r && pair.movedFixed.Capacity() == 0)
    {
      pair.movedFixed = PlaneWindow<float>(m_Backend, domain, 1, capacity);
      pair.movedFixedMask = PlaneWindow<float>(m_Backend, domain, 1, pair.images.fixedMask ? capacity : 0);
    }
    pair.moved.Restart(0);
    pair.movedFixed.Restart(0);
    pair.mask.Restart(0);
    pair.planeGradients.clear();
  }
  if (r && m_FixedLossGradient.Capacity() == 0)
  {
    m_FixedLossGradient = PlaneWindow<float>(m_Backend, domain, 1, m_PlanesAtATime);
  }
  for (Term & term : m_Terms)
  {
    term.sums = PlaneSums();
  }
  this->MeasureInformation();
}

/** Mutual information is known only when all planes have been seen: these terms go through the images twice. */
void
Loss::MeasureInformation()
{
  const std::int64_t planes = this->Domain().z;
  for (Term & term : m_Terms)
  {
    if (term.metric.kind != RegistrationMetric::Kind::MutualInformation)
    {
      continue;
    }
    Pair &         pair = m_Pairs[std::size_t(term.metric.pair)];
    JointHistogram histogram(term.histogram);
    for (std::int64_t first = 0; first < planes; first += m_PlanesAtATime)
    {
      const std::int64_t end = std::min(planes, first + m_PlanesAtATime);
      this->SampleUpTo(pair, first, end);
      histogram +=
        m_Backend.ComputeJointHistogram(term.histogram,
                                        this->ComparedFixed(pair),
                                        VolumeView<const float>(pair.moved.Volume().Planes(first, end - first)),
                                        pair.Mask());
    }
    pair.moved.Restart(0);
    pair.movedFixed.Restart(0);
    pair.mask.Restart(0);
    m_Communicator.Sum(&histogram.samples, 1);
    m_Communicator.Sum(histogram.counts.data(), histogram.counts.size());
    Require(histogram.samples > 0, "the images do not overlap (or the masks leave nothing of the overlap)");
    term.information = FinishMutualInformation(histogram, bool(m_FixedWarp));
  }
}

void
Loss::SampleUpTo(Pair & pair, std::int64_t first, std::int64_t end)
{
  const std::int64_t planes = this->Domain().z;
  pair.moved.Keep(std::max<std::int64_t>(0, first - pair.halo));
  const std::int64_t from = pair.moved.End();
  const std::int64_t to = std::min(planes, end + pair.halo);
  if (from >= to)
  {
    return;
  }
  pair.moved.Grow(to);
  m_Backend.Sample(pair.images.moving,
                   pair.map,
                   this->Displacement(),
                   pair.moved.Volume().Planes(from, to - from),
                   SamplerParameters{});
  if (m_FixedWarp)
  {
    pair.movedFixed.Keep(std::max<std::int64_t>(0, first - pair.halo));
    pair.movedFixed.Grow(to);
    m_Backend.Sample(pair.images.fixed,
                     CompositeMap{},
                     m_FixedWarp,
                     pair.movedFixed.Volume().Planes(from, to - from),
                     SamplerParameters{});
  }
  if (pair.IsMasked())
  {
    pair.mask.Keep(std::max<std::int64_t>(0, first - pair.halo));
    this->SampleMask(pair, from, to);
  }
}

/** Finds the planes [from, to) of the mask of a pair from both images' masks. */
void
Loss::SampleMask(Pair & pair, std::int64_t from, std::int64_t to)
{
  const auto sample = [&](const VolumeView<const float> & mask,
                          const CompositeMap &            map,
                          const WarpInput &               warp,
                          PlaneWindow<float> &            window) -> VolumeView<const float> {
    window.Restart(from);
    window.Grow(to);
    m_Backend.Sample(mask, map, warp, window.Volume(), SamplerParameters{});
    return window.Volume();
  };
  VolumeView<const float> fixedMask = pair.images.fixedMask;
  VolumeView<const float> movedMask;
  if (fixedMask && m_FixedWarp)
  {
    fixedMask = sample(fixedMask, CompositeMap{}, m_FixedWarp, pair.movedFixedMask);
  }
  if (pair.images.movingMask)
  {
    movedMask = sample(pair.images.movingMask, pair.map, this->Displacement(), pair.movedMask);
  }
  pair.mask.Grow(to);
  m_Backend.CombineMasks(fixedMask, movedMask, pair.mask.Volume().Planes(from, to - from));
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
  const VolumeView<const float>        fixed = this->ComparedFixed(pair);
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
    withGradient && m_FixedWarp ? gradientHere(m_FixedLossGradient) : VolumeView<float>();
  switch (term.metric.kind)
  {
    case RegistrationMetric::Kind::LocalCorrelation: {
      LocalCorrelationOutputs outputs;
      outputs.movingGradient = gradient;
      outputs.fixedGradient = fixedGradient;
      term.sums.Append(m_Backend.LocalCorrelation(fixed, moved, mask, first, end - first, term.correlation, outputs));
      break;
    }
    case RegistrationMetric::Kind::MutualInformation:
      m_Backend.MutualInformationGradient(term.information, fixed, movedHere, mask, gradient, fixedGradient);
      break;
    case RegistrationMetric::Kind::MeanSquares:
      term.sums.Append(m_Backend.MeanSquares(
        movedHere, fixed.Planes(first, end - first), mask, gradient, fixedGradient, this->Domain().Voxels()));
      break;
  }
}

void
Loss::WarpGradient(std::int64_t first, std::int64_t end, const WarpView<float> & gradient)
{
  SamplerParameters sampler;
  for (Term & term : m_Terms)
  {
    const Pair & pair = m_Pairs[std::size_t(term.metric.pair)];
    this->EvaluateTerm(term, first, end, true);
    // alone, the scale of a term means nothing to the optimizer
    const float scale = m_Terms.size() > 1 ? float(term.metric.weight * term.scale) : 1.0f;
    const auto  add = [&](const VolumeView<const float> & image,
                         const CompositeMap &            map,
                         const WarpInput &               warp,
                         const VolumeView<float> &       lossGradient,
                         float                           factor) {
      if (factor != 1)
      {
        m_Backend.Scale(lossGradient, factor);
      }
      m_Backend.SampleBackward(image, map, warp, lossGradient, gradient, false, sampler);
      sampler.accumulate = true;
    };
    add(pair.images.moving, pair.map, this->Displacement(), m_LossGradient.Volume(), scale);
    if (m_FixedWarp)
    {
      add(pair.images.fixed, CompositeMap{}, m_FixedWarp, m_FixedLossGradient.Volume(), -scale);
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
    std::vector<MapGradient> planes = m_Backend.SampleBackward(pair.images.moving,
                                                               pair.map,
                                                               this->Displacement(),
                                                               m_LossGradient.Volume(),
                                                               warpGradient,
                                                               true,
                                                               SamplerParameters{});
    if (m_Warp)
    {
      this->AddWarpedMapGradient(pair, warpGradient, planes);
    }
    const double factor = term.metric.weight * term.scale;
    for (MapGradient & plane : planes)
    {
      for (double & value : plane)
      {
        value *= factor;
      }
      pair.planeGradients.push_back(plane);
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
Loss::Value() const
{
  double value = 0;
  for (const Term & term : m_Terms)
  {
    double own = 0;
    switch (term.metric.kind)
    {
      case RegistrationMetric::Kind::LocalCorrelation:
        own = -term.sums.Mean();
        break;
      case RegistrationMetric::Kind::MutualInformation:
        own = term.information.value;
        break;
      case RegistrationMetric::Kind::MeanSquares:
        own = term.sums.Mean();
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
