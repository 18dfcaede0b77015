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
  const bool afterBegin = index >= 0 || (index == -1 && fraction >= 0.5f);
  const bool beforeEnd = index < size - 1 || (index == size - 1 && fraction < 0.5f);
  return afterBegin && beforeEnd;
}

FFDP_VOXEL_INLINE std::int32_t
                  ClampIndex(std::int32_t index, std::int32_t size)
{
  const std::int32_t atLeast = index > 0 ? index : 0;
  return atLeast < size - 1 ? atLeast : size - 1;
}

/** The voxel of an axis that NearestOnAxis() picks, or -1 if X has no value: outside, by ITK's rule with TEdge. */
template <bool TEdge>
FFDP_VOXEL_INLINE std::int32_t
                  NearestVoxelOnAxis(std::int32_t index, float fraction, std::int32_t size)
{
  const std::int32_t nearest = NearestOnAxis(index, fraction);
  const bool         valid = TEdge ? IsInsideBuffer(index, fraction, size) : (nearest >= 0) & (nearest < size);
  return valid ? ClampIndex(nearest, size) : -1;
}

/** A point of the image: the cell that it is in, and where in the cell. */
struct CellPosition
{
  std::int32_t index[3];
  float        fraction[3];
};

/** The weight of the lower (side 0) or upper (side 1) corner along an axis. */
FFDP_VOXEL_INLINE float
SideWeight(float fraction, int side)
{
  return side ? fraction : 1.0f - fraction;
}

/** What two corners that are neighbors along x share of g; times SideWeight() along x, it is what each gets. */
FFDP_VOXEL_INLINE float
CornerShare(float g, const CellPosition & p, int sideY, int sideZ)
{
  return g * SideWeight(p.fraction[2], sideZ) * SideWeight(p.fraction[1], sideY);
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
IsValid(const ImagePlanes & image, const CellPosition & p)
{
  return !TEdge || (IsInsideBuffer(p.index[0], p.fraction[0], image.size[0]) &&
                    IsInsideBuffer(p.index[1], p.fraction[1], image.size[1]) &&
                    IsInsideBuffer(p.index[2], p.fraction[2], image.size[2]));
}

/** What the two planes of a cell contribute; nothing where X has no value. */
struct CellTerms
{
  PlaneTerms lower;
  PlaneTerms upper;
  bool       valid;
};

/** The terms of the cell at p. Cells whose corners are all at hand are read without a test of each. */
template <bool TEdge>
FFDP_VOXEL_INLINE CellTerms
ReadCellTerms(const ImagePlanes & image, const CellPosition & p)
{
  const std::int32_t ix = p.index[0], iy = p.index[1], iz = p.index[2];
  const float        fx = p.fraction[0], fy = p.fraction[1];
  if (ix >= 0 && ix < image.size[0] - 1 && iy >= 0 && iy < image.size[1] - 1 && iz >= image.firstPlane &&
      iz < image.endPlane - 1)
  {
    const float * row0 = image.data + (iz - image.firstPlane) * image.planeStride + iy * image.rowStride + ix;
    const float * row1 = row0 + image.rowStride;
    const float * up0 = row0 + image.planeStride;
    const float * up1 = row1 + image.planeStride;
    return { InterpolateInPlane(row0[0], row0[1], row1[0], row1[1], fx, fy),
             InterpolateInPlane(up0[0], up0[1], up1[0], up1[1], fx, fy),
             true };
  }
  if (IsValid<TEdge>(image, p))
  {
    return { ReadPlaneTerms<TEdge>(image, ix, iy, iz, fx, fy),
             ReadPlaneTerms<TEdge>(image, ix, iy, iz + 1, fx, fy),
             true };
  }
  return { { 0.0f, 0.0f, 0.0f }, { 0.0f, 0.0f, 0.0f }, false };
}

/** I(X) at p, or `outside`. */
template <bool TEdge>
FFDP_VOXEL_INLINE float
InterpolateAt(const ImagePlanes & image, const CellPosition & p, float outside)
{
  const CellTerms cell = ReadCellTerms<TEdge>(image, p);
  return cell.valid ? AddPlaneTerms(cell.lower.value, cell.upper.value, p.fraction[2]) : outside;
}

struct VoxelVector
{
  float x;
  float y;
  float z;
};

/** dI/dX at p; zero where X has no value. */
template <bool TEdge>
FFDP_VOXEL_INLINE VoxelVector
DifferentiateAt(const ImagePlanes & image, const CellPosition & p)
{
  const CellTerms cell = ReadCellTerms<TEdge>(image, p);
  return { AddPlaneTerms(cell.lower.dx, cell.upper.dx, p.fraction[2]),
           AddPlaneTerms(cell.lower.dy, cell.upper.dy, p.fraction[2]),
           SubtractPlaneTerms(cell.lower.value, cell.upper.value) };
}

/** The voxel at an index as NearestVoxelOnAxis() gives it: `outside` if it is none, zero if its plane is not at hand.
 * The zero keeps a negative zero out, as in AddPlaneTerms(). */
FFDP_VOXEL_INLINE float
ReadNearest(const ImagePlanes & image, std::int32_t ix, std::int32_t iy, std::int32_t iz, float outside)
{
  if ((ix | iy | iz) < 0)
  {
    return outside;
  }
  return iz >= image.firstPlane && iz < image.endPlane
           ? 0.0f + image.data[(iz - image.firstPlane) * image.planeStride + iy * image.rowStride + ix]
           : 0.0f;
}

} // namespace ffdp

#endif
