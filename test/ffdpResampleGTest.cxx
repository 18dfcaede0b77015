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
#include "ffdpResample.h"

#include "ffdpPixelPieces.h"

#include "ffdpAllocationMeter.h"
#include "ffdpTestSupport.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <stdexcept>

using namespace ffdp;
using namespace ffdp::test;

namespace
{

/** Pixels of several components. */
template <typename T>
struct Pixels
{
  Extent         size;
  int            components;
  std::vector<T> values;

  Pixels(const Extent & extent, int perPixel, T fill = T{})
    : size(extent)
    , components(perPixel)
    , values(std::size_t(extent.Voxels() * perPixel), fill)
  {}
  PixelView
  View()
  {
    return PixelView(values.data(), size, components);
  }
  double
  At(std::int64_t x, std::int64_t y, std::int64_t z, int c) const
  {
    return double(values[std::size_t(((z * size.y + y) * size.x + x) * components + c)]);
  }
};

/** Values over the range of integer types, and between -100 and 100 for the others. */
template <typename T>
Pixels<T>
RandomPixels(const Extent & size, int components, unsigned seed)
{
  Pixels<T>                              pixels(size, components);
  std::mt19937                           generator(seed);
  const bool                             isInteger = std::is_integral<T>::value;
  const double                           low = isInteger ? double(std::numeric_limits<T>::lowest()) : -100;
  const double                           high = isInteger ? double(std::numeric_limits<T>::max()) : 100;
  std::uniform_real_distribution<double> uniform(std::max(low, -1e6), std::min(high, 1e6));
  for (T & v : pixels.values)
  {
    v = static_cast<T>(uniform(generator));
  }
  return pixels;
}

/** A map that shears and scales and lets a part of the grid fall outside. */
CompositeMap
TiltedMap()
{
  CompositeMap map;
  const double A[9] = { 0.93, 0.11, -0.05, -0.13, 1.02, 0.07, 0.04, -0.06, 0.97 };
  const double S[9] = { 0.8, 0.1, 0.05, -0.1, 0.9, 0, 0.02, 0.06, 1.1 };
  const double t[3] = { 0.31415926, -0.70710678, 0.41421356 }; // no point near a tie or exactly on the border
  std::copy_n(A, 9, map.A);
  std::copy_n(S, 9, map.S);
  std::copy_n(t, 3, map.t);
  return map;
}

struct Reference
{
  bool   inside;
  double value;
  double slope; ///< largest difference of neighboring corners: what an error of a coordinate is multiplied with
};

/** I(X) in double, written from the definition. */
template <typename T>
Reference
Evaluate(const Pixels<T> & image, const double * X, int component, bool nearest)
{
  const std::int64_t size[3] = { image.size.x, image.size.y, image.size.z };
  double             lower[3], upper[3], fraction[3];
  for (int c = 0; c < 3; ++c)
  {
    if (!(X[c] >= -0.5 && X[c] < double(size[c]) - 0.5))
    {
      return { false, 0, 0 };
    }
    const double at = nearest ? std::floor(X[c] + 0.5) : std::floor(X[c]);
    fraction[c] = nearest ? 0 : X[c] - at;
    lower[c] = std::max(at, 0.0);
    upper[c] = std::min(at + 1, double(size[c] - 1));
  }
  double value = 0, low = INFINITY, high = -INFINITY;
  for (int corner = 0; corner < 8; ++corner)
  {
    double       weight = 1;
    std::int64_t i[3];
    for (int c = 0; c < 3; ++c)
    {
      const bool up = (corner >> c) & 1;
      weight *= up ? fraction[c] : 1 - fraction[c];
      i[c] = std::int64_t(up ? upper[c] : lower[c]);
    }
    const double v = image.At(i[0], i[1], i[2], component);
    if (weight > 0)
    {
      value += weight * v;
    }
    low = std::min(low, v);
    high = std::max(high, v);
  }
  return { true, value, high - low };
}

/** Compares a result with the reference. Integers may be off by one only where the value in double is within rounding
 * of a whole number: there the last bits decide where it is cut. */
template <typename TIn, typename TOut>
void
ExpectSame(const Pixels<TIn> &  image,
           const CompositeMap & map,
           const Warp<float> *  u,
           const Pixels<TOut> & result,
           bool                 nearest,
           const TOut *         outside)
{
  const bool floats = sizeof(TIn) == 4 && sizeof(TOut) == 4 && !std::is_integral<TIn>::value &&
                      !std::is_integral<TOut>::value && image.components == 1 && !nearest;
  int        wrong = 0;
  const auto size = result.size;
  for (std::int64_t z = 0; z < size.z; ++z)
    for (std::int64_t y = 0; y < size.y; ++y)
      for (std::int64_t x = 0; x < size.x; ++x)
      {
        double X[3], length = 0;
        for (int c = 0; c < 3; ++c)
        {
          X[c] = map.A[3 * c] * x + map.A[3 * c + 1] * y + map.A[3 * c + 2] * z + map.t[c];
          for (int k = 0; u && k < 3; ++k)
          {
            X[c] += map.S[3 * c + k] * u->component[k].At(x, y, z);
            length += std::abs(u->component[k].At(x, y, z));
          }
        }
        for (int c = 0; c < image.components; ++c)
        {
          const Reference expected = Evaluate(image, X, c, nearest);
          const double    value = result.At(x, y, z, c);
          if (!expected.inside)
          {
            wrong += value != double(outside ? outside[c] : TOut(0));
            continue;
          }
          // coordinates in double, or in float as ffdpResample.h says; results rounded to float once or six times
          const double coordinate = floats ? 3 * 1.2e-7 * (2 + length) : 1e-12;
          const double rounding = std::is_same<TOut, float>::value ? (floats ? 6 : 1) * 6e-8 : 1e-14;
          const double tolerance = expected.slope * coordinate + rounding * (100 + std::abs(expected.value));
          const double lowest = double(std::numeric_limits<TOut>::lowest());
          const double highest = double(std::numeric_limits<TOut>::max());
          const auto   cast = [&](double v) {
            v = std::min(std::max(v, lowest), highest);
            return std::is_integral<TOut>::value ? std::trunc(v) : v;
          };
          if (std::is_integral<TOut>::value)
          {
            const double noise = 1e-9 * (1 + std::abs(expected.value));
            wrong += value != cast(expected.value) && value != cast(expected.value - noise) &&
                     value != cast(expected.value + noise);
          }
          else
          {
            wrong += !(std::abs(value - cast(expected.value)) <= tolerance);
          }
        }
      }
  EXPECT_EQ(wrong, 0) << size.x << "x" << size.y << "x" << size.z;
}

template <typename TIn, typename TOut>
void
TestTypes(int components)
{
  SCOPED_TRACE(testing::Message() << int(PixelComponentOf<TIn>()) << " to " << int(PixelComponentOf<TOut>()));
  const Extent       imageSize{ 19, 14, 11 };
  const Extent       gridSize{ 21, 12, 10 };
  auto               image = RandomPixels<TIn>(imageSize, components, 7);
  const auto         u = RandomWarp(gridSize, 5, 0.8);
  const CompositeMap map = TiltedMap();
  for (const bool nearest : { false, true })
  {
    std::vector<TOut>  outside(std::size_t(components), TOut(7));
    ResampleParameters parameters;
    parameters.interpolation = nearest ? Interpolation::Nearest : Interpolation::Linear;
    parameters.outsidePixel = outside.data();
    Pixels<TOut> result(gridSize, components, TOut(99));
    Resample(image.View(), map, u.View(), result.View(), parameters, 2);
    ExpectSame(image, map, &u, result, nearest, outside.data());
    parameters.outsidePixel = nullptr;
    Resample(image.View(), map, WarpInput{}, result.View(), parameters, 2);
    ExpectSame<TIn, TOut>(image, map, nullptr, result, nearest, nullptr);
  }
}

template <typename TIn>
void
TestInputType()
{
  TestTypes<TIn, std::uint8_t>(1);
  TestTypes<TIn, std::int16_t>(3);
  TestTypes<TIn, float>(1);
  TestTypes<TIn, double>(2);
}

} // namespace

TEST(Resample, EveryTypeIn)
{
  TestInputType<std::int8_t>();
  TestInputType<std::uint8_t>();
  TestInputType<std::int16_t>();
  TestInputType<std::uint16_t>();
  TestInputType<std::int32_t>();
  TestInputType<std::uint32_t>();
  TestInputType<std::int64_t>();
  TestInputType<std::uint64_t>();
  TestInputType<float>();
  TestInputType<double>();
}

TEST(Resample, EveryTypeOut)
{
  TestTypes<double, std::int8_t>(1);
  TestTypes<double, std::uint16_t>(1);
  TestTypes<double, std::int32_t>(4);
  TestTypes<double, std::uint32_t>(1);
  TestTypes<double, std::int64_t>(1);
  TestTypes<double, std::uint64_t>(2);
  TestTypes<float, float>(5);
}

TEST(Resample, TypesBySizeAndSign)
{
  EXPECT_EQ(PixelComponentOf<signed char>(), PixelComponent::Int8);
  EXPECT_EQ(PixelComponentOf<long>(), sizeof(long) == 8 ? PixelComponent::Int64 : PixelComponent::Int32);
  EXPECT_EQ(PixelComponentOf<unsigned long long>(), PixelComponent::UInt64);
}

TEST(Resample, AwkwardSizes)
{
  for (const Extent & size : AwkwardSizes())
  {
    auto               image = RandomPixels<float>(size, 1, 3);
    auto               labels = RandomPixels<std::int16_t>(size, 1, 4);
    const auto         u = RandomWarp(size, 6, 0.6);
    const CompositeMap map = TiltedMap();
    Pixels<float>      result(size, 1);
    Resample(image.View(), map, u.View(), result.View());
    ExpectSame<float, float>(image, map, &u, result, false, nullptr);
    Pixels<std::int16_t> picked(size, 1);
    ResampleParameters   parameters;
    parameters.interpolation = Interpolation::Nearest;
    Resample(labels.View(), map, u.View(), picked.View(), parameters);
    ExpectSame<std::int16_t, std::int16_t>(labels, map, &u, picked, true, nullptr);
  }
}

TEST(Resample, ExactOnConstantsAndOnTheGrid)
{
  const Extent       size{ 20, 9, 8 };
  const auto         u = RandomWarp(size, 2, 0.3);
  Pixels<float>      constant(size, 1, 1000.1f), result(size, 1);
  ResampleParameters parameters;
  const float        outside = 1000.1f;
  parameters.outside = { outside };
  Resample(constant.View(), CompositeMap{}, u.View(), result.View(), parameters);
  EXPECT_TRUE(SameBytes(constant.values, result.values));
  auto noise = RandomPixels<float>(size, 1, 8);
  Resample(noise.View(), CompositeMap{}, WarpInput{}, result.View());
  EXPECT_TRUE(SameBytes(noise.values, result.values));
}

TEST(Resample, BordersAndHalves)
{
  Pixels<std::int16_t> image({ 4, 1, 1 }, 1);
  image.values = { 10, 20, 30, 40 };
  Pixels<std::int16_t> result({ 4, 1, 1 }, 1);
  ResampleParameters   parameters;
  const std::int16_t   outside = -1;
  parameters.outside = { outside };
  const auto at = [&](double shift, Interpolation interpolation) {
    CompositeMap map;
    map.t[0] = shift;
    parameters.interpolation = interpolation;
    Resample(image.View(), map, WarpInput{}, result.View(), parameters);
    return result.values;
  };
  using V = std::vector<std::int16_t>;
  EXPECT_EQ(at(0.5, Interpolation::Nearest), (V{ 20, 30, 40, -1 })); // n - 0.5 is outside
  EXPECT_EQ(at(-0.5, Interpolation::Nearest), (V{ 10, 20, 30, 40 }));
  EXPECT_EQ(at(-0.5, Interpolation::Linear), (V{ 10, 15, 25, 35 }));
  EXPECT_EQ(at(0.45, Interpolation::Linear), (V{ 14, 24, 34, 40 })); // cut, not rounded
  EXPECT_EQ(at(1e300, Interpolation::Linear), (V{ -1, -1, -1, -1 }));
}

TEST(Resample, ValuesThatAreNotNumbers)
{
  const Extent size{ 24, 10, 9 };
  auto         image = RandomPixels<float>(size, 1, 12);
  const auto   at = [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    return std::size_t((z * size.y + y) * size.x + x);
  };
  image.values[at(9, 5, 4)] = NAN;
  image.values[at(15, 5, 4)] = INFINITY;
  Pixels<float> result(size, 1);
  // on the grid only the voxel itself is concerned; infinity is cut to the range as ITK does
  Resample(image.View(), CompositeMap{}, WarpInput{}, result.View());
  for (std::size_t i = 0; i < result.values.size(); ++i)
  {
    if (i == at(9, 5, 4))
    {
      EXPECT_TRUE(std::isnan(result.values[i]));
    }
    else
    {
      EXPECT_EQ(result.values[i], std::isinf(image.values[i]) ? std::numeric_limits<float>::max() : image.values[i]);
    }
  }
  // a field of such values moves points outside; integers have a value for each
  auto u = RandomWarp(size, 3, 0.5);
  u.component[0].values[at(3, 3, 3)] = NAN;
  u.component[2].values[at(4, 3, 3)] = -INFINITY;
  u.component[1].values[at(5, 3, 3)] = 3e38f;
  Resample(image.View(), CompositeMap{}, u.View(), result.View());
  for (const int x : { 3, 4, 5 })
  {
    EXPECT_EQ(result.values[at(x, 3, 3)], 0);
  }
  Pixels<std::uint8_t> cut(size, 1);
  Resample(image.View(), CompositeMap{}, WarpInput{}, cut.View());
  EXPECT_EQ(cut.values[at(9, 5, 4)], 0);
  EXPECT_EQ(cut.values[at(15, 5, 4)], 255);
}

namespace
{

/** Runs a case whole, then with other threads and instruction sets and in boxes of the output and of the image. */
template <typename TIn, typename TOut>
void
ExpectSameBytesHoweverCut(int components, bool nearest)
{
  const Extent       imageSize{ 150, 20, 13 };
  const Extent       gridSize{ 157, 18, 12 };
  auto               image = RandomPixels<TIn>(imageSize, components, 7);
  const auto         u = RandomWarp(gridSize, 5, 0.8);
  const CompositeMap map = TiltedMap();
  ResampleParameters parameters;
  parameters.interpolation = nearest ? Interpolation::Nearest : Interpolation::Linear;
  Pixels<TOut> whole(gridSize, components);
  Resample(image.View(), map, u.View(), whole.View(), parameters, 1);
  for (const unsigned threads : ThreadCounts())
  {
    Pixels<TOut> result(gridSize, components);
    Resample(image.View(), map, u.View(), result.View(), parameters, threads);
    EXPECT_TRUE(SameBytes(whole.values, result.values)) << threads << " threads";
  }
  ForEachInstructionSet([&] {
    Pixels<TOut> result(gridSize, components);
    Resample(image.View(), map, u.View(), result.View(), parameters, 2);
    EXPECT_TRUE(SameBytes(whole.values, result.values));
  });

  EXPECT_GT(std::count_if(whole.values.begin(), whole.values.end(), [](TOut v) { return v != TOut(0); }), 3000);

  // boxes that are cut along every axis, from the part of the image that they reach, copied to a buffer of its own
  Pixels<TOut>       pieces(gridSize, components);
  const std::int64_t cuts[3] = { 50, 7, 5 };
  for (std::int64_t z = 0; z < gridSize.z; z += cuts[2])
    for (std::int64_t y = 0; y < gridSize.y; y += cuts[1])
      for (std::int64_t x = 0; x < gridSize.x; x += cuts[0])
      {
        PixelView output = pieces.View();
        output.box = {
          { x, y, z },
          { std::min(cuts[0], gridSize.x - x), std::min(cuts[1], gridSize.y - y), std::min(cuts[2], gridSize.z - z) }
        };
        output.data = pieces.values.data() + ((z * gridSize.y + y) * gridSize.x + x) * components;
        PixelBox reached = FindReachedBox(imageSize, map, u.View(), gridSize, output.box, 2);
        if (reached.IsEmpty())
        {
          reached = { { 3, 2, 1 }, { 1, 1, 1 } }; // any pixel: no point is inside
        }
        Pixels<TIn> part({ reached.count[0], reached.count[1], reached.count[2] }, components);
        for (std::size_t i = 0; i < part.values.size(); ++i)
        {
          const std::int64_t c = std::int64_t(i) % components, p = std::int64_t(i) / components;
          part.values[i] = TIn(image.At(reached.first[0] + p % part.size.x,
                                        reached.first[1] + p / part.size.x % part.size.y,
                                        reached.first[2] + p / part.size.x / part.size.y,
                                        int(c)));
        }
        const ConstPixelView held(part.values.data(), imageSize, reached, components);
        Resample(held, map, u.View(), output, parameters, 2);
      }
  EXPECT_TRUE(SameBytes(whole.values, pieces.values));
}

} // namespace

TEST(Resample, SameBytesHoweverCut)
{
  ExpectSameBytesHoweverCut<float, float>(1, false);
  ExpectSameBytesHoweverCut<float, float>(1, true);
  ExpectSameBytesHoweverCut<std::int16_t, std::uint8_t>(3, false);
  ExpectSameBytesHoweverCut<double, float>(1, false);
}

TEST(Resample, ChainIsItsResidual)
{
  const Extent imageSize{ 30, 22, 15 };
  const Extent gridSize{ 140, 11, 9 };
  const auto   first = RandomWarp({ 12, 9, 7 }, 3, 1.0);
  const auto   second = RandomWarp(imageSize, 4, 1.5);
  WarpChain    chain;
  chain.start.matrix[0] = 0.2;
  chain.start.offset[1] = 1.3;
  chain.steps.resize(2);
  chain.steps[0].warp = first.View();
  chain.steps[0].toIndex.matrix[0] = 0.5;
  chain.steps[1].warp = second.View();
  chain.steps[1].after.matrix[1] = 0.1;
  const CompositeMap map = LinearPart(chain);
  Warp<float>        residual(gridSize);
  FillResiduals(chain, map, residual.View(), 2);
  EXPECT_GT(MaxMagnitude(residual.component[0].values), 0.5);

  auto          image = RandomPixels<float>(imageSize, 1, 9);
  Pixels<float> fromResidual(gridSize, 1), fromChain(gridSize, 1);
  Resample(image.View(), map, residual.View(), fromResidual.View(), {}, 2);
  ResampleChain(image.View(), map, chain, fromChain.View(), {}, 3);
  // residuals are doubles there and floats here, of up to 10 voxels; values differ by up to 200 within a voxel
  EXPECT_LE(MaxDifference(fromResidual.values, fromChain.values), 3 * 200 * 1.2e-7 * 10);
  EXPECT_GT(MaxMagnitude(fromChain.values), 10);
  const auto whole = fromChain.values;

  PixelView part = fromChain.View(); // a box that begins within a block
  part.box = { { 131, 3, 4 }, { 9, 5, 2 } };
  part.data = fromChain.values.data() + (4 * gridSize.y + 3) * gridSize.x + 131;
  std::fill(fromChain.values.begin() + (4 * gridSize.y + 3) * gridSize.x + 131,
            fromChain.values.begin() + (4 * gridSize.y + 3) * gridSize.x + 140,
            0.0f);
  ResampleChain(image.View(), map, chain, part, {}, 2);
  EXPECT_TRUE(SameBytes(whole, fromChain.values));

  const PixelBox all{ { 0, 0, 0 }, { gridSize.x, gridSize.y, gridSize.z } };
  const PixelBox a = FindReachedBox(imageSize, map, residual.View(), gridSize, all);
  const PixelBox b = FindReachedBoxOfChain(imageSize, map, chain, gridSize, all);
  EXPECT_TRUE(std::equal(a.first, a.first + 3, b.first) && std::equal(a.count, a.count + 3, b.count));
}

TEST(Resample, ReachedBoxIsTight)
{
  const Extent   size{ 40, 30, 20 };
  const PixelBox part{ { 5, 6, 7 }, { 10, 9, 8 } };
  CompositeMap   map;
  map.t[0] = 3.5;
  const PixelBox reached = FindReachedBox(size, map, WarpInput{}, size, part);
  const PixelBox expected{ { 7, 5, 6 }, { 13, 12, 11 } }; // 8.5 to 17.5: voxels 8 to 18, one to spare on both sides
  EXPECT_TRUE(std::equal(reached.first, reached.first + 3, expected.first));
  EXPECT_TRUE(std::equal(reached.count, reached.count + 3, expected.count));
  map.t[1] = 100; // nothing is inside
  EXPECT_TRUE(FindReachedBox(size, map, WarpInput{}, size, part).IsEmpty());
}

#ifndef FFDP_TEST_ON_DEVICE // meters the processor's memory
TEST(Resample, MemoryDoesNotGrow)
{
  const auto extra = [](std::int64_t planes, bool chained) {
    const Extent       size{ 96, 64, planes };
    auto               image = RandomPixels<float>(size, 1, 3);
    const auto         u = RandomWarp(size, 4, 0.5);
    Pixels<float>      result(size, 1);
    const CompositeMap map = TiltedMap();
    WarpChain          chain;
    chain.steps.resize(1);
    chain.steps[0].warp = u.View();
    return MeasurePeakAllocation([&] {
      if (chained)
      {
        ResampleChain(image.View(), LinearPart(chain), chain, result.View(), {}, 2);
      }
      else
      {
        Resample(image.View(), map, u.View(), result.View(), {}, 2);
      }
    });
  };
  for (const bool chained : { false, true })
  {
    EXPECT_LE(extra(8, chained), 64 * 1024);
    EXPECT_LE(extra(32, chained), 64 * 1024);
  }
}
#endif

TEST(Resample, RefusesBadInput)
{
  const Extent  size{ 8, 7, 6 };
  Pixels<float> image(size, 1), result(size, 1), pairs(size, 2);
  const auto    u = RandomWarp({ 8, 7, 5 }, 1, 1);
  CompositeMap  notFinite;
  notFinite.t[1] = NAN;
  const auto refuses = [&](const std::function<void()> & call) { EXPECT_THROW(call(), std::invalid_argument); };
  refuses([&] { Resample(ConstPixelView{}, {}, WarpInput{}, result.View()); });                // no image
  refuses([&] { Resample(image.View(), {}, WarpInput{}, PixelView{}); });                      // no output
  refuses([&] { Resample(image.View(), {}, WarpInput{}, pairs.View()); });                     // components differ
  refuses([&] { Resample(image.View(), {}, u.View(), result.View()); });                       // field on another grid
  refuses([&] { Resample(image.View(), notFinite, WarpInput{}, result.View()); });             // map not finite
  refuses([&] { FindReachedBox(size, {}, WarpInput{}, size, { { 0, 0, 5 }, { 8, 7, 2 } }); }); // box outside
  WarpChain chain;
  chain.steps.resize(1);
  refuses([&] { ResampleChain(image.View(), {}, chain, result.View()); }); // a step without a field
  ResampleParameters twoValues;
  twoValues.outside = { 1, 2 };
  refuses([&] { Resample(image.View(), {}, WarpInput{}, result.View(), twoValues); }); // components differ
  PixelView beyond = result.View();
  beyond.box.first[0] = 1;
  refuses([&] { Resample(image.View(), {}, WarpInput{}, beyond); }); // pixels outside the volume
}

TEST(PixelPieces, AreOrderedCompleteAndNotTooLarge)
{
  const PixelBox boxes[] = { { { 0, 0, 0 }, { 20000, 20000, 4 } }, { { 3, -5, 7 }, { 512, 512, 300 } },
                             { { 1, 2, 3 }, { 300, 7000, 1 } },    { { 0, 0, 0 }, { 1, 1, 9000000 } },
                             { { 9, 9, 9 }, { 2, 3, 4 } },         { { 0, 0, 0 }, { 3 << 20, 5, 3 } } };
  for (const PixelBox & box : boxes)
  {
    const std::int64_t most = 1 << 21, row = box.count[0];
    std::int64_t       y = box.first[1], z = box.first[2], pixels = 0, smallest = most;
    for (const PixelBox & piece : CutIntoPieces(box, most))
    {
      EXPECT_EQ(piece.first[0], box.first[0]);
      EXPECT_EQ(piece.count[0], row);
      EXPECT_EQ(piece.first[1], y);
      EXPECT_EQ(piece.first[2], z);
      const std::int64_t own = row * piece.count[1] * piece.count[2];
      EXPECT_LE(own, std::max(most, row));
      pixels += own;
      smallest = std::min(smallest, own);
      y += piece.count[1];
      if (y == box.first[1] + box.count[1])
      {
        y = box.first[1];
        z += piece.count[2];
      }
    }
    EXPECT_EQ(pixels, row * box.count[1] * box.count[2]);
    EXPECT_EQ(z, box.first[2] + box.count[2]);
    EXPECT_GE(smallest, std::min(pixels, most / 4)) << "launches cost more than they compute";
  }
  EXPECT_TRUE(CutIntoPieces(PixelBox{}, 100).empty());
}
