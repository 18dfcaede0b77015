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
#include "ffdpLocalCorrelation.h"

#include "ffdpAllocationMeter.h"
#include "ffdpLocalCorrelationReference.h"

#include <gtest/gtest.h>

#include <limits>

namespace
{

using namespace ffdp;
using namespace ffdp::test;
using Parameters = LocalCorrelationParameters;

/** All that an evaluation gives. */
struct Evaluation
{
  LocalCorrelationResult result;
  Volume<float>          movingGradient, fixedGradient, map;
};

Evaluation
Evaluate(const Volume<float> &        fixed,
         const Volume<float> &        moving,
         const Volume<std::uint8_t> * mask,
         const Parameters &           parameters,
         unsigned                     threads = 2)
{
  Evaluation e;
  e.movingGradient = e.fixedGradient = e.map = Volume<float>(fixed.domain, NAN);
  LocalCorrelationOutputs outputs;
  outputs.movingGradient = e.movingGradient.View();
  outputs.fixedGradient = e.fixedGradient.View();
  outputs.map = e.map.View();
  e.result = LocalCorrelation(
    fixed.View(), moving.View(), mask ? mask->View() : VolumeView<const std::uint8_t>(), parameters, outputs, threads);
  return e;
}

/** Float sums of a few dozen terms per axis err by some epsilon (6e-8), magnified by the window's condition and by the
 * power; gradients multiply three such numbers. */
void
ExpectEqualsReference(const Volume<float> &        fixed,
                      const Volume<float> &        moving,
                      const Volume<std::uint8_t> * mask,
                      const Parameters &           parameters)
{
  const Volume<double>       fixedDouble = fixed.As<double>();
  const Volume<double>       movingDouble = moving.As<double>();
  const CorrelationReference reference =
    CorrelationReferenceEvaluator(fixedDouble, movingDouble, mask, parameters).Evaluate();
  const Evaluation e = Evaluate(fixed, moving, mask, parameters);
  const double     relative = 2e-6 * reference.condition * parameters.power;
  ASSERT_LT(relative, 0.02) << "the data of this test are ill-conditioned";
  EXPECT_NEAR(e.result.Loss(), reference.loss, relative);
  EXPECT_LE(MaxDifference(e.map.values, reference.map.values), relative);
  const double largest = std::max(MaxMagnitude(reference.movingGradient.values), 1e-30);
  EXPECT_LE(MaxDifference(e.movingGradient.values, reference.movingGradient.values) / largest, 4 * relative);
  const double largestFixed = std::max(MaxMagnitude(reference.fixedGradient.values), 1e-30);
  EXPECT_LE(MaxDifference(e.fixedGradient.values, reference.fixedGradient.values) / largestFixed, 4 * relative);
}

std::vector<Parameters>
SomeParameters()
{
  std::vector<Parameters> all;
  for (const auto gradient : { Parameters::Gradient::Exact, Parameters::Gradient::ANTs })
  {
    Parameters p;
    p.gradient = gradient;
    p.epsilon = 1e-3;
    p.radius = { { 1, 1, 1 } };
    all.push_back(p);
    p.radius = { { 2, 2, 2 } };
    p.power = 2;
    all.push_back(p);
    p.radius = { { 3, 2, 1 } };
    p.power = 1;
    all.push_back(p);
    p.radius = { { 4, 4, 4 } };
    p.power = MostCorrelationPower;
    all.push_back(p);
    p.radius = { { 0, 6, 5 } };
    p.power = 1;
    all.push_back(p);
    p.radius = { { 3, 3, 3 } };
    p.power = gradient == Parameters::Gradient::Exact ? 5 : 1;
    p.window = Parameters::Window::Gaussian;
    p.sigma = { { 1.5, 1.0, 2.0 } };
    all.push_back(p);
  }
  return all;
}

Parameters
WindowOfSeven(Parameters::Gradient gradient)
{
  Parameters p;
  p.gradient = gradient;
  p.epsilon = 1e-4;
  return p;
}

/** The reference is slow, and slowest under a sanitizer, which finds as much in a fifth of the combinations. */
TEST(LocalCorrelation, EqualsReferenceForAllSizesAndWindows)
{
  unsigned seed = 1, combination = 0;
  for (const Extent & size : AwkwardSizes())
  {
    const Volume<float>        fixed = RandomVolume(size, ++seed);
    const Volume<float>        moving = RandomVolume(size, ++seed);
    const Volume<std::uint8_t> mask = RandomMask(size, ++seed);
    for (Parameters p : SomeParameters())
    {
      if (Sanitized && ++combination % 5 != 0)
      {
        continue;
      }
      SCOPED_TRACE(::testing::Message() << size.x << "x" << size.y << "x" << size.z << " radius " << p.radius[0] << ","
                                        << p.radius[1] << "," << p.radius[2]);
      ExpectEqualsReference(fixed, moving, nullptr, p);
      if (MaxMagnitude(mask.values) > 0)
      {
        ExpectEqualsReference(fixed, moving, &mask, p);
        p.maskWindows = false;
        ExpectEqualsReference(fixed, moving, &mask, p);
      }
    }
  }
}

TEST(LocalCorrelation, EqualsReferenceAfterItsRingsOfPlanesCameRound)
{
  const Extent        size{ 40, 9, 41 };
  const Volume<float> fixed = RandomVolume(size, 3);
  const Volume<float> moving = RandomVolume(size, 4);
  for (const auto gradient : { Parameters::Gradient::Exact, Parameters::Gradient::ANTs })
  {
    for (const int radius : { 1, 2, 3, 4, 5 })
    {
      SCOPED_TRACE(radius);
      Parameters p;
      p.gradient = gradient;
      p.epsilon = 1e-3;
      p.radius = { { radius, radius, radius } };
      ExpectEqualsReference(fixed, moving, nullptr, p);
    }
  }
}

TEST(LocalCorrelation, EqualsReferenceAcrossTiles)
{
  // Wider and higher than a tile, so that windows straddle its edges.
  const Extent        size{ 270, 69, 5 };
  const Volume<float> fixed = RandomVolume(size, 3);
  const Volume<float> moving = RandomVolume(size, 4);
  for (const auto gradient : { Parameters::Gradient::Exact, Parameters::Gradient::ANTs })
  {
    ExpectEqualsReference(fixed, moving, nullptr, WindowOfSeven(gradient));
  }
}

TEST(LocalCorrelation, KeepsItsPrecisionOnBrightAndOnScaledImages)
{
  const Extent size{ 29, 21, 12 };
  for (const auto gradient : { Parameters::Gradient::Exact, Parameters::Gradient::ANTs })
  {
    Parameters p = WindowOfSeven(gradient);
    p.fixedVariance = p.movingVariance = 100;
    ExpectEqualsReference(RandomVolume(size, 7, 1000, 10), RandomVolume(size, 8, -1000, 10), nullptr, p);
    // Products of variances of these would leave the range of a float.
    p.fixedVariance = 1e26;
    p.movingVariance = 1e-26;
    ExpectEqualsReference(RandomVolume(size, 7, 0, 1e13), RandomVolume(size, 8, 0, 1e-13), nullptr, p);
  }
}

TEST(LocalCorrelation, DoesNotChangeWithTheScaleOfIntensities)
{
  const Extent  size{ 21, 17, 9 };
  Volume<float> fixed = SmoothVolume(size, 1);
  Volume<float> moving = SmoothVolume(size, 2);
  Parameters    p = WindowOfSeven(Parameters::Gradient::Exact);
  p.fixedVariance = p.movingVariance = 0.02;
  const Evaluation one = Evaluate(fixed, moving, nullptr, p);
  for (float & v : fixed.values)
  {
    v *= 1024.0f;
  }
  p.fixedVariance *= 1024.0 * 1024.0;
  const Evaluation other = Evaluate(fixed, moving, nullptr, p);
  EXPECT_TRUE(SameBytes(one.map.values, other.map.values)); // a power of two: nothing rounds differently
}

TEST(LocalCorrelation, FlatWindowsCountTheFlatValueAndHaveNoGradient)
{
  const Extent        size{ 25, 20, 14 };
  const Volume<float> textured = RandomVolume(size, 5, 300, 40);
  Volume<float>       half = textured;
  for (std::int64_t z = 0; z < size.z; ++z)
    for (std::int64_t y = 0; y < size.y; ++y)
      for (std::int64_t x = 0; x < 12; ++x)
      {
        half.At(x, y, z) = 17.25f; // far from the tile's mean: its variance is rounding error, not zero
      }
  for (const auto gradient : { Parameters::Gradient::Exact, Parameters::Gradient::ANTs })
  {
    Parameters p = WindowOfSeven(gradient);
    p.epsilon = 0;
    p.flatValue = 1;
    p.fixedVariance = p.movingVariance = 1600;
    const Evaluation e = Evaluate(half, textured, nullptr, p);
    for (std::int64_t x = 0; x < 6; ++x) // windows of x < 9 are flat; voxels of x < 6 are in flat windows only
    {
      EXPECT_EQ(e.map.At(x, 10, 7), 1.0f);
      EXPECT_EQ(e.movingGradient.At(x, 10, 7), 0.0f);
    }
    ExpectEqualsReference(half, textured, nullptr, p);

    const Volume<float> constant(size, 42.0f);
    const Evaluation    nothing = Evaluate(constant, constant, nullptr, p);
    EXPECT_EQ(nothing.result.Loss(), -1.0);
    EXPECT_EQ(MaxMagnitude(nothing.movingGradient.values), 0.0);
    EXPECT_EQ(MaxMagnitude(nothing.fixedGradient.values), 0.0);
  }
}

/** The map to a power is the power of the map, whatever the windows; nothing is left of what hardly correlates. */
TEST(LocalCorrelation, RaisesEachWindowToThePower)
{
  const Extent        size{ 21, 18, 15 };
  const Volume<float> fixed = RandomVolume(size, 31);
  Volume<float>       moving = RandomVolume(size, 32);
  for (std::size_t i = moving.values.size() / 2; i < moving.values.size(); ++i)
  {
    moving.values[i] += 2 * fixed.values[i];
  }
  Parameters       p = WindowOfSeven(Parameters::Gradient::Exact);
  const Evaluation plain = Evaluate(fixed, moving, nullptr, p);
  p.power = 5;
  const Evaluation raised = Evaluate(fixed, moving, nullptr, p);
  std::size_t      small = 0, large = 0;
  for (std::size_t i = 0; i < plain.map.values.size(); ++i)
  {
    const double n = plain.map.values[i];
    EXPECT_NEAR(raised.map.values[i], n > 1e-4 ? std::pow(n, 5) : 0.0, 2e-6 * std::pow(n, 5)) << n;
    small += n <= 1e-4 ? 1 : 0;
    large += n > 0.5 ? 1 : 0;
  }
  EXPECT_GT(small, 0u);
  EXPECT_GT(large, 0u);
  EXPECT_LE(MaxMagnitude(raised.map.values), 1 + 1e-5);
}

TEST(LocalCorrelation, PerfectMatchGivesOne)
{
  const Extent        size{ 20, 15, 10 };
  const Volume<float> image = RandomVolume(size, 11, 100, 10);
  Volume<float>       linear = image;
  for (float & v : linear.values)
  {
    v = 50 - 2 * v;
  }
  Parameters p;
  p.fixedVariance = 100;
  p.movingVariance = 400;
  EXPECT_NEAR(Evaluate(image, linear, nullptr, p).result.Loss(), -1.0, 1e-4);
}

/** The exact gradient against central differences of the double-precision loss; the step is small against
 * the deviation 1 of the data, the error of the differences is of its square. */
TEST(LocalCorrelation, ExactGradientIsTheGradientOfTheLoss)
{
  const Extent               size{ 9, 8, 7 };
  const Volume<float>        fixed = RandomVolume(size, 21, 5, 1);
  const Volume<float>        moving = RandomVolume(size, 22, -3, 1);
  const Volume<std::uint8_t> someMask = RandomMask(size, 23, 0.6);
  for (const bool masked : { false, true })
    for (const bool maskWindows : { true, false })
      for (const auto window : { Parameters::Window::Box, Parameters::Window::Gaussian })
      {
        Parameters p;
        p.radius = { { 2, 1, 2 } };
        p.window = window;
        p.power = masked == maskWindows ? 3 : 1;
        p.epsilon = 1e-2;
        p.maskWindows = maskWindows;
        const Volume<std::uint8_t> * mask = masked ? &someMask : nullptr;
        const Evaluation             e = Evaluate(fixed, moving, mask, p);
        const double                 tolerance = 1e-4 * MaxMagnitude(e.movingGradient.values);
        Volume<double>               f = fixed.As<double>(), m = moving.As<double>();
        const auto loss = [&] { return CorrelationReferenceEvaluator(f, m, mask, p).Evaluate().loss; };
        for (const std::size_t i : { 0u, 4u, 37u, 100u, 251u, 252u, 300u, 444u, 503u })
        {
          const auto difference = [&](double & v) {
            const double old = v, h = 1e-4;
            v = old + h;
            const double up = loss();
            v = old - h;
            const double down = loss();
            v = old;
            return (up - down) / (2 * h);
          };
          EXPECT_NEAR(e.movingGradient.values[i], difference(m.values[i]), tolerance) << i;
          EXPECT_NEAR(e.fixedGradient.values[i], difference(f.values[i]), tolerance) << i;
        }
      }
}

bool
SameEvaluation(const Evaluation & a, const Evaluation & b)
{
  return SameBytes(a.result.planeSums, b.result.planeSums) && SameBytes(a.result.planeCounts, b.result.planeCounts) &&
         SameBytes(a.movingGradient.values, b.movingGradient.values) &&
         SameBytes(a.fixedGradient.values, b.fixedGradient.values) && SameBytes(a.map.values, b.map.values);
}

TEST(LocalCorrelation, SameBytesForAnyThreadsAndInstructionSet)
{
#ifdef FFDP_TEST_ON_DEVICE // where threads are slow
  const Extent size{ 45, 22, 7 };
#else
  const Extent size{ 45, 70, 23 };
#endif
  const Volume<float>        fixed = RandomVolume(size, 31, 100, 30);
  const Volume<float>        moving = RandomVolume(size, 32, 50, 10);
  const Volume<std::uint8_t> mask = RandomMask(size, 33);
  for (const Parameters & p : SomeParameters())
    for (const Volume<std::uint8_t> * m : { static_cast<const Volume<std::uint8_t> *>(nullptr), &mask })
    {
      const Evaluation one = Evaluate(fixed, moving, m, p, 1);
      for (const unsigned threads : ThreadCounts())
      {
        EXPECT_TRUE(SameEvaluation(one, Evaluate(fixed, moving, m, p, threads))) << threads << " threads";
      }
      ForEachInstructionSet([&] { EXPECT_TRUE(SameEvaluation(one, Evaluate(fixed, moving, m, p, 2))); });
    }
}

TEST(LocalCorrelation, SameBytesForSlabsCutAtAnyPlane)
{
  const Extent               size{ 21, 11, 13 };
  const Volume<float>        fixed = RandomVolume(size, 41, 100, 30);
  const Volume<float>        moving = RandomVolume(size, 42, 50, 10);
  const Volume<std::uint8_t> mask = RandomMask(size, 43);
  for (const Parameters & some : SomeParameters())
    for (const bool masked : { false, true })
    {
      Parameters       p = some;
      const Evaluation whole = Evaluate(fixed, moving, masked ? &mask : nullptr, p, 2);
      p.normalizer = whole.result.Count();
      const std::int64_t halo = LocalCorrelationHalo(p, true);
      for (std::int64_t cut = 0; cut <= size.z; ++cut)
      {
        Evaluation joined;
        for (const auto & range : { std::make_pair(std::int64_t(0), cut), std::make_pair(cut, size.z) })
        {
          const std::int64_t planes = range.second - range.first;
          const auto         fixedSlab = fixed.Slab(range.first - halo, range.second + halo);
          const auto         movingSlab = moving.Slab(range.first - halo, range.second + halo);
          const auto         maskSlab = mask.Slab(range.first - halo, range.second + halo);
          Volume<float>      gradientM(size, range.first, planes), gradientF = gradientM, map = gradientM;
          if (planes == 0)
          {
            continue;
          }
          LocalCorrelationOutputs outputs;
          outputs.movingGradient = gradientM.View();
          outputs.fixedGradient = gradientF.View();
          outputs.map = map.View();
          const LocalCorrelationResult r = LocalCorrelation(fixedSlab.View(),
                                                            movingSlab.View(),
                                                            masked ? maskSlab.View() : VolumeView<const std::uint8_t>(),
                                                            range.first,
                                                            planes,
                                                            p,
                                                            outputs,
                                                            2);
          const auto append = [](auto & to, const auto & from) { to.insert(to.end(), from.begin(), from.end()); };
          joined.result.Append(r);
          append(joined.movingGradient.values, gradientM.values);
          append(joined.fixedGradient.values, gradientF.values);
          append(joined.map.values, map.values);
        }
        EXPECT_TRUE(SameEvaluation(whole, joined)) << "cut at plane " << cut;
      }
    }
}

#ifndef FFDP_TEST_ON_DEVICE // meters the processor's memory
TEST(LocalCorrelation, MemoryDoesNotGrowWithTheVolume)
{
  for (const auto gradient : { Parameters::Gradient::Exact, Parameters::Gradient::ANTs })
  {
    const auto peak = [&](const Extent & size) {
      const Volume<float>     fixed = RandomVolume(size, 1), moving = RandomVolume(size, 2);
      Volume<float>           out(size);
      LocalCorrelationOutputs outputs;
      outputs.movingGradient = out.View();
      return MeasurePeakAllocation(
        [&] { LocalCorrelation(fixed.View(), moving.View(), {}, WindowOfSeven(gradient), outputs, 2); });
    };
    const std::size_t once = peak({ 256, 64, 32 });
    const std::size_t twice = peak({ 256, 64, 64 });
    const std::size_t wide = peak({ 256, 256, 32 });
    EXPECT_LE(twice, once + 32 * 2 * 64); // a few numbers per plane and tile
    EXPECT_LE(wide, once + 32 * 8 * 64);
    EXPECT_LE(wide, 8u << 20); // the floor for two threads on planes of 256 x 256
  }
}
#endif

TEST(LocalCorrelation, NotANumberStaysInItsWindows)
{
  const Extent  size{ 24, 24, 24 };
  Volume<float> fixed = RandomVolume(size, 51);
  Volume<float> moving = RandomVolume(size, 52);
  fixed.At(3, 3, 3) = std::numeric_limits<float>::quiet_NaN();
  moving.At(3, 4, 3) = std::numeric_limits<float>::infinity();
  Volume<std::uint8_t> mask(size, 1);
  mask.At(3, 3, 3) = mask.At(3, 4, 3) = 0;
  for (const auto gradient : { Parameters::Gradient::Exact, Parameters::Gradient::ANTs })
  {
    const Evaluation e = Evaluate(fixed, moving, nullptr, WindowOfSeven(gradient));
    EXPECT_TRUE(std::isfinite(e.map.At(20, 20, 20)));
    EXPECT_TRUE(std::isfinite(e.movingGradient.At(20, 20, 20)));
    const Evaluation masked = Evaluate(fixed, moving, &mask, WindowOfSeven(gradient));
    EXPECT_TRUE(std::isfinite(masked.result.Loss()));
    EXPECT_TRUE(std::isfinite(MaxMagnitude(masked.movingGradient.values)));
    EXPECT_EQ(masked.movingGradient.At(3, 3, 3), 0.0f);
  }
}

TEST(LocalCorrelation, RefusesBadInput)
{
  const Extent        size{ 8, 8, 8 };
  const Volume<float> image = RandomVolume(size, 1);
  const Volume<float> other = RandomVolume({ 8, 8, 7 }, 1);
  const auto run = [&](const VolumeView<const float> & f, const VolumeView<const float> & m, const Parameters & p) {
    LocalCorrelation(f, m, {}, p, {});
  };
  EXPECT_THROW(run(image.View(), other.View(), {}), std::invalid_argument) << "sizes differ";
  EXPECT_THROW(run({}, image.View(), {}), std::invalid_argument) << "no fixed image";
  Parameters negative;
  negative.radius[1] = -1;
  EXPECT_THROW(run(image.View(), image.View(), negative), std::invalid_argument);
  for (const int power : { 0, MostCorrelationPower + 1 })
  {
    Parameters bad;
    bad.power = power;
    EXPECT_THROW(run(image.View(), image.View(), bad), std::invalid_argument) << "power " << power;
  }
  Parameters noVariance;
  noVariance.movingVariance = 0;
  EXPECT_THROW(run(image.View(), image.View(), noVariance), std::invalid_argument);
  const Volume<float> slab = image.Slab(2, 6);
  EXPECT_THROW(LocalCorrelation(slab.View(), slab.View(), {}, 2, 4, {}, {}), std::invalid_argument) << "no halo";
  EXPECT_THROW(LocalCorrelation(image.View(), image.View(), {}, 4, 5, {}, {}), std::invalid_argument)
    << "beyond the end";
  EXPECT_THROW(LocalCorrelation(image.View(), image.View(), {}, -1, 2, {}, {}), std::invalid_argument);
  const Volume<std::uint8_t> empty(size, 0);
  EXPECT_THROW(LocalCorrelation(image.View(), image.View(), empty.View(), {}, {}).Loss(), std::invalid_argument);
}

} // namespace
