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
#ifndef ffdpResamplePixels_h
#define ffdpResamplePixels_h

#include "ffdpEdgeCell.h"
#include "ffdpResamplePlan.h"

#include <limits>
#include <type_traits>

/** Pixels of any type: read and interpolated to double, cast from double and written. */
namespace ffdp
{

FFDP_VOXEL_INLINE bool
IsInsideImage(const ResampleImage & image, const ResamplePositions & positions, int k)
{
  return IsInsideGrid(positions.at[0][k], image.size[0]) & IsInsideGrid(positions.at[1][k], image.size[1]) &
         IsInsideGrid(positions.at[2][k], image.size[2]);
}

template <typename T>
FFDP_VOXEL_INLINE const T *
PixelRow(const ResampleImage & image, std::int64_t y, std::int64_t z)
{
  return static_cast<const T *>(image.data) +
         ((z - image.first[2]) * image.planeStride + (y - image.first[1]) * image.rowStride - image.first[0]) *
           image.components;
}

/** All components of the pixel at a position that is inside. */
template <typename T>
void
InterpolatePixel(const ResampleImage & image, const ResamplePositions & positions, int k, double * values)
{
  const EdgeCell     x = FindEdgeCell(positions.at[0][k], image.first[0], image.end[0]);
  const EdgeCell     y = FindEdgeCell(positions.at[1][k], image.first[1], image.end[1]);
  const EdgeCell     z = FindEdgeCell(positions.at[2][k], image.first[2], image.end[2]);
  const T *          row[4] = { PixelRow<T>(image, y.at[0], z.at[0]),
                                PixelRow<T>(image, y.at[1], z.at[0]),
                                PixelRow<T>(image, y.at[0], z.at[1]),
                                PixelRow<T>(image, y.at[1], z.at[1]) };
  const std::int64_t near = x.at[0] * image.components;
  const std::int64_t far = x.at[1] * image.components;
  for (int c = 0; c < image.components; ++c)
  {
    double alongX[4];
    for (int r = 0; r < 4; ++r)
    {
      alongX[r] = InterpolateOnAxis(double(row[r][near + c]), double(row[r][far + c]), x.fraction);
    }
    values[c] = InterpolateOnAxis(InterpolateOnAxis(alongX[0], alongX[1], y.fraction),
                                  InterpolateOnAxis(alongX[2], alongX[3], y.fraction),
                                  z.fraction);
  }
}

template <typename T>
void
PickPixel(const ResampleImage & image, const ResamplePositions & positions, int k, double * values)
{
  const std::int64_t x = FindNearest(positions.at[0][k], image.first[0], image.end[0]);
  const std::int64_t y = FindNearest(positions.at[1][k], image.first[1], image.end[1]);
  const std::int64_t z = FindNearest(positions.at[2][k], image.first[2], image.end[2]);
  const T *          pixel = PixelRow<T>(image, y, z) + x * image.components;
  for (int c = 0; c < image.components; ++c)
  {
    values[c] = double(pixel[c]);
  }
}

/** Values of voxels [begin, end) of a block; inside[k] tells which of them are there. */
template <typename T, bool TNearest>
void
ReadBlock(const ResampleImage &     image,
          const ResamplePositions & positions,
          int                       begin,
          int                       end,
          double *                  values,
          bool *                    inside)
{
  for (int k = begin; k < end; ++k)
  {
    inside[k] = IsInsideImage(image, positions, k);
    double * const to = values + std::ptrdiff_t(k) * image.components;
    if (inside[k] && TNearest)
    {
      PickPixel<T>(image, positions, k, to);
    }
    else if (inside[k])
    {
      InterpolatePixel<T>(image, positions, k, to);
    }
  }
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

/** Writes voxels [begin, end) of a block; `to` is where voxel `begin` goes. */
template <typename T>
void
WriteBlock(const double * values,
           const bool *   inside,
           int            begin,
           int            end,
           int            components,
           const void *   outside,
           void *         to)
{
  T * out = static_cast<T *>(to);
  for (int k = begin; k < end; ++k)
  {
    for (int c = 0; c < components; ++c)
    {
      *out++ =
        inside[k] ? CastComponent<T>(values[std::ptrdiff_t(k) * components + c]) : static_cast<const T *>(outside)[c];
    }
  }
}

} // namespace ffdp

#endif
