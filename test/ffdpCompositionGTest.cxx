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
#include "ffdpComposition.h"
#include "ffdpWarpGrid.h"

#include "ffdpAllocationMeter.h"
#include "ffdpTestSupport.h"
#include "ffdpWarpReference.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

using namespace ffdp;
using namespace ffdp::test;

namespace
{

const WarpBorder Borders[] = { WarpBorder::Zero, WarpBorder::Edge };

CompositionParameters
Parameters(float stepScale, WarpBorder border, float bound = -1)
{
  CompositionParameters parameters;
  parameters.stepScale = stepScale;
  parameters.border = border;
  parameters.boundAlongZ = bound;
  return parameters;
}

Warp<float>
ConstantWarp(const Extent & size, float x, float y, float z)
{
  Warp<float> warp;
  warp.component[0] = Volume<float>(size, x);
  warp.component[1] = Volume<float>(size, y);
  warp.component[2] = Volume<float>(size, z);
  return warp;
}

} // namespace

TEST(Composition, EqualsTheReferenceAtEverySize)
{
  for (const Extent & size : AwkwardSizes())
  {
    for (const WarpBorder border : Borders)
    {
      for (const float scale : { 1.0f, -0.3f })
      {
        for (const double most : { 0.0, 0.4, 3.0 })
        {
          const Warp<float> u = RandomWarp(size, 7, 2), v = RandomWarp(size, 9, most);
          Warp<float>       result = u;
          ComposeWarps(result.View(), v.View(), Parameters(scale, border), 2);
          EXPECT_LE(MaxDifference(result, ReferenceCompose(AsDouble(u), AsDouble(v), double(scale), border)),
                    SampleTolerance(MaxMagnitude(u), std::abs(scale) * MaxMagnitude(v)))
            << size.x << "x" << size.y << "x" << size.z << " up to " << most;
        }
      }
    }
  }
}

TEST(Composition, AddsTranslations)
{
  const Extent size{ 12, 11, 10 };
  Warp<float>  u = ConstantWarp(size, 1.5f, -2, 0.25f);
  ComposeWarps(u.View(), ConstantWarp(size, 0.5f, 3, -1.75f).View(), Parameters(2, WarpBorder::Edge));
  EXPECT_TRUE(SameBytes(u, ConstantWarp(size, 2.5f, 4, -3.25f))); // all of it exact in binary
}

TEST(Composition, MeetsZeroHalfWayAcrossTheBorder)
{
  const Extent size{ 4, 4, 4 };
  Warp<float>  u = ConstantWarp(size, 8, 8, 8);
  ComposeWarps(u.View(), ConstantWarp(size, 0, 0, -0.5f).View());
  EXPECT_EQ(u.component[0].At(1, 1, 0), 4); // half of it is outside
  EXPECT_EQ(u.component[0].At(1, 1, 1), 8);
  EXPECT_EQ(u.component[2].At(1, 1, 0), 3.5f);
}

TEST(Composition, BytesDoNotDependOnThreadsOrInstructions)
{
  for (const Extent & size : { Extent{ 70, 21, 40 }, Extent{ 9, 8, 70 }, Extent{ 23, 17, 5 }, Extent{ 90, 65, 1 } })
  {
    for (const WarpBorder border : Borders)
    {
      // a window, wider ones, which threads share where there are planes enough, and one that holds everything
      for (const double most : { 0.2, 1.5, 7.0, 20.0 })
      {
        const Warp<float> u = RandomWarp(size, 5, 2), v = RandomWarp(size, 6, most / 3);
        Warp<float>       expected = u;
        ComposeWarps(expected.View(), v.View(), Parameters(1, border), 1);
        ForEachInstructionSet([&] {
          for (const unsigned threads : ThreadCounts())
          {
            Warp<float> result = u;
            ComposeWarps(result.View(), v.View(), Parameters(1, border), threads);
            EXPECT_TRUE(SameBytes(result, expected)) << threads << " threads, up to " << most;
          }
        });
      }
    }
  }
}

TEST(Composition, BytesDoNotDependOnSlabsOrOnTheBound)
{
  struct Case
  {
    Extent       size;
    double       deviation;
    std::int64_t stride; // of cuts
  };
  // the second reaches so far, through so many planes, that threads share a window
  for (const Case & at : { Case{ { 19, 11, 13 }, 0.5, 1 }, Case{ { 9, 8, 70 }, 2, 10 } })
  {
    const Extent & size = at.size;
    for (const WarpBorder border : Borders)
    {
      const Warp<float>  u = RandomWarp(size, 5, 2), v = RandomWarp(size, 6, at.deviation);
      const float        bound = float(MeasureWarp(v.View()).largest[2]);
      const std::int64_t halo = CompositionHalo(bound);
      Warp<float>        expected = u;
      ComposeWarps(expected.View(), v.View(), Parameters(1, border), 2);
      Warp<float> looser = u;
      ComposeWarps(looser.View(), v.View(), Parameters(1, border, 3 * bound), 2);
      EXPECT_TRUE(SameBytes(looser, expected));
      for (std::int64_t cut = 0; cut <= size.z; cut += at.stride)
      {
        for (const float given : { -1.0f, bound })
        {
          Warp<float>       low = u.Slab(0, cut + halo), high = u.Slab(cut - halo, size.z);
          const Warp<float> vLow = v.Slab(0, cut), vHigh = v.Slab(cut, size.z);
          if (cut > 0)
          {
            ComposeWarps(low.View(), 0, cut, vLow.View(), Parameters(1, border, given), 2);
          }
          if (cut < size.z)
          {
            ComposeWarps(high.View(), cut, size.z - cut, vHigh.View(), Parameters(1, border, given), 2);
          }
          EXPECT_TRUE(SameBytes(low.Slab(0, cut), expected.Slab(0, cut))) << "cut at " << cut;
          EXPECT_TRUE(SameBytes(high.Slab(cut, size.z), expected.Slab(cut, size.z))) << "cut at " << cut;
          // Halos are only read.
          EXPECT_TRUE(SameBytes(low.Slab(cut, cut + halo), u.Slab(cut, cut + halo)));
          EXPECT_TRUE(SameBytes(high.Slab(cut - halo, cut), u.Slab(cut - halo, cut)));
        }
      }
    }
  }
}

TEST(Composition, SurvivesNaNAndInfinityAndKeepsThemWhereTheyAre)
{
  const Extent      size{ 40, 9, 12 };
  const Warp<float> u = RandomWarp(size, 5, 2), v = RandomWarp(size, 6, 0.5);
  const float       wrong[] = { NAN, INFINITY, -INFINITY, -std::numeric_limits<float>::quiet_NaN() };
  for (const WarpBorder border : Borders)
  {
    Warp<float> expected = u;
    ComposeWarps(expected.View(), v.View(), Parameters(1, border), 2);
    Warp<float> spoiled = v;
    for (int i = 0; i < 12; ++i)
    {
      spoiled.component[i % 3].At(3 * i, i % 9, i) = wrong[i % 4];
    }
    Warp<float> result = u;
    ComposeWarps(result.View(), spoiled.View(), Parameters(1, border), 2);
    for (int c = 0; c < 3; ++c)
      for (std::int64_t z = 0; z < size.z; ++z)
        for (std::int64_t y = 0; y < size.y; ++y)
          for (std::int64_t x = 0; x < size.x; ++x)
          {
            if (x != 3 * z || y != z % 9)
            {
              EXPECT_EQ(result.component[c].At(x, y, z), expected.component[c].At(x, y, z));
            }
            else if (c == z % 3)
            {
              EXPECT_FALSE(std::isfinite(result.component[c].At(x, y, z)));
            }
          }
  }
}

TEST(Composition, TakesDisplacementsThatLeaveTheVolumeFarBehind)
{
  const Extent size{ 9, 8, 7 };
  for (const float far : { 1e3f, 1e9f, -1e20f, 3e38f })
  {
    Warp<float> u = ConstantWarp(size, 1, 2, 3);
    ComposeWarps(u.View(), ConstantWarp(size, far, far, far).View());
    EXPECT_TRUE(SameBytes(u, ConstantWarp(size, far, far, far))); // nothing is out there
    u = ConstantWarp(size, 1, 2, 3);
    ComposeWarps(u.View(), ConstantWarp(size, far, 0, 0).View(), Parameters(1, WarpBorder::Edge));
    EXPECT_TRUE(SameBytes(u, ConstantWarp(size, far + 1, 2, 3)));
  }
}

#ifndef FFDP_TEST_ON_DEVICE // meters the processor's memory
TEST(Composition, KeepsAWindowOfPlanesHoweverManyThereAre)
{
  std::size_t peak[2];
  for (const int i : { 0, 1 })
  {
    const Extent      size{ 62, 62, i == 0 ? 60 : 120 };
    Warp<float>       u = RandomWarp(size, 1, 1);
    const Warp<float> v = ConstantWarp(size, 0.5f, 0.5f, 0.5f);
    peak[i] = MeasurePeakAllocation([&] { ComposeWarps(u.View(), v.View(), {}, 2); });
  }
  const std::size_t plane = 64 * 64 * 4 * sizeof(float);
  const std::size_t threader = 16384;           // what starting threads takes
  EXPECT_LE(peak[0], 2 * 4 * plane + threader); // 3 R + 1 planes for R = 1
  EXPECT_LE(peak[1], 2 * 4 * plane + threader);
}

TEST(Composition, ThreadsShareTheWindowOfAWarpThatReachesFar)
{
  const Extent      size{ 30, 30, 120 };
  const Warp<float> u = RandomWarp(size, 1, 1), v = ConstantWarp(size, 0.5f, 0.5f, 9.5f);
  Warp<float>       alone = u;
  ComposeWarps(alone.View(), v.View(), {}, 1);
  const std::size_t plane = 32 * 32 * 4 * sizeof(float);
  for (const unsigned threads : { 2u, 4u })
  {
    Warp<float>       together = u;
    const std::size_t peak = MeasurePeakAllocation([&] { ComposeWarps(together.View(), v.View(), {}, threads); });
    EXPECT_LE(peak, (2 * 10 + 8 * threads) * plane + 16384) << threads; // 3 R + 1 for each of them would be more
    EXPECT_TRUE(SameBytes(together, alone)) << threads;
  }
}
#endif

TEST(Composition, RefusesWhatItCannotCompose)
{
  const Extent      size{ 8, 8, 8 };
  Warp<float>       u(size);
  const Warp<float> v = ConstantWarp(size, 0, 0, 1.5f);
  EXPECT_THROW(ComposeWarps(WarpView<float>(), v.View()), std::invalid_argument);               // no u
  EXPECT_THROW(ComposeWarps(u.View(), WarpView<const float>()), std::invalid_argument);         // no v
  EXPECT_THROW(ComposeWarps(u.View(), u.View()), std::invalid_argument);                        // aliased
  EXPECT_THROW(ComposeWarps(u.View(), Warp<float>({ 8, 8, 7 }).View()), std::invalid_argument); // other size
  EXPECT_THROW(ComposeWarps(u.View(), v.View(), Parameters(NAN, WarpBorder::Zero)), std::invalid_argument);
  EXPECT_THROW(ComposeWarps(u.View(), v.View(), Parameters(1, WarpBorder::Zero, 1)), std::invalid_argument); // bound
  EXPECT_THROW(ComposeWarps(u.View(), v.View(), Parameters(1, WarpBorder::Zero, NAN)), std::invalid_argument);
  EXPECT_THROW(ComposeWarps(u.View(), v.Slab(0, 4).View()), std::invalid_argument); // v lacks planes
  Warp<float> slab = u.Slab(2, 6);
  EXPECT_THROW(ComposeWarps(slab.View(), 3, 2, v.View()), std::invalid_argument); // halo of 1, needs 2
  EXPECT_THROW(ComposeWarps(slab.View(), 3, 5, v.View()), std::invalid_argument); // planes that it has not
  std::vector<float> values(3 * 512);
  EXPECT_THROW(ComposeWarps(WarpView<float>::Interleaved(values.data(), 3, size), v.View()), std::invalid_argument);
  EXPECT_NO_THROW(ComposeWarps(slab.View(), 3, 0, v.View())); // nothing to do
}

#ifndef FFDP_TEST_ON_DEVICE // squaring is no primitive of a backend
TEST(Exponential, EqualsTheReference)
{
  for (const Extent & size : AwkwardSizes())
  {
    for (const WarpBorder border : Borders)
    {
      for (const int squarings : { -1, 0, 1, 4 })
      {
        const Warp<float>     v = SmoothWarp(size, 3, 1.5);
        Warp<float>           result = v;
        ExponentialParameters parameters;
        parameters.border = border;
        parameters.squarings = squarings;
        const int used = ExponentiateWarp(result.View(), parameters, 2);
        EXPECT_EQ(used, squarings >= 0 ? squarings : CountSquarings(float(MeasureWarp(v.View()).norm)));
        // An error grows by at most 2 + the slope of w at each step (it enters twice, and moves the sample); the
        // slope is below twice the largest w, which doubles per step.
        double tolerance = 0, magnitude = std::ldexp(MaxMagnitude(v), -used);
        for (int i = 0; i < used; ++i, magnitude *= 2)
        {
          tolerance = tolerance * (2 + 3 * 2 * magnitude) + SampleTolerance(magnitude, magnitude);
        }
        EXPECT_LE(MaxDifference(result, ReferenceExponential(AsDouble(v), used, border)), tolerance);
      }
    }
  }
}

TEST(Exponential, OfAConstantIsThatConstant)
{
  const Extent          size{ 12, 11, 10 };
  Warp<float>           v = ConstantWarp(size, 3, -2, 1.25f);
  ExponentialParameters parameters;
  parameters.border = WarpBorder::Edge;
  EXPECT_EQ(ExponentiateWarp(v.View(), parameters), 3); // |v| is 3.8
  EXPECT_TRUE(SameBytes(v, ConstantWarp(size, 3, -2, 1.25f)));
}

TEST(Exponential, OfALinearVelocityIsTheMatrixExponential)
{
  // v_x = a (x - c): exp(v) moves x by (e^a - 1) (x - c). n squarings of the first-order step give
  // (1 + a / 2^n)^(2^n), which is short of e^a by less than e^a a^2 / 2^(n + 1).
  const Extent size{ 41, 5, 5 };
  const double a = 0.2, c = 20;
  Warp<float>  v(size);
  for (std::int64_t z = 0; z < size.z; ++z)
    for (std::int64_t y = 0; y < size.y; ++y)
      for (std::int64_t x = 0; x < size.x; ++x)
        v.component[0].At(x, y, z) = float(a * (double(x) - c));
  ExponentialParameters parameters;
  parameters.squarings = 8;
  ExponentiateWarp(v.View(), parameters);
  for (std::int64_t x = 8; x <= 32; ++x) // those that stay inside: 12 e^a < 20
  {
    const double distance = double(x) - c;
    EXPECT_NEAR(
      v.component[0].At(x, 2, 2), (std::exp(a) - 1) * distance, std::exp(a) * a * a / 512 * std::abs(distance) + 1e-4);
  }
}

TEST(Exponential, BytesDoNotDependOnThreadsInstructionsOrSlabs)
{
  const Extent      size{ 37, 13, 24 };
  const Warp<float> v = SmoothWarp(size, 4, 1.2);
  Warp<float>       expected = v;
  const int         squarings = ExponentiateWarp(expected.View(), {}, 1);
  ForEachInstructionSet([&] {
    for (const unsigned threads : ThreadCounts())
    {
      Warp<float> result = v;
      ExponentiateWarp(result.View(), {}, threads);
      EXPECT_TRUE(SameBytes(result, expected));
    }
  });
  for (std::int64_t cut = 1; cut < size.z; ++cut)
  {
    Warp<float>           whole = v;
    CompositionParameters step;
    step.stepScale = std::ldexp(1.0f, -squarings);
    for (int i = 0; i < squarings; ++i, step.stepScale = 1)
    {
      const std::int64_t halo = CompositionHalo(step.stepScale * float(MeasureWarp(whole.View()).largest[2]));
      Warp<float>        low = whole.Slab(0, cut + halo), high = whole.Slab(cut - halo, size.z);
      SquareWarp(low.View(), 0, cut, step, 2);
      SquareWarp(high.View(), cut, size.z - cut, step, 2);
      for (int c = 0; c < 3; ++c)
      {
        const Volume<float> below = low.component[c].Slab(0, cut), above = high.component[c].Slab(cut, size.z);
        std::copy(below.values.begin(), below.values.end(), whole.component[c].values.begin());
        std::copy_backward(above.values.begin(), above.values.end(), whole.component[c].values.end());
      }
    }
    EXPECT_TRUE(SameBytes(whole, expected)) << "cut at " << cut;
  }
}

TEST(Exponential, KeepsAWindowOfPlanesHoweverManyThereAre)
{
  std::size_t peak[2];
  for (const int i : { 0, 1 })
  {
    Warp<float> v = ConstantWarp({ 62, 62, i == 0 ? 60 : 120 }, 1, 0.5f, 0.75f);
    peak[i] = MeasurePeakAllocation([&] { ExponentiateWarp(v.View(), {}, 2); });
  }
  const std::size_t plane = 64 * 64 * 4 * sizeof(float);
  const std::size_t threader = 16384; // what starting threads takes
  EXPECT_LE(peak[0], 2 * 4 * plane + threader);
  EXPECT_LE(peak[1], 2 * 4 * plane + threader);
}

TEST(Exponential, RefusesWhatMakesNoSense)
{
  Warp<float>           v({ 4, 4, 4 });
  ExponentialParameters parameters;
  EXPECT_THROW(ExponentiateWarp(WarpView<float>(), parameters), std::invalid_argument); // no velocity
  parameters.largestStep = 0;
  EXPECT_THROW(ExponentiateWarp(v.View(), parameters), std::invalid_argument); // would never end
  parameters.squarings = 1000;
  EXPECT_THROW(ExponentiateWarp(v.View(), parameters), std::invalid_argument); // 2^-1000 is not a float
  Warp<float> slab = Warp<float>({ 4, 4, 8 }).Slab(2, 6);
  EXPECT_THROW(SquareWarp(slab.View(), 2, 4), std::invalid_argument); // no halo
}
#endif
