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
#include "ffdpBenchmarkCase.h"
#include "ffdpBenchmarkData.h"

#include "ffdpAdam.h"
#include "ffdpComposition.h"
#include "ffdpDownsample.h"
#include "ffdpGaussian.h"
#include "ffdpLocalCorrelation.h"
#include "ffdpMeanSquares.h"
#include "ffdpMutualInformation.h"
#include "ffdpSampler.h"

#include <memory>

namespace ffdp
{
namespace benchmark
{
namespace
{

constexpr double warpAmplitude = 3;   // voxels
constexpr double stepAmplitude = 0.5; // voxels: an update's, which is bounded

/** A similarity metric with its gradient for the moving image. */
using Metric = std::function<void(const VolumeView<const float> & fixed,
                                  const VolumeView<const float> & moving,
                                  const VolumeView<float> &       gradient,
                                  unsigned                        threads)>;

Metric
LocalCorrelationMetric(LocalCorrelationParameters::Gradient kind)
{
  return [kind](const auto & fixed, const auto & moving, const auto & gradient, unsigned threads) {
    LocalCorrelationParameters parameters;
    parameters.radius = { { 3, 3, 3 } };
    parameters.gradient = kind;
    LocalCorrelationOutputs outputs;
    outputs.movingGradient = gradient;
    LocalCorrelation(fixed, moving, {}, parameters, outputs, threads);
  };
}

Metric
MutualInformationMetric(MutualInformationKind kind)
{
  return [kind](const auto & fixed, const auto & moving, const auto & gradient, unsigned threads) {
    MutualInformationParameters parameters;
    parameters.kind = kind;
    parameters.bins = 32;
    ComputeMutualInformation(parameters, fixed, moving, {}, gradient, {}, threads);
  };
}

Metric
MeanSquaresMetric()
{
  return [](const auto & fixed, const auto & moving, const auto & gradient, unsigned threads) {
    MeanSquares(moving, fixed, {}, gradient, {}, 0, threads);
  };
}

/** The metric alone, of two images on one grid. */
MakeWork
MetricAlone(const Metric & metric)
{
  return [metric](const Extent & size, unsigned threads) -> Work {
    struct Data
    {
      Image fixed, moving, gradient;
    };
    const auto data = std::make_shared<Data>(Data{ MakeImage(size, 1), MakeImage(size, 2), Image(size) });
    return [=] { metric(data->fixed.View(), data->moving.View(), data->gradient.View(), threads); };
  };
}

/** What ITK's metrics do in GetValueAndDerivative: warp the moving image, and give the gradient for the field. */
MakeWork
MetricThroughField(const Metric & metric)
{
  return [metric](const Extent & size, unsigned threads) -> Work {
    struct Data
    {
      Image fixed, moving, moved, gradient;
      Field u, uGradient;
    };
    const auto data = std::make_shared<Data>(Data{
      MakeImage(size, 1), MakeImage(size, 2), Image(size), Image(size), MakeField(size, warpAmplitude), Field(size) });
    return [=] {
      Sample(data->moving.View(), {}, data->u.View(), data->moved.View(), {}, threads);
      metric(data->fixed.View(), data->moved.View(), data->gradient.View(), threads);
      SampleBackward(
        data->moving.View(), {}, data->u.View(), data->gradient.View(), data->uGradient.View(), false, {}, threads);
    };
  };
}

Work
SamplerForward(const Extent & size, unsigned threads)
{
  struct Data
  {
    Image moving, moved;
    Field u;
  };
  const auto data = std::make_shared<Data>(Data{ MakeImage(size, 2), Image(size), MakeField(size, warpAmplitude) });
  return [=] { Sample(data->moving.View(), {}, data->u.View(), data->moved.View(), {}, threads); };
}

Work
SamplerBackward(const Extent & size, unsigned threads)
{
  struct Data
  {
    Image moving, gradient;
    Field u, uGradient;
  };
  const auto data =
    std::make_shared<Data>(Data{ MakeImage(size, 2), MakeImage(size, 3), MakeField(size, warpAmplitude), Field(size) });
  return [=] {
    SampleBackward(
      data->moving.View(), {}, data->u.View(), data->gradient.View(), data->uGradient.View(), false, {}, threads);
  };
}

Work
GaussianWarp(const Extent & size, unsigned threads)
{
  const auto u = std::make_shared<Field>(MakeField(size, warpAmplitude));
  return [=] { SmoothGaussian(u->View(), GaussianParameters(), threads); };
}

Work
Compose(const Extent & size, unsigned threads)
{
  struct Data
  {
    Field u, v;
  };
  const auto data = std::make_shared<Data>(Data{ MakeField(size, warpAmplitude), MakeField(size, stepAmplitude) });
  return [=] {
    CompositionParameters parameters;
    parameters.boundAlongZ = float(stepAmplitude); // the optimizer knows it
    ComposeWarps(data->u.View(), data->v.View(), parameters, threads);
  };
}

Work
Adam(const Extent & size, unsigned threads)
{
  struct Data
  {
    Field gradient, firstMoment;
    Image secondMoment;
  };
  const auto data = std::make_shared<Data>(Data{ MakeField(size, 1), Field(size), Image(size) });
  return [=] {
    AdamStep(data->gradient.View(), data->firstMoment.View(), data->secondMoment.View(), AdamParameters(), threads);
  };
}

Work
DownsampleByTwo(const Extent & size, unsigned threads)
{
  struct Data
  {
    Image fine, coarse;
  };
  const Extent half{ size.x / 2, size.y / 2, size.z / 2 };
  const auto   data = std::make_shared<Data>(Data{ MakeImage(size, 1), Image(half) });
  return [=] {
    Downsample(data->fine.View(),
               data->coarse.View(),
               GridMap::Centered(data->fine.size, data->coarse.size),
               DownsampleParameters(),
               threads);
  };
}

BenchmarkCase
MetricCase(const std::string & name, double bytesPerVoxel, const Metric & metric, const ItkCounterpart & itk)
{
  return { name, bytesPerVoxel, MetricAlone(metric), &itk, MetricThroughField(metric) };
}

} // namespace

std::vector<BenchmarkCase>
PrimitiveCases()
{
  using Gradient = LocalCorrelationParameters::Gradient;
  using MI = MutualInformationKind;
  return {
    // Both images in, one gradient out.
    MetricCase("lncc_ants", 12, LocalCorrelationMetric(Gradient::ANTs), ItkNeighborhoodCorrelation()),
    MetricCase("lncc_exact", 12, LocalCorrelationMetric(Gradient::Exact), ItkNeighborhoodCorrelation()),
    // Both images in for the histogram; both again for the gradient, which comes out.
    MetricCase("mi_bspline", 20, MutualInformationMetric(MI::BSpline), ItkMattes()),
    MetricCase("mi_approximate", 20, MutualInformationMetric(MI::Approximate), ItkMattes()),
    MetricCase("mi_mattes", 20, MutualInformationMetric(MI::Mattes), ItkMattes()),
    MetricCase("mean_squares", 12, MeanSquaresMetric(), ItkMeanSquares()),
    // Field and image in, moved image out.
    { "sampler_forward", 20, SamplerForward, &ItkResample(), {} },
    // The same 20 by definition; in truth also the gradient in and three components out instead of one.
    { "sampler_backward", 20, SamplerBackward, nullptr, {} },
    // Three components in and out.
    { "gaussian_warp", 24, GaussianWarp, &ItkRecursiveGaussian(), {} },
    // Two fields in, one out.
    { "compose", 36, Compose, &ItkCompose(), {} },
    // Gradient and two moments, three components each, in and out.
    { "adam", 44, Adam, nullptr, {} },
    // The image in, an eighth of it out.
    { "downsample", 4.5, DownsampleByTwo, &ItkDiscreteGaussianAndShrink(), {} },
  };
}

} // namespace benchmark
} // namespace ffdp
