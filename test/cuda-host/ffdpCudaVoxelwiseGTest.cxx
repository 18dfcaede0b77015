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
#include "ffdpCudaVoxelwise.h"

#include "ffdpBackend.h"
#include "ffdpDeviceStaging.h"
#include "ffdpSchedules.h"
#include "ffdpTestSupport.h"

#include <gtest/gtest.h>

#include <random>

/** The same bytes as the CPU backend, for volumes, slabs of them and 2-D images of sizes that fit no block. */
namespace
{

using ffdp::Extent;
using ffdp::VolumeView;
using ffdp::test::ForEachSchedule;
using ffdp::test::StagedVolume;
using ffdp::test::TestDevice;
using ffdp::test::Volume;

Volume<float>
RandomVolume(const Extent & size, unsigned seed)
{
  std::mt19937                          random(seed);
  std::uniform_real_distribution<float> values(-100.0f, 100.0f);
  Volume<float>                         volume(size);
  for (float & value : volume.values)
  {
    value = values(random);
  }
  return volume;
}

Volume<float>
RandomMask(const Extent & size, unsigned seed)
{
  Volume<float> mask = RandomVolume(size, seed);
  for (float & value : mask.values)
  {
    value = value < -50.0f ? 0.0f : value < 0.0f ? 0.4999999f : value < 50.0f ? 0.5f : 1.0f;
  }
  return mask;
}

class CudaVoxelwise : public testing::TestWithParam<Extent>
{
protected:
  const std::unique_ptr<ffdp::Backend> m_Cpu = ffdp::MakeCpuBackend(1);
};

TEST_P(CudaVoxelwise, ScalesAsTheCpu)
{
  const Volume<float> volume = RandomVolume(GetParam(), 1);
  const auto          device = ForEachSchedule([&] {
    Volume<float> scaled = volume;
    ffdp::cuda::Scale(TestDevice(), StagedVolume<float>(scaled.View()), 1.1f);
    return scaled.values;
  });
  Volume<float>       cpu = volume;
  m_Cpu->Scale(cpu.View(), 1.1f);
  EXPECT_EQ(device, cpu.values);
}

TEST_P(CudaVoxelwise, AddsAsTheCpu)
{
  const Volume<float> volume = RandomVolume(GetParam(), 1), other = RandomVolume(GetParam(), 2);
  const auto          device = ForEachSchedule([&] {
    Volume<float> sum = volume;
    ffdp::cuda::Add(TestDevice(), StagedVolume<float>(sum.View()), StagedVolume<const float>(other.View()));
    return sum.values;
  });
  Volume<float>       cpu = volume;
  m_Cpu->Add(cpu.View(), other.View());
  EXPECT_EQ(device, cpu.values);
}

/** Planes that the slab does not hold keep what they have; those of `from` are found by their number. */
TEST_P(CudaVoxelwise, AddsToASlab)
{
  const Volume<float> volume = RandomVolume(GetParam(), 1), other = RandomVolume(GetParam(), 2);
  const std::int64_t  first = GetParam().z / 3, count = (GetParam().z + 2) / 3;
  Volume<float>       device = volume, cpu = volume;
  ffdp::cuda::Add(
    TestDevice(), StagedVolume<float>(device.View().Planes(first, count)), StagedVolume<const float>(other.View()));
  m_Cpu->Add(cpu.View().Planes(first, count), other.View());
  EXPECT_EQ(device.values, cpu.values);
  EXPECT_NE(device.values, volume.values);
}

TEST_P(CudaVoxelwise, CombinesMasksAsTheCpu)
{
  const Volume<float> one = RandomMask(GetParam(), 1), two = RandomMask(GetParam(), 2);
  const auto          check = [&](const VolumeView<const float> & fixed, const VolumeView<const float> & moved) {
    const auto           device = ForEachSchedule([&] {
      Volume<std::uint8_t> mask(GetParam(), 7);
      ffdp::cuda::CombineMasks(TestDevice(),
                               StagedVolume<const float>(fixed),
                               StagedVolume<const float>(moved),
                               StagedVolume<std::uint8_t>(mask.View()));
      return mask.values;
    });
    Volume<std::uint8_t> cpu(GetParam(), 7);
    m_Cpu->CombineMasks(fixed, moved, cpu.View());
    EXPECT_EQ(device, cpu.values);
  };
  check(one.View(), two.View());
  check(one.View(), {});
  check({}, two.View());
  check({}, {});
}

INSTANTIATE_TEST_SUITE_P(Sizes,
                         CudaVoxelwise,
                         testing::Values(Extent{ 1, 1, 1 },
                                         Extent{ 128, 3, 2 },
                                         Extent{ 129, 5, 3 },
                                         Extent{ 300, 7, 1 },
                                         Extent{ 17, 13, 11 }),
                         [](const auto & info) {
                           return std::to_string(info.param.x) + "x" + std::to_string(info.param.y) + "x" +
                                  std::to_string(info.param.z);
                         });

TEST(CudaVoxelwiseLimits, MoreRowsThanAGridHasBlocks)
{
  const Extent  size{ 1, 65535 + 3, 1 };
  Volume<float> volume = RandomVolume(size, 1);
  Volume<float> cpu = volume;
  ffdp::cuda::Scale(TestDevice(), StagedVolume<float>(volume.View()), -3.0f);
  ffdp::MakeCpuBackend(1)->Scale(cpu.View(), -3.0f);
  EXPECT_EQ(volume.values, cpu.values);
}

TEST(CudaVoxelwiseLimits, NoPlanesNoLaunch)
{
  ffdp::cuda::Scale(TestDevice(), VolumeView<float>(nullptr, Extent{ 4, 4, 4 }, 2, 0), 2.0f);
  ffdp::cuda::Add(TestDevice(), VolumeView<float>(nullptr, Extent{ 4, 4, 4 }, 2, 0), {});
  ffdp::cuda::CombineMasks(TestDevice(), {}, {}, VolumeView<std::uint8_t>(nullptr, Extent{ 4, 4, 4 }, 2, 0));
  EXPECT_NO_THROW(TestDevice().Synchronize());
}

} // namespace
