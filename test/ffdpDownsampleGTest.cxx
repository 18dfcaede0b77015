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
#include "ffdpDownsample.h"

#include "ffdpAllocationMeter.h"
#include "ffdpTestSupport.h"

#include <gtest/gtest.h>

using namespace ffdp;
using namespace ffdp::test;

namespace
{

/** The weight of a fine voxel at distance t from the sample, by numerical integration of its definition. */
double
ReferenceWeight(double t, double sigma, double truncation)
{
  const auto hat = [](double s) { return std::max(0.0, 1 - std::abs(s)); };
  if (sigma == 0)
  {
    return hat(t);
  }
  const int    steps = 4000;
  const double radius = truncation * sigma;
  if (std::abs(t) >= radius + 1)
  {
    return 0;
  }
  double sum = 0, area = 0;
  for (int k = 0; k < steps; ++k)
  {
    const double s = radius * ((2 * k + 1.0) / steps - 1);
    const double g = std::exp(-0.5 * s * s / (sigma * sigma));
    sum += g * hat(t - s);
    area += g;
  }
  return sum / area;
}

/** weights[i][j] for coarse index i and fine index j. */
std::vector<std::vector<double>>
ReferenceWeights(std::int64_t fine, std::int64_t coarse, double scale, double offset, double sigma, double truncation)
{
  std::vector<std::vector<double>> weights(static_cast<std::size_t>(coarse));
  for (std::int64_t i = 0; i < coarse; ++i)
  {
    auto &       row = weights[std::size_t(i)];
    const double center = std::min(std::max(scale * double(i) + offset, 0.0), double(fine - 1));
    double       sum = 0;
    for (std::int64_t j = 0; j < fine; ++j)
    {
      row.push_back(ReferenceWeight(double(j) - center, sigma, truncation));
      sum += row.back();
    }
    for (double & weight : row)
    {
      weight /= sum;
    }
  }
  return weights;
}

Volume<double>
Reference(const Volume<float> & fine, const Extent & size, const GridMap & map, const DownsampleParameters & p)
{
  const std::int64_t               n[3] = { fine.domain.x, fine.domain.y, fine.domain.z };
  const std::int64_t               m[3] = { size.x, size.y, size.z };
  std::vector<std::vector<double>> w[3];
  for (int a = 0; a < 3; ++a)
  {
    const double sigma = p.sigma[a] >= 0 ? p.sigma[a] : m[a] < n[a] ? 0.5 * double(n[a]) / double(m[a]) : 0.0;
    w[a] = ReferenceWeights(n[a], m[a], map.scale[a], map.offset[a], sigma, p.truncation);
  }
  Volume<double> coarse(size);
  for (std::int64_t z = 0; z < size.z; ++z)
    for (std::int64_t y = 0; y < size.y; ++y)
      for (std::int64_t x = 0; x < size.x; ++x)
        for (std::int64_t k = 0; k < n[2]; ++k)
          for (std::int64_t j = 0; j < n[1]; ++j)
          {
            const double weight = w[2][std::size_t(z)][std::size_t(k)] * w[1][std::size_t(y)][std::size_t(j)];
            for (std::int64_t i = 0; weight > 0 && i < n[0]; ++i)
            {
              coarse.At(x, y, z) += weight * w[0][std::size_t(x)][std::size_t(i)] * fine.At(i, j, k);
            }
          }
  return coarse;
}

Volume<float>
Shrink(const Volume<float> &        fine,
       const Extent &               size,
       const GridMap &              map,
       const DownsampleParameters & parameters = {},
       unsigned                     threads = 2)
{
  Volume<float> coarse(size, NAN);
  Downsample(fine.View(), coarse.View(), map, parameters, threads);
  return coarse;
}


} // namespace

GTEST_TEST(Downsample, AgreesWithReference)
{
  for (const Extent & size : AwkwardSizes())
    for (const double factor : { 1.0, 2.0, 3.7 })
      for (const double mean : { 0.0, 1000.0 })
      {
        const auto   fine = RandomVolume(size, 1, mean, mean > 0 ? 10 : 1);
        const Extent coarse = LevelSize(size, factor, 1);
        for (const GridMap & map : { GridMap::Centered(size, coarse), GridMap::AlignCorners(size, coarse) })
        {
          const auto result = Shrink(fine, coarse, map, {}, 2);
          // Weights are positive and sum to 1, so errors are fractions of the largest value: at most
          // 20 taps per axis, each rounded twice (2^-24), and the reference integrates to about 1e-6.
          const double tolerance = MaxMagnitude(fine.values) * (3 * 20 * 6e-8 + 1e-6);
          EXPECT_LT(MaxDifference(result.values, Reference(fine, coarse, map, {}).values), tolerance)
            << size.x << "x" << size.y << "x" << size.z << " by " << factor;
        }
      }
}

GTEST_TEST(Downsample, SigmaAndTruncationCanBeChosen)
{
  const Extent         size{ 19, 16, 13 }, coarse{ 7, 8, 13 };
  const auto           fine = RandomVolume(size, 4);
  DownsampleParameters parameters;
  parameters.sigma[0] = 2.2;
  parameters.sigma[1] = 0;
  parameters.sigma[2] = 0.3;
  parameters.truncation = 3;
  const auto map = GridMap::Centered(size, coarse);
  EXPECT_LT(
    MaxDifference(Shrink(fine, coarse, map, parameters, 2).values, Reference(fine, coarse, map, parameters).values),
    MaxMagnitude(fine.values) * (3 * 20 * 6e-8 + 1e-6));
}

GTEST_TEST(Downsample, EqualGridsAreTheIdentity)
{
  const auto fine = RandomVolume({ 17, 13, 5 }, 1, 1000, 10);
  for (const GridMap & map :
       { GridMap::Centered(fine.domain, fine.domain), GridMap::AlignCorners(fine.domain, fine.domain) })
  {
    EXPECT_TRUE(SameBytes(Shrink(fine, fine.domain, map, {}, 2).values, fine.values));
  }
}

GTEST_TEST(Downsample, ConstantStaysConstant)
{
  const Extent        size{ 37, 29, 23 }, coarse{ 11, 12, 9 };
  const Volume<float> fine(size, 1000.7f);
  const auto          result = Shrink(fine, coarse, GridMap::AlignCorners(size, coarse), {}, 2);
  // Weights sum to 1 in float; each axis then rounds a dozen products and sums.
  EXPECT_LT(MaxDifference(result.values, std::vector<float>(result.values.size(), 1000.7f)), 1000.7 * 3 * 12 * 6e-8);
}

GTEST_TEST(Downsample, RampStaysARampInside)
{
  const Extent  size{ 64, 60, 50 };
  Volume<float> fine(size);
  for (std::int64_t z = 0; z < size.z; ++z)
    for (std::int64_t y = 0; y < size.y; ++y)
      for (std::int64_t x = 0; x < size.x; ++x)
      {
        fine.At(x, y, z) = float(x + 2 * y - z);
      }
  const Extent coarse{ 23, 20, 25 };
  for (const GridMap & map : { GridMap::Centered(size, coarse), GridMap::AlignCorners(size, coarse) })
  {
    const auto result = Shrink(fine, coarse, map, {}, 2);
    for (std::int64_t z = 2; z < coarse.z - 2; ++z)
      for (std::int64_t y = 2; y < coarse.y - 2; ++y)
        for (std::int64_t x = 2; x < coarse.x - 2; ++x)
        {
          const double at[3] = { map.scale[0] * double(x) + map.offset[0],
                                 map.scale[1] * double(y) + map.offset[1],
                                 map.scale[2] * double(z) + map.offset[2] };
          // No bias of the kernel, only rounding of values below 200.
          ASSERT_NEAR(result.At(x, y, z), at[0] + 2 * at[1] - at[2], 200 * 3 * 12 * 6e-8);
        }
  }
}

GTEST_TEST(Downsample, StaysWithinTheRangeOfTheInput)
{
  const auto   fine = RandomMask({ 33, 31, 29 }, 1, 0.5).As<float>();
  const Extent coarse{ 16, 15, 14 };
  for (const float v : Shrink(fine, coarse, GridMap::Centered(fine.domain, coarse), {}, 2).values)
  {
    EXPECT_GE(v, 0);
    EXPECT_LE(v, 1 + 3 * 6 * 6e-8); // rounding of weights that sum to 1
  }
}

GTEST_TEST(Downsample, SameBytesForThreadsSlabsAndInstructionSets)
{
  const Extent size{ 37, 53, 23 }, coarse{ 17, 25, 9 };
  const auto   fine = RandomVolume(size, 1);
  const auto   map = GridMap::AlignCorners(size, coarse);
  const auto   whole = Shrink(fine, coarse, map, {}, 1);
  for (const unsigned threads : ThreadCounts())
  {
    EXPECT_TRUE(SameBytes(Shrink(fine, coarse, map, {}, threads).values, whole.values));
  }
  ForEachInstructionSet([&] { EXPECT_TRUE(SameBytes(Shrink(fine, coarse, map, {}, 2).values, whole.values)); });
  for (std::int64_t first = 0; first < coarse.z; ++first)
    for (std::int64_t end = first + 1; end <= coarse.z; ++end)
    {
      const auto    needed = DownsamplePlanes(size, coarse, map, { first, end });
      const auto    slab = fine.Slab(needed.first, needed.end);
      Volume<float> part(coarse, first, end - first);
      Downsample(slab.View(), part.View(), map, {}, 2);
      EXPECT_TRUE(SameBytes(part.values, whole.Slab(first, end).values));
      // One plane less is noticed, so the range is not larger than it must be.
      const auto shorter = slab.View().Planes(needed.first, needed.end - needed.first - 1);
      EXPECT_THROW(Downsample(shorter, part.View(), map), std::invalid_argument);
    }
}

#ifndef FFDP_TEST_ON_DEVICE // meters the processor's memory
GTEST_TEST(Downsample, MemoryIsAFewRows)
{
  for (const std::int64_t planes : { 32, 128 })
  {
    const Extent  size{ 128, 128, planes }, coarse{ 64, 64, planes / 2 };
    const auto    fine = RandomVolume(size, 1);
    Volume<float> result(coarse);
    const auto    extra =
      MeasurePeakAllocation([&] { Downsample(fine.View(), result.View(), GridMap::Centered(size, coarse), {}, 2); });
    // 2 threads x 8 rows of 128 floats, 3 tables of 7 weights, and the threader.
    EXPECT_LT(extra, 40000u + std::size_t(planes) * 64u);
  }
}
#endif

GTEST_TEST(Downsample, RefusesBadInput)
{
  const auto           fine = RandomVolume({ 8, 8, 8 }, 1);
  Volume<float>        coarse(Extent{ 4, 4, 4 });
  const GridMap        good = GridMap::Centered(fine.domain, coarse.domain);
  GridMap              map = good;
  DownsampleParameters parameters;
  EXPECT_THROW(Downsample({}, coarse.View(), map), std::invalid_argument); // no input
  EXPECT_THROW(Downsample(fine.View(), {}, map), std::invalid_argument);   // no output
  map.scale[1] = 0;                                                        // all samples at one place
  EXPECT_THROW(Downsample(fine.View(), coarse.View(), map), std::invalid_argument);
  map.scale[1] = NAN;
  EXPECT_THROW(Downsample(fine.View(), coarse.View(), map), std::invalid_argument);
  parameters.sigma[0] = INFINITY;
  EXPECT_THROW(Downsample(fine.View(), coarse.View(), good, parameters), std::invalid_argument);
  parameters = {};
  parameters.truncation = 0; // a Gaussian without width
  EXPECT_THROW(Downsample(fine.View(), coarse.View(), good, parameters), std::invalid_argument);
}

GTEST_TEST(GridMap, CentersAndCorners)
{
  const Extent fine{ 9, 8, 1 }, coarse{ 3, 4, 1 };
  const auto   centered = GridMap::Centered(fine, coarse);
  EXPECT_EQ(centered.scale[0], 3);
  EXPECT_EQ(centered.offset[0], 1); // the middle one of three
  EXPECT_EQ(centered.offset[1], 0.5);
  const auto corners = GridMap::AlignCorners(fine, coarse);
  EXPECT_EQ(corners.scale[0] * 2 + corners.offset[0], 8);
  EXPECT_EQ(corners.scale[2], 1); // one plane lies on one plane
  EXPECT_EQ(corners.offset[2], 0);
  const auto single = GridMap::AlignCorners({ 7, 1, 1 }, { 1, 1, 1 });
  EXPECT_EQ(single.offset[0], 3);
}

GTEST_TEST(GridMap, LevelSize)
{
  EXPECT_TRUE(LevelSize({ 100, 90, 1 }, 2) == (Extent{ 50, 45, 1 }));
  EXPECT_TRUE(LevelSize({ 100, 40, 20 }, 4) == (Extent{ 32, 32, 20 })); // the minimum, but nothing is enlarged
  EXPECT_TRUE(LevelSize({ 100, 3, 5 }, 8, 1) == (Extent{ 12, 1, 1 }));
  EXPECT_TRUE(LevelSize({ 100, 90, 80 }, 1) == (Extent{ 100, 90, 80 }));
}
