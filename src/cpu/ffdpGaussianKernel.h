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
// Compiled once per instruction set, see ffdpForEachInstructionSet.h.
namespace ffdp
{
namespace FFDP_ISA
{

/** The pairs of rows first + 1 to first + TPairs: out += sum over i of taps[i] (rows[-i] + rows[i]), i ascending.
 * With TStart, out begins as taps[0] rows[0]. Their number is known to the compiler, so a sum stays in registers. */
template <int TPairs, bool TStart>
inline void
AddPairs(const float * const * rows, std::int64_t first, const float * taps, float * __restrict out, std::int64_t count)
{
  const float * const center = rows[0];
  const float         centerTap = taps[0];
  const float *       below[TPairs + 1];
  const float *       above[TPairs + 1];
  float               tap[TPairs + 1];
  for (int i = 1; i <= TPairs; ++i)
  {
    below[i] = rows[-(first + i)];
    above[i] = rows[first + i];
    tap[i] = taps[first + i];
  }
  FFDP_SIMD
  for (std::int64_t x = 0; x < count; ++x)
  {
    float sum = TStart ? centerTap * center[x] : out[x];
    for (int i = 1; i <= TPairs; ++i)
    {
      sum += tap[i] * (below[i][x] + above[i][x]);
    }
    out[x] = sum;
  }
}

template <bool TStart>
inline void
AddUpToFourPairs(const float * const * rows,
                 std::int64_t          first,
                 std::int64_t          pairs,
                 const float *         taps,
                 float *               out,
                 std::int64_t          count)
{
  switch (pairs)
  {
    case 0:
      return AddPairs<0, TStart>(rows, first, taps, out, count);
    case 1:
      return AddPairs<1, TStart>(rows, first, taps, out, count);
    case 2:
      return AddPairs<2, TStart>(rows, first, taps, out, count);
    case 3:
      return AddPairs<3, TStart>(rows, first, taps, out, count);
    default:
      return AddPairs<4, TStart>(rows, first, taps, out, count);
  }
}

/** out = taps[0] rows[0] + sum over i = 1..radius of taps[i] (rows[-i] + rows[i]), i ascending. */
inline void
TapSum(const float * const * rows, std::int64_t radius, const float * taps, float * out, std::int64_t count)
{
  AddUpToFourPairs<true>(rows, 0, radius, taps, out, count);
  for (std::int64_t first = 4; first < radius; first += 4)
  {
    AddUpToFourPairs<false>(rows, first, radius - first, taps, out, count);
  }
}

/** The positions [first, end) along x, each with its own taps. */
inline void
SmoothBorderAlongX(const GaussianAxis & x, const float * row, float * out, std::int64_t first, std::int64_t end)
{
  for (std::int64_t p = first; p < end; ++p)
  {
    out[p] = WeighWindow(x.At(p), x.radius, [=](std::int64_t i) { return row[p + i]; });
  }
}

/** One row along x; `row` has x.radius zeros on both sides. */
inline void
SmoothAlongX(const GaussianPlane & plane, const float * row, float * out)
{
  const GaussianAxis & x = plane.x;
  const float **       center = plane.rows + x.radius;
  for (std::int64_t i = -x.radius; i <= x.radius; ++i)
  {
    center[i] = row + i;
  }
  TapSum(center, x.radius, x.At(x.radius), out, x.size);
  if (plane.bordersDiffer)
  {
    const bool hasMiddle = x.size > 2 * x.radius;
    SmoothBorderAlongX(x, row, out, 0, hasMiddle ? x.radius : x.size);
    SmoothBorderAlongX(x, row, out, hasMiddle ? x.size - x.radius : x.size, x.size);
  }
}

/** Rows enter at the bottom of the plane, are summed along z into a ring of rows, along y out of that ring,
 * and along x on the way out. */
inline void
SmoothPlane(const GaussianPlane & plane)
{
  const std::int64_t width = plane.x.size;
  const std::int64_t height = plane.y.size;
  const std::int64_t ry = plane.y.radius;
  const std::int64_t rz = plane.z.radius;
  const std::int64_t ring = 2 * ry + 1;
  float * const      zeros = plane.scratch + ring * width;
  float * const      padded = zeros + width + plane.x.radius;
  for (std::int64_t i = 0; i < width + width + 2 * plane.x.radius; ++i)
  {
    zeros[i] = 0; // and the margins of `padded`, which are never written again
  }

  const std::int64_t enterFirst = plane.firstRow - ry > 0 ? plane.firstRow - ry : 0;
  const std::int64_t enterEnd = plane.endRow + ry;
  for (std::int64_t enter = enterFirst; enter < enterEnd; ++enter)
  {
    if (enter < height)
    {
      const float ** center = plane.rows + rz;
      for (std::int64_t i = -rz; i <= rz; ++i)
      {
        const float * old = plane.planes[rz + i];
        center[i] = old ? old + enter * width : zeros;
      }
      TapSum(center, rz, plane.z.At(plane.position), plane.scratch + enter % ring * width, width);
    }
    const std::int64_t y = enter - ry;
    if (y >= plane.firstRow)
    {
      const float ** center = plane.rows + ry;
      for (std::int64_t i = -ry; i <= ry; ++i)
      {
        center[i] = y + i >= 0 && y + i < height ? plane.scratch + (y + i) % ring * width : zeros;
      }
      TapSum(center, ry, plane.y.At(y), padded, width);
      SmoothAlongX(plane, padded, plane.output + y * plane.outputRowStride);
    }
  }
}

} // namespace FFDP_ISA
} // namespace ffdp
