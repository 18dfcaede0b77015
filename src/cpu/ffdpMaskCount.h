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
#ifndef ffdpMaskCount_h
#define ffdpMaskCount_h

#include "ffdpParallel.h"
#include "ffdpRowPieces.h"
#include "ffdpVolume.h"

#include <vector>

namespace ffdp
{

/** The voxels of the planes [firstPlane, firstPlane + planes) that count: where the mask is not 0, or all of a
 * volume of size `domain` if there is no mask. A gradient needs it before its first value can be written. */
inline std::int64_t
CountVoxels(const VolumeView<const std::uint8_t> & mask,
            const Extent &                         domain,
            std::int64_t                           firstPlane,
            std::int64_t                           planes,
            unsigned                               threads)
{
  if (!mask)
  {
    return domain.x * domain.y * planes;
  }
  const RowPieces           pieces{ domain.y, firstPlane, planes };
  std::vector<std::int64_t> counts(std::size_t(pieces.Count()), 0);
  ParallelFor(pieces.Count(), threads, [&](std::int64_t piece, unsigned) {
    for (std::int64_t y = pieces.FirstRow(piece); y < pieces.EndRow(piece); ++y)
    {
      const std::uint8_t * row = mask.Row(y, pieces.Plane(piece));
      for (std::int64_t x = 0; x < domain.x; ++x)
      {
        counts[std::size_t(piece)] += row[x] != 0 ? 1 : 0;
      }
    }
  });
  std::int64_t total = 0;
  for (const std::int64_t count : counts)
  {
    total += count;
  }
  return total;
}

} // namespace ffdp

#endif
