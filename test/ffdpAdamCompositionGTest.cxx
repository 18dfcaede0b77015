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
#include "ffdpAdamComposition.h"

#include "ffdpTestSupport.h"
#include "ffdpWarpReference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

using namespace ffdp;
using namespace ffdp::test;

namespace
{

/** Moments as after a step of Adam with a random gradient, and the direction that they give. */
struct Moments
{
  Warp<float>    first;
  Volume<float>  second;
  Warp<float>    direction;
  AdamParameters adam;
  double         norm = 0;

  explicit Moments(const Extent & size)
    : first(RandomWarp(size, 3, 0.5))
    , second(size)
    , direction(size)
  {
    adam.step = 4;
    for (std::size_t i = 0; i < second.values.size(); ++i)
    {
      second.values[i] = 0.1f + 0.01f * float(i % 17);
    }
    Warp<float> gradient = RandomWarp(size, 4, 1);
    norm = AdamStep(gradient.View(), first.View(), second.View(), adam, 2);
    const auto correctFirst = float(1 / (1 - std::pow(adam.beta1, 4)));
    const auto correctSecond = float(1 / (1 - std::pow(adam.beta2, 4)));
    for (std::size_t i = 0; i < second.values.size(); ++i)
    {
      const float gain = correctFirst / (std::sqrt(correctSecond * second.values[i]) + float(adam.epsilon));
      for (int c = 0; c < 3; ++c)
      {
        direction.component[c].values[i] = gain * first.component[c].values[i];
      }
    }
  }
};

AdamCompositionParameters
Step(const Moments & moments, double scale)
{
  AdamCompositionParameters parameters;
  std::fill(parameters.stepScale, parameters.stepScale + 3, scale);
  parameters.largestDirection = moments.norm;
  return parameters;
}

} // namespace

TEST(AdamComposition, EqualsTheStepFollowedByTheComposition)
{
  for (const Extent & size : AwkwardSizes())
  {
    const Moments moments(size);
    const double  scale = 0.4 / moments.norm;
    Warp<float>   expected = SmoothWarp(size, 7, 0.5);
    Warp<float>   u = expected;
    Warp<float>   d = moments.direction;
    ComposeWarps(expected.View(), WarpView<const float>(d.View()), { float(-scale), WarpBorder::Zero, -1 }, 2);
    ComposeAdamStep(
      u.View(), 0, size.z, moments.first.View(), moments.second.View(), moments.adam, Step(moments, scale), 2);
    EXPECT_TRUE(SameBytes(expected, u)) << size.x << "x" << size.y << "x" << size.z;
  }
}

TEST(AdamComposition, AnAxisWithoutAStepStays)
{
  const Extent              size{ 13, 11, 9 };
  const Moments             moments(size);
  AdamCompositionParameters parameters = Step(moments, 0.4 / moments.norm);
  parameters.stepScale[1] = 0;
  Warp<float> u(size);
  ComposeAdamStep(u.View(), 0, size.z, moments.first.View(), moments.second.View(), moments.adam, parameters, 2);
  EXPECT_EQ(MaxMagnitude(u.component[1].values), 0);
  EXPECT_GT(MaxMagnitude(u.component[0].values), 0);
}

TEST(AdamComposition, SlabsAndThreadsGiveTheBytesOfTheWhole)
{
  const Extent      size{ 21, 18, 15 };
  const Moments     moments(size);
  const auto        parameters = Step(moments, 1.7 / moments.norm); // reaches over more than one plane
  const Warp<float> start = SmoothWarp(size, 7, 0.5);
  Warp<float>       whole = start;
  ComposeAdamStep(whole.View(), 0, size.z, moments.first.View(), moments.second.View(), moments.adam, parameters, 1);
  for (const unsigned threads : ThreadCounts())
  {
    Warp<float> u = start;
    ComposeAdamStep(
      u.View(), 0, size.z, moments.first.View(), moments.second.View(), moments.adam, parameters, threads);
    EXPECT_TRUE(SameBytes(whole, u)) << threads;
  }
  const std::int64_t halo = CompositionHalo(float(parameters.stepScale[2] * moments.norm * 1.0001));
  for (std::int64_t cut = 1; cut < size.z; ++cut)
  {
    const std::int64_t bounds[3] = { 0, cut, size.z };
    for (int part = 0; part < 2; ++part)
    {
      const std::int64_t first = bounds[part], end = bounds[part + 1];
      Warp<float>        slab = start.Slab(first - halo, end + halo);
      ComposeAdamStep(
        slab.View(), first, end - first, moments.first.View(), moments.second.View(), moments.adam, parameters, 2);
      for (int c = 0; c < 3; ++c)
      {
        EXPECT_TRUE(SameBytes(slab.component[c].Slab(first, end).values, whole.component[c].Slab(first, end).values));
      }
    }
  }
}

TEST(AdamComposition, RefusesWhatItCannotDo)
{
  const Extent  size{ 5, 5, 5 };
  const Moments moments(size);
  Warp<float>   u(size);
  auto          parameters = Step(moments, 0.1);
  Warp<float>   other(Extent{ 5, 5, 6 });
  Volume<float> otherVolume(Extent{ 5, 5, 6 });
  EXPECT_THROW(ComposeAdamStep(u.View(), 0, 5, other.View(), moments.second.View(), moments.adam, parameters),
               std::invalid_argument);
  EXPECT_THROW(ComposeAdamStep(u.View(), 0, 5, moments.first.View(), otherVolume.View(), moments.adam, parameters),
               std::invalid_argument);
  EXPECT_THROW(ComposeAdamStep(u.View(), 0, 6, moments.first.View(), moments.second.View(), moments.adam, parameters),
               std::invalid_argument);              // planes that are not there
  parameters.largestDirection = moments.norm / 100; // too small a bound
  parameters.stepScale[2] = 50;
  EXPECT_THROW(ComposeAdamStep(u.View(), 0, 5, moments.first.View(), moments.second.View(), moments.adam, parameters),
               std::invalid_argument);
}
