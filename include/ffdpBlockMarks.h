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
#ifndef ffdpBlockMarks_h
#define ffdpBlockMarks_h

#include "ffdpVolume.h"

#include <cstdint>
#include <vector>

namespace ffdp
{

/** Which blocks of a volume something is about: one byte per block of Width x Height x Depth voxels, x fastest, 0 or 1.
 */
struct BlockMarks
{
  static constexpr std::int64_t Width = 64;
  static constexpr std::int64_t Height = 8;
  static constexpr std::int64_t Depth = 8;

  Extent                    blocks;
  std::vector<std::uint8_t> marks;

  BlockMarks() = default;
  explicit BlockMarks(const Extent & domain)
    : blocks(BlocksOf(domain))
    , marks(std::size_t(blocks.Voxels()), 0)
  {}

  static Extent
  BlocksOf(const Extent & domain)
  {
    return { (domain.x + Width - 1) / Width, (domain.y + Height - 1) / Height, (domain.z + Depth - 1) / Depth };
  }

  bool
  IsFor(const Extent & domain) const
  {
    return blocks == BlocksOf(domain) && std::int64_t(marks.size()) == blocks.Voxels();
  }

  /** Marks what `other`, of the same domain, marks. */
  void
  Add(const BlockMarks & other)
  {
    for (std::size_t block = 0; block < marks.size(); ++block)
    {
      marks[block] |= other.marks[block];
    }
  }

  /** Whether voxel (x, y, z) is in a marked block. */
  bool
  At(std::int64_t x, std::int64_t y, std::int64_t z) const
  {
    return marks[std::size_t((z / Depth * blocks.y + y / Height) * blocks.x + x / Width)] != 0;
  }
};

} // namespace ffdp

#endif
