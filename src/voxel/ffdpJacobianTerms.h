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
#ifndef ffdpJacobianTerms_h
#define ffdpJacobianTerms_h

#include "ffdpVolume.h"
#include "ffdpVoxelInline.h"

#include <cstdint>

namespace ffdp
{

/** The determinant of identity + D, where D[c][a] is the derivative of component c along axis a. */
FFDP_VOXEL_INLINE float
JacobianOf(float xx, float xy, float xz, float yx, float yy, float yz, float zx, float zy, float zz)
{
  const float a = 1.0f + xx;
  const float b = 1.0f + yy;
  const float c = 1.0f + zz;
  return a * (b * c - yz * zy) - xy * (yx * c - yz * zx) + xz * (yx * zy - b * zx);
}

/** The rows of each component that the derivatives in one row are made of. */
struct JacobianRows
{
  const float * center[3]; ///< the row itself
  const float * below[3];  ///< its neighbors along y, or itself at the border
  const float * above[3];
  const float * before[3]; ///< its neighbors along z, or itself at the border
  const float * behind[3];
  float         factorY; ///< 1 / distance between below and above; 0 if they are the same
  float         factorZ;
};

/** 1 / distance; 0 between a voxel and itself. */
FFDP_VOXEL_INLINE float
InverseDistance(std::int64_t distance)
{
  return distance > 0 ? 1.0f / float(distance) : 0.0f;
}

/** `zeros` is a row for the component that a 2-D field lacks. */
FFDP_VOXEL_INLINE JacobianRows
JacobianRowsAt(const WarpView<const float> & warp, const float * zeros, std::int64_t y, std::int64_t z)
{
  const std::int64_t below = y > 0 ? y - 1 : 0;
  const std::int64_t above = y + 1 < warp.domain.y ? y + 1 : y;
  const std::int64_t before = z > 0 ? z - 1 : 0;
  const std::int64_t behind = z + 1 < warp.domain.z ? z + 1 : z;
  JacobianRows       rows;
  rows.factorY = InverseDistance(above - below);
  rows.factorZ = InverseDistance(behind - before);
  for (int c = 0; c < 3; ++c)
  {
    const bool there = warp.component[c] != nullptr;
    rows.center[c] = there ? warp.Row(c, y, z) : zeros;
    rows.below[c] = there ? warp.Row(c, below, z) : zeros;
    rows.above[c] = there ? warp.Row(c, above, z) : zeros;
    rows.before[c] = there ? warp.Row(c, y, before) : zeros;
    rows.behind[c] = there ? warp.Row(c, y, behind) : zeros;
  }
  return rows;
}

/** The determinant at x, with the neighbors along x at `left` and `right`. */
FFDP_VOXEL_INLINE float
JacobianAt(const JacobianRows & rows, std::int64_t left, std::int64_t x, std::int64_t right, float factorX)
{
  const float fy = rows.factorY;
  const float fz = rows.factorZ;
  return JacobianOf(factorX * (rows.center[0][right] - rows.center[0][left]),
                    fy * (rows.above[0][x] - rows.below[0][x]),
                    fz * (rows.behind[0][x] - rows.before[0][x]),
                    factorX * (rows.center[1][right] - rows.center[1][left]),
                    fy * (rows.above[1][x] - rows.below[1][x]),
                    fz * (rows.behind[1][x] - rows.before[1][x]),
                    factorX * (rows.center[2][right] - rows.center[2][left]),
                    fy * (rows.above[2][x] - rows.below[2][x]),
                    fz * (rows.behind[2][x] - rows.before[2][x]));
}

} // namespace ffdp

#endif
