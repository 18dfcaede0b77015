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
#include "ffdpCudaBackend.h"
#include "ffdpDeviceMetric.h"

#include "ffdpTestSupport.h"

#include <gtest/gtest.h>

/** The metrics of ITK's classes on a device, against those of the processor; and on the processor's own backend, which
 * goes the same way through its memory. */
using namespace ffdp;
using namespace ffdp::test;

namespace
{

struct Scene
{
  Extent               grid;
  Volume<float>        fixed, moving;
  Volume<std::uint8_t> mask;
  std::vector<double>  field; ///< interleaved, as ITK has it
  MetricProblem        problem;

  explicit Scene(const Extent & size = { 21, 18, 13 })
    : grid(size)
    , fixed(SmoothVolume(size, 1, 80, 120))
    , moving(SmoothVolume(Extent{ size.x + 2, size.y, size.z + 1 }, 2, 70, 130))
    , mask(RandomMask(moving.domain, 3, 0.9))
  {
    const Warp<float> warp = RandomWarp(size, 4, 0.4);
    for (std::size_t i = 0; i < std::size_t(size.Voxels()); ++i)
    {
      for (const Volume<float> & component : warp.component)
      {
        field.push_back(component.values[i]);
      }
    }
    problem.grid = grid;
    problem.fixed.image = fixed.View();
    problem.moving.image = moving.View();
    problem.moving.map.t[0] = 3.25; // leaves some voxels outside
    problem.moving.map.t[2] = -0.375;
    problem.moving.map.A[1] = 0.01;
    problem.C = { { -1, 0, 0.5, 0, -1, 0, 0, 0.25, -1 } };
    problem.fixed.version = problem.moving.version = problem.moving.maskVersion = 1;
    problem.threads = 1;
  }
  void
  UseField()
  {
    problem.moving.warp = WarpInput(WarpView<const double>::Interleaved(field.data(), 3, grid));
  }
  void
  UseMask()
  {
    problem.moving.mask = mask.View();
  }
  /** Differences that are not along the axes of the image. */
  void
  Turn()
  {
    problem.differences.step[0][0] = problem.differences.step[1][1] = 0.4;
    problem.differences.step[0][1] = 0.3;
    problem.differences.step[1][0] = -0.3;
  }
};

struct Found
{
  MetricResult        result;
  std::vector<double> derivative;
};

template <typename TEvaluate>
Found
Evaluate(const Scene & scene, const TEvaluate & evaluate)
{
  Found            found;
  MetricDerivative derivative;
  found.derivative.assign(std::size_t(3 * scene.grid.Voxels()), 7.0);
  derivative.local = WarpView<double>::Interleaved(found.derivative.data(), 3, scene.grid);
  derivative.moments = true;
  found.result = evaluate(derivative);
  return found;
}

void
ExpectSame(const Found & a, const Found & b)
{
  EXPECT_EQ(a.result.voxels, b.result.voxels);
  EXPECT_EQ(a.result.value, b.result.value);
  EXPECT_TRUE(SameBytes(a.derivative, b.derivative));
  EXPECT_EQ(a.result.moments, b.result.moments);
}

/** Calls body(metric) with a metric on the processor's backend, and one on CUDA's. */
template <typename TBody>
void
OnBothBackends(const TBody & body)
{
  DeviceMetric onCpu(MakeCpuBackend(1));
  body(onCpu);
  DeviceMetric onCuda(MakeCudaBackend());
  body(onCuda);
}

template <typename TBody>
void
ForEachScene(const TBody & body)
{
  for (const int kind : { 0, 1, 2, 3 })
  {
    Scene scene;
    if (kind == 1 || kind == 3)
    {
      scene.UseField();
    }
    if (kind == 2 || kind == 3)
    {
      scene.UseMask();
    }
    if (kind == 3)
    {
      scene.Turn();
    }
    body(scene);
  }
}

} // namespace

TEST(CudaDeviceMetric, MeanSquaresHasTheBitsOfTheProcessor)
{
  ForEachScene([](const Scene & scene) {
    const Found known =
      Evaluate(scene, [&](const MetricDerivative & asked) { return ffdp::EvaluateMeanSquares(scene.problem, asked); });
    EXPECT_LT(known.result.voxels, scene.grid.Voxels());
    OnBothBackends([&](DeviceMetric & metric) {
      ExpectSame(known, Evaluate(scene, [&](const MetricDerivative & asked) {
                   return metric.EvaluateMeanSquares(scene.problem, asked);
                 }));
    });
  });
}

TEST(CudaDeviceMetric, MutualInformationHasTheBitsOfTheProcessor)
{
  for (const auto kind : { MutualInformationKind::Mattes, MutualInformationKind::Gaussian })
  {
    MutualInformationParameters parameters;
    parameters.kind = kind;
    parameters.fixedRange = { 80, 120 };
    parameters.movingRange = { 75, 125 };
    ForEachScene([&](const Scene & scene) {
      const Found known = Evaluate(scene, [&](const MetricDerivative & asked) {
        return ffdp::EvaluateMutualInformation(scene.problem, parameters, asked);
      });
      OnBothBackends([&](DeviceMetric & metric) {
        ExpectSame(known, Evaluate(scene, [&](const MetricDerivative & asked) {
                     return metric.EvaluateMutualInformation(scene.problem, parameters, asked);
                   }));
      });
    });
  }
}

TEST(CudaDeviceMetric, LocalCorrelationIsThatOfTheProcessor)
{
  LocalCorrelationParameters parameters;
  parameters.radius = { { 2, 2, 2 } };
  for (const auto gradient :
       { LocalCorrelationParameters::Gradient::ANTs, LocalCorrelationParameters::Gradient::Exact })
  {
    parameters.gradient = gradient;
    ForEachScene([&](const Scene & scene) {
      const Found known = Evaluate(scene, [&](const MetricDerivative & asked) {
        return ffdp::EvaluateLocalCorrelation(scene.problem, parameters, asked);
      });
      OnBothBackends([&](DeviceMetric & metric) {
        const Found found = Evaluate(scene, [&](const MetricDerivative & asked) {
          return metric.EvaluateLocalCorrelation(scene.problem, parameters, asked);
        });
        // The variance of a window is about a fiftieth of its mean square about the tile's mean, which sums of 125
        // floats know to some 6e-7: 3e-5 for each of three variances, which multiply and divide each other.
        EXPECT_EQ(found.result.voxels, known.result.voxels);
        EXPECT_NEAR(found.result.value, known.result.value, 1e-5);
        EXPECT_LT(MaxDifference(found.derivative, known.derivative), 5e-4 * MaxMagnitude(known.derivative));
      });
    });
  }
}

TEST(CudaDeviceMetric, ImagesStayOnTheDeviceUntilTheyChange)
{
  Scene scene;
  scene.UseMask();
  OnBothBackends([&](DeviceMetric & metric) {
    const std::uint64_t images =
      sizeof(float) * std::uint64_t(scene.grid.Voxels() + 2 * scene.moving.domain.Voxels()); // the mask, too
    scene.problem.moving.version = 1;
    metric.EvaluateMeanSquares(scene.problem, {});
    EXPECT_EQ(metric.UploadedImageBytes(), images);
    metric.EvaluateMeanSquares(scene.problem, {});
    metric.EvaluateLocalCorrelation(scene.problem, {}, {});
    EXPECT_EQ(metric.UploadedImageBytes(), images);

    const double before = metric.EvaluateMeanSquares(scene.problem, {}).value;
    for (float & value : scene.moving.values)
    {
      value += 1;
    }
    scene.problem.moving.version = 2;
    EXPECT_NE(metric.EvaluateMeanSquares(scene.problem, {}).value, before);
    EXPECT_EQ(metric.UploadedImageBytes(), images + sizeof(float) * std::uint64_t(scene.moving.domain.Voxels()));
  });
}

TEST(CudaDeviceMetric, RefusesWhatItCannotDo)
{
  Scene                scene;
  const Volume<double> doubles = scene.moving.As<double>();
  scene.problem.moving.image = doubles.View();
  EXPECT_FALSE(DeviceMetric::WhyNot(scene.problem).empty());
  EXPECT_THROW(DeviceMetric(MakeCudaBackend()).EvaluateMeanSquares(scene.problem, {}), std::invalid_argument);
}
