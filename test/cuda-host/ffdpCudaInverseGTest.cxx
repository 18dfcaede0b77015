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
#include "ffdpCudaInverse.h"

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

/** Waves of a slope of about 1, and noise on top: folds in places, so that Newton's method fails here and there. */
Warp<float>
CreasedWarp(const Extent & size, double noise)
{
  Warp<float>  warp = RandomWarp(size, 5, noise);
  const double wave = 9; // voxels
  for (std::int64_t z = 0; z < size.z; ++z)
    for (std::int64_t y = 0; y < size.y; ++y)
      for (std::int64_t x = 0; x < size.x; ++x)
      {
        const double along[3] = { double(x), double(y), double(z) };
        for (int c = 0; c < 3; ++c)
        {
          warp.component[c].At(x, y, z) += float(wave / 6.3 * std::sin(6.3 * along[c] / wave));
        }
      }
  return warp;
}

InverseStepParameters
Step(float damping, WarpBorder border)
{
  InverseStepParameters step;
  step.damping = damping;
  step.border = border;
  return step;
}

} // namespace

TEST(CudaInverse, StepsHaveTheBitsOfTheProcessor)
{
  for (const Extent & size : AwkwardSizes())
  {
    for (const WarpBorder border : { WarpBorder::Zero, WarpBorder::Edge })
    {
      const Warp<float> u = CreasedWarp(size, 0.2);
      Warp<float>       expected(size), w(size);
      for (const float damping : { 1.0f, 0.5f, 0.25f })
      {
        const float residual = MakeCpuBackend(1)->IterateInverse(u.View(), expected.View(), Step(damping, border));
        EXPECT_EQ(
          cuda::IterateInverse(
            TestDevice(), StagedWarp<const float>(u.View()), StagedWarp<float>(w.View()), Step(damping, border)),
          residual);
        EXPECT_TRUE(SameBytes(w, expected)) << size.x << "x" << size.y << "x" << size.z;
      }
    }
  }
}

TEST(CudaInverse, RefinementHasTheBitsOfTheProcessorAlsoWhereItFails)
{
  int failures = 0;
  for (const Extent & size : { Extent{ 23, 17, 5 }, Extent{ 1, 12, 10 }, Extent{ 33, 19, 1 }, Extent{ 140, 9, 2 } })
  {
    for (const double noise : { 0.0, 0.05, 0.3 })
    {
      Warp<float> u = CreasedWarp(size, noise);
      Warp<float> expected(size);
      MakeCpuBackend(1)->IterateInverse(u.View(), expected.View(), Step(1, WarpBorder::Edge));
      u.component[1].At(0, 3, 0) = std::numeric_limits<float>::infinity();
      expected.component[0].At(0, 5, 0) = std::numeric_limits<float>::quiet_NaN();
      Warp<float> w = expected;
      for (const std::size_t groupBytes : { std::size_t(0), cuda::DefaultGroupBytes })
      {
        InverseRefinement refinement;
        refinement.iterations = groupBytes == 0 ? 2 : 5; // the second time from where the first ended
        const float left = MakeCpuBackend(1)->RefineInverse(u.View(), expected.View(), {}, refinement);
        EXPECT_EQ(
          cuda::RefineInverse(
            TestDevice(), StagedWarp<const float>(u.View()), StagedWarp<float>(w.View()), {}, refinement, groupBytes),
          left);
        EXPECT_TRUE(SameBytes(w, expected)) << size.x << "x" << size.y << "x" << size.z << ", noise " << noise;
        failures += left > refinement.tolerance ? 1 : 0;
      }
    }
  }
  EXPECT_GT(failures, 0); // what is left is above the tolerance although the neighbors were asked: they were
}

TEST(CudaInverse, ErrorAndWhatIsMovedByItHaveTheBitsOfTheCpu)
{
  for (const Extent & size : { Extent{ 23, 17, 9 }, Extent{ 40, 12, 1 } })
  {
    const Warp<float> u = CreasedWarp(size, 0.2);
    for (const int margin : { 0, 2 })
    {
      Warp<float>   expected(size), w(size);
      Volume<float> expectedError(size), error(size);
      const float   largest =
        MakeCpuBackend(2)->InverseError(u.View(), expected.View(), 1, margin, expectedError.View(), nullptr);
      EXPECT_GT(largest, 0.1f);
      EXPECT_EQ(cuda::InverseError(TestDevice(),
                                   StagedWarp<const float>(u.View()),
                                   StagedWarp<const float>(w.View()),
                                   1,
                                   margin,
                                   StagedVolume<float>(error.View()),
                                   nullptr),
                largest);
      EXPECT_EQ(error.values, expectedError.values);
      InverseRefinement refinement;
      refinement.allowed = 0.1f;
      refinement.boundAlongZ = 20;
      const Warp<float> start = w;
      for (const float way : { 0.0f, 0.12f })
      {
        refinement.allowedWay = way;
        expected = start;
        w = start;
        MakeCpuBackend(2)->RefineInverse(u.View(), expected.View(), error.View(), refinement);
        cuda::RefineInverse(TestDevice(),
                            StagedWarp<const float>(u.View()),
                            StagedWarp<float>(w.View()),
                            StagedVolume<const float>(error.View()),
                            refinement);
        EXPECT_TRUE(SameBytes(w, expected)) << margin << " " << way;
      }
    }
  }
}

TEST(CudaInverse, DoesNotDependOnTheSchedule)
{
  const Extent      size{ 37, 9, 4 };
  const Warp<float> u = CreasedWarp(size, 0.2);
  ForEachSchedule([&] {
    Warp<float>       w(size);
    InverseRefinement refinement;
    refinement.iterations = 2;
    std::vector<float> all;
    {
      const StagedWarp<const float> stagedU(u.View());
      const StagedWarp<float>       stagedW(w.View());
      all.push_back(cuda::IterateInverse(TestDevice(), stagedU, stagedW, {}));
      all.push_back(cuda::RefineInverse(TestDevice(), stagedU, stagedW, {}, refinement));
    }
    for (const auto & component : w.component)
    {
      all.insert(all.end(), component.values.begin(), component.values.end());
    }
    return all;
  });
}
