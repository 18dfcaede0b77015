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
#include "ffdpCudaDownsample.h"

#include "ffdpBackend.h"
#include "ffdpDeviceStaging.h"
#include "ffdpSchedules.h"
#include "ffdpTestSupport.h"

#include <gtest/gtest.h>

using namespace ffdp;
using namespace ffdp::test;

namespace
{

std::vector<float>
OnDevice(const VolumeView<const float> & fine,
         const Extent &                  coarse,
         const GridMap &                 map,
         const DownsampleParameters &    parameters = {})
{
  Volume<float> result(coarse, NAN);
  cuda::Downsample(TestDevice(), StagedVolume<const float>(fine), StagedVolume<float>(result.View()), map, parameters);
  return result.values;
}

void
ExpectSameAsCpu(const VolumeView<const float> & fine,
                const Extent &                  coarse,
                const GridMap &                 map,
                const DownsampleParameters &    parameters = {})
{
  Volume<float> expected(coarse, NAN);
  MakeCpuBackend(2)->Downsample(fine, expected.View(), map, parameters);
  EXPECT_TRUE(SameBytes(OnDevice(fine, coarse, map, parameters), expected.values))
    << fine.domain.x << "x" << fine.domain.y << "x" << fine.domain.z << " to " << coarse.x << "x" << coarse.y << "x"
    << coarse.z;
}

} // namespace

TEST(CudaDownsample, SameBytesAsCpu)
{
  auto sizes = AwkwardSizes();
  sizes.push_back({ 141, 67, 12 }); // several tiles
  for (const Extent & size : sizes)
    for (const double factor : { 1.0, 1.3, 2.0, 3.7 })
    {
      const Extent coarse = LevelSize(size, factor, 1);
      const auto   fine = RandomVolume(size, 1, 1000, 10);
      ExpectSameAsCpu(fine.View(), coarse, GridMap::Centered(size, coarse));
      ExpectSameAsCpu(fine.View(), coarse, GridMap::AlignCorners(size, coarse));
    }
}

TEST(CudaDownsample, SameBytesAsCpuForMoreTapsThanSharedMemoryHolds)
{
  // Tiles that depend on up to 700 x 90 fine voxels: in chunks of 160 x 32.
  const Extent size{ 700, 90, 6 }, coarse{ 21, 3, 2 };
  auto         fine = RandomVolume(size, 2);
  ExpectSameAsCpu(fine.View(), coarse, GridMap::Centered(size, coarse));
  DownsampleParameters wide;
  wide.sigma[0] = 90;
  wide.sigma[1] = 20;
  wide.sigma[2] = 0;
  ExpectSameAsCpu(fine.View(), coarse, GridMap::AlignCorners(size, coarse), wide);
  fine.values[1234] = INFINITY; // reaches the same voxels
  fine.values[4321] = NAN;
  ExpectSameAsCpu(fine.View(), coarse, GridMap::Centered(size, coarse));
}

TEST(CudaDownsample, SameBytesAsCpuForGaps)
{
  const auto              image = RandomVolume({ 70, 37, 9 }, 4);
  VolumeView<const float> gaps(image.values.data(), { 61, 33, 9 });
  gaps.rowStride = 70;
  gaps.planeStride = 70 * 37;
  const Extent coarse{ 30, 16, 4 };
  ExpectSameAsCpu(gaps, coarse, GridMap::Centered(gaps.domain, coarse));
}

TEST(CudaDownsample, DoesNotDependOnTheSchedule)
{
  const Extent size{ 250, 50, 5 }, coarse{ 50, 10, 2 };
  const auto   fine = RandomVolume(size, 5);
  ForEachSchedule([&] { return OnDevice(fine.View(), coarse, GridMap::Centered(size, coarse)); });
}
