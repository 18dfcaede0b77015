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
#include "ffdpGaussian.h"
#include "ffdpJacobian.h"
#include "ffdpRegistration.h"

#include "ffdpRegistrationTestSupport.h"
#include "ffdpTestSupport.h"
#include "ffdpWarpReference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

using namespace ffdp;
using namespace ffdp::test;

namespace
{

struct RoundTrip
{
  double mean = 0;
  double largest = 0;
};

Warp<float>
WarpOf(const std::vector<float> & values, const Extent & size)
{
  Warp<float>        warp(size);
  const std::int64_t n = size.Voxels();
  for (int c = 0; c < 3; ++c)
  {
    std::copy(values.begin() + c * n, values.begin() + (c + 1) * n, warp.component[c].values.begin());
  }
  return warp;
}

/** How far b after a moves voxels that are, before and after a, three voxels or more inside the grid. */
RoundTrip
OneAfterTheOther(const Warp<float> & a, const Warp<float> & b)
{
  const Extent       size = a.component[0].domain;
  const Warp<double> rest = ReferenceCompose(AsDouble(b), AsDouble(a), 1, WarpBorder::Edge);
  const auto         isInside = [](double at, std::int64_t count) { return at >= 3 && at <= double(count - 4); };
  RoundTrip          trip;
  double             count = 0;
  for (std::int64_t z = 3; z < size.z - 3; ++z)
    for (std::int64_t y = 3; y < size.y - 3; ++y)
      for (std::int64_t x = 3; x < size.x - 3; ++x)
      {
        if (isInside(double(x) + double(a.component[0].At(x, y, z)), size.x) &&
            isInside(double(y) + double(a.component[1].At(x, y, z)), size.y) &&
            isInside(double(z) + double(a.component[2].At(x, y, z)), size.z))
        {
          const double length =
            std::hypot(rest.component[0].At(x, y, z), rest.component[1].At(x, y, z), rest.component[2].At(x, y, z));
          trip.mean += length;
          trip.largest = std::max(trip.largest, length);
          count += 1;
        }
      }
  trip.mean /= count;
  return trip;
}

/** u at a point between voxels. */
std::array<double, 3>
At(const Warp<float> & u, const std::array<double, 3> & point)
{
  const Extent          size = u.component[0].domain;
  const std::int64_t    sizes[3] = { size.x, size.y, size.z };
  std::int64_t          low[3];
  double                f[3];
  std::array<double, 3> value{};
  for (std::size_t a = 0; a < 3; ++a)
  {
    const double x = std::min(std::max(point[a], 0.0), double(sizes[a] - 1));
    low[a] = std::min(std::int64_t(x), sizes[a] - 2);
    f[a] = x - double(low[a]);
  }
  for (std::size_t c = 0; c < 3; ++c)
    for (int corner = 0; corner < 8; ++corner)
    {
      const int i = corner % 2, j = corner / 2 % 2, k = corner / 4;
      value[c] += (i ? f[0] : 1 - f[0]) * (j ? f[1] : 1 - f[1]) * (k ? f[2] : 1 - f[2]) *
                  double(u.component[c].At(low[0] + i, low[1] + j, low[2] + k));
    }
  return value;
}

/** The same for points at thirds of cells. */
RoundTrip
OneAfterTheOtherBetweenVoxels(const Warp<float> & a, const Warp<float> & b)
{
  const Extent size = a.component[0].domain;
  const double last[3] = { double(size.x - 4), double(size.y - 4), double(size.z - 4) };
  RoundTrip    trip;
  double       count = 0;
  for (double z = 3 + 1.0 / 6; z < last[2]; z += 1.0 / 3)
    for (double y = 3 + 1.0 / 6; y < last[1]; y += 1.0 / 3)
      for (double x = 3 + 1.0 / 6; x < last[0]; x += 1.0 / 3)
      {
        const std::array<double, 3> from{ x, y, z }, u = At(a, from);
        const std::array<double, 3> to{ x + u[0], y + u[1], z + u[2] };
        if (to[0] < 3 || to[0] > last[0] || to[1] < 3 || to[1] > last[1] || to[2] < 3 || to[2] > last[2])
        {
          continue;
        }
        const std::array<double, 3> w = At(b, to);
        const double                length = std::hypot(u[0] + w[0], u[1] + w[1], u[2] + w[2]);
        trip.mean += length;
        trip.largest = std::max(trip.largest, length);
        count += 1;
      }
  trip.mean /= count;
  return trip;
}

/** The share of voxels of w, four or more inside the grid, that are further than 0.2 from the inverse of u. */
double
ShareFarFromInverse(const Warp<float> & u, const Warp<float> & w)
{
  const Extent size = w.component[0].domain;
  Warp<float>  exact = w;
  RefineInverse(u.View(), exact.View());
  double far = 0, count = 0;
  for (std::int64_t z = 4; z < size.z - 4; ++z)
    for (std::int64_t y = 4; y < size.y - 4; ++y)
      for (std::int64_t x = 4; x < size.x - 4; ++x)
      {
        double way[3];
        for (int c = 0; c < 3; ++c)
        {
          way[c] = double(exact.component[c].At(x, y, z)) - double(w.component[c].At(x, y, z));
        }
        far += std::hypot(way[0], way[1], way[2]) > 0.2 ? 1 : 0;
        count += 1;
      }
  return far / count;
}

/** The smallest determinant in a corner of a cell. */
double
SmallestInCells(const Warp<float> & u)
{
  JacobianParameters parameters;
  parameters.differences = JacobianDifferences::LeastOneSided;
  return JacobianDeterminant(u.View(), 0, u.component[0].domain.z, {}, {}, parameters).minimum;
}

} // namespace

TEST(InverseConsistency, SteepWarpsAndTheirInversesAgreeInBothOrders)
{
  const Extent       size{ 56, 50, 44 };
  const TestImage    image(size, Isotropic, Same);
  const Warp<float>  steep = WavyWarp(size);
  std::vector<float> values;
  for (const Volume<float> & component : steep.component)
  {
    values.insert(values.end(), component.values.begin(), component.values.end());
  }
  RegistrationStart start;
  start.warp = WarpView<const float>::Planar(values.data(), size);
  RegistrationStage stage; // hardly a step: what is given is what is to be inverted
  stage.shrinkFactors = { 1 };
  stage.iterations = { 1 };
  stage.learningRate = 1e-4;
  stage.gradientSigma = 1.7;
  stage.warpSigma = 0;
  stage.metrics.front().kind = Metric::MeanSquares;

  // An inverse that is exact at its own voxels is not one between them.
  Warp<float> exact(size);
  InvertWarp(steep.View(), exact.View());
  RefineInverse(steep.View(), exact.View());
  EXPECT_GT(OneAfterTheOther(steep, exact).largest, 1);
  EXPECT_GT(OneAfterTheOther(steep, exact).mean, 0.1);

  const auto self = MakeSelfCommunicator();
  for (const unsigned threads : { 1u, 3u })
  {
    const auto backend = MakeCpuBackend(threads);
    const auto result = Register(*backend, *self, { { image.Placed(), image.Placed(), {}, {} } }, start, { stage });
    const Warp<float> warp = WarpOf(result.warp, size), inverse = WarpOf(result.inverseWarp, size);
    const RoundTrip   forward = OneAfterTheOther(warp, inverse), backward = OneAfterTheOther(inverse, warp);
    EXPECT_LT(forward.mean, 0.1);
    EXPECT_LE(forward.largest, 0.3001);
    EXPECT_LT(backward.mean, 0.1);
    EXPECT_LE(backward.largest, 0.3001);
    EXPECT_LE(std::max(forward.largest, backward.largest), result.inverseResidual + 1e-4);
    EXPECT_LE(result.inverseResidual, 0.3001);
    EXPECT_GT(result.ironed, 0);
    EXPECT_GE(result.smallestJacobian, 0.05f);
    EXPECT_LT(MaxDifference(warp, AsDouble(steep)), 3); // the warp is still this one
    EXPECT_LT(SmallestInCells(steep), 0.01);            // which nearly folds
    EXPECT_GE(SmallestInCells(warp), 0.05);
    EXPECT_EQ(result.folds, 0);
    EXPECT_GE(SmallestInCells(inverse), 0.01);
    EXPECT_EQ(result.inverseFolds, 0);
    EXPECT_GE(result.smallestInverseJacobian, 0.01);
    EXPECT_LE(OneAfterTheOtherBetweenVoxels(warp, inverse).largest, 0.5);
    EXPECT_LE(OneAfterTheOtherBetweenVoxels(inverse, warp).largest, 0.5);
  }
}

TEST(InverseConsistency, RoughRegistrationsEndInWarpsThatAgreeWithTheirInverses)
{
  SKIP_IF_SANITIZED();
  const TestImage   fixed(FixedSize, Isotropic, KnownWarp);
  const TestImage   moving(FixedSize, Isotropic, Same);
  RegistrationStage rough = GreedyStage(); // long steps and little smoothing: steep
  rough.learningRate = 1.5;
  rough.warpSigma = 0;
  rough.gradientSigma = 0.7;
  for (const Kind kind : { Kind::Greedy, Kind::SyN })
  {
    rough.kind = kind;
    const auto        result = RunStages({ { fixed.Placed(), moving.Placed(), {}, {} } }, { rough });
    const Warp<float> warp = WarpOf(result.warp, FixedSize), inverse = WarpOf(result.inverseWarp, FixedSize);
    for (const RoundTrip & trip : { OneAfterTheOther(warp, inverse), OneAfterTheOther(inverse, warp) })
    {
      EXPECT_LT(trip.mean, 0.1);
      EXPECT_LE(trip.largest, 0.3001);
    }
    for (const RoundTrip & trip :
         { OneAfterTheOtherBetweenVoxels(warp, inverse), OneAfterTheOtherBetweenVoxels(inverse, warp) })
    {
      EXPECT_LT(trip.mean, 0.1);
      EXPECT_LE(trip.largest, 0.5);
    }
    EXPECT_GE(SmallestInCells(warp), 0.05);
    EXPECT_GE(SmallestInCells(inverse), 0.01);
    EXPECT_LT(ShareFarFromInverse(warp, inverse), 1e-3); // three to five times that if only errors counted, not ways
    EXPECT_LT(ShareFarFromInverse(inverse, warp), 1e-3);
  }
}

namespace
{

/** A registration that does hardly a step from a warp: what remains is the end of a run. */
RegistrationResult
BringHome(const Warp<float> & warp)
{
  const Extent &    size = warp.component[0].domain;
  const TestImage   image(size, Isotropic, Same);
  RegistrationStage stage;
  stage.shrinkFactors = { 1 };
  stage.iterations = { 1 };
  stage.learningRate = 1e-4;
  stage.gradientSigma = 1.7;
  stage.warpSigma = 0;
  stage.metrics.front().kind = Metric::MeanSquares;
  std::vector<float> values;
  for (const Volume<float> & component : warp.component)
  {
    values.insert(values.end(), component.values.begin(), component.values.end());
  }
  RegistrationStart start;
  start.warp = WarpView<const float>::Planar(values.data(), size);
  const auto self = MakeSelfCommunicator();
  return Register(*MakeCpuBackend(2), *self, { { image.Placed(), image.Placed(), {}, {} } }, start, { stage });
}

bool
TellsThatTheInverseDisagrees(const RegistrationResult & result)
{
  const auto tells = [](const std::string & note) {
    return note.find("too steep for its inverse") != std::string::npos;
  };
  return std::any_of(result.notes.begin(), result.notes.end(), tells);
}

} // namespace

/** What is drawn together may fold, and what is unfolded comes apart: that must not go on in the same places forever.
 */
TEST(InverseConsistency, SteepWarpsOfManyKindsSettle)
{
  SKIP_IF_SANITIZED();
  const Extent size{ 60, 56, 50 };
  for (const double steepness : { 1.0, 1.4 })
  {
    for (unsigned seed = 1; seed <= 5; ++seed)
    {
      const auto result = BringHome(SteepWarp(size, seed, steepness));
      EXPECT_GT(result.ironed, 10000) << seed; // much is steep
      EXPECT_LE(result.inverseResidual, 0.2001) << steepness << ' ' << seed;
      EXPECT_FALSE(TellsThatTheInverseDisagrees(result));
      EXPECT_GE(SmallestInCells(WarpOf(result.warp, size)), 0.05);
      EXPECT_GE(SmallestInCells(WarpOf(result.inverseWarp, size)), 0.01);
    }
  }
}

/** Nobody wants such a warp: it folds nearly everywhere, and passes run out. */
TEST(InverseConsistency, WhatDoesNotSettleIsTold)
{
  SKIP_IF_SANITIZED();
  const auto result = BringHome(SteepWarp({ 40, 36, 32 }, 3, 15));
  EXPECT_GT(result.inverseResidual, 0.2);
  EXPECT_TRUE(TellsThatTheInverseDisagrees(result)) << result.inverseResidual;
}
