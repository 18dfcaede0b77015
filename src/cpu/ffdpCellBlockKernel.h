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
// Positions in double, cells and interpolation for a block of voxels: what ffdpResample.cxx and ffdpWarpChain.cxx
// share. Compiled once per instruction set, see ffdpForEachInstructionSet.h.
namespace ffdp
{
namespace FFDP_ISA
{

/** Displacements of voxels [begin, end) of the block that starts at column x, as doubles. */
FFDP_VOXEL_INLINE void
LoadDoubles(const WarpRow & u, std::int64_t x, int begin, int end, BlockPositions & to)
{
  for (int c = 0; c < 3; ++c)
  {
    double * __restrict d = to.at[c];
    if (u.doubles[c])
    {
      const double * __restrict from = u.doubles[c] + x * u.stride;
      for (int k = begin; k < end; ++k)
      {
        d[k] = from[k * u.stride];
      }
    }
    else if (u.floats[c])
    {
      const float * __restrict from = u.floats[c] + x * u.stride;
      for (int k = begin; k < end; ++k)
      {
        d[k] = double(from[k * u.stride]);
      }
    }
    else
    {
      for (int k = begin; k < end; ++k)
      {
        d[k] = 0;
      }
    }
  }
}

/** X = A x + t + S u(x) of voxels [begin, end) of the block that starts at column x. */
inline void
LocateInDouble(const BlockMap & map,
               const WarpRow &  u,
               std::int64_t     x,
               std::int64_t     y,
               std::int64_t     z,
               int              begin,
               int              end,
               BlockPositions & positions)
{
  BlockPositions d;
  LoadDoubles(u, x, begin, end, d);
  for (int c = 0; c < 3; ++c)
  {
    const double * a = map.A + 3 * c;
    const double   s0 = map.S[3 * c], s1 = map.S[3 * c + 1], s2 = map.S[3 * c + 2];
    const double   row = CoordinateOfRow(a, map.t[c], y, z);
    const double   step = a[0];
    const int      first = int(x);
    double * __restrict at = positions.at[c];
    FFDP_SIMD
    for (int k = begin; k < end; ++k)
    {
      at[k] = CoordinateInDouble(step, first + k, row, s0, s1, s2, d.at[0][k], d.at[1][k], d.at[2][k]);
    }
  }
}

/** p -> matrix p + offset for voxels [begin, end). */
inline void
MapBlock(const double *         matrix,
         const double *         offset,
         const BlockPositions & from,
         int                    begin,
         int                    end,
         BlockPositions &       to)
{
  for (int c = 0; c < 3; ++c)
  {
    const double m0 = matrix[3 * c], m1 = matrix[3 * c + 1], m2 = matrix[3 * c + 2], o = offset[c];
    double * __restrict at = to.at[c];
    FFDP_SIMD
    for (int k = begin; k < end; ++k)
    {
      at[k] = MapCoordinate(m0, m1, m2, o, from.at[0][k], from.at[1][k], from.at[2][k]);
    }
  }
}

/** The cells of positions [begin, end) in a grid by ITK's rule, their corners clamped to what is at hand. Not a number
 * is outside. TNearest: one corner, halves go up. */
template <bool TNearest>
void
FindCells(const BlockGrid & grid, const BlockPositions & positions, int begin, int end, BlockCells & cells)
{
  std::int32_t * __restrict inside = cells.inside;
  for (int c = 0; c < 3; ++c)
  {
    const double       size = double(grid.size[c]);
    const std::int32_t lowest = grid.first[c], highest = grid.end[c] - 1;
    const double * __restrict at = positions.at[c];
    std::int32_t * __restrict lower = cells.lower[c];
    std::int32_t * __restrict upper = cells.upper[c];
    double * __restrict fraction = cells.fraction[c];
    FFDP_SIMD
    for (int k = begin; k < end; ++k)
    {
      const AxisSamples around = SamplesAround<TNearest>(at[k], size, lowest, highest);
      lower[k] = around.lower;
      upper[k] = around.upper;
      fraction[k] = around.fraction;
    }
    for (int k = begin; k < end; ++k)
    {
      const std::int32_t here = IsInsideAxis(at[k], size);
      inside[k] = c == 0 ? here : (inside[k] & here);
    }
  }
}

/** Values of one component at cells [begin, end) by linear interpolation: x first, then y, then z. */
template <typename T>
void
InterpolateCells(const BlockVolume & volume, const BlockCells & cells, int begin, int end, double * __restrict values)
{
  constexpr int   part = 32; // of the block: its corners stay in the first-level cache
  const T * const data = static_cast<const T *>(volume.data);
  for (int first = begin; first < end; first += part)
  {
    const int          count = end - first < part ? end - first : part;
    alignas(64) double corner[8][part];
    for (int k = 0; k < count; ++k)
    {
      const int          i = first + k;
      const std::int64_t x0 = cells.lower[0][i] * volume.elementStride;
      const std::int64_t x1 = cells.upper[0][i] * volume.elementStride;
      const T * const    near = data + cells.lower[2][i] * volume.planeStride;
      const T * const    far = data + cells.upper[2][i] * volume.planeStride;
      const std::int64_t y0 = cells.lower[1][i] * volume.rowStride;
      const std::int64_t y1 = cells.upper[1][i] * volume.rowStride;
      corner[0][k] = double(near[y0 + x0]);
      corner[1][k] = double(near[y0 + x1]);
      corner[2][k] = double(near[y1 + x0]);
      corner[3][k] = double(near[y1 + x1]);
      corner[4][k] = double(far[y0 + x0]);
      corner[5][k] = double(far[y0 + x1]);
      corner[6][k] = double(far[y1 + x0]);
      corner[7][k] = double(far[y1 + x1]);
    }
    const double * __restrict fx = cells.fraction[0] + first;
    const double * __restrict fy = cells.fraction[1] + first;
    const double * __restrict fz = cells.fraction[2] + first;
    double * __restrict to = values + first;
    FFDP_SIMD
    for (int k = 0; k < count; ++k)
    {
      const double lower =
        Between(Between(corner[0][k], corner[1][k], fx[k]), Between(corner[2][k], corner[3][k], fx[k]), fy[k]);
      const double upper =
        Between(Between(corner[4][k], corner[5][k], fx[k]), Between(corner[6][k], corner[7][k], fx[k]), fy[k]);
      to[k] = Between(lower, upper, fz[k]);
    }
  }
}

/** Values of one component at the lower corners of cells. */
template <typename T>
void
PickCells(const BlockVolume & volume, const BlockCells & cells, int begin, int end, double * __restrict values)
{
  const T * const data = static_cast<const T *>(volume.data);
  for (int k = begin; k < end; ++k)
  {
    values[k] = double(data[cells.lower[2][k] * volume.planeStride + cells.lower[1][k] * volume.rowStride +
                            cells.lower[0][k] * volume.elementStride]);
  }
}

} // namespace FFDP_ISA
} // namespace ffdp
