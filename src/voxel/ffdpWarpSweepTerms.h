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
#ifndef ffdpWarpSweepTerms_h
#define ffdpWarpSweepTerms_h

#include "ffdpTrilinearTerms.h"

/** One voxel of a composition: where a displaced voxel falls in a warp, and what the warp is there. */
namespace ffdp
{

/** One axis of the grid, counted from the voxel that is displaced. */
struct AxisRange
{
  float low; ///< displacements below and above these two are not distinguished
  float high;
  int   first; ///< the first and the last voxel
  int   last;
};

/** `margin` voxels beyond the first and the last, a position is still distinguished. */
FFDP_VOXEL_INLINE AxisRange
RangeAround(int position, int size, int margin)
{
  const int last = size - 1 - position;
  return AxisRange{ float(-margin - position), float(last + margin), -position, last };
}

FFDP_VOXEL_INLINE float
MagnitudeOf(float value)
{
  return value < 0 ? -value : value;
}

/** `value`, but 0 where it is infinite or not a number: such displacements bound nothing. */
FFDP_VOXEL_INLINE float
FiniteOrZero(float value)
{
  return value <= 3.402823466e+38f ? value : 0.0f;
}

/** The eight voxels around a displaced voxel: the lower corner, counted from the voxel itself, and their weights. */
struct WarpCell
{
  int   x, y, z;
  float weight00; ///< of the rows (y, z), (y + 1, z), (y, z + 1), (y + 1, z + 1)
  float weight10;
  float weight01;
  float weight11;
  float upperX; ///< weight of x + 1
};

/** Along x and y a corner outside counts as 0, which is up to the caller; along z it has no weight here. A displacement
 * along z that is above the bound, or not a number, counts as none. */
FFDP_VOXEL_INLINE WarpCell
LocateInWarp(float             dx,
             float             dy,
             float             dz,
             float             boundAlongZ,
             const AxisRange & xs,
             const AxisRange & ys,
             const AxisRange & zs)
{
  const AxisCell x = LocateAlongAxis(dx, xs.low, xs.high, xs.last);
  const AxisCell y = LocateAlongAxis(dy, ys.low, ys.high, ys.last);
  const AxisCell z = LocateAlongAxis(MagnitudeOf(dz) <= boundAlongZ ? dz : 0.0f, zs.low, zs.high, zs.last);
  const float    lowerZ = (z.lower < zs.first ? 0.0f : 1.0f) * (1 - z.weight);
  const float    upperZ = (z.lower < zs.last ? 1.0f : 0.0f) * z.weight;
  const float    lowerY = 1 - y.weight;
  return WarpCell{ x.lower,           y.lower,         z.lower,           lowerY * lowerZ,
                   y.weight * lowerZ, lowerY * upperZ, y.weight * upperZ, x.weight };
}

/** Along y and z: the values of the rows (y, z), (y + 1, z), (y, z + 1), (y + 1, z + 1) at one end along x. */
FFDP_VOXEL_INLINE float
WeighRows(const WarpCell & cell, float value00, float value10, float value01, float value11)
{
  float sum = value00 * cell.weight00;
  sum += value10 * cell.weight10;
  sum += value01 * cell.weight01;
  return sum + value11 * cell.weight11;
}

/** Then along x. */
FFDP_VOXEL_INLINE float
WeighEnds(const WarpCell & cell, float lower, float upper)
{
  return lower * (1.0f - cell.upperX) + upper * cell.upperX;
}

/** |v + sample|^2: what an inverse v of a warp has left where the warp is `sample`. */
FFDP_VOXEL_INLINE float
SquaredResidual(float vx, float vy, float vz, float sampleX, float sampleY, float sampleZ)
{
  const float dx = vx + sampleX;
  const float dy = vy + sampleY;
  const float dz = vz + sampleZ;
  return dx * dx + dy * dy + dz * dz;
}

/** A negative margin of RangeAround(), inside; an axis of one voxel has none. */
FFDP_VOXEL_INLINE AxisRange
RangeInside(int position, int size, int margin)
{
  return RangeAround(position, size, size > 1 ? -margin : 0);
}

/** Whether a voxel is in the range, and displaced stays in it. */
FFDP_VOXEL_INLINE bool
StaysInside(float displacement, const AxisRange & range)
{
  return (range.low <= 0) & (range.high >= 0) & (displacement >= range.low) & (displacement <= range.high);
}

} // namespace ffdp

#endif
