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
#include "ffdpCudaImageSlope.h"

#include "ffdpBackend.h"
#include "ffdpDeviceStaging.h"
#include "ffdpSchedules.h"
#include "ffdpTestSupport.h"

#include <gtest/gtest.h>

using namespace ffdp;
using namespace ffdp::test;

/** The same bytes as the CPU backend, for sizes that fit no block. */
TEST(CudaImageSlope, IsThatOfTheCpu)
{
  for (const Extent & size : { Extent{ 300, 5, 4 }, Extent{ 37, 1, 9 }, Extent{ 1, 3, 2 }, Extent{ 65, 7, 1 } })
  {
    const Volume<float>  image = RandomVolume(size, 1, 100, 20), weights = RandomVolume(size, 2);
    const Warp<float>    before = RandomWarp(size, 3, 1);
    Volume<std::uint8_t> some(size, 1);
    for (std::size_t i = 0; i < some.values.size(); i += 3)
    {
      some.values[i] = 0;
    }
    for (const auto & mask : { VolumeView<const std::uint8_t>(), VolumeView<const std::uint8_t>(some.View()) })
    {
      for (int c = 0; c < 3; ++c)
      {
        const auto  device = ForEachSchedule([&] {
          Warp<float> gradient = before;
          cuda::AddImageSlope(TestDevice(),
                              StagedVolume<const float>(image.View()),
                              StagedVolume<const std::uint8_t>(mask),
                              StagedVolume<const float>(weights.View()),
                              -0.3f,
                              StagedWarp<float>(gradient.View()));
          return gradient.component[c].values;
        });
        Warp<float> cpu = before;
        MakeCpuBackend(1)->AddImageSlope(image.View(), mask, weights.View(), -0.3f, cpu.View());
        EXPECT_EQ(device, cpu.component[c].values);
      }
    }
  }
}
