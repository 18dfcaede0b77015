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
#ifndef ffdpRowLanes_h
#define ffdpRowLanes_h

#include "ffdpForEachInstructionSet.h"
#include "ffdpRowSum.h"

namespace ffdp
{

/** Adds value^2 of `count` values of a row to a RowSum, each square in double. */
FFDP_VOXEL_INLINE void
AddSquares(RowSum & sum, const float * values, std::int64_t count)
{
  double lane[RowSum::Lanes]; // a local copy stays in registers
  for (int k = 0; k < RowSum::Lanes; ++k)
  {
    lane[k] = sum.lane[k];
  }
  std::int64_t i = 0;
  for (; i + RowSum::Lanes <= count; i += RowSum::Lanes)
  {
    FFDP_SIMD
    for (int k = 0; k < RowSum::Lanes; ++k)
    {
      const double value = values[i + k];
      lane[k] += value * value;
    }
  }
  for (int k = 0; i + k < count; ++k)
  {
    const double value = values[i + k];
    lane[k] += value * value;
  }
  for (int k = 0; k < RowSum::Lanes; ++k)
  {
    sum.lane[k] = lane[k];
  }
}

/** Adds (value - mean)^2 likewise, the difference in double too, of the values that are not NaN. */
FFDP_VOXEL_INLINE void
AddSquaredDeviations(RowSum & sum, const float * values, std::int64_t count, double mean)
{
  double lane[RowSum::Lanes];
  for (int k = 0; k < RowSum::Lanes; ++k)
  {
    lane[k] = sum.lane[k];
  }
  std::int64_t i = 0;
  for (; i + RowSum::Lanes <= count; i += RowSum::Lanes)
  {
    FFDP_SIMD
    for (int k = 0; k < RowSum::Lanes; ++k)
    {
      const double deviation = values[i + k] - mean;
      const double square = deviation * deviation;
      lane[k] += square == square ? square : 0.0;
    }
  }
  for (int k = 0; i + k < count; ++k)
  {
    const double deviation = values[i + k] - mean;
    const double square = deviation * deviation;
    lane[k] += square == square ? square : 0.0;
  }
  for (int k = 0; k < RowSum::Lanes; ++k)
  {
    sum.lane[k] = lane[k];
  }
}

/** The smallest or largest of many values. Like RowSum it goes by lanes, here to be fast: the order cannot
 * change the result (but could change the sign of a zero). A value that is not a number never wins. */
template <bool VLargest>
struct RowExtreme
{
  static constexpr int Lanes = 16;
  float                lane[Lanes];

  FFDP_VOXEL_INLINE explicit RowExtreme(float start)
  {
    for (int k = 0; k < Lanes; ++k)
    {
      lane[k] = start;
    }
  }

  FFDP_VOXEL_INLINE void
  Add(const float * values, std::int64_t count)
  {
    float best[Lanes];
    for (int k = 0; k < Lanes; ++k)
    {
      best[k] = lane[k];
    }
    std::int64_t i = 0;
    for (; i + Lanes <= count; i += Lanes)
    {
      FFDP_SIMD
      for (int k = 0; k < Lanes; ++k)
      {
        best[k] = Better(values[i + k], best[k]);
      }
    }
    for (int k = 0; i + k < count; ++k)
    {
      best[k] = Better(values[i + k], best[k]);
    }
    for (int k = 0; k < Lanes; ++k)
    {
      lane[k] = best[k];
    }
  }

  FFDP_VOXEL_INLINE float
  Total() const
  {
    float best = lane[0];
    for (int k = 1; k < Lanes; ++k)
    {
      best = Better(lane[k], best);
    }
    return best;
  }

private:
  FFDP_VOXEL_INLINE static float
  Better(float value, float best)
  {
    return (VLargest ? value > best : value < best) ? value : best;
  }
};

using RowMaximum = RowExtreme<true>;
using RowMinimum = RowExtreme<false>;

} // namespace ffdp

#endif
