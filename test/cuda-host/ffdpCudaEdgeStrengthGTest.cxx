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
#include "ffdpCudaEdgeStrength.h"

#include "ffdpBackend.h"
#include "ffdpDeviceStaging.h"
#include "ffdpSchedules.h"
#include "ffdpTestSupport.h"

#include <gtest/gtest.h>

using namespace ffdp;
using namespace ffdp::test;

/** The same bytes as the CPU backend, for sizes that fit no block. */
TEST(CudaEdgeStrength, IsThatOfTheCpu)
{
  for (const Extent & size : { Extent{ 300, 5, 4 }, Extent{ 37, 1, 9 }, Extent{ 1, 3, 2 }, Extent{ 65, 7, 1 } })
  {
    const Volume<float> image = RandomVolume(size, 1, 1000, 20);
    const auto          device = ForEachSchedule([&] {
      Volume<float> edges(size);
      cuda::EdgeStrength(
        TestDevice(), StagedVolume<const float>(image.View()), 0.7f, StagedVolume<float>(edges.View()));
      return edges.values;
    });
    Volume<float>       cpu(size);
    MakeCpuBackend(1)->EdgeStrength(image.View(), 0.7f, cpu.View());
    EXPECT_EQ(device, cpu.values);
  }
}
