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
#include "ffdpMeanSquares.h"

#include "ffdpAllocationMeter.h"
#include "ffdpTestSupport.h"

#include <gtest/gtest.h>

using namespace ffdp;
using namespace ffdp::test;

namespace
{

double
Reference(const Volume<double> & moving, const Volume<double> & fixed, const Volume<std::uint8_t> * mask)
{
  double       sum = 0;
  std::int64_t count = 0;
  for (std::size_t i = 0; i < moving.values.size(); ++i)
  {
    if (!mask || mask->values[i])
    {
      sum += (moving.values[i] - fixed.values[i]) * (moving.values[i] - fixed.values[i]);
      ++count;
    }
  }
  return count ? sum / double(count) : 0;
}

struct Case
{
  Volume<float>        moving, fixed;
  Volume<std::uint8_t> mask;
  bool                 masked;

  Case(const Extent & size, bool withMask, double mean = 0, double deviation = 1)
    : moving(RandomVolume(size, 1, mean, deviation))
    , fixed(RandomVolume(size, 2, mean, deviation))
    , mask(RandomMask(size, 3))
    , masked(withMask)
  {}
};

struct Outcome
{
  MeanSquaresResult  result;
  std::vector<float> movingGradient, fixedGradient;
};

/** Runs planes [first, end) in buffers of their own. */
Outcome
Evaluate(const Case & c, std::int64_t first, std::int64_t end, std::int64_t normalizer, unsigned threads)
{
  const auto    moving = c.moving.Slab(first, end), fixed = c.fixed.Slab(first, end);
  const auto    mask = c.mask.Slab(first, end);
  Volume<float> gm(c.moving.domain, first, end - first, 7), gf = gm;
  const auto    maskView = c.masked ? mask.View() : VolumeView<const std::uint8_t>();
  Outcome       out;
  out.result = MeanSquares(moving.View(), fixed.View(), maskView, gm.View(), gf.View(), normalizer, threads);
  out.movingGradient = gm.values;
  out.fixedGradient = gf.values;
  return out;
}

Outcome
Evaluate(const Case & c, unsigned threads = 2)
{
  return Evaluate(c, 0, c.moving.domain.z, 0, threads);
}

void
ExpectSame(const Outcome & a, const Outcome & b)
{
  EXPECT_TRUE(SameBytes(a.result.planeSums, b.result.planeSums));
  EXPECT_TRUE(SameBytes(a.result.planeCounts, b.result.planeCounts));
  EXPECT_TRUE(SameBytes(a.movingGradient, b.movingGradient));
  EXPECT_TRUE(SameBytes(a.fixedGradient, b.fixedGradient));
}

} // namespace

GTEST_TEST(MeanSquares, AgreesWithReferenceInValueAndGradient)
{
  for (const Extent & size : AwkwardSizes())
    for (const bool masked : { false, true })
      for (const double mean : { 0.0, 1000.0 })
      {
        const Case c(size, masked, mean, mean > 0 ? 10 : 1);
        const auto out = Evaluate(c);
        const auto moving = c.moving.As<double>(), fixed = c.fixed.As<double>();
        const auto mask = masked ? &c.mask : nullptr;
        const auto value = Reference(moving, fixed, mask);
        // A float difference is off by 2^-24 of itself at most, its square by twice that; sums are double.
        EXPECT_NEAR(out.result.Loss(), value, value * 3e-7);

        std::int64_t count = 0;
        for (const auto n : out.result.planeCounts)
        {
          count += n;
        }
        for (std::size_t i = 0; i < moving.values.size(); ++i)
        {
          const bool   inside = !masked || c.mask.values[i];
          const double expected = inside ? 2 * (moving.values[i] - fixed.values[i]) / double(count) : 0;
          // Three roundings: difference, scale, product.
          ASSERT_NEAR(out.movingGradient[i], expected, std::abs(expected) * 3 * 6e-8);
          ASSERT_EQ(out.fixedGradient[i], -out.movingGradient[i]);
        }
      }
}

GTEST_TEST(MeanSquares, GradientIsTheDerivativeOfTheReference)
{
  const Case   c({ 5, 4, 3 }, true, 1000, 10);
  const auto   out = Evaluate(c);
  const double h = 1e-3;
  auto         moving = c.moving.As<double>(), fixed = c.fixed.As<double>();
  for (std::size_t i = 0; i < moving.values.size(); ++i)
  {
    const auto slope = [&](double & v) {
      const double at = v;
      v = at + h;
      const double up = Reference(moving, fixed, &c.mask);
      v = at - h;
      const double down = Reference(moving, fixed, &c.mask);
      v = at;
      return (up - down) / (2 * h);
    };
    // The loss is quadratic, so central differences are exact up to the cancellation of values near 200:
    // 200 * 1e-16 / 1e-3.
    EXPECT_NEAR(out.movingGradient[i], slope(moving.values[i]), 1e-6 * std::abs(out.movingGradient[i]) + 1e-10);
    EXPECT_NEAR(out.fixedGradient[i], slope(fixed.values[i]), 1e-6 * std::abs(out.fixedGradient[i]) + 1e-10);
  }
}

GTEST_TEST(MeanSquares, IdenticalGivesZeroAndEmptyHasNoLoss)
{
  Case c({ 6, 5, 4 }, true);
  c.fixed = c.moving;
  auto out = Evaluate(c);
  EXPECT_EQ(out.result.Loss(), 0);
  EXPECT_EQ(MaxMagnitude(out.movingGradient), 0);

  c = Case({ 6, 5, 4 }, true);
  c.mask = Volume<std::uint8_t>(c.mask.domain); // nothing inside
  out = Evaluate(c);
  EXPECT_THROW(out.result.Loss(), std::invalid_argument);
  EXPECT_EQ(MaxMagnitude(out.movingGradient), 0);
}

GTEST_TEST(MeanSquares, MaskHidesNaN)
{
  Case c({ 6, 5, 4 }, true);
  c.moving.values[7] = NAN;
  c.mask.values[7] = 0;
  const auto out = Evaluate(c);
  EXPECT_TRUE(std::isfinite(out.result.Loss()));
  EXPECT_EQ(out.movingGradient[7], 0);
}

GTEST_TEST(MeanSquares, SameBytesForThreadsSlabsAndInstructionSets)
{
  for (const bool masked : { false, true })
  {
    const Case c({ 37, 70, 6 }, masked);
    const auto whole = Evaluate(c, 1);
    const auto count = [&] {
      std::int64_t n = 0;
      for (const auto p : whole.result.planeCounts)
      {
        n += p;
      }
      return n;
    }();
    for (const unsigned threads : ThreadCounts())
    {
      ExpectSame(Evaluate(c, threads), whole);
    }
    ForEachInstructionSet([&] { ExpectSame(Evaluate(c), whole); });
    for (std::int64_t cut = 1; cut < c.moving.domain.z; ++cut)
    {
      auto       lower = Evaluate(c, 0, cut, count, 2);
      const auto upper = Evaluate(c, cut, c.moving.domain.z, count, 2);
      const auto append = [](auto & a, const auto & b) { a.insert(a.end(), b.begin(), b.end()); };
      lower.result.Append(upper.result);
      append(lower.movingGradient, upper.movingGradient);
      append(lower.fixedGradient, upper.fixedGradient);
      ExpectSame(lower, whole);
      EXPECT_EQ(lower.result.Loss(), whole.result.Loss());
    }
  }
}

#ifndef FFDP_TEST_ON_DEVICE // meters the processor's memory
GTEST_TEST(MeanSquares, MemoryIsANumberPerPieceOfRows)
{
  for (const std::int64_t planes : { 16, 64 })
  {
    const Case    c({ 64, 64, planes }, true);
    Volume<float> gradient(c.moving.domain);
    const auto    extra = MeasurePeakAllocation(
      [&] { MeanSquares(c.moving.View(), c.fixed.View(), c.mask.View(), gradient.View(), {}, 0, 2); });
    // 2 pieces and a plane of 16 bytes each, and what the threader needs: 1 MB would be 256^3 at 64 KB here.
    EXPECT_LT(extra, 16384u + std::size_t(planes) * 128u);
  }
}
#endif

GTEST_TEST(MeanSquares, RefusesBadInput)
{
  const Case c({ 6, 5, 4 }, false);
  const auto moving = c.moving.View();
  const auto other = RandomVolume({ 6, 5, 3 }, 9);
  EXPECT_THROW(MeanSquares({}, moving), std::invalid_argument);                             // no moving image
  EXPECT_THROW(MeanSquares(moving, {}), std::invalid_argument);                             // no fixed image
  EXPECT_THROW(MeanSquares(moving, other.View()), std::invalid_argument);                   // sizes differ
  EXPECT_THROW(MeanSquares(moving, c.fixed.Slab(1, 4).View()), std::invalid_argument);      // a plane is missing
  EXPECT_THROW(MeanSquares(moving, c.fixed.View(), {}, {}, {}, -1), std::invalid_argument); // negative N
}
