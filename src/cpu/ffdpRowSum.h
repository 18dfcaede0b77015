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
#ifndef ffdpRowSum_h
#define ffdpRowSum_h

#include "ffdpVoxelInline.h"

#include <cstdint>

namespace ffdp
{

/** A sum in double precision whose order of addition depends on the position in the row only: value i
 * goes to lane i mod 16, whatever the width of a vector register. */
struct RowSum
{
  static constexpr int Lanes = 16;
  double               lane[Lanes] = {};

  /** Add `count` values of a row, the first of them at a position that is a multiple of 16. */
  FFDP_VOXEL_INLINE void
  Add(const float * values, std::int64_t count)
  {
    double sum[Lanes]; // a local copy stays in registers
    for (int k = 0; k < Lanes; ++k)
    {
      sum[k] = lane[k];
    }
    std::int64_t i = 0;
    for (; i + Lanes <= count; i += Lanes)
    {
      for (int k = 0; k < Lanes; ++k)
      {
        sum[k] += values[i + k];
      }
    }
    for (int k = 0; i + k < count; ++k)
    {
      sum[k] += values[i + k];
    }
    for (int k = 0; k < Lanes; ++k)
    {
      lane[k] = sum[k];
    }
  }

  FFDP_VOXEL_INLINE double
  Total() const
  {
    double sum[Lanes];
    for (int k = 0; k < Lanes; ++k)
    {
      sum[k] = lane[k];
    }
    for (int half = Lanes / 2; half > 0; half /= 2)
    {
      for (int k = 0; k < half; ++k)
      {
        sum[k] += sum[k + half];
      }
    }
    return sum[0];
  }
};

} // namespace ffdp

#endif
