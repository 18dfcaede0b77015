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
#include "ffdpEdgeStrength.h"

#include "ffdpTestSupport.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

using namespace ffdp;
using namespace ffdp::test;

namespace
{

const Extent Sizes[] = {
  { 17, 12, 9 }, { 7, 70, 2 }, { 33, 5, 1 }, { 1, 6, 4 }, { 2, 1, 3 }, { 1, 1, 1 }, { 300, 2, 2 }
};

double
Reference(const Volume<float> & image, double noise, std::int64_t x, std::int64_t y, std::int64_t z)
{
  const Extent & size = image.domain;
  const auto     at = [&](std::int64_t dx, std::int64_t dy, std::int64_t dz) {
    return double(image.At(std::clamp<std::int64_t>(x + dx, 0, size.x - 1),
                           std::clamp<std::int64_t>(y + dy, 0, size.y - 1),
                           std::clamp<std::int64_t>(z + dz, 0, size.z - 1)));
  };
  double mean = 0, variance = 0, squaredSlope = 0;
  for (int k = 0; k < 125; ++k)
  {
    mean += at(k % 5 - 2, k / 5 % 5 - 2, k / 25 - 2) / 125;
  }
  for (int k = 0; k < 125; ++k)
  {
    variance += std::pow(at(k % 5 - 2, k / 5 % 5 - 2, k / 25 - 2) - mean, 2) / 125;
  }
  for (int axis = 0; axis < 3; ++axis)
  {
    double slope = 0;
    for (int k = 0; k < 27; ++k)
    {
      const int d[3] = { k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1 };
      double    weight = 1;
      for (int c = 0; c < 3; ++c)
      {
        weight *= c == axis ? 0.5 * d[c] : d[c] == 0 ? 0.5 : 0.25;
      }
      slope += weight * at(d[0], d[1], d[2]);
    }
    squaredSlope += slope * slope;
  }
  return std::sqrt(squaredSlope) / (std::sqrt(variance) + noise);
}

Volume<float>
EdgesOf(const Volume<float> & image, float noise)
{
  Volume<float> edges(image.domain);
  EdgeStrength(image.View(), noise, edges.View());
  return edges;
}

} // namespace

TEST(EdgeStrength, IsSlopeOverDeviation)
{
  for (const Extent & size : Sizes)
  {
    const Volume<float> image = RandomVolume(size, 1, 1000, 10);
    const Volume<float> edges = EdgesOf(image, 0.5f);
    for (std::int64_t z = 0; z < size.z; ++z)
      for (std::int64_t y = 0; y < size.y; ++y)
        for (std::int64_t x = 0; x < size.x; ++x)
        {
          // slopes are sums of 27 intensities of 1000 that are rounded by 6e-5, over deviations of 10
          ASSERT_NEAR(edges.At(x, y, z), Reference(image, 0.5, x, y, z), 1e-4) << x << ' ' << y << ' ' << z;
        }
  }
}

/** What another scanner does: other units, dark for bright. */
TEST(EdgeStrength, KnowsNothingOfContrast)
{
  const Volume<float> image = RandomVolume({ 40, 9, 7 }, 1, 0, 10);
  Volume<float>       other = image;
  for (float & value : other.values)
  {
    value = -4 * value;
  }
  EXPECT_EQ(EdgesOf(other, 2.0f).values, EdgesOf(image, 0.5f).values); // powers of two round nothing
}

TEST(EdgeStrength, FlatImagesHaveNoEdgesNorBorders)
{
  for (const float value : EdgesOf(Volume<float>({ 9, 8, 7 }, 1000.0f), 0.1f).values)
  {
    EXPECT_EQ(value, 0);
  }
}

TEST(EdgeStrength, SlabsAndThreadsChangeNothing)
{
  const Extent        size{ 37, 70, 11 };
  const Volume<float> image = RandomVolume(size, 1, 100, 20);
  Volume<float>       whole(size), parts(size);
  EdgeStrength(image.View(), 0.5f, whole.View(), 1);
  for (std::int64_t first = 0; first < size.z; first += 3)
  {
    const std::int64_t  end = std::min(size.z, first + 3);
    const std::int64_t  low = std::max<std::int64_t>(0, first - EdgeStrengthReach);
    const std::int64_t  high = std::min(size.z, end + EdgeStrengthReach);
    const Volume<float> slab = image.Slab(low, high);
    EdgeStrength(slab.View(), 0.5f, parts.View().Planes(first, end - first), 3);
    if (first > 0)
    {
      const Volume<float> thin = image.Slab(first - 1, high);
      EXPECT_THROW(EdgeStrength(thin.View(), 0.5f, parts.View().Planes(first, end - first)), std::invalid_argument);
    }
  }
  EXPECT_EQ(whole.values, parts.values);
}

TEST(EdgeStrength, IsTheSameForEveryInstructionSet)
{
  const Volume<float> image = RandomVolume({ 61, 12, 5 }, 3, 100, 20);
  const Volume<float> edges = EdgesOf(image, 0.5f);
  ForEachInstructionSet([&] { EXPECT_EQ(EdgesOf(image, 0.5f).values, edges.values); });
}

TEST(EdgeStrength, RefusesNoNoise)
{
  const Volume<float> image = RandomVolume({ 4, 4, 4 }, 1);
  EXPECT_THROW(EdgesOf(image, 0.0f), std::invalid_argument);
}
