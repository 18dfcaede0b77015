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

#include <gtest/gtest.h>

using namespace ffdp;
using namespace ffdp::test;

namespace
{

/** The formulas of the header in double, one component of one voxel. */
double
ReferenceDirection(double g, double & m, double & v, const AdamParameters & p)
{
  g *= p.gradientScale;
  m = p.beta1 * m + (1 - p.beta1) * g;
  v = p.beta2 * v + (1 - p.beta2) * g * g;
  const double mean = m / (1 - std::pow(p.beta1, double(p.step)));
  const double square = v / (1 - std::pow(p.beta2, double(p.step)));
  return mean / (std::sqrt(square) + p.epsilon);
}

/** Gradient, moments and norm of a run of several steps whose gradients are random. */
struct Optimization
{
  Warp<float> gradient, first, second;
  double      norm = 0;

  explicit Optimization(const Extent & size)
    : gradient(size)
    , first(size)
    , second(size)
  {}
};

AdamParameters
MillimeterParameters()
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
  AdamParameters parameters = MillimeterParameters();
  parameters.gradientScale = AdamGradientScale(deviation);
  for (int t = 1; t <= steps; ++t)
  {
    parameters.step = t;
    run.gradient = RandomWarp(size, unsigned(t), deviation).Slab(first, end);
    run.norm = AdamStep(run.gradient.View(), run.first.View(), run.second.View(), parameters, threads);
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
  for (int c = 0; c < 3; ++c)
  {
    EXPECT_TRUE(SameBytes(a.gradient.component[c].values, b.gradient.component[c].values));
    EXPECT_TRUE(SameBytes(a.first.component[c].values, b.first.component[c].values));
    EXPECT_TRUE(SameBytes(a.second.component[c].values, b.second.component[c].values));
  }
  EXPECT_EQ(a.norm, b.norm);
}

void
ExpectReference(const Extent & size, double deviation, int steps)
{
  const Optimization  run = Optimize(size, deviation, steps);
  AdamParameters      parameters = MillimeterParameters();
  const std::size_t   voxels = std::size_t(size.Voxels());
  std::vector<double> squaredNorm(voxels);
  parameters.gradientScale = AdamGradientScale(deviation);
  std::vector<Warp<float>> gradients;
  for (int t = 1; t <= steps; ++t)
  {
    gradients.push_back(RandomWarp(size, unsigned(t), deviation));
  }
  for (int c = 0; c < 3; ++c)
  {
    for (std::size_t i = 0; i < voxels; ++i)
    {
      double m = 0, v = 0, d = 0, size1 = 0;
      for (int t = 1; t <= steps; ++t)
      {
        parameters.step = t;
        const double g = gradients[std::size_t(t - 1)].component[c].values[i];
        d = ReferenceDirection(g, m, v, parameters);
        size1 = std::max(size1, std::abs(g * parameters.gradientScale));
      }
      // Each step rounds a handful of times (2^-24 each) relative to the largest gradient so far; betas such
      // as 0.9 are themselves rounded, and 1 - 0.9 again. Ten roundings per step bound it.
      const double rounding = 10 * 6e-8 * steps;
      ASSERT_NEAR(run.first.component[c].values[i], m, rounding * size1);
      ASSERT_NEAR(run.second.component[c].values[i], v, rounding * v);
      // |d| is at most about 4 after few steps; m's error is relative to the largest gradient, which v knows.
      const double root = std::sqrt(v / (1 - std::pow(0.99, steps)));
      ASSERT_NEAR(run.gradient.component[c].values[i], d, rounding * (std::abs(d) + 4 * size1 / (root + 1e-8)));
      squaredNorm[i] += std::pow(parameters.axisScale[c] * double(run.gradient.component[c].values[i]), 2);
    }
  }
  const double norm = std::sqrt(*std::max_element(squaredNorm.begin(), squaredNorm.end()));
  EXPECT_NEAR(run.norm, norm, norm * 5 * 6e-8); // squares and sums are float
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

GTEST_TEST(Adam, FirstStepIsTheSignOfTheGradient)
{
  Warp<float>          g(Extent{ 5, 4, 3 }, -0.25f), m(Extent{ 5, 4, 3 }), v(Extent{ 5, 4, 3 });
  const AdamParameters parameters;
  const double         norm = AdamStep(g.View(), m.View(), v.View(), parameters, 2);
  for (const float d : g.component[1].values)
  {
    EXPECT_NEAR(d, -1, 1e-6);
  }
  EXPECT_NEAR(norm, std::sqrt(3.0), 2e-6);
}

GTEST_TEST(Adam, GradientScaleMakesTheResultIndependentOfTheUnit)
{
  // 2^-60 squared is no float: without the scale, the second moment would be zero.
  const Extent       size{ 9, 8, 7 };
  const Optimization one = Optimize(size, 1, 5);
  const Optimization tiny = Optimize(size, std::ldexp(1.0, -60), 5);
  for (int c = 0; c < 3; ++c)
  {
    EXPECT_TRUE(SameBytes(one.gradient.component[c].values, tiny.gradient.component[c].values));
  }
  EXPECT_EQ(one.norm, tiny.norm);
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
  Warp<float> g(Extent{ 5, 4, 3 }), m = g, v = g;
  EXPECT_EQ(AdamStep(g.View(), m.View(), v.View(), {}, 2), 0);
  EXPECT_EQ(MaxMagnitude(g.component[0].values), 0);
}

GTEST_TEST(Adam, NotANumberShowsInTheNorm)
{
  Warp<float> g = RandomWarp({ 40, 4, 3 }, 1, 1), m(g.component[0].domain), v = m;
  g.component[1].values[17] = NAN;
  EXPECT_EQ(AdamStep(g.View(), m.View(), v.View(), {}, 2), INFINITY);
}

GTEST_TEST(Adam, TwoComponents)
{
  const Extent size{ 33, 19, 1 };
  Warp<float>  g = RandomWarp(size, 1, 1), m(size), v(size);
  Warp<float>  g2 = g, m2 = m, v2 = v;
  g.component[2] = Volume<float>(size); // no force along z is the same as no z
  const double norm3 = AdamStep(g.View(), m.View(), v.View(), {}, 2);
  const auto   flat = [&](Warp<float> & warp) {
    WarpView<float> view = warp.View();
    view.component[2] = nullptr;
    return view;
  };
  EXPECT_EQ(AdamStep(flat(g2), flat(m2), flat(v2), {}, 2), norm3);
  EXPECT_TRUE(SameBytes(g.component[1].values, g2.component[1].values));
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
    const auto         append = [](Warp<float> & a, const Warp<float> & b) {
      for (int c = 0; c < 3; ++c)
      {
        a.component[c].values.insert(
          a.component[c].values.end(), b.component[c].values.begin(), b.component[c].values.end());
      }
    };
    append(lower.gradient, upper.gradient);
    append(lower.first, upper.first);
    append(lower.second, upper.second);
    lower.norm = std::max(lower.norm, upper.norm);
    ExpectSame(lower, whole);
  }
}

GTEST_TEST(Adam, MemoryIsANumberPerPieceOfRows)
{
  for (const std::int64_t planes : { 16, 64 })
  {
    Warp<float> g = RandomWarp({ 64, 64, planes }, 1, 1), m(g.component[0].domain), v = m;
    const auto  extra = MeasurePeakAllocation([&] { AdamStep(g.View(), m.View(), v.View(), {}, 2); });
    EXPECT_LT(extra, 16384u + std::size_t(planes) * 16u); // the threader, and 2 floats per plane
  }
}

GTEST_TEST(Adam, RefusesBadInput)
{
  const Extent   size{ 5, 4, 3 };
  Warp<float>    g(size), m(size), v(size), other(Extent{ 5, 4, 2 });
  AdamParameters p;
  EXPECT_THROW(AdamStep({}, m.View(), v.View(), p), std::invalid_argument);                    // no gradient
  EXPECT_THROW(AdamStep(g.View(), other.View(), v.View(), p), std::invalid_argument);          // sizes differ
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
