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
#include "ffdpCudaWarpGrid.h"

#include "ffdpBackend.h"
#include "ffdpCudaWarpProducts.h"
#include "ffdpDeviceStaging.h"
#include "ffdpSchedules.h"
#include "ffdpTestSupport.h"

#include <gtest/gtest.h>

using namespace ffdp;
using namespace ffdp::test;

namespace
{

std::vector<double>
Numbers(const WarpSize & size)
{
  return { size.norm, size.largest[0], size.largest[1], size.largest[2], size.finite ? 1.0 : 0.0 };
}

std::vector<float>
UpsampleOnDevice(const Warp<float> & coarse, const Extent & size)
{
  Warp<float> fine(size, NAN);
  cuda::UpsampleWarp(TestDevice(),
                     StagedWarp<const float>(coarse.View()),
                     StagedWarp<float>(fine.View()),
                     GridMap::Centered(size, coarse.component[0].domain));
  std::vector<float> values;
  for (const auto & c : fine.component)
  {
    values.insert(values.end(), c.values.begin(), c.values.end());
  }
  return values;
}

void
ExpectSameMeasures(const WarpView<const float> & warp)
{
  const double scale[3] = { 0.5, 2, 3 };
  EXPECT_TRUE(SameBytes(Numbers(cuda::MeasureWarp(TestDevice(), StagedWarp<const float>(warp), scale)),
                        Numbers(MakeCpuBackend(2)->MeasureWarp(warp, scale))));
}

void
ExpectSameProducts(const WarpView<const float> & a, const WarpView<const float> & b)
{
  const auto sums = cuda::WarpProducts(TestDevice(), StagedWarp<const float>(a), StagedWarp<const float>(b));
  EXPECT_TRUE(SameBytes(sums, MakeCpuBackend(2)->WarpProducts(a, b)));
}

/** The same voxels as a part of rows and planes. */
WarpView<const float>
WithGaps(const WarpView<const float> & warp)
{
  auto gaps = warp;
  gaps.domain.x -= 3;
  gaps.domain.y -= 2;
  return gaps;
}

} // namespace

TEST(CudaWarpGrid, UpsamplingHasTheBytesOfTheCpu)
{
  auto sizes = AwkwardSizes();
  sizes.push_back({ 259, 5, 3 });
  for (const Extent & size : sizes)
    for (const double factor : { 1.0, 2.0, 3.7 })
    {
      const auto  coarse = RandomWarp(LevelSize(size, factor, 1), 5, 3);
      Warp<float> expected(size, NAN);
      MakeCpuBackend(2)->UpsampleWarp(
        coarse.View(), expected.View(), GridMap::Centered(size, coarse.component[0].domain));
      const auto fine = UpsampleOnDevice(coarse, size);
      for (std::size_t c = 0, n = std::size_t(size.Voxels()); c < 3; ++c)
      {
        const auto begin = fine.begin() + std::ptrdiff_t(c * n);
        EXPECT_TRUE(SameBytes(std::vector<float>(begin, begin + std::ptrdiff_t(n)), expected.component[c].values));
      }
    }
}

TEST(CudaWarpGrid, MeasuresAndProductsHaveTheBytesOfTheCpu)
{
  auto sizes = AwkwardSizes();
  sizes.push_back({ 300, 70, 2 });
  for (const Extent & size : sizes)
  {
    auto       a = RandomWarp(size, 7, 3);
    const auto b = RandomWarp(size, 8, 1e-3);
    ExpectSameMeasures(a.View());
    ExpectSameProducts(a.View(), b.View());
    a.component[2].values.back() = NAN;
    a.component[1].values.front() = -INFINITY;
    ExpectSameMeasures(a.View());
    a.component[0].values.back() = 3e30f; // its square overflows
    ExpectSameMeasures(a.View());
  }
  const auto a = RandomWarp({ 70, 37, 9 }, 9, 3), b = RandomWarp({ 70, 37, 9 }, 10, 3);
  ExpectSameMeasures(a.View().Planes(2, 4));
  ExpectSameMeasures(WithGaps(a.View()));
  ExpectSameMeasures(Warp<float>({ 9, 8, 7 }, -0.0f).View());
  ExpectSameProducts(a.View().Planes(2, 4), b.View());
  ExpectSameProducts(WithGaps(a.View()), WithGaps(b.View()));
}

TEST(CudaWarpGrid, DoesNotDependOnTheSchedule)
{
  const auto   a = RandomWarp({ 70, 40, 3 }, 11, 3), b = RandomWarp({ 70, 40, 3 }, 12, 3);
  const double scale[3] = { 0.5, 2, 3 };
  ForEachSchedule([&] { return UpsampleOnDevice(b, { 80, 50, 4 }); });
  ForEachSchedule([&] { return Numbers(cuda::MeasureWarp(TestDevice(), StagedWarp<const float>(a.View()), scale)); });
  ForEachSchedule([&] {
    return cuda::WarpProducts(TestDevice(), StagedWarp<const float>(a.View()), StagedWarp<const float>(b.View()));
  });
}
