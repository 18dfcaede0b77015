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
#include "ffdpInverse.h"
#include "ffdpWarpGrid.h"

#include "ffdpAllocationMeter.h"
#include "ffdpTestSupport.h"
#include "ffdpWarpReference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

using namespace ffdp;
using namespace ffdp::test;

namespace
{

/** Smooth, and fading to nothing towards the border, so that inside stays inside: the slope is at most
 * `most` times about 0.6 per axis. */
Warp<float>
FadingWarp(const Extent & size, unsigned seed, double most)
{
  Warp<float>  warp = SmoothWarp(size, seed, most);
  const double pi = std::acos(-1.0);
  for (std::int64_t z = 0; z < size.z; ++z)
    for (std::int64_t y = 0; y < size.y; ++y)
      for (std::int64_t x = 0; x < size.x; ++x)
      {
        const double fade = std::sin(pi * double(x) / double(std::max<std::int64_t>(1, size.x - 1))) *
                            std::sin(pi * double(y) / double(std::max<std::int64_t>(1, size.y - 1))) *
                            std::sin(pi * double(z) / double(std::max<std::int64_t>(1, size.z - 1)));
        for (auto & component : warp.component)
        {
          component.At(x, y, z) = float(fade * component.At(x, y, z));
        }
      }
  return warp;
}

/** The largest component of a + b(x + a), in double precision. */
double
LeftOver(const Warp<float> & a, const Warp<float> & b, WarpBorder border)
{
  const Warp<double> rest = ReferenceCompose(AsDouble(b), AsDouble(a), 1, border);
  const Warp<float>  zero(a.component[0].domain);
  return MaxDifference(zero, rest);
}

} // namespace

TEST(Inverse, EqualsTheReferenceThatIteratesTheSameWay)
{
  for (const Extent & size : AwkwardSizes())
  {
    for (const WarpBorder border : { WarpBorder::Zero, WarpBorder::Edge })
    {
      const Warp<float> u = SmoothWarp(size, 2, 0.4);
      Warp<float>       w(size);
      InverseParameters parameters;
      parameters.tolerance = 0;
      parameters.maximumIterations = 3; // damping has no time to set in, see the reported residual
      parameters.border = border;
      const InverseResult result = InvertWarp(u.View(), w.View(), parameters, 2);
      EXPECT_TRUE(result.iterations == 3 || result.maximumResidual == 0);
      // An error in w moves the sample: it grows by at most the slope, 3 axes x 2 x the largest u.
      const double magnitude = MaxMagnitude(u);
      double       tolerance = 0;
      for (int i = 0; i < 3; ++i)
      {
        tolerance = tolerance * 3 * 2 * magnitude + SampleTolerance(magnitude, magnitude);
      }
      EXPECT_LE(MaxDifference(w, ReferenceInverse(AsDouble(u), 3, border)), tolerance);
    }
  }
}

TEST(Inverse, ReportsTheLargestResidualOfWhatItStartedFrom)
{
  const Extent      size{ 37, 11, 9 };
  const Warp<float> w = RandomWarp(size, 4, 0.7);
  for (int c = 0; c < 3; ++c) // each component matters
  {
    Warp<float> u = RandomWarp(size, 3, 0.2);
    u.component[c].At(20, 5, 4) = 9;
    const Warp<double> rest = ReferenceWarpSweep(AsDouble(u), AsDouble(w), 1, 1, 1, WarpBorder::Edge);
    double             expected = 0;
    for (std::size_t i = 0; i < rest.component[0].values.size(); ++i)
    {
      expected = std::max(
        expected, std::hypot(rest.component[0].values[i], rest.component[1].values[i], rest.component[2].values[i]));
    }
    Warp<float> next = w;
    const float residual = IterateInverse(u.View(), next.View());
    // The norm adds at most sqrt(3) errors of a component, and four roundings of its own.
    EXPECT_NEAR(
      residual, expected, 1.8 * SampleTolerance(MaxMagnitude(u), MaxMagnitude(w)) + 4 * std::ldexp(expected, -24));
  }
}

TEST(Inverse, UndoesTheWarpInBothDirections)
{
  const Extent      size{ 40, 36, 32 };
  const Warp<float> u = FadingWarp(size, 5, 1.5);
  Warp<float>       w(size);
  const auto        result = InvertWarp(u.View(), w.View());
  EXPECT_TRUE(result.converged);
  EXPECT_LE(result.iterations, 20u);
  EXPECT_LE(result.maximumResidual, 1e-3f);
  // w stands still to within the tolerance, and the last iteration only helped.
  EXPECT_LE(LeftOver(w, u, WarpBorder::Edge), 1e-3);
  // The other direction is exact only up to interpolating w, whose curvature is about that of u (0.25 per
  // voxel^2 and axis at 1.5 voxels): an eighth of the second derivative per axis.
  EXPECT_LE(LeftOver(u, w, WarpBorder::Edge), 3 * 0.25 * 1.5 / 8);
  // Without inverting, as much is left as there was.
  EXPECT_GT(MaxMagnitude(u), 0.8);
}

TEST(Inverse, OfATranslationIsItsNegative)
{
  const Extent size{ 9, 8, 7 };
  Warp<float>  u(size, 2.5f), w(size);
  const auto   result = InvertWarp(u.View(), w.View());
  EXPECT_EQ(result.iterations, 1u);
  EXPECT_EQ(result.maximumResidual, 0);
  EXPECT_TRUE(SameBytes(w, Warp<float>(size, -2.5f)));
}

TEST(Inverse, DampsWarpsThatExpandTooMuchForAFixedPoint)
{
  // u_x = 1.5 (x - c) near c: the fixed point repels (slope 1.5), the exact inverse is -0.6 (y - c).
  const Extent size{ 61, 6, 6 };
  const double c = 30;
  Warp<float>  u(size), w(size);
  for (std::int64_t z = 0; z < size.z; ++z)
    for (std::int64_t y = 0; y < size.y; ++y)
      for (std::int64_t x = 0; x < size.x; ++x)
        u.component[0].At(x, y, z) = float(1.5 * (double(x) - c));
  InverseParameters parameters;
  parameters.maximumIterations = 40;
  const InverseResult result = InvertWarp(u.View(), w.View(), parameters);
  EXPECT_TRUE(result.converged) << "residual " << result.maximumResidual;
  for (std::int64_t x = 0; x < size.x; ++x)
  {
    EXPECT_NEAR(w.component[0].At(x, 3, 3), -0.6 * (double(x) - c), 1e-3);
  }
  // The plain iteration gets nowhere.
  Warp<float> plain(size);
  float       residual = 0;
  for (int i = 0; i < 40; ++i)
  {
    residual = IterateInverse(u.View(), plain.View());
  }
  EXPECT_GT(residual, 1);
}

TEST(Inverse, StartsFromAGuess)
{
  const Extent      size{ 20, 18, 16 };
  const Warp<float> u = FadingWarp(size, 5, 1);
  Warp<float>       w(size);
  const auto        cold = InvertWarp(u.View(), w.View());
  InverseParameters parameters;
  parameters.startFromOutput = true;
  const auto warm = InvertWarp(u.View(), w.View(), parameters);
  EXPECT_EQ(warm.iterations, 1u);
  EXPECT_LT(warm.maximumResidual, cold.maximumResidual);
}

TEST(Inverse, BytesDoNotDependOnThreadsInstructionsOrSlabs)
{
  const Extent        size{ 70, 11, 14 };
  const Warp<float>   u = FadingWarp(size, 3, 1.2);
  Warp<float>         expected(size);
  const InverseResult reached = InvertWarp(u.View(), expected.View(), {}, 1);
  ForEachInstructionSet([&] {
    for (const unsigned threads : ThreadCounts())
    {
      Warp<float>         w(size);
      const InverseResult result = InvertWarp(u.View(), w.View(), {}, threads);
      EXPECT_TRUE(SameBytes(w, expected));
      EXPECT_EQ(result.iterations, reached.iterations);
      EXPECT_EQ(result.maximumResidual, reached.maximumResidual);
    }
  });

  // Slabs take the same number of steps from 0: the first of them leads to -u.
  const std::int64_t halo = CompositionHalo(float(MeasureWarp(u.View()).largest[2]));
  for (std::int64_t cut = 1; cut < size.z; ++cut)
  {
    const Warp<float> uLow = u.Slab(0, cut + halo), uHigh = u.Slab(cut - halo, size.z);
    Warp<float>       low = Warp<float>(size).Slab(0, cut), high = Warp<float>(size).Slab(cut, size.z);
    float             residual = 0;
    for (unsigned i = 0; i <= reached.iterations; ++i)
    {
      residual =
        std::max(IterateInverse(uLow.View(), low.View(), {}, 2), IterateInverse(uHigh.View(), high.View(), {}, 2));
    }
    EXPECT_TRUE(SameBytes(low, expected.Slab(0, cut))) << "cut at " << cut;
    EXPECT_TRUE(SameBytes(high, expected.Slab(cut, size.z))) << "cut at " << cut;
    EXPECT_EQ(residual, reached.maximumResidual);
  }
}

TEST(Inverse, SurvivesNaNAndInfinity)
{
  const Extent size{ 20, 9, 8 };
  Warp<float>  u = FadingWarp(size, 3, 1), w(size);
  u.component[0].At(5, 5, 5) = NAN;
  u.component[1].At(9, 3, 2) = INFINITY;
  u.component[2].At(19, 8, 7) = -INFINITY;
  InvertWarp(u.View(), w.View(), {}, 2);
  EXPECT_TRUE(std::isfinite(w.component[0].At(1, 1, 1)));
}

#ifndef FFDP_TEST_ON_DEVICE // meters the processor's memory
TEST(Inverse, NeedsAWindowOfPlanesBeyondItsOutput)
{
  std::size_t peak[2];
  for (const int i : { 0, 1 })
  {
    const Extent      size{ 62, 62, i == 0 ? 60 : 120 };
    const Warp<float> u(size, 0.5f);
    Warp<float>       w(size);
    peak[i] = MeasurePeakAllocation([&] { InvertWarp(u.View(), w.View(), {}, 2); });
  }
  const std::size_t threader = 16384; // what starting threads takes
  const std::size_t plane = 64 * 64 * 4 * sizeof(float);
  EXPECT_LE(peak[0], 2 * 4 * plane + threader); // 3 R + 1 planes for R = 1
  EXPECT_LE(peak[1], 2 * 4 * plane + threader);
}
#endif

TEST(Inverse, RefusesWhatItCannotInvert)
{
  const Extent size{ 8, 8, 8 };
  Warp<float>  u(size, 1.5f), w(size);
  EXPECT_THROW(InvertWarp(WarpView<const float>(), w.View()), std::invalid_argument);         // no warp
  EXPECT_THROW(InvertWarp(u.View(), WarpView<float>()), std::invalid_argument);               // no output
  EXPECT_THROW(InvertWarp(u.View(), u.View()), std::invalid_argument);                        // aliased
  EXPECT_THROW(InvertWarp(u.View(), Warp<float>({ 8, 8, 7 }).View()), std::invalid_argument); // other size
  EXPECT_THROW(InvertWarp(u.Slab(2, 6).View(), w.Slab(3, 5).View()), std::invalid_argument);  // halo of 1, needs 2
  InverseStepParameters step;
  step.damping = 0;
  EXPECT_THROW(IterateInverse(u.View(), w.View(), step), std::invalid_argument); // would stand still
  InverseParameters parameters;
  parameters.tolerance = -1;
  EXPECT_THROW(InvertWarp(u.View(), w.View(), parameters), std::invalid_argument); // never reached
}

namespace
{

/** x -> x + 0.95 sin-like bumps: nearly folds in places and more than doubles distances in others. */
Warp<float>
SteepWarp(const Extent & size)
{
  Warp<float>  warp(size);
  const double pi = std::acos(-1.0);
  const double wave = 12; // voxels
  for (std::int64_t z = 0; z < size.z; ++z)
    for (std::int64_t y = 0; y < size.y; ++y)
      for (std::int64_t x = 0; x < size.x; ++x)
      {
        const double along[3] = { double(x), double(y), double(z) };
        for (int c = 0; c < 3; ++c)
        {
          // largest slope 0.95, against a neighbor axis a little as well
          warp.component[c].At(x, y, z) = float(0.90 * wave / (2 * pi) * std::sin(2 * pi * along[c] / wave) +
                                                0.05 * wave / (2 * pi) * std::sin(2 * pi * along[(c + 1) % 3] / wave));
        }
      }
  return warp;
}

} // namespace

TEST(Inverse, RefinementFinishesWhatTheFixedPointCannot)
{
  const Extent      size{ 37, 31, 29 };
  const Warp<float> u = SteepWarp(size);
  Warp<float>       w(size);
  EXPECT_FALSE(InvertWarp(u.View(), w.View(), {}, 2).converged);
  EXPECT_GT(LeftOver(w, u, WarpBorder::Edge), 0.02);
  const float residual = RefineInverse(u.View(), w.View(), {}, 2);
  EXPECT_LE(residual, 1e-3f);
  // 1e-3 in length, and the float that w is stored in (5e-7 of 3 voxels, times a slope of 2)
  EXPECT_LE(LeftOver(w, u, WarpBorder::Edge), 1.01e-3);
}

TEST(Inverse, RefinementGivesSameBytesForThreadsInstructionsAndSlabs)
{
  const Extent      size{ 45, 17, 23 };
  const Warp<float> u = SteepWarp(size);
  InverseRefinement refinement;
  refinement.boundAlongZ = float(MeasureWarp(u.View()).largest[2]) * 1.001f;
  const Warp<float> zero(size); // from which steps are long, and lead beyond the bound
  Warp<float>       close(size);
  InvertWarp(u.View(), close.View(), {}, 2);
  for (const Warp<float> & start : { close, zero })
  {
    Warp<float> whole = start;
    RefineInverse(u.View(), whole.View(), refinement, 1);
    ForEachInstructionSet([&] {
      for (const unsigned threads : ThreadCounts())
      {
        Warp<float> w = start;
        RefineInverse(u.View(), w.View(), refinement, threads);
        EXPECT_TRUE(SameBytes(whole, w)) << threads;
      }
    });
    const std::int64_t halo = CompositionHalo(refinement.boundAlongZ);
    for (std::int64_t cut = 1; cut < size.z; cut += 3)
    {
      const std::int64_t bounds[3] = { 0, cut, size.z };
      for (int part = 0; part < 2; ++part)
      {
        const Warp<float> held = u.Slab(bounds[part] - halo, bounds[part + 1] + halo);
        Warp<float>       w = start.Slab(bounds[part], bounds[part + 1]);
        RefineInverse(held.View(), w.View(), refinement, 2);
        EXPECT_TRUE(SameBytes(w, whole.Slab(bounds[part], bounds[part + 1]))) << cut;
      }
    }
  }
}

TEST(Inverse, RefinementLeavesOutWhatIsNotFinite)
{
  const Extent size{ 9, 9, 9 };
  Warp<float>  u = SmoothWarp(size, 2, 0.3);
  Warp<float>  w(size);
  w.component[1].At(4, 4, 4) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_LE(RefineInverse(u.View(), w.View(), {}, 2), 1e-3f);
  EXPECT_TRUE(std::isnan(w.component[1].At(4, 4, 4)));
  u.component[0].At(1, 1, 1) = std::numeric_limits<float>::infinity();
  RefineInverse(u.View(), w.View(), {}, 2); // reads nothing that it should not
  InverseRefinement bad;
  bad.tolerance = 0;
  EXPECT_THROW(RefineInverse(u.View(), w.View(), bad, 2), std::invalid_argument);
}

TEST(Inverse, ErrorIsTheLengthOfWhatIsLeftOnTheGrid)
{
  const Extent       size{ 21, 17, 14 };
  const Warp<float>  u = SmoothWarp(size, 2, 1.5), w = SmoothWarp(size, 3, 1.5);
  const Warp<double> rest = ReferenceWarpSweep(AsDouble(u), AsDouble(w), 1, 1, 1, WarpBorder::Edge);
  Volume<float>      error(size);
  const float        largest = InverseError(u.View(), w.View(), -1, 0, error.View(), nullptr, 2);
  double             expected = 0;
  std::int64_t       outside = 0;
  for (std::int64_t z = 0; z < size.z; ++z)
    for (std::int64_t y = 0; y < size.y; ++y)
      for (std::int64_t x = 0; x < size.x; ++x)
      {
        const double to[3] = { double(x) + double(w.component[0].At(x, y, z)),
                               double(y) + double(w.component[1].At(x, y, z)),
                               double(z) + double(w.component[2].At(x, y, z)) };
        const bool   inside = to[0] >= 0 && to[0] <= double(size.x - 1) && to[1] >= 0 && to[1] <= double(size.y - 1) &&
                            to[2] >= 0 && to[2] <= double(size.z - 1);
        const double length =
          std::hypot(rest.component[0].At(x, y, z), rest.component[1].At(x, y, z), rest.component[2].At(x, y, z));
        EXPECT_NEAR(error.At(x, y, z), inside ? -length : 0.0, 1e-6 * (1 + length));
        expected = inside ? std::max(expected, length) : expected;
        outside += inside ? 0 : 1;
      }
  EXPECT_GT(outside, 0);
  EXPECT_NEAR(largest, expected, 1e-6 * (1 + expected));

  const std::int64_t halo = CompositionHalo(2);
  Volume<float>      slabs(size);
  for (const PlaneRange & planes : { PlaneRange{ 0, 5 }, PlaneRange{ 5, 6 }, PlaneRange{ 6, size.z } })
  {
    const std::int64_t first = std::max<std::int64_t>(0, planes.first - halo);
    const std::int64_t end = std::min(size.z, planes.end + halo);
    InverseError(WarpView<const float>(u.View()).Planes(first, end - first),
                 WarpView<const float>(w.View()).Planes(planes.first, planes.end - planes.first),
                 2,
                 0,
                 slabs.View().Planes(planes.first, planes.end - planes.first),
                 nullptr,
                 3);
  }
  EXPECT_EQ(slabs.values, error.values);

  // Nearer than the margin to the border, where a voxel is or where it gets, nothing counts.
  const double  margin = 3;
  Volume<float> inner(size);
  InverseError(u.View(), w.View(), 2, int(margin), inner.View(), nullptr, 2);
  const std::int64_t sizes[3] = { size.x, size.y, size.z };
  for (std::int64_t z = 0; z < size.z; ++z)
    for (std::int64_t y = 0; y < size.y; ++y)
      for (std::int64_t x = 0; x < size.x; ++x)
      {
        const std::int64_t at[3] = { x, y, z };
        bool               counts = true;
        for (int c = 0; c < 3; ++c)
        {
          const double here = double(at[c]), there = here + double(w.component[c].At(x, y, z));
          const double last = double(sizes[c] - 1);
          counts = counts && std::min(here, there) >= margin && std::max(here, there) <= last - margin;
        }
        EXPECT_EQ(inner.At(x, y, z), counts ? error.At(x, y, z) : 0.0f);
      }

  // As far outside as a negative margin, all count.
  Volume<float> everywhere(size);
  InverseError(u.View(), w.View(), 2, -21, everywhere.View(), nullptr, 2);
  for (std::int64_t z = 0; z < size.z; ++z)
    for (std::int64_t y = 0; y < size.y; ++y)
      for (std::int64_t x = 0; x < size.x; ++x)
      {
        const double length =
          std::hypot(rest.component[0].At(x, y, z), rest.component[1].At(x, y, z), rest.component[2].At(x, y, z));
        EXPECT_NEAR(everywhere.At(x, y, z), -length, 1e-6 * (1 + length));
      }
}

TEST(Inverse, ErrorIsFoundInMarkedBlocksOnly)
{
  const Extent      size{ 150, 21, 19 };
  const Warp<float> u = SmoothWarp(size, 2, 1.5), w = SmoothWarp(size, 3, 1.5);
  Volume<float>     all(size), marked(size, 7.0f);
  InverseError(u.View(), w.View(), 2, 0, all.View(), nullptr, 2);
  BlockMarks marks(size);
  EXPECT_EQ(marks.blocks, (Extent{ 3, 3, 3 }));
  marks.marks[1] = marks.marks[4] = marks.marks[26] = 1;
  const float largest = InverseError(u.View(), w.View(), 2, 0, marked.View(), &marks, 2);
  float       expected = 0;
  for (std::int64_t z = 0; z < size.z; ++z)
    for (std::int64_t y = 0; y < size.y; ++y)
      for (std::int64_t x = 0; x < size.x; ++x)
      {
        const std::int64_t block = (z / 8 * 3 + y / 8) * 3 + x / 64;
        const bool         isMarked = block == 1 || block == 4 || block == 26;
        EXPECT_EQ(marked.At(x, y, z), isMarked ? all.At(x, y, z) : 0.0f);
        expected = isMarked ? std::max(expected, -all.At(x, y, z)) : expected;
      }
  EXPECT_NEAR(largest, expected, 1e-6);
  const BlockMarks other(Extent{ 64, 8, 8 });
  EXPECT_THROW(InverseError(u.View(), w.View(), 2, 0, marked.View(), &other, 2), std::invalid_argument);
}

TEST(Inverse, LargeErrorsMarkWhereTheyAreAndWhatTheyReach)
{
  const Extent  size{ 150, 40, 38 };
  Warp<float>   w(size);
  Volume<float> error(size);
  error.At(70, 20, 3) = -0.3f; // reaches (70 + 60, 20 - 18, 3 + 12)
  error.At(5, 39, 37) = -0.2f; // not longer than that
  w.component[0].At(70, 20, 3) = 60;
  w.component[1].At(70, 20, 3) = -18;
  w.component[2].At(70, 20, 3) = 12.25f;
  error.At(149, 0, 20) = -1.0f; // reaches what is outside
  w.component[0].At(149, 0, 20) = 30;
  const auto isNear = [](double x, double y, double z, std::int64_t i, std::int64_t j, std::int64_t k) {
    const auto touches = [](double at, std::int64_t block, std::int64_t length) {
      return std::floor(at + 4) >= double(block * length) && std::floor(at - 4) < double((block + 1) * length);
    };
    return touches(x, i, 64) && touches(y, j, 8) && touches(z, k, 8);
  };
  for (const unsigned threads : { 1u, 3u })
  {
    BlockMarks own(size), reached(size);
    own.marks[0] = 1; // stays
    MarkInverseErrors(error.View(), w.View(), 0.2f, own, reached, threads);
    for (std::int64_t k = 0; k < own.blocks.z; ++k)
      for (std::int64_t j = 0; j < own.blocks.y; ++j)
        for (std::int64_t i = 0; i < own.blocks.x; ++i)
        {
          const std::int64_t block = (k * own.blocks.y + j) * own.blocks.x + i;
          const bool         expected = block == 0 || isNear(70, 20, 3, i, j, k) || isNear(149, 0, 20, i, j, k);
          EXPECT_EQ(own.At(i * 64, j * 8, k * 8), expected) << i << " " << j << " " << k;
          EXPECT_EQ(reached.At(i * 64, j * 8, k * 8), isNear(130, 2, 15.25, i, j, k)) << i << " " << j << " " << k;
        }
  }
}

TEST(Inverse, AMapOfErrorsSavesWorkAndChangesNothing)
{
  const Extent      size{ 40, 36, 32 };
  const Warp<float> u = FadingWarp(size, 5, 1.5);
  Warp<float>       all(size);
  for (int i = 0; i < 3; ++i)
  {
    IterateInverse(u.View(), all.View());
  }
  Warp<float>   mapped = all;
  Volume<float> error(size);
  InverseError(u.View(), mapped.View(), -1, -40, error.View());
  const InverseRefinement refinement;
  const auto              within = [&](float value) { return value >= -refinement.tolerance; };
  const auto              done = std::count_if(error.values.begin(), error.values.end(), within);
  EXPECT_GT(done, 1000);                                     // so that something is saved,
  EXPECT_LT(done, std::int64_t(error.values.size()) - 1000); // and something to do is left
  RefineInverse(u.View(), all.View(), refinement);
  EXPECT_LE(RefineInverse(u.View(), mapped.View(), error.View(), refinement), 1e-3f);
  for (int c = 0; c < 3; ++c)
  {
    EXPECT_EQ(mapped.component[c].values, all.component[c].values);
  }
}

TEST(Inverse, RefinementMovesVoxelsOnlyAsFarAsAsked)
{
  const Extent      size{ 40, 36, 32 };
  const Warp<float> u = FadingWarp(size, 5, 1.5);
  Warp<float>       w(size);
  Volume<float>     before(size), after(size);
  const Warp<float> start = w;
  InverseError(u.View(), w.View(), -1, 0, before.View());
  InverseRefinement refinement;
  refinement.allowed = 0.5f;
  RefineInverse(u.View(), w.View(), before.View(), refinement);
  InverseError(u.View(), w.View(), -1, 0, after.View());
  std::int64_t moved = 0;
  for (std::size_t i = 0; i < before.values.size(); ++i)
  {
    const bool same = w.component[0].values[i] == start.component[0].values[i] &&
                      w.component[1].values[i] == start.component[1].values[i] &&
                      w.component[2].values[i] == start.component[2].values[i];
    EXPECT_EQ(same, before.values[i] >= -1.25f * refinement.allowed) << before.values[i];
    moved += same ? 0 : 1;
    if (!same)
    {
      EXPECT_NEAR(after.values[i], -0.5, 0.05); // what is left of a residual is linear only about
    }
  }
  EXPECT_GT(moved, 1000);
  EXPECT_LT(moved, size.Voxels() / 2);
}

/** Where u squeezes a lot, an inverse of little error may be far from the one that has none. */
TEST(Inverse, RefinementAlsoLimitsTheWay)
{
  const Extent size{ 40, 24, 20 };
  Warp<float>  u(size), w(size);
  for (std::int64_t z = 0; z < size.z; ++z)
    for (std::int64_t y = 0; y < size.y; ++y)
      for (std::int64_t x = 0; x < size.x; ++x)
      {
        u.component[0].At(x, y, z) = 0.9f * (20 - float(x)); // to a tenth of its length, around x = 20
        w.component[0].At(x, y, z) = 9 * (float(x) - 20);    // its inverse
        w.component[0].At(x, y, z) += x == 21 ? 0.8f : 0.0f; // an error of 0.08, and 0.8 to go
      }
  const Warp<float> start = w;
  Volume<float>     error(size);
  InverseError(u.View(), w.View(), -1, 0, error.View()); // of x = 18 to 21: others come from outside of the grid
  EXPECT_NEAR(error.At(21, 12, 10), -0.08, 1e-4);
  InverseRefinement refinement;
  refinement.allowed = 0.1f;
  RefineInverse(u.View(), w.View(), error.View(), refinement);
  EXPECT_TRUE(SameBytes(w, start)); // the error is allowed
  refinement.allowedWay = 0.2f;
  RefineInverse(u.View(), w.View(), error.View(), refinement);
  EXPECT_NEAR(w.component[0].At(21, 12, 10), 9 + 0.2, 1e-3);
  EXPECT_EQ(w.component[0].At(20, 12, 10), start.component[0].At(20, 12, 10)); // has no error
  refinement.allowedWay = -1;
  EXPECT_THROW(RefineInverse(u.View(), w.View(), error.View(), refinement), std::invalid_argument);
}
