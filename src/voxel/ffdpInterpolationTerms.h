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
#ifndef ffdpInterpolationTerms_h
#define ffdpInterpolationTerms_h

#include "ffdpVoxelInline.h"

#include <cstdint>

/** Linear interpolation in one cell of the grid: where the cell is, its corners, the value and its derivative.
 * Every step is a fixed sequence of float operations, so that all devices and instruction sets round alike. */
namespace ffdp
{

/** A coordinate: index + fraction, fraction in [0, 1]. */
struct AxisPosition
{
  std::int32_t index;
  float        fraction;
};

/** Offsets are cut to this, which is beyond every image, before they become integers. */
constexpr float FarthestOffset = 1073741824.0f;

/** The coordinate `base + offset`; not a number counts as far below. */
FFDP_VOXEL_INLINE AxisPosition
LocateOnAxis(std::int32_t base, float offset)
{
  float safe = offset > -FarthestOffset ? offset : -FarthestOffset;
  safe = safe < FarthestOffset ? safe : FarthestOffset;
  const std::int32_t toZero = std::int32_t(safe);
  const std::int32_t whole = toZero - std::int32_t(float(toZero) > safe);
  return { base + whole, safe - float(whole) };
}

/** The nearest grid point; halves go to the even one. */
FFDP_VOXEL_INLINE std::int32_t
                  NearestOnAxis(std::int32_t index, float fraction)
{
  const std::int32_t atHalf = fraction == 0.5f ? (index & 1) : 0;
  return index + (fraction > 0.5f ? 1 : atHalf);
}

/** ITK's rule: inside from half a voxel before the first sample to half a voxel after the last. */
FFDP_VOXEL_INLINE bool
IsInsideBuffer(std::int32_t index, float fraction, std::int32_t size)
{
  const std::int32_t nearest = index + (fraction >= 0.5f ? 1 : 0);
  return (nearest >= 0) & (nearest < size);
}

FFDP_VOXEL_INLINE std::int32_t
                  ClampIndex(std::int32_t index, std::int32_t size)
{
  const std::int32_t atLeast = index > 0 ? index : 0;
  return atLeast < size - 1 ? atLeast : size - 1;
}

/** What one plane contributes: its bilinear value and the derivatives of that along x and y. */
struct PlaneTerms
{
  float value;
  float dx;
  float dy;
};

/** Corners cxy of a cell, x first. */
FFDP_VOXEL_INLINE PlaneTerms
InterpolateInPlane(float c00, float c10, float c01, float c11, float fx, float fy)
{
  const float step0 = c10 - c00;
  const float step1 = c11 - c01;
  const float row0 = c00 + fx * step0;
  const float row1 = c01 + fx * step1;
  const float dy = row1 - row0;
  return { row0 + fy * dy, step0 + fy * (step1 - step0), dy };
}

/** Lower plane + upper plane. The zero keeps a negative zero out of the sum: then a term that another slab holds can
 * be added later, and adding zero for it now changes no bit. */
FFDP_VOXEL_INLINE float
AddPlaneTerms(float lower, float upper, float fz)
{
  return (0.0f + (1.0f - fz) * lower) + fz * upper;
}

/** The derivative of AddPlaneTerms() along z, in the same manner. */
FFDP_VOXEL_INLINE float
SubtractPlaneTerms(float lower, float upper)
{
  return (0.0f - lower) + upper;
}

/** The planes of an image that are at hand, and the size of the whole. */
struct ImagePlanes
{
  const float * data; ///< voxel (0, 0, firstPlane)
  std::int32_t  size[3];
  std::int32_t  firstPlane;
  std::int32_t  endPlane;
  std::int64_t  rowStride;
  std::int64_t  planeStride;
};

/** Four corners of a cell in plane z, zero where the plane or a corner is not there. TEdge: clamped instead. */
template <bool TEdge>
FFDP_VOXEL_INLINE PlaneTerms
ReadPlaneTerms(const ImagePlanes & image, std::int32_t ix, std::int32_t iy, std::int32_t iz, float fx, float fy)
{
  const std::int32_t x0 = TEdge ? ClampIndex(ix, image.size[0]) : ix;
  const std::int32_t x1 = TEdge ? ClampIndex(ix + 1, image.size[0]) : ix + 1;
  const std::int32_t y0 = TEdge ? ClampIndex(iy, image.size[1]) : iy;
  const std::int32_t y1 = TEdge ? ClampIndex(iy + 1, image.size[1]) : iy + 1;
  const std::int32_t z = TEdge ? ClampIndex(iz, image.size[2]) : iz;
  if (z < image.firstPlane || z >= image.endPlane)
  {
    return { 0.0f, 0.0f, 0.0f };
  }
  const bool    hasX0 = x0 >= 0 && x0 < image.size[0];
  const bool    hasX1 = x1 >= 0 && x1 < image.size[0];
  const bool    hasY0 = y0 >= 0 && y0 < image.size[1];
  const bool    hasY1 = y1 >= 0 && y1 < image.size[1];
  const float * plane = image.data + (z - image.firstPlane) * image.planeStride;
  const float * row0 = plane + y0 * image.rowStride;
  const float * row1 = plane + y1 * image.rowStride;
  return InterpolateInPlane(hasX0 && hasY0 ? row0[x0] : 0.0f,
                            hasX1 && hasY0 ? row0[x1] : 0.0f,
                            hasX0 && hasY1 ? row1[x0] : 0.0f,
                            hasX1 && hasY1 ? row1[x1] : 0.0f,
                            fx,
                            fy);
}

/** True if X has a value: always with a zero border, by ITK's rule with TEdge. */
template <bool TEdge>
FFDP_VOXEL_INLINE bool
IsValid(const ImagePlanes & image, std::int32_t ix, std::int32_t iy, std::int32_t iz, float fx, float fy, float fz)
{
  return !TEdge || (IsInsideBuffer(ix, fx, image.size[0]) && IsInsideBuffer(iy, fy, image.size[1]) &&
                    IsInsideBuffer(iz, fz, image.size[2]));
}

} // namespace ffdp

#endif
