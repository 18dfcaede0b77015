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
#ifndef ffdpPartition_h
#define ffdpPartition_h

#include "ffdpVolume.h"

#include <algorithm>
#include <cstdint>

namespace ffdp
{

/** Which planes of a volume each rank owns: slabs along z, in the order of the ranks, as equal as can be. Where slabs
 * would be thinner than LeastPlanes, fewer ranks get one and the others own none: halos would cost more than the work
 * that is shared. It follows from the number of planes and of ranks alone, so nobody has to be told. */
class Partition
{
public:
  static constexpr std::int64_t LeastPlanes = 8;

  Partition(std::int64_t planes, int ranks)
    : m_Planes(planes)
    , m_Ranks(ranks)
    , m_Slabs(std::clamp<std::int64_t>(planes / LeastPlanes, 1, ranks))
  {}

  /** Empty for a rank that owns nothing; its place is still in the order of the ranks. */
  PlaneRange
  Owned(int rank) const
  {
    return { this->Begin(rank), this->Begin(rank + 1) };
  }

  /** Planes of the rank that owns most. */
  std::int64_t
  ThickestSlab() const
  {
    return (m_Planes + m_Slabs - 1) / m_Slabs;
  }

  std::int64_t
  Planes() const
  {
    return m_Planes;
  }
  int
  Ranks() const
  {
    return int(m_Ranks);
  }

private:
  /** Slabs go to ranks that are spread evenly, so that the levels of a pyramid lie where the full image lies. */
  std::int64_t
  Begin(int rank) const
  {
    const std::int64_t slab = (rank * m_Slabs + m_Ranks - 1) / m_Ranks; // the first that this rank or a later one owns
    return slab * m_Planes / m_Slabs;
  }

  std::int64_t m_Planes;
  std::int64_t m_Ranks;
  std::int64_t m_Slabs;
};

} // namespace ffdp

#endif
