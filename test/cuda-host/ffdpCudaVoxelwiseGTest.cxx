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

#include "ffdpDeviceStaging.h"
#include "ffdpSchedules.h"

#include <gtest/gtest.h>

TEST(CudaVoxelwise, Scale)
{
  using namespace ffdp;
  std::vector<float> v(300 * 3 * 2, 2.0f);
  {
    const test::StagedSpan<float> staged(v.data(), std::int64_t(v.size()));
    VolumeView<float>             view(staged.Data(), { 300, 3, 2 });
    cuda::Scale(test::TestDevice(), view, 1.5f);
  }
  for (float x : v)
  {
    ASSERT_EQ(x, 3.0f);
  }
}
