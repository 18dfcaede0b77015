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
#include "ffdpWarpProducts.h"

#include "ffdpTestSupport.h"

#include <gtest/gtest.h>

using namespace ffdp;
using namespace ffdp::test;

TEST(WarpProducts, SumsProductsOfComponentsPerPlane)
{
  const Extent        size{ 13, 7, 5 };
  const Volume<float> a = RandomVolume({ 13, 7, 15 }, 1, -1, 1), b = RandomVolume({ 13, 7, 15 }, 2, -1, 1);
  const auto          left = WarpView<const float>::Planar(a.values.data(), size);
  const auto          right = WarpView<const float>::Planar(b.values.data(), size);
  for (const unsigned threads : { 1u, 3u })
  {
    const auto sums = WarpProducts(left.Planes(1, 3), right, threads);
    ASSERT_EQ(sums.size(), 3u);
    for (std::int64_t z = 1; z < 4; ++z)
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
        {
          double sum = 0;
          for (std::int64_t k = 0; k < size.x * size.y; ++k)
          {
            sum += double(left.Row(i, 0, z)[k]) * double(right.Row(j, 0, z)[k]);
          }
          EXPECT_NEAR(sums[std::size_t(z - 1)][std::size_t(3 * i + j)], sum, 1e-12 * double(size.x * size.y));
        }
  }
}
