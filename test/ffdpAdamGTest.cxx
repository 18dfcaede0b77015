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
#include "ffdpAdam.h"

#include "ffdpAllocationMeter.h"
#include "ffdpTestSupport.h"
#include "ffdpWarpReference.h"

#include <gtest/gtest.h>

#include <array>

using namespace ffdp;
using namespace ffdp::test;

namespace
{

/** The formulas of the header in double, for one voxel. */
struct ReferenceVoxel
{
  double m[3] = {}, v = 0, d[3] = {};
  double largest = 0; ///< scaled gradient of all steps

  void
  Step(const std::array<double, 3> & gradient, const AdamParameters & p)
  {
    double square = 0;
    for (int c = 0; c < 3; ++c)
    {
      const double g = p.gradientScale * p.axisScale[c] * gradient[std::size_t(c)];
      m[c] = p.beta1 * m[c] + (1 - p.beta1) * g;
      square += g * g;
      largest = std::max(largest, std::abs(g));
    }
    v = p.beta2 * v + (1 - p.beta2) * square;
    const double root = std::sqrt(v / (1 - std::pow(p.beta2, double(p.step))));
    for (int c = 0; c < 3; ++c)
    {
      d[c] = m[c] / (1 - std::pow(p.beta1, double(p.step))) / (root + p.epsilon);
    }
  }
};

/** Moments and norm of a run of several steps whose gradients are random. */
struct Optimization
{
  Warp<float>   first;
  Volume<float> second;
  double        norm = 0;

  explicit Optimization(const Extent & size)
    : first(size)
    , second(size)
  {}
};

AdamParameters
PerMillimeter()
{
  AdamParameters parameters;
  parameters.axisScale[0] = 0.5;
  parameters.axisScale[1] = 2;
  parameters.axisScale[2] = 3;
  return parameters;
}

/** Planes [first, end) of the run, in buffers of their own. */
Optimization
Optimize(const Extent & size, double deviation, int steps, std::int64_t first, std::int64_t end, unsigned threads)
{
  Optimization run(size);
  run.first = run.first.Slab(first, end);
  run.second = run.second.Slab(first, end);
  AdamParameters parameters = PerMillimeter();
  parameters.gradientScale = AdamGradientScale(deviation);
  for (int t = 1; t <= steps; ++t)
  {
    parameters.step = t;
    Warp<float> gradient = RandomWarp(size, unsigned(t), deviation).Slab(first, end);
    run.norm = AdamStep(gradient.View(), run.first.View(), run.second.View(), parameters, threads);
  }
  return run;
}

Optimization
Optimize(const Extent & size, double deviation, int steps, unsigned threads = 2)
{
  return Optimize(size, deviation, steps, 0, size.z, threads);
}

void
ExpectSame(const Optimization & a, const Optimization & b)
{
  EXPECT_TRUE(SameBytes(a.first, b.first));
  EXPECT_TRUE(SameBytes(a.second.values, b.second.values));
  EXPECT_EQ(a.norm, b.norm);
}

void
ExpectReference(const Extent & size, double deviation, int steps)
{
  const Optimization run = Optimize(size, deviation, steps);
  AdamParameters     parameters = PerMillimeter();
  parameters.gradientScale = AdamGradientScale(deviation);
  std::vector<Warp<float>> gradients;
  for (int t = 1; t <= steps; ++t)
  {
    gradients.push_back(RandomWarp(size, unsigned(t), deviation));
  }
  // Each step rounds a handful of times (2^-24 each) relative to the largest gradient so far; betas such
  // as 0.9 are themselves rounded, and 1 - 0.9 again. Ten roundings per step bound it.
  const double rounding = 10 * 6e-8 * steps;
  double       norm = 0, normError = 0;
  for (std::size_t i = 0; i < std::size_t(size.Voxels()); ++i)
  {
    ReferenceVoxel voxel;
    for (int t = 1; t <= steps; ++t)
    {
      const auto & g = gradients[std::size_t(t - 1)].component;
      parameters.step = t;
      voxel.Step({ { g[0].values[i], g[1].values[i], g[2].values[i] } }, parameters);
    }
    ASSERT_NEAR(run.second.values[i], voxel.v, rounding * voxel.v);
    for (int c = 0; c < 3; ++c)
    {
      ASSERT_NEAR(run.first.component[c].values[i], voxel.m[c], rounding * voxel.largest);
    }
    norm = std::max(norm, std::sqrt(voxel.d[0] * voxel.d[0] + voxel.d[1] * voxel.d[1] + voxel.d[2] * voxel.d[2]));
    const double root = std::sqrt(voxel.v / (1 - std::pow(0.99, steps)));
    normError = std::max(normError, rounding * 4 * voxel.largest / (root + 1e-8)); // what m's errors become
  }
  EXPECT_NEAR(run.norm, norm, rounding * norm + normError);
}

} // namespace

GTEST_TEST(Adam, AgreesWithReference)
{
  for (const Extent & size : AwkwardSizes())
  {
    ExpectReference(size, 1, 1);
    ExpectReference(size, 1, 4);
  }
  ExpectReference({ 1500, 2, 1 }, 1, 3); // rows longer than a chunk
}

GTEST_TEST(Adam, FirstStepHasLengthOne)
{
  const Extent  size{ 5, 4, 3 };
  Warp<float>   g = RandomWarp(size, 1, 1), m(size);
  Volume<float> v(size);
  EXPECT_NEAR(AdamStep(g.View(), m.View(), v.View(), {}, 2), 1, 1e-6);
}

GTEST_TEST(Adam, LengthsDoNotDependOnHowTheAxesLie)
{
  const Extent  size{ 6, 1, 1 };
  Warp<float>   m(size), turnedM(size);
  Volume<float> v(size), turnedV(size);
  const double  cosine = 0.8, sine = 0.6;
  for (int t = 1; t <= 5; ++t)
  {
    Warp<float>    g = RandomWarp(size, unsigned(t), 1), turned = g;
    AdamParameters parameters;
    parameters.step = t;
    for (std::size_t i = 0; i < 6; ++i)
    {
      turned.component[0].values[i] = float(cosine * g.component[0].values[i] - sine * g.component[2].values[i]);
      turned.component[2].values[i] = float(sine * g.component[0].values[i] + cosine * g.component[2].values[i]);
    }
    const double norm = AdamStep(g.View(), m.View(), v.View(), parameters, 1);
    EXPECT_NEAR(AdamStep(turned.View(), turnedM.View(), turnedV.View(), parameters, 1), norm, 2e-6 * norm);
  }
}

GTEST_TEST(Adam, AnAxisOfScaleZeroDoesNotCount)
{
  const Extent   size{ 7, 5, 3 };
  Warp<float>    g = RandomWarp(size, 1, 1), m(size), flatM(size);
  Volume<float>  v(size), flatV(size);
  AdamParameters parameters;
  parameters.axisScale[1] = 0;
  AdamStep(g.View(), m.View(), v.View(), parameters, 2);
  g.component[1] = Volume<float>(size);
  AdamStep(g.View(), flatM.View(), flatV.View(), {}, 2);
  EXPECT_TRUE(SameBytes(v.values, flatV.values));
  EXPECT_EQ(MaxMagnitude(m.component[1].values), 0);
}

GTEST_TEST(Adam, GradientScaleMakesTheResultIndependentOfTheUnit)
{
  // 2^-60 squared is no float: without the scale, the second moment would be zero.
  const Extent       size{ 9, 8, 7 };
  const Optimization one = Optimize(size, 1, 5);
  const Optimization tiny = Optimize(size, std::ldexp(1.0, -60), 5);
  ExpectSame(one, tiny);
  ExpectReference(size, 1e-30, 5);
  ExpectReference(size, 1e25, 5);
}

GTEST_TEST(Adam, GradientScaleIsAPowerOfTwo)
{
  EXPECT_EQ(AdamGradientScale(1.0), 1.0);
  EXPECT_EQ(AdamGradientScale(0.3), 4.0);
  EXPECT_EQ(AdamGradientScale(1000), 1.0 / 512);
  EXPECT_EQ(AdamGradientScale(0), 1.0);
  EXPECT_EQ(AdamGradientScale(NAN), 1.0);
  EXPECT_EQ(AdamGradientScale(INFINITY), 1.0);
  EXPECT_TRUE(std::isfinite(float(AdamGradientScale(1e-44)))); // a denormal gradient
}

GTEST_TEST(Adam, StepScale)
{
  EXPECT_EQ(AdamStepScale(4, 0.5), 0.5 * 0.5 / 4);
  EXPECT_EQ(AdamStepScale(0.1, 0.5), 0.25); // never lengthened
  EXPECT_EQ(AdamStepScale(0.1, 0.5, 1, false), 5);
  EXPECT_EQ(AdamStepScale(0, 0.5, 1, false), 0);
  EXPECT_EQ(AdamStepScale(INFINITY, 0.5), 0);
  EXPECT_EQ(AdamStepScale(NAN, 0.5), 0);
}

GTEST_TEST(Adam, ZeroGradientStays)
{
  const Extent  size{ 5, 4, 3 };
  Warp<float>   g(size), m = g;
  Volume<float> v(size);
  EXPECT_EQ(AdamStep(g.View(), m.View(), v.View(), {}, 2), 0);
  EXPECT_EQ(MaxMagnitude(m.component[0].values), 0);
}

GTEST_TEST(Adam, NotANumberShowsInTheNorm)
{
  const Extent  size{ 40, 4, 3 };
  Warp<float>   g = RandomWarp(size, 1, 1), m(size);
  Volume<float> v(size);
  g.component[1].values[17] = NAN;
  EXPECT_EQ(AdamStep(g.View(), m.View(), v.View(), {}, 2), INFINITY);
}

GTEST_TEST(Adam, TwoComponents)
{
  const Extent  size{ 33, 19, 1 };
  Warp<float>   g = RandomWarp(size, 1, 1), m(size);
  Volume<float> v(size);
  Warp<float>   g2 = g, m2 = m;
  Volume<float> v2 = v;
  g.component[2] = Volume<float>(size); // no force along z is the same as no z
  const double norm3 = AdamStep(g.View(), m.View(), v.View(), {}, 2);
  const auto   flat = [&](Warp<float> & warp) {
    WarpView<float> view = warp.View();
    view.component[2] = nullptr;
    return view;
  };
  EXPECT_EQ(AdamStep(flat(g2), flat(m2), v2.View(), {}, 2), norm3);
  EXPECT_TRUE(SameBytes(m.component[1].values, m2.component[1].values));
  EXPECT_TRUE(SameBytes(v.values, v2.values));
}

GTEST_TEST(Adam, SameBytesForThreadsSlabsAndInstructionSets)
{
  const Extent       size{ 37, 70, 5 };
  const Optimization whole = Optimize(size, 1, 3, 1);
  for (const unsigned threads : ThreadCounts())
  {
    ExpectSame(Optimize(size, 1, 3, threads), whole);
  }
  ForEachInstructionSet([&] { ExpectSame(Optimize(size, 1, 3), whole); });
  for (std::int64_t cut = 1; cut < size.z; ++cut)
  {
    Optimization       lower = Optimize(size, 1, 3, 0, cut, 2);
    const Optimization upper = Optimize(size, 1, 3, cut, size.z, 2);
    const auto         append = [](Volume<float> & a, const Volume<float> & b) {
      a.values.insert(a.values.end(), b.values.begin(), b.values.end());
    };
    for (int c = 0; c < 3; ++c)
    {
      append(lower.first.component[c], upper.first.component[c]);
    }
    append(lower.second, upper.second);
    lower.norm = std::max(lower.norm, upper.norm);
    ExpectSame(lower, whole);
  }
}

#ifndef FFDP_TEST_ON_DEVICE // meters the processor's memory
GTEST_TEST(Adam, MemoryIsANumberPerPieceOfRows)
{
  for (const std::int64_t planes : { 16, 64 })
  {
    const Extent  size{ 64, 64, planes };
    Warp<float>   g = RandomWarp(size, 1, 1), m(size);
    Volume<float> v(size);
    const auto    extra = MeasurePeakAllocation([&] { AdamStep(g.View(), m.View(), v.View(), {}, 2); });
    EXPECT_LT(extra, 16384u + std::size_t(planes) * 16u); // the threader, and 2 floats per plane
  }
}
#endif

GTEST_TEST(Adam, RefusesBadInput)
{
  const Extent   size{ 5, 4, 3 };
  Warp<float>    g(size), m(size), other(Extent{ 5, 4, 2 });
  Volume<float>  v(size), otherVolume(Extent{ 5, 4, 2 });
  AdamParameters p;
  EXPECT_THROW(AdamStep({}, m.View(), v.View(), p), std::invalid_argument);           // no gradient
  EXPECT_THROW(AdamStep(g.View(), other.View(), v.View(), p), std::invalid_argument); // sizes differ
  EXPECT_THROW(AdamStep(g.View(), m.View(), otherVolume.View(), p), std::invalid_argument);
  EXPECT_THROW(AdamStep(g.View(), m.View().Planes(0, 2), v.View(), p), std::invalid_argument); // plane missing
  const auto interleaved = WarpView<float>::Interleaved(g.component[0].values.data(), 2, { 5, 2, 3 });
  EXPECT_THROW(AdamStep(interleaved, m.View(), v.View(), p), std::invalid_argument); // not planar
  auto refuses = [&](const AdamParameters & bad) {
    EXPECT_THROW(AdamStep(g.View(), m.View(), v.View(), bad), std::invalid_argument);
  };
  p.step = 0; // would divide by 1 - beta^0 = 0
  refuses(p);
  p = {};
  p.beta1 = 1;
  refuses(p);
  p = {};
  p.epsilon = 0; // 0 / 0 where the gradient is zero
  refuses(p);
}
