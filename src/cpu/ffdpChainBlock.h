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
#ifndef ffdpChainBlock_h
#define ffdpChainBlock_h

#include "ffdpCellBlock.h"
#include "ffdpWarpChain.h"

/** The steps of a chain of warps for a block of points. */
namespace ffdp
{

/** points = map(points) for the first `count` points. */
void
MapPoints(const AffineMap & map, int count, BlockPositions & points);

/** points += u(points) for the first `count` points; nothing is added outside the grid of the field. */
void
AddDisplacements(const WarpStep & step, int count, BlockPositions & points);

} // namespace ffdp

#endif
