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
#ifndef ffdpPixelPieces_h
#define ffdpPixelPieces_h

#include "ffdpPixels.h"

#include <algorithm>
#include <vector>

namespace ffdp
{

/** Cuts a box into boxes of at most `most` pixels, in the order of memory: as many planes as that holds, or else rows
 * of a plane. Rows stay whole, however long they are. None if the box is empty. */
inline std::vector<PixelBox>
CutIntoPieces(const PixelBox & box, std::int64_t most)
{
  std::vector<PixelBox> pieces;
  if (box.IsEmpty())
  {
    return pieces;
  }
  const auto         fewest = [](std::int64_t count, std::int64_t atATime) { return (count + atATime - 1) / atATime; };
  const std::int64_t row = box.count[0], plane = row * box.count[1];
  const std::int64_t alongY = plane <= most ? 1 : fewest(box.count[1], std::max<std::int64_t>(1, most / row));
  const std::int64_t alongZ = fewest(box.count[2], std::max<std::int64_t>(1, most / plane));
  const auto         cut = [&](PixelBox & piece, int axis, std::int64_t i, std::int64_t parts) {
    const std::int64_t first = box.count[axis] * i / parts;
    piece.first[axis] = box.first[axis] + first;
    piece.count[axis] = box.count[axis] * (i + 1) / parts - first;
  };
  for (std::int64_t k = 0; k < alongZ; ++k)
  {
    for (std::int64_t j = 0; j < alongY; ++j)
    {
      pieces.push_back(box);
      cut(pieces.back(), 1, j, alongY);
      cut(pieces.back(), 2, k, alongZ);
    }
  }
  return pieces;
}

} // namespace ffdp

#endif
