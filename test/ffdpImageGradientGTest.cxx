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
#include "ffdpImageGradient.h"

#include "ffdpAllocationMeter.h"
#include "ffdpImageGradientReference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

namespace
{
using namespace ffdp;
using namespace ffdp::test;

/** A problem of the given size: image, map, warp and weights, a third of which are zero. */
template <typename T>
struct Problem
{
  Extent                imageSize;
  Volume<T>             image;
  CompositeMap          map = ObliqueMap();
  Warp<double>          u;
  Warp<float>           floats;
  Volume<float>         weights;
  std::array<double, 9> C = SomeMatrix();

  explicit Problem(const Extent & size, double mean = 0, double deviation = 1)
    : imageSize{ size.x + 3, std::max<std::int64_t>(1, size.y - 2), size.z + 1 }
    , image(RandomVolume(imageSize, 51, mean, deviation).template As<T>())
    , u(WarpToRandomPoints(size, imageSize, map, 52))
    , floats(ConvertWarp<float>(u))
    , weights(RandomVolume(size, 53))
  {
    for (std::size_t i = 0; i < weights.values.size(); i += 3)
    {
      weights.values[i] = 0;
    }
  }
};

struct Result
{
  Warp<float>              derivative;
  std::vector<MapGradient> planeSums;
};

template <typename T>
Result
Compute(const Problem<T> & p, const ImageDifferences & h, unsigned threads = 2)
{
  Result result{ Warp<float>(p.weights.domain, 7.0f), {} };
  result.planeSums = ImageGradient(
    p.image.View(), p.map, p.floats.View(), h, p.weights.View(), p.C, result.derivative.View(), true, threads);
  return result;
}

bool
SameBytes(const Result & a, const Result & b)
{
  bool same = a.planeSums == b.planeSums;
  for (int c = 0; c < 3; ++c)
  {
    same = same && ffdp::test::SameBytes(a.derivative.component[c].values, b.derivative.component[c].values);
  }
  return same;
}

/** How far d may be off where a voxel has weight 1. A difference is of two values; each is off by the position error
 * along three axes (and one rounding of a position of up to two voxels) times the largest step between neighbors, and
 * by a dozen roundings of the brightest voxel. Entries of |C| add up to at most 1.6 in a row, distances are 0.8 at
 * least; products and sums with them round five more times. */
double
Tolerance(double largest, double range)
{
  const double position = PositionError(160) + 2 * 6e-8;
  const double difference = 2 * (3 * position * range + 12 * 6e-8 * largest);
  return 1.6 / 0.8 * (difference + 5 * 6e-8 * 3 * range);
}

template <typename T>
void
ExpectReference(const Extent & size, double mean, double deviation)
{
  const Problem<T> p(size, mean, deviation);
  double           range = 0;
  for (const T & v : p.image.values)
  {
    range = std::max(range, 2 * std::abs(double(v) - mean));
  }
  const double tolerance = Tolerance(MaxMagnitude(p.image.values), range);
  for (const ImageDifferences & h : AllDifferences())
  {
    const Result result = Compute(p, h);
    double       worst = 0;
    std::int64_t uncertain = 0;
    ForEachMappedVoxel(p.map, p.u, [&](std::int64_t x, std::int64_t y, std::int64_t z, const Point & X) {
      const ReferenceGradient expected = GradientAt(p.image, X, h, p.C);
      const double            w = p.weights.At(x, y, z);
      uncertain += expected.certain ? 0 : 1;
      for (std::size_t c = 0; expected.certain && c < 3; ++c)
      {
        const double error = std::abs(result.derivative.component[c].At(x, y, z) - w * expected.value[c]);
        worst = !(error <= std::abs(w) * worst) ? error / std::abs(w) : worst; // keeps NaN
      }
    });
    EXPECT_LE(worst, tolerance);
    EXPECT_LE(uncertain, 1 + size.Voxels() / 50);
  }
}

} // namespace

TEST(ImageGradient, MatchesTheReference)
{
  for (const Extent & size : AwkwardSizes())
  {
    ExpectReference<float>(size, 0, 1);
    ExpectReference<float>(size, 1000, 10);
    ExpectReference<double>(size, 0, 1);
    ExpectReference<double>(size, 1000, 10);
  }
}

TEST(ImageGradient, FollowsTheBorderRuleOfItk)
{
  // I = 2 x + 3 y - 4 z at the grid points: half a voxel beyond the first sample is inside and has its value, half a
  // voxel beyond the last is outside.
  const Extent  size{ 40, 6, 5 };
  Volume<float> image(size), weights(size, 1.0f);
  for (std::int64_t z = 0; z < size.z; ++z)
    for (std::int64_t y = 0; y < size.y; ++y)
      for (std::int64_t x = 0; x < size.x; ++x)
      {
        image.At(x, y, z) = float(2 * x + 3 * y - 4 * z);
      }
  const auto expected = [](float slope, std::int64_t i, std::int64_t n) {
    return i == n - 1 ? 0.0f : (i == 0 ? slope / 2 : slope);
  };
  const std::array<double, 9> identity{ { 1, 0, 0, 0, 1, 0, 0, 0, 1 } };
  ImageDifferences            halves;         // the fast way
  ImageDifferences            twice;          // the general way: two steps of half a voxel that are not
  twice.step[0][1] = twice.step[1][2] = 2e-6; // quite along the axes
  for (const ImageDifferences & h : { halves, twice })
  {
    Warp<float> d(size, 7.0f);
    ImageGradient(image.View(), {}, {}, h, weights.View(), identity, d.View(), false);
    for (std::int64_t z = 0; z < size.z; ++z)
      for (std::int64_t y = 0; y < size.y; ++y)
        for (std::int64_t x = 0; x < size.x; ++x)
        {
          EXPECT_NEAR(d.component[0].At(x, y, z), expected(2, x, size.x), 1e-4);
          EXPECT_NEAR(d.component[1].At(x, y, z), expected(3, y, size.y), 1e-4);
          EXPECT_NEAR(d.component[2].At(x, y, z), expected(-4, z, size.z), 1e-4);
        }
  }
}
