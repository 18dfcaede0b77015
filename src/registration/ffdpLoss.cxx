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

#include "ffdpImageIntensities.h"

#include <algorithm>
#include <cmath>

namespace ffdp
{

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
  std::vector<std::int64_t> halos(pairs.size(), 0); // of the metrics of each pair
  for (const RegistrationMetric & metric : metrics)
  {
    Require(metric.pair >= 0 && metric.pair < int(pairs.size()), "a metric names a pair of images that there is not");
    const auto pair = std::size_t(metric.pair);
    Term       term;
    term.metric = metric;
    this->PrepareTerm(term, pairs[pair]);
    if (metric.kind == RegistrationMetric::Kind::LocalCorrelation)
    {
      halos[pair] = std::max(halos[pair], LocalCorrelationHalo(term.correlation, true));
    }
    m_Terms.push_back(std::move(term));
  }
  for (std::size_t i = 0; i < pairs.size(); ++i)
  {
    RequireSameDomain(pairs.front().fixed.domain, pairs[i].fixed.domain, "the fixed images of two pairs");
    m_Pairs.push_back({ ComparedPair(backend, communicator, pairs[i], halos[i], planesAtATime, m_JoinedPlanes), {} });
  }
}

void
Loss::PrepareTerm(Term & term, const LevelPair & images) const
{
  const RegistrationMetric & metric = term.metric;
  const Statistics           fixed = MeasureImage(m_Backend, m_Communicator, images.fixed);
  const Statistics           moving = MeasureImage(m_Backend, m_Communicator, images.moving);
  switch (metric.kind)
  {
    case RegistrationMetric::Kind::LocalCorrelation:
      for (const double slope : { metric.fixedSlope, metric.movedSlope })
      {
        Require(slope >= 0 && slope <= 1, "the part of an image's slope must be in [0, 1]");
      }
      term.correlation.radius = { { metric.radius, metric.radius, metric.radius } };
      term.correlation.gradient =
        metric.exactGradient ? LocalCorrelationParameters::Gradient::Exact : LocalCorrelationParameters::Gradient::ANTs;
      term.correlation.power = metric.power == 0 ? 1 : metric.power;
      term.correlation.epsilon = metric.epsilon;
      term.correlation.fixedVariance = fixed.Variance();
      term.correlation.movingVariance = moving.Variance();
      break;
    case RegistrationMetric::Kind::MutualInformation:
      term.histogram.kind = MutualInformationKind::BSpline;
      term.histogram.bins = metric.bins;
      term.histogram.fixedRange = MeasureRange(m_Backend, m_Communicator, images.fixed, fixed);
      term.histogram.movingRange = MeasureRange(m_Backend, m_Communicator, images.moving, moving);
      break;
    case RegistrationMetric::Kind::MeanSquares:
      term.scale = 1 / std::sqrt(fixed.Variance() * moving.Variance());
      break;
  }
}

void
Loss::Begin(const AffineMap &                 physical,
            const WarpView<const float> &     u,
            const WarpView<const float> &     r,
            const std::optional<PlaneRange> & gradients)
{
  const auto planes = std::size_t(m_Planes.end - m_Planes.first);
  m_Warp = u;
  m_FixedMoves = r.IsGiven();
  for (Pair & pair : m_Pairs)
  {
    pair.compared.Begin(physical, u, r, gradients);
    pair.planeGradients.assign(planes, MapGradient{});
  }
  for (Term & term : m_Terms)
  {
    term.sums.planeSums.assign(planes, 0.0);
    term.sums.planeCounts.assign(planes, 0);
  }
  this->CountVoxels(gradients.has_value());
  this->MeasureInformation();
}

void
Loss::PrepareGradients(const PlaneRange & planes)
{
  for (Pair & pair : m_Pairs)
  {
    pair.compared.PrepareGradients(planes);
  }
}

bool
Loss::GradientsComeFromRing() const
{
  return std::any_of(
    m_Pairs.begin(), m_Pairs.end(), [](const Pair & pair) { return pair.compared.GradientsComeFromRing(); });
}

/** Values are means over what masks leave, so gradients of several terms must be, too, to be weighed as the values are.
 * One term alone needs no sweep for that: its scale means nothing to the optimizers. */
void
Loss::CountVoxels(bool withGradient)
{
  for (std::size_t i = 0; i < m_Pairs.size(); ++i)
  {
    Pair &     pair = m_Pairs[i];
    const bool isAsked = std::any_of(m_Terms.begin(), m_Terms.end(), [i](const Term & term) {
      return term.metric.pair == int(i) && term.metric.kind != RegistrationMetric::Kind::MutualInformation;
    });
    pair.counted = this->Domain().Voxels();
    if (!pair.compared.IsMasked() || !isAsked || m_Terms.size() == 1 || !withGradient)
    {
      continue;
    }
    std::int64_t counted = 0;
    for (std::int64_t first = m_Planes.first; first < m_Planes.end; first += m_PlanesAtATime)
    {
      const std::int64_t end = std::min(m_Planes.end, first + m_PlanesAtATime);
      pair.compared.Advance(first, end);
      const VolumeView<const float> moved = pair.compared.Moved().Planes(first, end - first);
      counted += m_Backend.MeanSquares(moved, moved, pair.compared.Mask(), {}, {}, 1).Count();
    }
    m_Communicator.Sum(&counted, 1);
    if (counted == 0)
    {
      throw NothingToCompare();
    }
    pair.counted = counted;
  }
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
    ComparedPair & pair = m_Pairs[std::size_t(term.metric.pair)].compared;
    JointHistogram histogram(term.histogram);
    for (std::int64_t first = m_Planes.first; first < m_Planes.end; first += m_PlanesAtATime)
    {
      const std::int64_t end = std::min(m_Planes.end, first + m_PlanesAtATime);
      pair.Advance(first, end);
      histogram += m_Backend.ComputeJointHistogram(
        term.histogram, pair.Fixed(first, end), pair.Moved().Planes(first, end - first), pair.Mask());
    }
    m_Communicator.Sum(&histogram.samples, 1);
    m_Communicator.Sum(histogram.counts.data(), histogram.counts.size());
    if (histogram.samples == 0)
    {
      throw NothingToCompare();
    }
    term.information = FinishMutualInformation(histogram, m_FixedMoves);
  }
}

Loss::Slopes
Loss::SlopesOf(const Term & term) const
{
  // Windows of no reach bring no planes beside their own, which slopes need. Nor is there a correlation in them.
  if (term.metric.kind != RegistrationMetric::Kind::LocalCorrelation || term.metric.radius == 0)
  {
    return {};
  }
  const auto moved = float(term.metric.movedSlope);
  return { moved, m_FixedMoves ? moved : float(term.metric.fixedSlope) };
}

void
Loss::EvaluateTerm(Term & term, std::int64_t first, std::int64_t end, Gradients wanted)
{
  if (term.metric.kind == RegistrationMetric::Kind::MutualInformation && wanted == Gradients::None)
  {
    return; // Begin() knows the value already
  }
  ComparedPair &     pair = m_Pairs[std::size_t(term.metric.pair)].compared;
  const std::int64_t counted = m_Pairs[std::size_t(term.metric.pair)].counted;
  pair.Advance(first, end);
  const VolumeView<const float>        fixed = pair.Fixed(first, end);
  const VolumeView<const float>        moved = pair.Moved();
  const VolumeView<const float>        movedHere = moved.Planes(first, end - first);
  const VolumeView<const std::uint8_t> mask = pair.Mask();
  const auto                           gradientHere = [&](PlaneWindow<float> & window) {
    if (window.Capacity() == 0)
    {
      window = PlaneWindow<float>(m_Backend, this->Domain(), 1, m_PlanesAtATime);
    }
    window.Restart(first);
    window.Grow(end);
    return window.Volume();
  };
  const VolumeView<float> gradient = wanted != Gradients::None ? gradientHere(m_LossGradient) : VolumeView<float>();
  const VolumeView<float> fixedGradient =
    wanted == Gradients::ForBoth ? gradientHere(m_FixedLossGradient) : VolumeView<float>();
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
      term.correlation.normalizer = counted;
      keep(m_Backend.LocalCorrelation(fixed, moved, mask, first, end - first, term.correlation, outputs));
      break;
    }
    case RegistrationMetric::Kind::MutualInformation:
      m_Backend.MutualInformationGradient(term.information, fixed, movedHere, mask, gradient, fixedGradient);
      break;
    case RegistrationMetric::Kind::MeanSquares:
      keep(m_Backend.MeanSquares(movedHere, fixed.Planes(first, end - first), mask, gradient, fixedGradient, counted));
      break;
  }
}

void
Loss::WarpGradient(std::int64_t first, std::int64_t end, const WarpView<float> & gradient)
{
  bool accumulate = false;
  for (Term & term : m_Terms)
  {
    ComparedPair & pair = m_Pairs[std::size_t(term.metric.pair)].compared;
    const Slopes   slopes = this->SlopesOf(term);
    const auto &   field = pair.Images().field;
    const bool     both = m_FixedMoves || slopes.ofFixed != 0;
    this->EvaluateTerm(term, first, end, both ? Gradients::ForBoth : Gradients::ForMoved);
    // Slopes that are added must not add to the weight. Alone, the scale of a term means nothing to the optimizer.
    const float sum = 1 + slopes.ofMoved + (m_FixedMoves ? 0 : slopes.ofFixed);
    const float scale = m_Terms.size() > 1 ? float(term.metric.weight * term.scale) / sum : 1.0f;
    // There is no slope to what is unknown.
    const auto maskOf = [&](bool ends) { return ends ? pair.Mask() : VolumeView<const std::uint8_t>(); };

    const VolumeView<float> byMoved = m_LossGradient.Volume(), byFixed = m_FixedLossGradient.Volume();
    this->PullBack(pair.SampledMoving(), byMoved, scale, gradient, accumulate);
    accumulate = true;
    if (slopes.ofMoved != 0)
    {
      m_Backend.AddImageSlope(pair.Moved(), maskOf(IsUnknown(field.moving)), byMoved, slopes.ofMoved, gradient);
    }
    float fixedScale = -scale; // the step takes the fixed image the other way
    if (m_FixedMoves)
    {
      this->PullBack(pair.SampledFixed(), byFixed, fixedScale, gradient, accumulate);
      fixedScale = 1;
    }
    if (slopes.ofFixed != 0)
    {
      const VolumeView<const std::uint8_t> mask = maskOf(m_FixedMoves && IsUnknown(field.fixed));
      m_Backend.AddImageSlope(pair.Fixed(first, end), mask, byFixed, fixedScale * slopes.ofFixed, gradient);
    }
  }
}

/** Scales the derivative of the loss by an image that moves, and takes it to the warp that moves it. */
void
Loss::PullBack(SampledImage &            image,
               const VolumeView<float> & lossGradient,
               float                     scale,
               const WarpView<float> &   gradient,
               bool                      accumulate)
{
  if (scale != 1)
  {
    m_Backend.Scale(lossGradient, scale);
  }
  image.SampleBackward(lossGradient, gradient, false, accumulate);
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
    this->EvaluateTerm(term, first, end, Gradients::ForMoved);
    std::vector<MapGradient> planes =
      pair.compared.SampledMoving().SampleBackward(m_LossGradient.Volume(), warpGradient, true);
    if (m_Warp)
    {
      this->AddWarpedMapGradient(pair.compared.Map(), warpGradient, planes);
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
Loss::AddWarpedMapGradient(const CompositeMap &       map,
                           const WarpView<float> &    gradient,
                           std::vector<MapGradient> & planes) const
{
  // X = A (x + u) + t, so dL/dA = sum of d x^T + d u^T, where d = dL/dX. The sampler gives dL/du = A^T d.
  AffineMap A;
  std::copy(map.A, map.A + 9, A.matrix);
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
    this->EvaluateTerm(term, first, end, Gradients::None);
  }
}

double
Loss::MeanOf(const PlaneSums & own) const
{
  PlaneSums all;
  all.planeSums = m_Communicator.Gather(own.planeSums);
  all.planeCounts = { own.Count() };
  m_Communicator.Sum(all.planeCounts.data(), 1);
  if (all.Count() == 0)
  {
    throw NothingToCompare();
  }
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

double
Loss::GradientUnit() const
{
  if (m_Terms.size() == 1)
  {
    return 1 / m_Terms.front().scale;
  }
  double weights = 0; // of values of the order of one
  for (const Term & term : m_Terms)
  {
    weights += std::abs(term.metric.weight);
  }
  return weights;
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
    const AffineMap & P = pair.compared.Images().physicalToMoving;
    const AffineMap & F = pair.compared.Images().fixedToPhysical;
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
