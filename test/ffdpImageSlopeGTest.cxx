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
#include "ffdpImageSlope.h"

#include "ffdpTestSupport.h"

#include <gtest/gtest.h>

using namespace ffdp;
using namespace ffdp::test;

namespace
{

const Extent Sizes[] = {
  { 17, 12, 9 }, { 7, 70, 2 }, { 33, 5, 1 }, { 1, 6, 4 }, { 2, 1, 3 }, { 1, 1, 1 }, { 70, 2, 2 }
};

double
ReferenceSlope(const Volume<float> &        image,
               const Volume<std::uint8_t> & mask,
               int                          axis,
               std::int64_t                 x,
               std::int64_t                 y,
               std::int64_t                 z)
{
  const Extent & size = image.domain;
  const auto     at = [&](int shift) {
    const auto beside = [&](std::int64_t i, int along, std::int64_t count) {
      return std::max<std::int64_t>(0, std::min(count - 1, i + (along == axis ? shift : 0)));
    };
    const std::int64_t i = beside(x, 0, size.x), j = beside(y, 1, size.y), k = beside(z, 2, size.z);
    return double(mask.At(i, j, k) ? image.At(i, j, k) : image.At(x, y, z));
  };
  return (at(1) - at(-1)) / 2;
}

Volume<std::uint8_t>
RandomMask(const Extent & size, unsigned seed)
{
  Volume<std::uint8_t> mask(size);
  const Volume<float>  random = RandomVolume(size, seed);
  std::transform(
    random.values.begin(), random.values.end(), mask.values.begin(), [](float value) { return value > 0; });
  return mask;
}

TEST(ImageSlope, AddsCentralDifferencesTimesWeights)
{
  for (const Extent & size : Sizes)
  {
    const Volume<float>        image = RandomVolume(size, 1, 1000, 10);
    const Volume<float>        weights = RandomVolume(size, 2);
    const Warp<float>          before = RandomWarp(size, 3, 2);
    const Volume<std::uint8_t> everywhere(size, 1), some = RandomMask(size, 4);
    for (const bool masked : { false, true })
    {
      Warp<float> gradient = before;
      const auto  mask = masked ? VolumeView<const std::uint8_t>(some.View()) : VolumeView<const std::uint8_t>();
      AddImageSlope(image.View(), mask, weights.View(), -0.3f, gradient.View());
      for (int c = 0; c < 3; ++c)
      {
        for (std::int64_t z = 0; z < size.z; ++z)
          for (std::int64_t y = 0; y < size.y; ++y)
            for (std::int64_t x = 0; x < size.x; ++x)
            {
              const double slope = ReferenceSlope(image, masked ? some : everywhere, c, x, y, z);
              const double expected =
                double(before.component[c].At(x, y, z)) - 0.3 * double(weights.At(x, y, z)) * slope;
              ASSERT_NEAR(gradient.component[c].At(x, y, z), expected, 1e-5) // a few roundings of terms up to 30
                << masked << ' ' << c << " at " << x << ' ' << y << ' ' << z;
            }
      }
    }
  }
}

/** It is the derivative of a loss by a movement of the image: here of the sum of squares, for a shift of a smooth one.
 */
TEST(ImageSlope, IsTheDerivativeForAMovement)
{
  const Extent  size{ 24, 20, 16 };
  const auto    value = [](double x, double y, double z) { return std::sin(x / 4) + std::cos(y / 5 + z / 6); };
  Volume<float> image(size), weights(size);
  Warp<float>   gradient = RandomWarp(size, 1, 0);
  const double  moved[3] = { 0.3, -0.2, 0.5 };
  double        change = 0; // of the loss sum I^2 / 2, by the exact derivative of I
  for (std::int64_t z = 0; z < size.z; ++z)
    for (std::int64_t y = 0; y < size.y; ++y)
      for (std::int64_t x = 0; x < size.x; ++x)
      {
        const double here = value(double(x), double(y), double(z));
        image.At(x, y, z) = float(here);
        const bool inside = x > 0 && y > 0 && z > 0 && x + 1 < size.x && y + 1 < size.y && z + 1 < size.z;
        weights.At(x, y, z) = inside ? float(here) : 0.0f;
        const double slope[3] = { std::cos(double(x) / 4) / 4,
                                  -std::sin(double(y) / 5 + double(z) / 6) / 5,
                                  -std::sin(double(y) / 5 + double(z) / 6) / 6 };
        for (int c = 0; c < 3; ++c)
        {
          change += double(weights.At(x, y, z)) * slope[c] * moved[c];
        }
      }
  AddImageSlope(image.View(), {}, weights.View(), 1.0f, gradient.View());
  double found = 0;
  for (int c = 0; c < 3; ++c)
  {
    for (const float g : gradient.component[c].values)
    {
      found += double(g) * moved[c];
    }
  }
  EXPECT_NEAR(found / change, 1, 0.02); // central differences of a wave of 25 voxels: 1 - h^2 / (6 * 16)
}

TEST(ImageSlope, SameBytesForThreadsAndSlabs)
{
  const Extent               size{ 19, 70, 10 }; // rows of several pieces of work
  const Volume<float>        image = RandomVolume(size, 4), weights = RandomVolume(size, 5);
  const Volume<std::uint8_t> mask = RandomMask(size, 7);
  const Warp<float>          before = RandomWarp(size, 6, 1);
  Warp<float>                whole = before;
  AddImageSlope(image.View(), mask.View(), weights.View(), 0.7f, whole.View(), 1);
  ForEachInstructionSet([&] {
    for (const unsigned threads : ThreadCounts())
    {
      Warp<float> other = before;
      AddImageSlope(image.View(), mask.View(), weights.View(), 0.7f, other.View(), threads);
      for (int c = 0; c < 3; ++c)
      {
        EXPECT_TRUE(SameBytes(other.component[c].values, whole.component[c].values)) << threads;
      }
    }
  });
  for (std::int64_t cut = 0; cut <= size.z; ++cut)
  {
    Warp<float> parts = before;
    for (const auto & range : { std::pair<std::int64_t, std::int64_t>(0, cut), { cut, size.z } })
    {
      const std::int64_t first = std::max<std::int64_t>(0, range.first - 1);
      const std::int64_t end = std::min(size.z, range.second + 1);
      AddImageSlope(VolumeView<const float>(image.View()).Planes(first, end - first),
                    VolumeView<const std::uint8_t>(mask.View()).Planes(first, end - first),
                    VolumeView<const float>(weights.View()).Planes(range.first, range.second - range.first),
                    0.7f,
                    parts.View());
    }
    for (int c = 0; c < 3; ++c)
    {
      EXPECT_EQ(parts.component[c].values, whole.component[c].values) << cut;
    }
  }
}

TEST(ImageSlope, AsksForTheHaloOfTheImage)
{
  const Extent                         size{ 8, 7, 6 };
  const Volume<float>                  image = RandomVolume(size, 7);
  const Volume<std::uint8_t>           mask(size, 1);
  Warp<float>                          gradient = RandomWarp(size, 8, 1);
  const VolumeView<const float>        all(image.View());
  const VolumeView<const std::uint8_t> inMask(mask.View());
  const auto                           add = [&](const auto & from, const auto & within) {
    AddImageSlope(from, within, all.Planes(2, 2), 1.0f, gradient.View());
  };
  const VolumeView<const std::uint8_t> unmasked;
  EXPECT_THROW(add(all.Planes(2, 2), unmasked), std::exception);
  EXPECT_NO_THROW(add(all.Planes(1, 4), unmasked));
  EXPECT_THROW(add(all.Planes(1, 4), inMask.Planes(2, 2)), std::exception);
  EXPECT_NO_THROW(add(all.Planes(1, 4), inMask.Planes(1, 4)));
}

} // namespace
