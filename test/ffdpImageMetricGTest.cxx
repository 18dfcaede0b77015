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

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

using namespace ffdp;

namespace
{

/** Two textures and a map between them that leaves some voxels outside; planes large enough that every metric
 * goes through the grid in several pieces. */
struct Scene
{
  Extent                    grid{ 181, 163, 19 };
  std::vector<float>        fixed;
  std::vector<float>        moving;
  std::vector<std::uint8_t> mask;
  MetricProblem             problem;

  Scene()
    : fixed(Texture(0.11, 0.5))
    , moving(Texture(0.13, 1.0))
    , mask(fixed.size())
  {
    for (std::size_t i = 0; i < mask.size(); ++i)
    {
      mask[i] = i % 181 > 20 || i % 7 == 0;
    }
    problem.grid = grid;
    problem.fixed.image = VolumeView<const float>(fixed.data(), grid);
    problem.moving.image = VolumeView<const float>(moving.data(), grid);
    problem.moving.map.t[0] = 1.25;
    problem.moving.map.t[2] = 0.375;
    problem.moving.map.A[1] = 0.01;
    problem.C = { { -1, 0, 0.5, 0, -1, 0, 0, 0.25, -1 } };
    problem.threads = 2;
  }

  std::vector<float>
  Texture(double frequency, double phase) const
  {
    std::vector<float> values(std::size_t(grid.Voxels()));
    for (std::size_t i = 0; i < values.size(); ++i)
    {
      const double x = double(i % 181), y = double(i / 181 % 163), z = double(i / (181 * 163));
      values[i] =
        float(100 + 20 * std::sin(frequency * x + phase) * std::cos(0.17 * y) + 9 * std::sin(0.4 * z + 0.31 * x));
    }
    return values;
  }

  /** The moving image on the grid, NaN outside. */
  std::vector<float>
  SampledMoving() const
  {
    std::vector<float> values(moving.size());
    SamplerParameters  parameters;
    parameters.border = Border::Edge;
    parameters.outsideValue = std::numeric_limits<float>::quiet_NaN();
    Sample(problem.moving.image.floats, problem.moving.map, {}, VolumeView<float>(values.data(), grid), parameters, 2);
    return values;
  }

  std::vector<std::uint8_t>
  Valid(const std::vector<float> & sampled) const
  {
    std::vector<std::uint8_t> valid(sampled.size());
    for (std::size_t i = 0; i < valid.size(); ++i)
    {
      valid[i] = !std::isnan(sampled[i]) && (!problem.fixed.mask || mask[i] != 0);
    }
    return valid;
  }

  /** d for the whole grid at once. */
  std::vector<float>
  Derivative(const std::vector<float> & weights, std::vector<MapGradient> * moments = nullptr) const
  {
    std::vector<float>             d(3 * weights.size());
    const std::vector<MapGradient> sums = ImageGradient(problem.moving.image,
                                                        problem.moving.map,
                                                        {},
                                                        problem.differences,
                                                        VolumeView<const float>(weights.data(), grid),
                                                        problem.C,
                                                        WarpView<float>::Interleaved(d.data(), 3, grid),
                                                        moments != nullptr,
                                                        2);
    if (moments)
    {
      *moments = sums;
    }
    return d;
  }
};

struct Found
{
  MetricResult       result;
  std::vector<float> derivative;
};

template <typename TEvaluate>
Found
EvaluateLocally(const Scene & scene, const TEvaluate & evaluate)
{
  Found            found;
  MetricDerivative derivative;
  found.derivative.assign(3 * scene.fixed.size(), 7.0f);
  derivative.local = WarpView<float>::Interleaved(found.derivative.data(), 3, scene.grid);
  derivative.moments = true;
  found.result = evaluate(derivative);
  return found;
}

double
LargestDifference(const std::vector<float> & a, const std::vector<float> & b)
{
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
  {
    const double difference = std::abs(double(a[i]) - double(b[i]));
    largest = difference <= largest ? largest : difference;
  }
  return largest;
}

double
LargestMagnitude(const std::vector<float> & a)
{
  return LargestDifference(a, std::vector<float>(a.size(), 0.0f));
}

} // namespace

TEST(ImageMetric, MeanSquaresInPiecesIsThatOfTheWhole)
{
  for (const bool masked : { false, true })
  {
    Scene scene;
    if (masked)
    {
      scene.problem.fixed.mask = VolumeView<const std::uint8_t>(scene.mask.data(), scene.grid);
    }
    const std::vector<float>        sampled = scene.SampledMoving();
    const std::vector<std::uint8_t> valid = scene.Valid(sampled);
    std::vector<float>              weights(sampled.size());
    const MeanSquaresResult         whole = MeanSquares(VolumeView<const float>(sampled.data(), scene.grid),
                                                VolumeView<const float>(scene.fixed.data(), scene.grid),
                                                VolumeView<const std::uint8_t>(valid.data(), scene.grid),
                                                VolumeView<float>(weights.data(), scene.grid),
                                                {},
                                                1,
                                                2);
    std::vector<MapGradient>        moments;
    const std::vector<float>        derivative = scene.Derivative(weights, &moments);
    const Found                     found =
      EvaluateLocally(scene, [&](const MetricDerivative & asked) { return EvaluateMeanSquares(scene.problem, asked); });
    EXPECT_EQ(found.result.voxels, whole.Count());
    EXPECT_LT(found.result.voxels, scene.grid.Voxels());
    EXPECT_EQ(found.result.value, whole.Loss());
    EXPECT_EQ(found.derivative, derivative);
    EXPECT_EQ(found.result.moments, AddPlanes(moments));
  }
}

TEST(ImageMetric, LocalCorrelationInPiecesIsThatOfTheWhole)
{
  for (const auto gradient :
       { LocalCorrelationParameters::Gradient::ANTs, LocalCorrelationParameters::Gradient::Exact })
  {
    const Scene                     scene;
    const std::vector<float>        sampled = scene.SampledMoving();
    const std::vector<std::uint8_t> valid = scene.Valid(sampled);
    std::vector<float>              weights(sampled.size());
    LocalCorrelationParameters      parameters;
    parameters.gradient = gradient;
    parameters.flatValue = 1;
    LocalCorrelationParameters ofWhole = parameters;
    ofWhole.normalizer = 1;
    ofWhole.fixedVariance = ofWhole.movingVariance = 200;
    LocalCorrelationOutputs outputs;
    outputs.movingGradient = VolumeView<float>(weights.data(), scene.grid);
    const LocalCorrelationResult whole = LocalCorrelation(VolumeView<const float>(scene.fixed.data(), scene.grid),
                                                          VolumeView<const float>(sampled.data(), scene.grid),
                                                          VolumeView<const std::uint8_t>(valid.data(), scene.grid),
                                                          ofWhole,
                                                          outputs,
                                                          2);
    const std::vector<float>     derivative = scene.Derivative(weights);
    const Found                  found = EvaluateLocally(scene, [&](const MetricDerivative & asked) {
      return EvaluateLocalCorrelation(scene.problem, parameters, asked);
    });
    EXPECT_EQ(found.result.voxels, whole.Count());
    // the estimated variances scale products in float: some roundings of 2^-24 of each term
    EXPECT_NEAR(found.result.value, whole.Loss(), 1e-6);
    EXPECT_LE(LargestDifference(found.derivative, derivative), 1e-5 * LargestMagnitude(derivative));
    EXPECT_GT(LargestMagnitude(derivative), 0);
  }
}

TEST(ImageMetric, LocalCorrelationOfExtremeIntensitiesStaysInRange)
{
  Scene scene;
  for (float & value : scene.moving)
  {
    value *= 1e15f; // variances of 1e32: their product is beyond a float
  }
  for (float & value : scene.fixed)
  {
    value *= 1e12f;
  }
  const Scene        plain;
  const MetricResult expected = EvaluateLocalCorrelation(plain.problem, {}, {});
  const MetricResult found = EvaluateLocalCorrelation(scene.problem, {}, {});
  EXPECT_NEAR(found.value, expected.value, 1e-4);
  EXPECT_LT(expected.value, -0.1);
}

TEST(ImageMetric, MutualInformationInPiecesIsThatOfTheWhole)
{
  for (const auto kind : { MutualInformationKind::Mattes, MutualInformationKind::Gaussian })
  {
    const Scene                 scene;
    const std::vector<float>    sampled = scene.SampledMoving();
    std::vector<float>          weights(sampled.size());
    MutualInformationParameters parameters;
    parameters.kind = kind;
    parameters.fixedRange = MeasureIntensityRange(scene.problem.fixed, 2);
    parameters.movingRange = MeasureIntensityRange(scene.problem.moving, 2);
    const double value = ComputeMutualInformation(parameters,
                                                  VolumeView<const float>(scene.fixed.data(), scene.grid),
                                                  VolumeView<const float>(sampled.data(), scene.grid),
                                                  {},
                                                  VolumeView<float>(weights.data(), scene.grid),
                                                  {},
                                                  2);
    const Found  found = EvaluateLocally(scene, [&](const MetricDerivative & asked) {
      return EvaluateMutualInformation(scene.problem, parameters, asked);
    });
    EXPECT_EQ(found.result.value, value);
    EXPECT_EQ(found.derivative, scene.Derivative(weights));
    EXPECT_LT(value, -0.01);
  }
}

TEST(ImageMetric, BackgroundOfTheLowestIntensityCounts)
{
  // The sampler adds the planes around a point with two weights: among equal voxels that may end one rounding below.
  Scene scene;
  for (float & value : scene.moving)
  {
    value = std::max(value, 95.1f);
  }
  scene.problem.moving.map.t[0] = 0;
  scene.problem.moving.map.A[1] = 0;
  scene.problem.moving.map.A[8] = 0.93; // weights of all kinds, all voxels inside
  scene.problem.moving.map.A[6] = 0.001;
  MutualInformationParameters parameters;
  parameters.kind = MutualInformationKind::Mattes;
  parameters.fixedRange = MeasureIntensityRange(scene.problem.fixed, 2);
  parameters.movingRange = MeasureIntensityRange(scene.problem.moving, 2);
  EXPECT_EQ(parameters.movingRange.low, 95.1f);
  EXPECT_EQ(EvaluateMutualInformation(scene.problem, parameters, {}).voxels, scene.grid.Voxels());
}

TEST(ImageMetric, RangeLeavesOutWhatIsMaskedOrNotFinite)
{
  Scene scene;
  scene.fixed[100] = std::numeric_limits<float>::infinity();
  scene.fixed[101] = std::numeric_limits<float>::quiet_NaN();
  scene.fixed[102] = -500;
  scene.fixed[103] = 900;
  EXPECT_EQ(MeasureIntensityRange(scene.problem.fixed).low, -500);
  EXPECT_EQ(MeasureIntensityRange(scene.problem.fixed).high, 900);
  scene.mask[102] = 0;
  scene.problem.fixed.mask = VolumeView<const std::uint8_t>(scene.mask.data(), scene.grid);
  EXPECT_GT(MeasureIntensityRange(scene.problem.fixed).low, 50);
  EXPECT_EQ(MeasureIntensityRange(scene.problem.fixed).high, 900);
  scene.problem.fixed.toMask.offset[0] = 1e6; // beside the image
  EXPECT_GT(MeasureIntensityRange(scene.problem.fixed).low, MeasureIntensityRange(scene.problem.fixed).high);
}

TEST(ImageMetric, NothingInsideIsNoVoxels)
{
  Scene scene;
  scene.problem.moving.map.t[1] = 1e6;
  MutualInformationParameters parameters;
  parameters.fixedRange = parameters.movingRange = IntensityRange{ 0, 200 };
  for (const MetricResult & result : { EvaluateMeanSquares(scene.problem, {}),
                                       EvaluateLocalCorrelation(scene.problem, {}, {}),
                                       EvaluateMutualInformation(scene.problem, parameters, {}) })
  {
    EXPECT_EQ(result.voxels, 0);
    EXPECT_EQ(result.value, 0);
  }
}

TEST(ImageMetric, RefusesWhatDoesNotFit)
{
  Scene              scene;
  std::vector<float> small(30);
  MetricDerivative   derivative;
  derivative.local = WarpView<float>::Interleaved(small.data(), 3, Extent{ 10, 1, 1 });
  EXPECT_THROW(EvaluateMeanSquares(scene.problem, derivative), std::invalid_argument); // derivative of another size
  scene.problem.moving.image = ImageInput();
  EXPECT_THROW(EvaluateMeanSquares(scene.problem, {}), std::invalid_argument); // no moving image
  EXPECT_THROW(MeasureIntensityRange(scene.problem.moving), std::invalid_argument);
  scene.problem.grid = Extent{ 0, 1, 1 };
  EXPECT_THROW(EvaluateLocalCorrelation(scene.problem, {}, {}), std::invalid_argument); // no voxels
}
