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
Loss::Begin(const AffineMap & physical, const WarpView<const float> & u)
{
  m_Warp = u;
  for (Pair & pair : m_Pairs)
  {
    pair.map = MakeIndexMap(pair.images, physical);
    pair.moved.Restart(0);
    pair.mask.Restart(0);
    pair.planeGradients.clear();
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
      const VolumeView<const std::uint8_t> mask = pair.Mask();
      histogram +=
        m_Backend.ComputeJointHistogram(term.histogram,
                                        pair.images.fixed,
                                        VolumeView<const float>(pair.moved.Volume().Planes(first, end - first)),
                                        mask);
    }
    pair.moved.Restart(0);
    pair.mask.Restart(0);
    m_Communicator.Sum(&histogram.samples, 1);
    m_Communicator.Sum(histogram.counts.data(), histogram.counts.size());
    Require(histogram.samples > 0, "the images do not overlap (or the masks leave nothing of the overlap)");
    term.information = FinishMutualInformation(histogram);
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
  if (pair.IsMasked())
  {
    pair.mask.Keep(std::max<std::int64_t>(0, first - pair.halo));
    pair.mask.Grow(to);
    VolumeView<const float> movedMask;
    if (pair.images.movingMask)
    {
      pair.movedMask.Restart(from);
      pair.movedMask.Grow(to);
      m_Backend.Sample(
        pair.images.movingMask, pair.map, this->Displacement(), pair.movedMask.Volume(), SamplerParameters{});
      movedMask = pair.movedMask.Volume();
    }
    m_Backend.CombineMasks(pair.images.fixedMask, movedMask, pair.mask.Volume().Planes(from, to - from));
  }
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
  const LevelPair &                    images = pair.images;
  const VolumeView<const float>        moved = pair.moved.Volume();
  const VolumeView<const float>        movedHere = moved.Planes(first, end - first);
  const VolumeView<const std::uint8_t> mask = pair.Mask();
  VolumeView<float>                    gradient;
  if (withGradient)
  {
    m_LossGradient.Restart(first);
    m_LossGradient.Grow(end);
    gradient = m_LossGradient.Volume();
  }
  switch (term.metric.kind)
  {
    case RegistrationMetric::Kind::LocalCorrelation: {
      LocalCorrelationOutputs outputs;
      outputs.movingGradient = gradient;
      term.sums.Append(
        m_Backend.LocalCorrelation(images.fixed, moved, mask, first, end - first, term.correlation, outputs));
      break;
    }
    case RegistrationMetric::Kind::MutualInformation:
      m_Backend.MutualInformationGradient(term.information, images.fixed, movedHere, mask, gradient, {});
      break;
    case RegistrationMetric::Kind::MeanSquares:
      term.sums.Append(m_Backend.MeanSquares(
        movedHere, images.fixed.Planes(first, end - first), mask, gradient, {}, this->Domain().Voxels()));
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
    if (m_Terms.size() > 1) // alone, its scale means nothing to the optimizer
    {
      m_Backend.Scale(m_LossGradient.Volume(), float(term.metric.weight * term.scale));
    }
    m_Backend.SampleBackward(pair.images.moving,
                             pair.map,
                             this->Displacement(),
                             m_LossGradient.Volume(),
                             WarpOutput(gradient),
                             false,
                             sampler);
    sampler.accumulate = true;
  }
}

void
Loss::AddMapGradient(std::int64_t first, std::int64_t end)
{
  for (Term & term : m_Terms)
  {
    Pair & pair = m_Pairs[std::size_t(term.metric.pair)];
    this->EvaluateTerm(term, first, end, true);
    const double factor = term.metric.weight * term.scale;
    for (MapGradient plane : m_Backend.SampleBackward(
           pair.images.moving, pair.map, this->Displacement(), m_LossGradient.Volume(), {}, true, SamplerParameters{}))
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
