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
#ifndef ffdpResampleTerms_h
#define ffdpResampleTerms_h

#include "ffdpInterpolationTerms.h"
#include "ffdpVoxelInline.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

/** One pixel of the resampler: its position in double, the cell that it is in by ITK's rule, interpolation, and the
 * cast to the type of the output. Every step is a fixed sequence of operations, so that all devices round alike. */
namespace ffdp
{

/** What y, z and t contribute to a coordinate of A x + t; `a` is a row of A. */
FFDP_VOXEL_INLINE double
CoordinateOfRow(const double * a, double t, std::int64_t y, std::int64_t z)
{
  return (a[1] * double(y) + a[2] * double(z)) + t;
}

/** A coordinate of X = A x + t + S u: `row` is CoordinateOfRow(), (s0, s1, s2) a row of S. */
FFDP_VOXEL_INLINE double
CoordinateInDouble(double a0, int x, double row, double s0, double s1, double s2, double u0, double u1, double u2)
{
  return (a0 * double(x) + row) + ((s0 * u0 + s1 * u1) + s2 * u2);
}

/** A coordinate of matrix p + offset; (m0, m1, m2) is a row of the matrix. */
FFDP_VOXEL_INLINE double
MapCoordinate(double m0, double m1, double m2, double offset, double p0, double p1, double p2)
{
  return ((m0 * p0 + m1 * p1) + m2 * p2) + offset;
}

/** The samples around a position along one axis, counted from the first one at hand. */
struct AxisSamples
{
  std::int32_t lower;
  std::int32_t upper;
  double       fraction;
};

/** The samples around `at`, clamped to [lowest, highest], which are at hand, of an axis of `size` samples. Any double
 * is safe. TNearest: lower is the nearest one, halves go up. */
template <bool TNearest>
FFDP_VOXEL_INLINE AxisSamples
SamplesAround(double at, double size, std::int32_t lowest, std::int32_t highest)
{
  const double notBelow = at > -1.0 ? at : -1.0;
  const double safe = notBelow < size ? notBelow : size;
  const double whole = std::floor(safe);
  const double rest = safe - whole;
  const auto   index = std::int32_t(whole) + (TNearest ? std::int32_t(rest >= 0.5) : 0);
  const auto   next = index + 1;
  const auto   lowerNotBelow = index > lowest ? index : lowest;
  const auto   upperNotBelow = next > lowest ? next : lowest;
  return { (lowerNotBelow < highest ? lowerNotBelow : highest) - lowest,
           (upperNotBelow < highest ? upperNotBelow : highest) - lowest,
           rest };
}

/** ITK's rule; not a number is outside. */
FFDP_VOXEL_INLINE bool
IsInsideAxis(double at, double size)
{
  return (at >= -0.5) & (at < size - 0.5);
}

/** v0 + (v1 - v0) d, exact on constants; a corner of weight zero does not count, even if it is not a number. */
FFDP_VOXEL_INLINE double
Between(double v0, double v1, double fraction)
{
  const double between = v0 + (v1 - v0) * fraction;
  return fraction > 0 ? between : v0;
}

/** As itk::ResampleImageFilter casts: cut to the range of the type, integers towards zero. */
template <typename T>
FFDP_VOXEL_INLINE T
CastComponent(double value)
{
  if (std::is_same<T, double>::value)
  {
    return T(value);
  }
  constexpr T lowest = std::numeric_limits<T>::lowest();
  constexpr T highest = std::numeric_limits<T>::max();
  if (std::is_integral<T>::value && value != value)
  {
    return T(0);
  }
  return value <= double(lowest) ? lowest : (value >= double(highest) ? highest : T(value));
}

/** Which part of an image of floats is at hand, and what is outside the image. */
struct FloatBox
{
  std::int32_t first[3];
  std::int32_t size[3]; ///< of the whole image
  float        outside;
};

/** Linear interpolation from float to float, unless the position is so near the border that float cannot tell inside
 * from outside, or the result is not finite: then false, and the pixel is left to double. `p` counts from the first
 * voxel of `held`, which is the box. */
FFDP_VOXEL_INLINE bool
ResampleInFloat(const ImagePlanes & held, const FloatBox & box, const CellPosition & p, float * value)
{
  constexpr float margin = 1e-3f; // voxels; coordinates are better known than that for displacements below 4000
  std::int32_t    lower[3], upper[3];
  bool            inside = true, outside = false, isHeld = true;
  for (int c = 0; c < 3; ++c)
  {
    const std::int32_t last = box.size[c] - 1;
    const std::int32_t i = p.index[c] + box.first[c];
    const float        f = p.fraction[c];
    inside =
      inside & (((i >= 0) & (i < last)) | ((i == -1) & (f > 0.5f + margin)) | ((i == last) & (f < 0.5f - margin)));
    outside = outside | (i < -1) | (i > last) | ((i == -1) & (f < 0.5f - margin)) | ((i == last) & (f > 0.5f + margin));
    lower[c] = ClampIndex(i, box.size[c]) - box.first[c];
    upper[c] = ClampIndex(i + 1, box.size[c]) - box.first[c];
    isHeld = isHeld & (lower[c] >= 0) & (upper[c] < held.size[c]);
  }
  if (outside)
  {
    *value = box.outside;
    return true;
  }
  if (!inside | !isHeld)
  {
    return false;
  }
  float plane[2];
  for (int side = 0; side < 2; ++side)
  {
    const float * at = held.data + (side ? upper[2] : lower[2]) * held.planeStride;
    const float * row0 = at + lower[1] * held.rowStride;
    const float * row1 = at + upper[1] * held.rowStride;
    plane[side] =
      InterpolateInPlane(row0[lower[0]], row0[upper[0]], row1[lower[0]], row1[upper[0]], p.fraction[0], p.fraction[1])
        .value;
  }
  *value = plane[0] + p.fraction[2] * (plane[1] - plane[0]);
  return *value - *value == 0.0f;
}

} // namespace ffdp

#endif
