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
#ifndef ffdpBlockMarksTerms_h
#define ffdpBlockMarksTerms_h

#include "ffdpBlockMarks.h"
#include "ffdpVoxelInline.h"

/** The arithmetic of BlockMarks, for all devices. */
namespace ffdp
{

/** How far around a point blocks are marked, in voxels: as far as ironing and drawing closer are mostly felt. */
constexpr int MarkedReach = 4;

/** Where the mark of the block of voxel (x, y, z) is, as BlockMarks::At() has it. */
FFDP_VOXEL_INLINE std::int64_t
                  BlockOfVoxel(std::int64_t x, std::int64_t y, std::int64_t z, const Extent & blocks)
{
  return (z / BlockMarks::Depth * blocks.y + y / BlockMarks::Height) * blocks.x + x / BlockMarks::Width;
}

/** The blocks along an axis that are within reach of a position; none if `last` is below `first`. */
struct BlockSpan
{
  std::int64_t first;
  std::int64_t last;
};

FFDP_VOXEL_INLINE BlockSpan
SpanAround(float position, std::int64_t size, std::int64_t length)
{
  const float low = position - float(MarkedReach);
  const float high = position + float(MarkedReach);
  if (!(high >= 0.0f) || !(low <= float(size - 1))) // outside of the grid, or not a number
  {
    return BlockSpan{ 0, -1 };
  }
  const std::int64_t first = low > 0.0f ? std::int64_t(low) / length : 0;
  const std::int64_t last = high < float(size - 1) ? std::int64_t(high) : size - 1;
  return BlockSpan{ first, last / length };
}

/** Marks the blocks of a volume of `domain` that are near a point. */
FFDP_VOXEL_INLINE void
MarkAround(float x, float y, float z, const Extent & domain, const Extent & blocks, std::uint8_t * marks)
{
  const BlockSpan xs = SpanAround(x, domain.x, BlockMarks::Width);
  const BlockSpan ys = SpanAround(y, domain.y, BlockMarks::Height);
  const BlockSpan zs = SpanAround(z, domain.z, BlockMarks::Depth);
  for (std::int64_t k = zs.first; k <= zs.last; ++k)
  {
    for (std::int64_t j = ys.first; j <= ys.last; ++j)
    {
      for (std::int64_t i = xs.first; i <= xs.last; ++i)
      {
        marks[(k * blocks.y + j) * blocks.x + i] = 1;
      }
    }
  }
}

} // namespace ffdp

#endif
