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
#ifndef ffdpStatisticsTerms_h
#define ffdpStatisticsTerms_h

#include "ffdpVoxelInline.h"

#include <cstdint>

namespace ffdp
{

FFDP_VOXEL_INLINE bool
IsFinite(float value)
{
  return value - value == 0.0f; // NaN for what is infinite or not a number
}

/** Range and slots of a histogram. Behind the bins come three more slots. */
struct HistogramBins
{
  float        low = 0;
  float        high = 0;
  float        perUnit = 0; ///< bins / (high - low), 0 where the range is a single value
  std::int32_t bins = 0;

  FFDP_VOXEL_INLINE std::int32_t
                    Below() const
  {
    return bins;
  }
  FFDP_VOXEL_INLINE std::int32_t
                    Above() const
  {
    return bins + 1;
  }
  FFDP_VOXEL_INLINE std::int32_t
                    Ignored() const
  {
    return bins + 2;
  }
};

/** The slot that a value is counted in. NaN never reaches the conversion to an integer. */
FFDP_VOXEL_INLINE std::int32_t
                  HistogramSlot(const HistogramBins & range, float value, bool inside)
{
  const float last = float(range.bins - 1);
  float       position = (value - range.low) * range.perUnit;
  position = position > 0.0f ? position : 0.0f;
  position = position < last ? position : last;
  std::int32_t slot = std::int32_t(position);
  slot = value < range.low ? range.Below() : slot;
  slot = value > range.high ? range.Above() : slot;
  return inside && IsFinite(value) ? slot : range.Ignored();
}

} // namespace ffdp

#endif
