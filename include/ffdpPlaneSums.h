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
#ifndef ffdpPlaneSums_h
#define ffdpPlaneSums_h

#include <cstdint>
#include <stdexcept>
#include <vector>

namespace ffdp
{

/** A sum over the voxels that count (all, or those inside a mask), kept plane by plane: the slabs of a volume put
 * their planes together and add them in plane order, and get the bytes that the whole volume gives. */
struct PlaneSums
{
  std::vector<double>       planeSums;
  std::vector<std::int64_t> planeCounts; ///< voxels that count

  /** Puts the planes of the slab above after these. */
  void
  Append(const PlaneSums & above)
  {
    planeSums.insert(planeSums.end(), above.planeSums.begin(), above.planeSums.end());
    planeCounts.insert(planeCounts.end(), above.planeCounts.begin(), above.planeCounts.end());
  }

  std::int64_t
  Count() const
  {
    std::int64_t count = 0;
    for (const std::int64_t c : planeCounts)
    {
      count += c;
    }
    return count;
  }

  /** The sum over all planes per voxel that counts. Throws std::invalid_argument if none does. */
  double
  Mean() const
  {
    const std::int64_t count = this->Count();
    if (count == 0)
    {
      throw std::invalid_argument("ffdp: no voxel counts: is the mask empty?");
    }
    double sum = 0;
    for (const double s : planeSums)
    {
      sum += s;
    }
    return sum / double(count);
  }
};

} // namespace ffdp

#endif
