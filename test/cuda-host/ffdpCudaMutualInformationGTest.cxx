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
#include "ffdpCudaMutualInformation.h"

#include "ffdpBackend.h"
#include "ffdpDeviceStaging.h"
#include "ffdpSchedules.h"
#include "ffdpTestSupport.h"

#include <gtest/gtest.h>

#include <limits>

using namespace ffdp;
using namespace ffdp::test;

namespace
{

using Kind = MutualInformationKind;
const std::vector<Kind> AllKinds{ Kind::BSpline, Kind::Gaussian, Kind::Approximate, Kind::Mattes };
using Mask = VolumeView<const std::uint8_t>;

MutualInformationParameters
MakeParameters(Kind kind, int bins)
{
  MutualInformationParameters parameters;
  parameters.kind = kind;
  parameters.bins = bins;
  parameters.fixedRange = { -2.1, 2.3 };
  parameters.movingRange = { -1.9, 2.2 }; // some of what RandomVolume() draws lies outside
  return parameters;
}

JointHistogram
OnDevice(const MutualInformationParameters & parameters,
         const VolumeView<const float> &     fixed,
         const VolumeView<const float> &     moving,
         const Mask &                        mask = {})
{
  return cuda::ComputeJointHistogram(TestDevice(),
                                     parameters,
                                     StagedVolume<const float>(fixed),
                                     StagedVolume<const float>(moving),
                                     StagedVolume<const std::uint8_t>(mask));
}

/** Histogram and gradients have the bytes of the CPU. */
void
ExpectSameAsCpu(const MutualInformationParameters & parameters,
                const VolumeView<const float> &     fixed,
                const VolumeView<const float> &     moving,
                const Mask &                        mask = {})
{
  const auto cpu = MakeCpuBackend(2);
  const auto expected = cpu->ComputeJointHistogram(parameters, fixed, moving, mask);
  const auto counted = OnDevice(parameters, fixed, moving, mask);
  EXPECT_EQ(counted.samples, expected.samples);
  EXPECT_EQ(counted.counts, expected.counts);
  if (expected.samples == 0)
  {
    return;
  }
  const bool    both = parameters.kind != Kind::Mattes;
  const auto    information = FinishMutualInformation(expected, both);
  Volume<float> ofCpu[2] = { Volume<float>(fixed.domain, moving.firstPlane, moving.planes, 7.0f),
                             Volume<float>(fixed.domain, moving.firstPlane, moving.planes, 7.0f) };
  for (const int asked : { 1, 2, 3 }) // for moving, for fixed, for both
  {
    if (asked > 1 && !both)
    {
      continue;
    }
    Volume<float> ofDevice[2] = { ofCpu[0], ofCpu[1] };
    const auto    output = [asked](Volume<float> * volumes, int k) {
      return (asked >> k & 1) != 0 ? volumes[k].View() : VolumeView<float>();
    };
    cpu->MutualInformationGradient(information, fixed, moving, mask, output(ofCpu, 0), output(ofCpu, 1));
    cuda::MutualInformationGradient(TestDevice(),
                                    information,
                                    StagedVolume<const float>(fixed),
                                    StagedVolume<const float>(moving),
                                    StagedVolume<const std::uint8_t>(mask),
                                    StagedVolume<float>(output(ofDevice, 0)),
                                    StagedVolume<float>(output(ofDevice, 1)));
    EXPECT_TRUE(SameBytes(ofDevice[0].values, ofCpu[0].values)) << asked;
    EXPECT_TRUE(SameBytes(ofDevice[1].values, ofCpu[1].values)) << asked;
  }
}

/** A histogram as one vector. */
std::vector<std::int64_t>
Numbers(const JointHistogram & histogram)
{
  auto numbers = histogram.counts;
  numbers.push_back(histogram.samples);
  return numbers;
}

} // namespace

TEST(CudaMutualInformation, SameBytesAsCpuForAnyNumberOfBins)
{
  const Extent        size{ 37, 23, 7 };
  const Volume<float> fixed = RandomVolume(size, 1);
  const Volume<float> moving = RandomVolume(size, 2);
  for (const Kind kind : AllKinds)
    for (const int bins : { 4, 5, 32, 64, 78, 79, 111, 200, 256 }) // one tile and several, shared tables or not
    {
      if (kind != Kind::Mattes || bins > 4)
      {
        SCOPED_TRACE(testing::Message() << int(kind) << " with " << bins);
        ExpectSameAsCpu(MakeParameters(kind, bins), fixed.View(), moving.View());
      }
    }
}

TEST(CudaMutualInformation, SameBytesAsCpuForAwkwardSizesMasksSlabsAndGaps)
{
  for (const Kind kind : AllKinds)
  {
    const auto parameters = MakeParameters(kind, 20);
    for (const Extent & size : AwkwardSizes())
    {
      const auto fixed = RandomVolume(size, 3), moving = RandomVolume(size, 4);
      ExpectSameAsCpu(parameters, fixed.View(), moving.View(), RandomMask(size, 5).View());
    }
    const Extent size{ 70, 11, 9 };
    const auto   fixed = RandomVolume(size, 6), moving = RandomVolume(size, 7);
    const auto   mask = RandomMask(size, 8);
    ExpectSameAsCpu(parameters, fixed.Slab(2, 8).View(), moving.Slab(3, 7).View(), mask.Slab(3, 9).View());
    VolumeView<const float> gaps(moving.values.data(), { 61, 9, 9 }); // a part of each row and plane
    gaps.rowStride = size.x;
    gaps.planeStride = size.x * size.y;
    ExpectSameAsCpu(parameters, RandomVolume({ 61, 9, 9 }, 9).View(), gaps, RandomMask({ 61, 9, 9 }, 10).View());
  }
}

TEST(CudaMutualInformation, SameBytesAsCpuForWideWindows)
{
  const Extent size{ 31, 7, 3 };
  const auto   fixed = RandomVolume(size, 11), moving = RandomVolume(size, 12);
  for (const double sigma : { 0.3, 1.5, 4.0 })
    for (const int bins : { 5, 32, 100 })
    {
      auto parameters = MakeParameters(Kind::Gaussian, bins);
      parameters.sigma = sigma;
      ExpectSameAsCpu(parameters, fixed.View(), moving.View());
    }
}

TEST(CudaMutualInformation, CountsOfOneBinGoBeyond32Bits)
{
  // All samples in the same bins: 20000 of up to 2^25 each.
  const Extent        size{ 50, 40, 10 };
  const Volume<float> flat(size, 0.1f);
  for (const Kind kind : AllKinds)
  {
    const auto parameters = MakeParameters(kind, 16);
    ExpectSameAsCpu(parameters, flat.View(), flat.View());
    const auto counts = OnDevice(parameters, flat.View(), flat.View()).counts;
    EXPECT_GT(*std::max_element(counts.begin(), counts.end()), std::int64_t(1) << 32);
  }
}

TEST(CudaMutualInformation, SameBytesAsCpuForBrightImagesAndWhatIsNotFinite)
{
  const Extent  size{ 65, 13, 5 };
  Volume<float> fixed = RandomVolume(size, 13, 1000, 10);
  Volume<float> moving = RandomVolume(size, 14, -1e6, 3);
  for (std::size_t i = 0; i < fixed.values.size(); i += 9)
  {
    const float odd[] = { std::numeric_limits<float>::quiet_NaN(), INFINITY, -INFINITY, 0.0f };
    (i % 2 ? fixed : moving).values[i] = odd[i / 9 % 4];
  }
  for (const Kind kind : AllKinds)
  {
    auto parameters = MakeParameters(kind, 32);
    parameters.fixedRange = { 970, 1030 };
    parameters.movingRange = { -1e6 - 9, -1e6 + 9 };
    ExpectSameAsCpu(parameters, fixed.View(), moving.View());
    ExpectSameAsCpu(parameters, fixed.View(), moving.View(), Volume<std::uint8_t>(size).View()); // an empty mask
  }
}

TEST(CudaMutualInformation, DoesNotDependOnTheSchedule)
{
  const Extent        size{ 40, 30, 6 };
  const Volume<float> fixed = RandomVolume(size, 15);
  Volume<float>       moving = RandomVolume(size, 16);
  for (std::size_t i = 0; i < moving.values.size() / 2; ++i)
  {
    moving.values[i] = 0; // a background, so that threads meet in its bin
  }
  for (const Kind kind : AllKinds)
  {
    const auto parameters = MakeParameters(kind, 16);
    ForEachSchedule([&] { return Numbers(OnDevice(parameters, fixed.View(), moving.View())); });
    const auto information =
      FinishMutualInformation(OnDevice(parameters, fixed.View(), moving.View()), kind != Kind::Mattes);
    ForEachSchedule([&] {
      Volume<float> gradient(size);
      cuda::MutualInformationGradient(TestDevice(),
                                      information,
                                      StagedVolume<const float>(fixed.View()),
                                      StagedVolume<const float>(moving.View()),
                                      StagedVolume<const std::uint8_t>(Mask()),
                                      StagedVolume<float>(gradient.View()),
                                      VolumeView<float>());
      return gradient.values;
    });
  }
}

TEST(CudaMutualInformation, NeedsMemoryForBinsOnly)
{
  const Extent                    size{ 64, 64, 32 };
  const auto                      fixed = RandomVolume(size, 17), moving = RandomVolume(size, 18);
  const StagedVolume<const float> f(fixed.View());
  const StagedVolume<const float> m(moving.View());
  const auto                      parameters = MakeParameters(Kind::Approximate, 64);
  const std::size_t               before = TestDevice().AllocatedBytes();
  cuda::ComputeJointHistogram(TestDevice(), parameters, f, m, Mask());
  EXPECT_EQ(TestDevice().AllocatedBytes(), before);
}
