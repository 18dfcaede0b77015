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
#include "ffdpCudaStatistics.h"

#include "ffdpBackend.h"
#include "ffdpDeviceStaging.h"
#include "ffdpSchedules.h"
#include "ffdpTestSupport.h"

#include <gtest/gtest.h>

using namespace ffdp;
using namespace ffdp::test;

namespace
{

/** All numbers as bytes: a zero keeps its sign. */
std::vector<double>
Numbers(const std::vector<Statistics> & planes)
{
  std::vector<double> numbers;
  for (const Statistics & s : planes)
  {
    numbers.insert(numbers.end(), { double(s.count), double(s.notFinite), s.minimum, s.maximum, s.mean, s.squares });
  }
  return numbers;
}

std::vector<std::int64_t>
Numbers(const IntensityHistogram & histogram)
{
  auto numbers = histogram.counts;
  numbers.insert(numbers.end(), { histogram.below, histogram.above });
  return numbers;
}

void
ExpectSameAsCpu(const VolumeView<const float> & image)
{
  const auto                      cpu = MakeCpuBackend(2);
  const StagedVolume<const float> staged(image);
  EXPECT_TRUE(SameBytes(Numbers(cuda::PlaneStatistics(TestDevice(), staged)), Numbers(cpu->PlaneStatistics(image))));
  for (const std::int64_t bins : { 1, 7, 4096, 12286, 12287, 70000 }) // in shared memory, at its end, beyond
  {
    const auto counted = cuda::MeasureHistogram(TestDevice(), staged, -1.5f, 2.0f, bins);
    EXPECT_EQ(Numbers(counted), Numbers(cpu->MeasureHistogram(image, -1.5f, 2.0f, bins))) << bins;
    EXPECT_EQ(counted.low, -1.5f);
    EXPECT_EQ(counted.high, 2.0f);
  }
}

} // namespace

TEST(CudaStatistics, SameBytesAsCpu)
{
  auto sizes = AwkwardSizes();
  sizes.push_back({ 2500, 3, 2 });  // rows of several runs
  sizes.push_back({ 1025, 34, 1 }); // more runs than a block finds at once
  for (const Extent & size : sizes)
  {
    SCOPED_TRACE(testing::Message() << size.x << "x" << size.y << "x" << size.z);
    ExpectSameAsCpu(RandomVolume(size, 1).View());
    ExpectSameAsCpu(RandomVolume(size, 2, 1e6, 1).View());
    ExpectSameAsCpu(Volume<float>(size, 0.3f).View());
  }
}

TEST(CudaStatistics, SameBytesAsCpuForZerosAndWhatIsNotFinite)
{
  Volume<float> image = RandomMask({ 70, 37, 5 }, 3, 0.3).As<float>();
  const float   odd[] = { -0.0f, 0.0f, NAN, INFINITY, -INFINITY };
  for (std::size_t i = 0; i < image.values.size(); i += 3)
  {
    image.values[i] = odd[i % 5];
  }
  ExpectSameAsCpu(image.View());
  for (float & v : image.values)
  {
    v = -v;
  }
  ExpectSameAsCpu(image.View());
  ExpectSameAsCpu(Volume<float>(image.domain, NAN).View());
}

TEST(CudaStatistics, SameBytesAsCpuForSlabsAndGaps)
{
  const auto image = RandomVolume({ 70, 37, 9 }, 4);
  ExpectSameAsCpu(image.Slab(3, 7).View());
  VolumeView<const float> gaps(image.values.data(), { 61, 33, 9 });
  gaps.rowStride = 70;
  gaps.planeStride = 70 * 37;
  ExpectSameAsCpu(gaps);
}

TEST(CudaStatistics, WhatIsComparedWithIsTheCpu)
{
  // The functions of this program that stand for the CPU's must not be the ones that the library calls.
  const std::size_t peak = TestDevice().PeakBytes();
  const auto        image = RandomVolume({ 64, 64, std::int64_t(peak / (64 * 64 * sizeof(float))) + 1 }, 7);
  MakeCpuBackend(2)->PlaneStatistics(image.View());
  EXPECT_EQ(TestDevice().PeakBytes(), peak);
}

TEST(CudaStatistics, DoesNotDependOnTheSchedule)
{
  auto       image = RandomVolume({ 70, 70, 3 }, 5);
  const auto mask = RandomMask(image.domain, 6);
  for (std::size_t i = 0; i < image.values.size() / 2; ++i)
  {
    image.values[i] = 0;
  }
  const StagedVolume<const float>        staged(image.View());
  const StagedVolume<const std::uint8_t> stagedMask(mask.View());
  ForEachSchedule([&] { return Numbers(cuda::PlaneStatistics(TestDevice(), staged, stagedMask)); });
  const auto                      longRows = RandomVolume({ 1030, 33, 1 }, 8); // more runs than a block finds at once
  const StagedVolume<const float> stagedRows(longRows.View());
  ForEachSchedule([&] { return Numbers(cuda::PlaneStatistics(TestDevice(), stagedRows)); });
  ForEachSchedule([&] { return Numbers(cuda::MeasureHistogram(TestDevice(), staged, -3, 3, 64, stagedMask)); });
}
