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
#ifndef ffdpRangeGuard_h
#define ffdpRangeGuard_h

#include "ffdpStatistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ffdp
{

/** Interpolation among voxels of the lowest intensity can end one rounding below it. Such a sample must count as the
 * lowest intensity, not as one outside the range: a whole background would be lost. So values in [lowest, low) become
 * low, and values in (high, highest] become high. */
struct RangeGuard
{
  float lowest, low, high, highest;

  explicit RangeGuard(const IntensityRange & range)
    : low(float(range.low))
    , high(float(range.high))
  {
    const float slack = 4 * std::numeric_limits<float>::epsilon() * std::max(std::abs(low), std::abs(high));
    lowest = low - slack;
    highest = high + slack;
  }
};

} // namespace ffdp

#endif
