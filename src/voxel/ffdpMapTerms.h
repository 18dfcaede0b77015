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
#ifndef ffdpMapTerms_h
#define ffdpMapTerms_h

#include "ffdpInterpolationTerms.h"
#include "ffdpVoxelInline.h"

#include <cmath>
#include <cstdint>

/** Where the map A x + t takes a voxel, split into whole voxels and a fraction before it is rounded to float: precision
 * does not fall with the size of the image.
 *
 * A row is cut into blocks. Where a block begins is computed in double; the step from there to voxel k of the block is
 * the same for all blocks. Both are rounded to float by themselves and then added, which every device does alike. */
namespace ffdp
{

/** Voxels of a block. Blocks begin at multiples of this in the whole row, so that rounding depends on global
 * coordinates only. */
constexpr int SamplerBlock = 128;

/** The longest axis. Indices stay within 32 bits when base, step and offset are added. */
constexpr std::int64_t SamplerLongestAxis = std::int64_t(1) << 28;

/** Whole voxels of a coordinate, cut to what an index may be. */
FFDP_VOXEL_INLINE std::int32_t
                  WholeVoxels(double coordinate)
{
  const double limit = double(SamplerLongestAxis);
  const double whole = std::floor(coordinate);
  return std::int32_t(whole > limit ? limit : (whole > -limit ? whole : -limit));
}

/** The coordinate at which the block that begins at voxel (x, y, z) begins in the image; `a` is a row of A. */
FFDP_VOXEL_INLINE AxisPosition
StartOfBlock(const double * a, double t, std::int64_t x, std::int64_t y, std::int64_t z)
{
  const double base = ((a[0] * double(x) + a[1] * double(y)) + a[2] * double(z)) + t;
  return { WholeVoxels(base), float(base - std::floor(base)) };
}

/** From the beginning of a block to its voxel k; `a` is the first entry of a row of A. */
FFDP_VOXEL_INLINE AxisPosition
StepInBlock(double a, int k)
{
  const double step = a * k;
  return { WholeVoxels(step), float(step - std::floor(step)) };
}

/** A row or a column of S times a vector. */
FFDP_VOXEL_INLINE float
AddThreeProducts(float a0, float b0, float a1, float b1, float a2, float b2)
{
  return (a0 * b0 + a1 * b1) + a2 * b2;
}

} // namespace ffdp

#endif
