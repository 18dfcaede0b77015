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
#ifndef ffdpRegistrationTestSupport_h
#define ffdpRegistrationTestSupport_h

#include "ffdpGaussian.h"
#include "ffdpRegistration.h"
#include "ffdpTestSupport.h"
#include "ffdpWarpGrid.h"

#include <gtest/gtest.h>

#include <cmath>

/** Images to register, maps and warps that are known, and stages to find them with. */
namespace ffdp
{
namespace test
{

using Kind = RegistrationStage::Kind;
using Metric = RegistrationMetric::Kind;

/** Something like an organ, as a function of space (mm): an ellipsoid with soft blobs and a texture, and exactly 0
 * outside, so that no faint halo of it can be aligned. */
inline double
Phantom(const std::array<double, 3> & p)
{
  const double r = std::sqrt(p[0] * p[0] / 576 + p[1] * p[1] / 400 + p[2] * p[2] / 289);
  const double edge = std::min(1.0, std::max(0.0, (1.08 - r) / 0.16));
  const double organ = edge * edge * (3 - 2 * edge);
  double value = 100 + 18 * std::sin(p[0] / 2.1 + std::sin(p[1] / 4)) * std::sin(p[1] / 2.4 + std::sin(p[2] / 5)) *
                         std::sin(p[2] / 2.2 + std::sin(p[0] / 3));
  const double blobs[6][5] = { { 8, 4, -5, 5, 60 },   { -10, 3, 4, 6, -50 }, { 2, -9, 7, 4, 70 },
                               { -4, -6, -8, 5, 40 }, { 12, -4, 3, 4, -60 }, { -2, 10, -2, 5, 55 } };
  for (const auto & b : blobs)
  {
    const double d = (p[0] - b[0]) * (p[0] - b[0]) + (p[1] - b[1]) * (p[1] - b[1]) + (p[2] - b[2]) * (p[2] - b[2]);
    value += b[4] * std::exp(-d / (2 * b[3] * b[3]));
  }
  return organ * value;
}

/** An image of Phantom(map(x)), centered at the origin of space. */
struct TestImage
{
  Volume<float> voxels;
  AffineMap     indexToPhysical;

  template <typename TMap>
  TestImage(const Extent & size, const std::array<double, 3> & spacing, const TMap & map)
    : voxels(size)
  {
    const std::int64_t count[3] = { size.x, size.y, size.z };
    for (int axis = 0; axis < 3; ++axis)
    {
      indexToPhysical.matrix[4 * axis] = spacing[std::size_t(axis)];
      indexToPhysical.offset[axis] = -0.5 * spacing[std::size_t(axis)] * double(count[axis] - 1);
    }
    for (std::int64_t z = 0; z < size.z; ++z)
      for (std::int64_t y = 0; y < size.y; ++y)
        for (std::int64_t x = 0; x < size.x; ++x)
        {
          voxels.At(x, y, z) = float(Phantom(map(indexToPhysical({ { double(x), double(y), double(z) } }))));
        }
  }
  /** The part without so many voxels at each end of each axis: with many, nothing but the inside of the organ. */
  TestImage
  Cropped(std::int64_t margin) const
  {
    TestImage      part = *this;
    const Extent & size = voxels.domain;
    part.voxels = Volume<float>({ size.x - 2 * margin, size.y - 2 * margin, size.z - 2 * margin });
    for (std::int64_t z = 0; z < part.voxels.domain.z; ++z)
      for (std::int64_t y = 0; y < part.voxels.domain.y; ++y)
        for (std::int64_t x = 0; x < part.voxels.domain.x; ++x)
        {
          part.voxels.At(x, y, z) = voxels.At(x + margin, y + margin, z + margin);
        }
    const std::array<double, 3> corner = indexToPhysical({ { double(margin), double(margin), double(margin) } });
    std::copy(corner.begin(), corner.end(), part.indexToPhysical.offset);
    return part;
  }
  PlacedImage
  Placed() const
  {
    return { voxels.View(), indexToPhysical };
  }
  /** So that what shows nothing is not 0, as in CT, where air is -1000. */
  void
  Add(float value)
  {
    for (float & voxel : voxels.values)
    {
      voxel += value;
    }
  }
};

inline std::array<double, 3>
Same(const std::array<double, 3> & p)
{
  return p;
}

/** A known affine map, y = A x + t. */
inline AffineMap
SomeMap(double angle, double growth, const std::array<double, 3> & shift)
{
  const double c = std::cos(angle) * growth, s = std::sin(angle) * growth;
  return AffineMap{ { c, -s, 0, s, c, 0, 0, 0, growth }, { shift[0], shift[1], shift[2] } };
}

/** An image whose axes are turned about the second one. */
template <typename TMap>
TestImage
TurnedImage(const Extent & size, double degrees, const TMap & map)
{
  const double    angle = degrees * std::acos(-1.0) / 180;
  const double    c = std::cos(angle), s = std::sin(angle);
  const AffineMap turn{ { c, 0, -s, 0, 1, 0, s, 0, c }, {} };
  TestImage       image(size, { { 1, 1, 1 } }, [&](const std::array<double, 3> & p) { return map(turn(p)); });
  image.indexToPhysical = Compose(turn, image.indexToPhysical);
  return image;
}

/** Largest distance between what a map and the true one do to points of the organ. */
inline double
MapError(const AffineMap & found, const AffineMap & truth)
{
  double largest = 0;
  for (const double x : { -20.0, 20.0 })
    for (const double y : { -16.0, 16.0 })
      for (const double z : { -14.0, 14.0 })
      {
        const std::array<double, 3> q{ { x, y, z } };
        const auto                  p = found(truth.Inverse()(q));
        largest = std::max(largest, std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]));
      }
  return largest;
}

inline RegistrationStage
LinearStage(Kind kind, Metric metric)
{
  RegistrationStage stage;
  stage.kind = kind;
  stage.metrics.front().kind = metric;
  stage.shrinkFactors = { 2, 1 };
  stage.iterations = { 80, 60 };
  stage.learningRate = 0.5;
  return stage;
}

inline RegistrationResult
RunStages(const std::vector<ImagePair> & pairs, const std::vector<RegistrationStage> & stages, unsigned threads = 2)
{
  const auto backend = MakeCpuBackend(threads);
  const auto self = MakeSelfCommunicator();
  return Register(*backend, *self, pairs, AffineMap(), stages);
}

/** The warp in mm that the greedy tests look for: y = x + u(x), smooth, up to 3 mm, nothing at the border. */
inline std::array<double, 3>
KnownWarp(const std::array<double, 3> & p)
{
  const double fade = std::exp(-(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) / 450);
  return { { p[0] + 3.0 * fade * std::sin(p[1] / 8),
             p[1] + 2.5 * fade * std::cos(p[2] / 9),
             p[2] + 2 * fade * std::sin(p[0] / 7) } };
}

/** A warp with many places where it folds or is near it, in voxels; 1 and more are steep. */
inline Warp<float>
SteepWarp(const Extent & size, unsigned seed, double steepness)
{
  constexpr double   Sigma = 5;
  GaussianParameters smoothing;
  std::fill_n(smoothing.sigma, 3, Sigma);
  Warp<float> warp = RandomWarp(size, seed, 1);
  SmoothGaussian(warp.View(), smoothing);
  const double scale = steepness * 3 * Sigma / MeasureWarp(warp.View()).norm;
  for (Volume<float> & component : warp.component)
  {
    for (float & value : component.values)
    {
      value = float(scale * double(value));
    }
  }
  return warp;
}

const Extent                FixedSize{ 56, 50, 44 };
const std::array<double, 3> Isotropic{ { 1, 1, 1 } };

inline RegistrationStage
GreedyStage()
{
  RegistrationStage stage;
  stage.kind = Kind::Greedy;
  stage.shrinkFactors = { 2, 1 };
  stage.iterations = { 60, 40 };
  stage.learningRate = 0.5;
  stage.gradientSigma = 1.7;
  stage.warpSigma = 0.5;
  return stage;
}

/** Mean distance, over the organ, of a warp from KnownWarp. */
inline double
WarpError(const RegistrationResult & result, const TestImage & fixed)
{
  const Extent &     size = fixed.voxels.domain;
  const std::int64_t n = size.Voxels();
  double             sum = 0, count = 0;
  for (std::int64_t i = 0; i < n; ++i)
  {
    const std::array<double, 3> x{ { double(i % size.x), double(i / size.x % size.y), double(i / size.x / size.y) } };
    const auto                  p = fixed.indexToPhysical(x);
    if (fixed.voxels.values[std::size_t(i)] > 60)
    {
      const std::array<double, 3> moved{ { x[0] + result.warp[std::size_t(i)],
                                           x[1] + result.warp[std::size_t(i + n)],
                                           x[2] + result.warp[std::size_t(i + 2 * n)] } };
      const auto                  y = result.affine(fixed.indexToPhysical(moved));
      const auto                  known = KnownWarp(p);
      sum += std::hypot(y[0] - known[0], y[1] - known[1], y[2] - known[2]);
      count += 1;
    }
  }
  return sum / count;
}

} // namespace test
} // namespace ffdp

#endif
