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

#include "ffdpParallel.h"
#include "ffdpWarpProductsInputs.h"

namespace ffdp
{

std::vector<std::array<double, 9>>
WarpProducts(const WarpView<const float> & a, const WarpView<const float> & b, unsigned threads)
{
  RequireWarpProductsInputs(a, b);
  std::vector<std::array<double, 9>> sums(std::size_t(a.planes), std::array<double, 9>{});
  ParallelFor(a.planes, threads, [&](std::int64_t plane, unsigned) {
    std::array<double, 9> & sum = sums[std::size_t(plane)];
    const std::int64_t      z = a.firstPlane + plane;
    for (std::int64_t y = 0; y < a.domain.y; ++y)
    {
      for (int i = 0; i < 3; ++i)
      {
        for (int j = 0; j < 3; ++j)
        {
          const float * left = a.Row(i, y, z);
          const float * right = b.Row(j, y, z);
          double        row = 0;
          for (std::int64_t x = 0; x < a.domain.x; ++x)
          {
            row += double(left[x]) * double(right[x]);
          }
          sum[std::size_t(3 * i + j)] += row;
        }
      }
    }
  });
  return sums;
}

} // namespace ffdp
