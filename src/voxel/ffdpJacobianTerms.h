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
  float         belowBorder; ///< 1 if below is the row itself, else 0, and so on
  float         aboveBorder;
  float         beforeBorder;
  float         behindBorder;
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
  rows.belowBorder = below == y ? 1.0f : 0.0f;
  rows.aboveBorder = above == y ? 1.0f : 0.0f;
  rows.beforeBorder = before == z ? 1.0f : 0.0f;
  rows.behindBorder = behind == z ? 1.0f : 0.0f;
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

/** A column of a Jacobian: the derivatives of all components along one axis. */
struct JacobianColumn
{
  float x;
  float y;
  float z;
};

/** To one side of a voxel: the difference of neighbors there, and the one to the other side at a border (`atBorder` 1,
 * where the first is 0; else 0). In columns of identity + D. */
FFDP_VOXEL_INLINE JacobianColumn
OneSidedColumn(const JacobianColumn & difference,
               const JacobianColumn & opposite,
               float                  atBorder,
               const JacobianColumn & unit)
{
  return JacobianColumn{ unit.x + (difference.x + atBorder * opposite.x),
                         unit.y + (difference.y + atBorder * opposite.y),
                         unit.z + (difference.z + atBorder * opposite.z) };
}

FFDP_VOXEL_INLINE JacobianColumn
Cross(const JacobianColumn & a, const JacobianColumn & b)
{
  return JacobianColumn{ a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x };
}

FFDP_VOXEL_INLINE float
Dot(const JacobianColumn & a, const JacobianColumn & b)
{
  return (a.x * b.x + a.y * b.y) + a.z * b.z;
}

/** Some determinants. */
struct LeastDeterminant
{
  float least;
  float sum; ///< not a number if one of them is not, which comparisons pass over
};

/** With two more. */
FFDP_VOXEL_INLINE LeastDeterminant
LeastWith(const LeastDeterminant & others,
          const JacobianColumn &   a,
          const JacobianColumn &   b,
          const JacobianColumn &   cross)
{
  const float one = Dot(a, cross);
  const float two = Dot(b, cross);
  const float smaller = two < one ? two : one;
  return LeastDeterminant{ smaller < others.least ? smaller : others.least, others.sum + (one + two) };
}

/** Both sides along an axis. */
struct ColumnPair
{
  JacobianColumn down;
  JacobianColumn up;
};

/** From the rows of the neighbors below and above, or of the voxel itself at a border (1 at that border, else 0). */
FFDP_VOXEL_INLINE ColumnPair
OneSidedColumns(const float * const (&low)[3],
                std::int64_t atLow,
                const float * const (&center)[3],
                std::int64_t x,
                const float * const (&high)[3],
                std::int64_t           atHigh,
                float                  lowBorder,
                float                  highBorder,
                const JacobianColumn & unit)
{
  const JacobianColumn down{ center[0][x] - low[0][atLow], center[1][x] - low[1][atLow], center[2][x] - low[2][atLow] };
  const JacobianColumn up{ high[0][atHigh] - center[0][x],
                           high[1][atHigh] - center[1][x],
                           high[2][atHigh] - center[2][x] };
  return ColumnPair{ OneSidedColumn(down, up, lowBorder, unit), OneSidedColumn(up, down, highBorder, unit) };
}

/** JacobianDifferences::LeastOneSided at x, with the neighbors along x at `left` and `right`. NaN if one of the eight
 * is. */
FFDP_VOXEL_INLINE float
LeastJacobianAt(const JacobianRows & rows, std::int64_t left, std::int64_t x, std::int64_t right)
{
  const float      leftBorder = left == x ? 1.0f : 0.0f;
  const float      rightBorder = right == x ? 1.0f : 0.0f;
  const ColumnPair xs = OneSidedColumns(
    rows.center, left, rows.center, x, rows.center, right, leftBorder, rightBorder, JacobianColumn{ 1, 0, 0 });
  const ColumnPair ys = OneSidedColumns(
    rows.below, x, rows.center, x, rows.above, x, rows.belowBorder, rows.aboveBorder, JacobianColumn{ 0, 1, 0 });
  const ColumnPair zs = OneSidedColumns(
    rows.before, x, rows.center, x, rows.behind, x, rows.beforeBorder, rows.behindBorder, JacobianColumn{ 0, 0, 1 });
  LeastDeterminant all{ 3.402823466e+38f, 0 };
  all = LeastWith(all, xs.down, xs.up, Cross(ys.down, zs.down));
  all = LeastWith(all, xs.down, xs.up, Cross(ys.up, zs.down));
  all = LeastWith(all, xs.down, xs.up, Cross(ys.down, zs.up));
  all = LeastWith(all, xs.down, xs.up, Cross(ys.up, zs.up));
  return all.sum == all.sum ? all.least : all.sum;
}

/** One or the other at x, whose neighbors along x are at `left` and `right`, or itself at a border. */
template <bool VLeastOneSided>
FFDP_VOXEL_INLINE float
JacobianOfVoxel(const JacobianRows & rows, std::int64_t left, std::int64_t x, std::int64_t right)
{
  return VLeastOneSided ? LeastJacobianAt(rows, left, x, right)
                        : JacobianAt(rows, left, x, right, InverseDistance(right - left));
}

} // namespace ffdp

#endif
