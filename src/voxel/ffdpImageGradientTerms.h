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
#ifndef ffdpImageGradientTerms_h
#define ffdpImageGradientTerms_h

#include "ffdpInterpolationTerms.h"
#include "ffdpVoxelInline.h"

#include <cstdint>

/** Central differences of an image at one position. T is float or double. */
namespace ffdp
{

/** v0 and v1 are the samples of a cell, `outer` the third sample that a difference over one voxel needs: the one before
 * v0 if side < 0, else the one after v1; side = fraction - 0.5. With j the sample nearest to X and b = X + 0.5 - j,
 *   I(X + 0.5) - I(X - 0.5) = (1 - b) (I_j - I_{j-1}) + b (I_{j+1} - I_j),
 * of which one step lies in the cell and the other has the weight |side|. */
template <typename T>
FFDP_VOXEL_INLINE T
DifferenceOverOneVoxel(const T & v0, const T & v1, const T & outer, const T & side)
{
  const T nearer = side < T{} ? v0 : v1;
  const T magnitude = side < T{} ? -side : side;
  return (1.0f - magnitude) * (v1 - v0) + side * (outer - nearer);
}

template <typename T>
FFDP_VOXEL_INLINE T
InterpolateBetween(const T & v0, const T & v1, const T & fraction)
{
  return v0 + fraction * (v1 - v0);
}

/** Trilinear interpolation; a and b are the corners x and x + 1 in the rows (y, z), (y + 1, z), (y, z + 1) and
 * (y + 1, z + 1). Exact in flat regions, where differences must be zero. */
template <typename T>
FFDP_VOXEL_INLINE T
InterpolateInCell(const T * a, const T * b, const T & fx, const T & fy, const T & fz)
{
  const T lower = InterpolateBetween(InterpolateBetween(a[0], b[0], fx), InterpolateBetween(a[1], b[1], fx), fy);
  const T upper = InterpolateBetween(InterpolateBetween(a[2], b[2], fx), InterpolateBetween(a[3], b[3], fx), fy);
  return InterpolateBetween(lower, upper, fz);
}

/** The corners of a cell and the samples next to it that differences over one voxel need. */
template <typename T>
struct CellAndOuter
{
  T a[4];      ///< corners x, in rows as above
  T b[4];      ///< corners x + 1
  T outerX[4]; ///< beside the cell, in the same rows
  T yA[2];     ///< in the row beside the cell: x, in planes z and z + 1
  T yB[2];     ///< x + 1
  T zA[2];     ///< in the plane beside the cell: x, in rows y and y + 1
  T zB[2];     ///< x + 1
};

/** I(X + e/2) - I(X - e/2) along the three axes e. */
template <typename T>
FFDP_VOXEL_INLINE void
DifferencesAlongAxes(const CellAndOuter<T> & s, const T & fx, const T & fy, const T & fz, T & dx, T & dy, T & dz)
{
  const T sideX = fx - 0.5f, sideY = fy - 0.5f, sideZ = fz - 0.5f;
  T       stepX[4], value[4];
  for (int row = 0; row < 4; ++row)
  {
    stepX[row] = DifferenceOverOneVoxel(s.a[row], s.b[row], s.outerX[row], sideX);
    value[row] = InterpolateBetween(s.a[row], s.b[row], fx);
  }
  dx = InterpolateBetween(InterpolateBetween(stepX[0], stepX[1], fy), InterpolateBetween(stepX[2], stepX[3], fy), fz);

  T stepY[2], outerZ[2];
  for (int i = 0; i < 2; ++i)
  {
    const T outerY = InterpolateBetween(s.yA[i], s.yB[i], fx);
    stepY[i] = DifferenceOverOneVoxel(value[2 * i], value[2 * i + 1], outerY, sideY);
    outerZ[i] = InterpolateBetween(s.zA[i], s.zB[i], fx);
  }
  dy = InterpolateBetween(stepY[0], stepY[1], fz);

  dz = DifferenceOverOneVoxel(InterpolateBetween(value[0], value[1], fy),
                              InterpolateBetween(value[2], value[3], fy),
                              InterpolateBetween(outerZ[0], outerZ[1], fy),
                              sideZ);
}

/** A whole image of floats or doubles. */
template <typename T>
struct WholeImage
{
  const T *    data;
  std::int32_t size[3];
  std::int64_t rowStride;
  std::int64_t planeStride;
};

/** A position in an image. */
struct ImagePosition
{
  std::int32_t index[3];
  float        fraction[3];
};

template <typename T>
FFDP_VOXEL_INLINE bool
IsInsideImage(const WholeImage<T> & image, const ImagePosition & p)
{
  return IsInsideBuffer(p.index[0], p.fraction[0], image.size[0]) &&
         IsInsideBuffer(p.index[1], p.fraction[1], image.size[1]) &&
         IsInsideBuffer(p.index[2], p.fraction[2], image.size[2]);
}

/** Differences over one voxel along the image axes, by ITK's rule at the border. */
template <typename T>
FFDP_VOXEL_INLINE void
ReadDifferencesAlongAxes(const WholeImage<T> & image, const ImagePosition & p, float * difference)
{
  difference[0] = difference[1] = difference[2] = 0.0f;
  if (!IsInsideImage(image, p))
  {
    return;
  }
  std::int64_t at[3][3]; // offsets of the cell's samples along each axis, and of the one beside it
  for (int c = 0; c < 3; ++c)
  {
    const std::int64_t stride = c == 0 ? 1 : (c == 1 ? image.rowStride : image.planeStride);
    const std::int32_t i = p.index[c];
    const bool         hasNext = i >= 0 && i < image.size[c] - 1;
    at[c][0] = ClampIndex(i, image.size[c]) * stride;
    at[c][1] = at[c][0] + (hasNext ? stride : 0); // else both corners are clamped to the same sample
    at[c][2] = ClampIndex(p.fraction[c] < 0.5f ? i - 1 : i + 2, image.size[c]) * stride;
  }
  CellAndOuter<T> s;
  for (int row = 0; row < 4; ++row)
  {
    const T * values = image.data + (at[1][row & 1] + at[2][row >> 1]);
    s.a[row] = values[at[0][0]];
    s.b[row] = values[at[0][1]];
    s.outerX[row] = values[at[0][2]];
  }
  for (int i = 0; i < 2; ++i)
  {
    const T * besideY = image.data + (at[1][2] + at[2][i]);
    const T * besideZ = image.data + (at[1][i] + at[2][2]);
    s.yA[i] = besideY[at[0][0]];
    s.yB[i] = besideY[at[0][1]];
    s.zA[i] = besideZ[at[0][0]];
    s.zB[i] = besideZ[at[0][1]];
  }
  T d[3];
  DifferencesAlongAxes<T>(s, p.fraction[0], p.fraction[1], p.fraction[2], d[0], d[1], d[2]);
  for (int c = 0; c < 3; ++c)
  {
    const bool bothInside = p.index[c] >= 0 && p.index[c] < image.size[c] - 1; // half a voxel below and above
    difference[c] = bothInside ? float(d[c]) : 0.0f;
  }
}

/** The value at a position that is inside. */
template <typename T>
FFDP_VOXEL_INLINE T
ReadValue(const WholeImage<T> & image, const ImagePosition & p)
{
  std::int64_t at[3][2];
  for (int c = 0; c < 3; ++c)
  {
    const std::int64_t stride = c == 0 ? 1 : (c == 1 ? image.rowStride : image.planeStride);
    const bool         hasNext = p.index[c] >= 0 && p.index[c] < image.size[c] - 1;
    at[c][0] = ClampIndex(p.index[c], image.size[c]) * stride;
    at[c][1] = at[c][0] + (hasNext ? stride : 0); // else both corners are clamped to the same sample
  }
  T a[4], b[4];
  for (int row = 0; row < 4; ++row)
  {
    const T * values = image.data + (at[1][row & 1] + at[2][row >> 1]);
    a[row] = values[at[0][0]];
    b[row] = values[at[0][1]];
  }
  return InterpolateInCell<T>(a, b, p.fraction[0], p.fraction[1], p.fraction[2]);
}

} // namespace ffdp

#endif
