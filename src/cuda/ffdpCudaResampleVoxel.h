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
#ifndef ffdpCudaResampleVoxel_h
#define ffdpCudaResampleVoxel_h

#include "ffdpCellBlock.h"
#include "ffdpPixels.h"
#include "ffdpResampleArguments.h"
#include "ffdpResampleTerms.h"
#include "ffdpWarpChain.h"

#include <cstdint>

/** What a thread of the resampler does for its pixel: displacement, cell, value, cast. */
namespace ffdp
{
namespace cuda
{

/** u(x) of a field on the grid of the output, or the residual of a chain if there are steps, or zero. */
struct Displacements
{
  WarpInput        field;
  const WarpStep * steps; ///< on the device
  int              count;
  AffineMap        start; ///< of the chain
};

/** The pixels to read. Strides in components. */
struct ResampledImage
{
  const void * data; ///< the first component at hand
  BlockGrid    grid;
  int          components;
  std::int64_t rowStride;
  std::int64_t planeStride;
};

/** The pixels to write. Strides in pixels. */
struct ResampledOutput
{
  void *         data; ///< at the first pixel of the box
  PixelComponent type;
  const void *   outside; ///< a pixel of that type, on the device
  int            components;
  PixelBox       box;
  std::int64_t   rowStride;
  std::int64_t   planeStride;
};

/** The samples around a position. */
struct CellInDouble
{
  AxisSamples axis[3];
  bool        inside;
};

#if defined(__CUDACC__) || defined(FFDP_CUDA_ON_HOST)

/** Linear interpolation, x first, then y, then z. Strides in elements of T. */
template <typename T>
__device__ double
InterpolateCell(const T *            data,
                std::int64_t         elementStride,
                std::int64_t         rowStride,
                std::int64_t         planeStride,
                const CellInDouble & cell)
{
  const std::int64_t x0 = cell.axis[0].lower * elementStride;
  const std::int64_t x1 = cell.axis[0].upper * elementStride;
  const double       fx = cell.axis[0].fraction, fy = cell.axis[1].fraction;
  double             plane[2];
  for (int side = 0; side < 2; ++side)
  {
    const T * const at = data + (side ? cell.axis[2].upper : cell.axis[2].lower) * planeStride;
    const T * const row0 = at + cell.axis[1].lower * rowStride;
    const T * const row1 = at + cell.axis[1].upper * rowStride;
    plane[side] =
      Between(Between(double(row0[x0]), double(row0[x1]), fx), Between(double(row1[x0]), double(row1[x1]), fx), fy);
  }
  return Between(plane[0], plane[1], cell.axis[2].fraction);
}

__device__ inline void
MapPoint(const AffineMap & map, double (&p)[3])
{
  const double from[3] = { p[0], p[1], p[2] };
  for (int c = 0; c < 3; ++c)
  {
    const double * m = map.matrix + 3 * c;
    p[c] = MapCoordinate(m[0], m[1], m[2], map.offset[c], from[0], from[1], from[2]);
  }
}

/** p += u(toIndex(p)); nothing is added outside the grid of the field. */
template <typename T>
__device__ void
AddDisplacement(const WarpView<const T> & u, const AffineMap & toIndex, double (&p)[3])
{
  const double size[3] = { double(u.domain.x), double(u.domain.y), double(u.domain.z) };
  double       at[3] = { p[0], p[1], p[2] };
  MapPoint(toIndex, at);
  CellInDouble cell;
  cell.inside = true;
  for (int c = 0; c < 3; ++c)
  {
    cell.inside = cell.inside & IsInsideAxis(at[c], size[c]);
    cell.axis[c] = SamplesAround<false>(at[c], size[c], 0, std::int32_t(size[c]) - 1);
  }
  for (int c = 0; cell.inside && c < 3 && u.component[c]; ++c)
  {
    p[c] = p[c] + InterpolateCell(u.component[c], u.elementStride, u.rowStride, u.planeStride, cell);
  }
}

template <typename T>
__device__ void
ReadDisplacement(const WarpView<const T> & u, std::int64_t x, std::int64_t y, std::int64_t z, double (&d)[3])
{
  for (int c = 0; c < 3; ++c)
  {
    const T * const row = u.Row(c, y, z);
    d[c] = row ? double(row[x * u.elementStride]) : 0.0;
  }
}

__device__ inline void
FindDisplacement(const Displacements & u,
                 const BlockMap &      map,
                 std::int64_t          x,
                 std::int64_t          y,
                 std::int64_t          z,
                 double (&d)[3])
{
  if (u.count == 0)
  {
    if (u.field.doubles)
    {
      ReadDisplacement(u.field.doubles, x, y, z, d);
    }
    else
    {
      ReadDisplacement(u.field.floats, x, y, z, d); // no field: a view without components
    }
    return;
  }
  double p[3] = { double(x), double(y), double(z) };
  MapPoint(u.start, p);
  for (int i = 0; i < u.count; ++i)
  {
    const WarpStep & step = u.steps[i];
    if (step.warp.floats)
    {
      AddDisplacement(step.warp.floats, step.toIndex, p);
    }
    else
    {
      AddDisplacement(step.warp.doubles, step.toIndex, p);
    }
    MapPoint(step.after, p);
  }
  for (int c = 0; c < 3; ++c)
  {
    const double * a = map.A + 3 * c;
    d[c] = p[c] - MapCoordinate(a[0], a[1], a[2], map.t[c], double(x), double(y), double(z));
  }
}

/** The cell of X = A x + t + S d. */
__device__ inline CellInDouble
FindCell(const BlockMap &  map,
         const BlockGrid & grid,
         std::int64_t      x,
         std::int64_t      y,
         std::int64_t      z,
         const double (&d)[3],
         bool nearest)
{
  CellInDouble cell;
  cell.inside = true;
  for (int c = 0; c < 3; ++c)
  {
    const double * a = map.A + 3 * c;
    const double * s = map.S + 3 * c;
    const double   row = CoordinateOfRow(a, map.t[c], y, z);
    const double   at = CoordinateInDouble(a[0], int(x), row, s[0], s[1], s[2], d[0], d[1], d[2]);
    const double   size = double(grid.size[c]);
    cell.inside = cell.inside & IsInsideAxis(at, size);
    cell.axis[c] = nearest ? SamplesAround<true>(at, size, grid.first[c], grid.end[c] - 1)
                           : SamplesAround<false>(at, size, grid.first[c], grid.end[c] - 1);
  }
  return cell;
}

/** Component c of the image in a cell. */
template <typename T>
__device__ double
ReadCell(const ResampledImage & image, const CellInDouble & cell, int c, bool nearest)
{
  const T * const data = static_cast<const T *>(image.data) + c;
  return nearest ? double(data[cell.axis[2].lower * image.planeStride + cell.axis[1].lower * image.rowStride +
                               std::int64_t(cell.axis[0].lower) * image.components])
                 : InterpolateCell(data, image.components, image.rowStride, image.planeStride, cell);
}

__device__ inline std::int64_t
PixelOffset(const ResampledOutput & output, std::int64_t x, std::int64_t y, std::int64_t z)
{
  return (z - output.box.first[2]) * output.planeStride + (y - output.box.first[1]) * output.rowStride +
         (x - output.box.first[0]);
}

__device__ inline void
WriteComponent(const ResampledOutput & output,
               std::int64_t            x,
               std::int64_t            y,
               std::int64_t            z,
               int                     c,
               bool                    inside,
               double                  value)
{
  const std::int64_t at = PixelOffset(output, x, y, z) * output.components + c;
  WithComponentType(output.type, [&](auto t) {
    using T = decltype(t);
    static_cast<T *>(output.data)[at] = inside ? CastComponent<T>(value) : static_cast<const T *>(output.outside)[c];
  });
}

#endif

} // namespace cuda
} // namespace ffdp

#endif
