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
#include "ffdpCudaAdam.h"

#include "ffdpBackend.h"
#include "ffdpDeviceStaging.h"
#include "ffdpSchedules.h"
#include "ffdpTestSupport.h"
#include "ffdpWarpReference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace ffdp;
using namespace ffdp::test;

namespace
{

AdamParameters
StepNumber(std::int64_t step)
{
  AdamParameters parameters;
  parameters.step = step;
  parameters.gradientScale = 0.25;
  parameters.axisScale[1] = 0.7;
  parameters.axisScale[2] = 1.9;
  return parameters;
}

/** Moments after some steps, by the processor or the device. */
struct Moments
{
  Warp<float>   first;
  Volume<float> second;
  double        norm = 0;

  explicit Moments(const Extent & size)
    : first(size)
    , second(size)
  {}

  void
  StepOnProcessor(const Warp<float> & gradient, std::int64_t step)
  {
    norm = MakeCpuBackend(1)->AdamStep(gradient.View(), first.View(), second.View(), StepNumber(step));
  }
  void
  StepOnDevice(const Warp<float> & gradient, std::int64_t step)
  {
    norm = cuda::AdamStep(TestDevice(),
                          StagedWarp<const float>(gradient.View()),
                          StagedWarp<float>(first.View()),
                          StagedVolume<float>(second.View()),
                          StepNumber(step));
  }
};

AdamCompositionParameters
Step(double norm, double length, WarpBorder border)
{
  AdamCompositionParameters parameters;
  for (int c = 0; c < 3; ++c)
  {
    parameters.stepScale[c] = length * (1 + 0.2 * c) / norm;
  }
  parameters.largestDirection = norm;
  parameters.border = border;
  return parameters;
}

std::size_t
BytesOfPlanes(const Extent & size, std::int64_t planes)
{
  return std::size_t(3 * size.x * size.y * planes) * sizeof(float);
}

} // namespace

TEST(CudaAdam, StepsHaveTheBitsOfTheProcessor)
{
  for (const Extent & size : AwkwardSizes())
  {
    for (const double deviation : { 1.0, 1e-20, 1e18 })
    {
      Moments expected(size), found(size);
      for (unsigned step = 1; step <= 3; ++step)
      {
        const Warp<float> gradient = RandomWarp(size, step, deviation);
        expected.StepOnProcessor(gradient, step);
        found.StepOnDevice(gradient, step);
        EXPECT_EQ(found.norm, expected.norm);
        EXPECT_TRUE(SameBytes(found.first, expected.first));
        EXPECT_TRUE(SameBytes(found.second.values, expected.second.values));
      }
    }
  }
}

TEST(CudaAdam, WhatIsNotANumberShowsInTheNorm)
{
  const Extent size{ 40, 4, 3 };
  for (const float wrong : { std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity() })
  {
    Warp<float> gradient = RandomWarp(size, 1, 1);
    gradient.component[1].values[217] = wrong;
    Moments moments(size);
    moments.StepOnDevice(gradient, 1);
    EXPECT_EQ(moments.norm, std::numeric_limits<double>::infinity());
  }
}

TEST(CudaAdam, CompositionHasTheBitsOfTheProcessor)
{
  for (const Extent & size : AwkwardSizes())
  {
    Moments moments(size);
    moments.StepOnProcessor(RandomWarp(size, 4, 1), 1);
    for (const WarpBorder border : { WarpBorder::Zero, WarpBorder::Edge })
    {
      for (const double length : { 0.4, 2.7 })
      {
        for (const std::int64_t planes : { 0, 3, 1000 })
        {
          const auto  parameters = Step(moments.norm, length, border);
          Warp<float> expected = RandomWarp(size, 5, 1), u = expected;
          MakeCpuBackend(1)->ComposeAdamStep(
            expected.View(), 0, size.z, moments.first.View(), moments.second.View(), StepNumber(1), parameters);
          cuda::ComposeAdamStep(TestDevice(),
                                StagedWarp<float>(u.View()),
                                0,
                                size.z,
                                StagedWarp<const float>(moments.first.View()),
                                StagedVolume<const float>(moments.second.View()),
                                StepNumber(1),
                                parameters,
                                BytesOfPlanes(size, planes));
          EXPECT_TRUE(SameBytes(u, expected)) << size.x << "x" << size.y << "x" << size.z;
        }
      }
    }
  }
}

TEST(CudaAdam, DoesNotDependOnTheSchedule)
{
  const Extent      size{ 40, 9, 5 };
  const Warp<float> gradient = RandomWarp(size, 1, 1);
  ForEachSchedule([&] {
    Moments moments(size);
    moments.StepOnDevice(gradient, 1);
    Warp<float> u = RandomWarp(size, 5, 1);
    cuda::ComposeAdamStep(TestDevice(),
                          StagedWarp<float>(u.View()),
                          0,
                          size.z,
                          StagedWarp<const float>(moments.first.View()),
                          StagedVolume<const float>(moments.second.View()),
                          StepNumber(1),
                          Step(moments.norm, 1, WarpBorder::Zero),
                          BytesOfPlanes(size, 2));
    std::vector<float> all = moments.second.values;
    all.push_back(float(moments.norm));
    for (int c = 0; c < 3; ++c)
    {
      all.insert(all.end(), u.component[c].values.begin(), u.component[c].values.end());
      all.insert(all.end(), moments.first.component[c].values.begin(), moments.first.component[c].values.end());
    }
    return all;
  });
}
