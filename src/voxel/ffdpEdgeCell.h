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
#ifndef ffdpEdgeCell_h
#define ffdpEdgeCell_h

#include "ffdpVoxelInline.h"

#include <cstdint>

/** Interpolation in double with ITK's rule at the border, one axis at a time. */
namespace ffdp
{

/** Inside is from half a voxel before the first sample to half a voxel after the last; not a number is outside. */
FFDP_VOXEL_INLINE bool
IsInsideGrid(double coordinate, std::int64_t size)
{
  return (coordinate >= -0.5) & (coordinate < double(size) - 0.5);
}

/** The samples on both sides of a coordinate. */
struct EdgeCell
{
  std::int64_t at[2];
  double       fraction;
};

FFDP_VOXEL_INLINE std::int64_t
                  ClampToRange(std::int64_t index, std::int64_t first, std::int64_t end)
{
  const std::int64_t atLeast = index > first ? index : first;
  return atLeast < end - 1 ? atLeast : end - 1;
}

/** The cell of a coordinate that is inside; its samples are clamped to [first, end). */
FFDP_VOXEL_INLINE EdgeCell
FindEdgeCell(double coordinate, std::int64_t first, std::int64_t end)
{
  const std::int64_t toZero = std::int64_t(coordinate);
  const std::int64_t whole = toZero - std::int64_t(double(toZero) > coordinate);
  return { { ClampToRange(whole, first, end), ClampToRange(whole + 1, first, end) }, coordinate - double(whole) };
}

/** The sample nearest to a coordinate that is inside; halves go up. */
FFDP_VOXEL_INLINE std::int64_t
                  FindNearest(double coordinate, std::int64_t first, std::int64_t end)
{
  const std::int64_t toZero = std::int64_t(coordinate);
  const std::int64_t whole = toZero - std::int64_t(double(toZero) > coordinate);
  return ClampToRange(whole + std::int64_t(coordinate - double(whole) >= 0.5), first, end);
}

/** Exact on constants. At a sample the other one does not count, even if it is not a number. */
FFDP_VOXEL_INLINE double
InterpolateOnAxis(double v0, double v1, double fraction)
{
  const double between = v0 + (v1 - v0) * fraction;
  return fraction > 0 ? between : v0;
}

} // namespace ffdp

#endif
