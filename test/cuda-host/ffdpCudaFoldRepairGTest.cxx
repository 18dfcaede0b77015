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
#include "ffdpCudaFoldRepair.h"

#include "ffdpBackend.h"
#include "ffdpDeviceStaging.h"
#include "ffdpSchedules.h"
#include "ffdpTestSupport.h"
#include "ffdpWarpReference.h"

#include <gtest/gtest.h>

#include <limits>

using namespace ffdp;
using namespace ffdp::test;

namespace
{

std::int64_t
IronOnDevice(Warp<float> & u, const Volume<float> & determinant, float least)
{
  return cuda::IronFolds(TestDevice(),
                         StagedWarp<float>(u.View()),
                         0,
                         determinant.domain.z,
                         StagedVolume<const float>(determinant.View()),
                         least);
}

} // namespace

TEST(CudaFoldRepair, HasTheBitsOfTheProcessorAtEverySize)
{
  for (const Extent & size : AwkwardSizes())
  {
    Volume<float> determinant = RandomVolume(size, 2, 1, 0.4); // 1 % are below 0.07
    determinant.values.back() = std::numeric_limits<float>::quiet_NaN();
    for (const float least : { -1e30f, 0.07f, 0.5f, 1e30f }) // none, some, most, all
    {
      Warp<float>        expected = RandomWarp(size, 5, 1), u = expected;
      const std::int64_t changed = MakeCpuBackend(1)->IronFolds(expected.View(), 0, size.z, determinant.View(), least);
      EXPECT_EQ(IronOnDevice(u, determinant, least), changed);
      EXPECT_TRUE(SameBytes(u, expected)) << size.x << "x" << size.y << "x" << size.z << " below " << least;
    }
  }
}

TEST(CudaFoldRepair, SlabsWithHalosHaveTheBitsOfTheWhole)
{
  const Extent        size{ 19, 11, 9 };
  const Volume<float> determinant = RandomVolume(size, 2, 1, 0.4);
  const Warp<float>   start = RandomWarp(size, 5, 1);
  Warp<float>         expected = start;
  MakeCpuBackend(1)->IronFolds(expected.View(), 0, size.z, determinant.View(), 0.1f);
  for (std::int64_t cut = 1; cut < size.z; ++cut)
  {
    const std::int64_t bounds[3] = { 0, cut, size.z };
    for (int part = 0; part < 2; ++part)
    {
      const std::int64_t  first = bounds[part], end = bounds[part + 1];
      Warp<float>         slab = start.Slab(first - 1, end + 1);
      const Volume<float> held = determinant.Slab(first - 1, end + 1);
      cuda::IronFolds(
        TestDevice(), StagedWarp<float>(slab.View()), first, end - first, StagedVolume<const float>(held.View()), 0.1f);
      EXPECT_TRUE(SameBytes(slab.Slab(first, end), expected.Slab(first, end))) << cut;
      EXPECT_TRUE(SameBytes(slab.Slab(end, end + 1), start.Slab(end, end + 1))) << cut; // only read
    }
  }
}

TEST(CudaFoldRepair, DoesNotDependOnTheSchedule)
{
  const Extent        size{ 40, 9, 5 };
  const Volume<float> determinant = RandomVolume(size, 2, 1, 0.4);
  ForEachSchedule([&] {
    Warp<float>        u = RandomWarp(size, 5, 1);
    std::vector<float> all{ float(IronOnDevice(u, determinant, 0.1f)) };
    for (const auto & component : u.component)
    {
      all.insert(all.end(), component.values.begin(), component.values.end());
    }
    return all;
  });
}
