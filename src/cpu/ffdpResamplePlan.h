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
#ifndef ffdpResamplePlan_h
#define ffdpResamplePlan_h

#include "ffdpAlignedBuffer.h"
#include "ffdpPixels.h"
#include "ffdpSamplerPlan.h"
#include "ffdpWarpChain.h"

/** What the rows of one call to the resampler share. */
namespace ffdp
{

/** The map in double. */
struct ResampleMap
{
  double A[9];
  double t[3];
  double S[9];
};

/** The box of the image that is at hand, and the size of the whole. Strides in pixels. */
struct ResampleImage
{
  const void * data;
  int          components;
  std::int64_t size[3];
  std::int64_t first[3];
  std::int64_t end[3];
  std::int64_t rowStride;
  std::int64_t planeStride;
};

/** Positions of the voxels of a block in the image, in double. */
struct ResamplePositions
{
  alignas(64) double at[3][SamplerBlock];
};

/** Floats that are resampled in float where their cell is inside the image. */
struct FloatPlan
{
  SamplerPlan  sampler; ///< its image is the box at hand
  std::int32_t first[3];
  std::int32_t size[3]; ///< of the whole image
};

/** Where the displacements of a row come from. */
class DisplacementRows
{
public:
  DisplacementRows(const WarpInput & u, const WarpChain * chain, const CompositeMap & map)
    : m_Warp(u)
    , m_Chain(chain)
    , m_Map(map)
  {}

  /** Floats that a worker needs for a row that ends at column `end`. */
  std::size_t
  Scratch(std::int64_t end) const
  {
    return m_Chain ? 3 * std::size_t(end) : 0;
  }

  /** The row, for columns [first, end); it is addressed from column 0 on. */
  WarpRow
  Row(std::int64_t first, std::int64_t end, std::int64_t y, std::int64_t z, float * scratch) const
  {
    if (!m_Chain)
    {
      return RowOf(m_Warp, y, z);
    }
    float * const row[3] = { scratch + first, scratch + end + first, scratch + 2 * end + first };
    FillResidualRow(*m_Chain, m_Map, first, y, z, end - first, row);
    WarpRow residual{};
    residual.stride = 1;
    for (int c = 0; c < 3; ++c)
    {
      residual.floats[c] = scratch + c * end;
    }
    return residual;
  }

private:
  const WarpInput    m_Warp;
  const WarpChain *  m_Chain;
  const CompositeMap m_Map;
};

/** Columns before the first one of a box are computed, too, back to the beginning of the block: then what a column gets
 * does not depend on the box. */
inline std::int64_t
FirstOfBlock(std::int64_t x)
{
  return x / SamplerBlock * SamplerBlock;
}

/** X of voxels [begin, end) of the block that starts at column x. */
inline void
LocateInDouble(const ResampleMap & map,
               const WarpRow &     u,
               std::int64_t        x,
               std::int64_t        y,
               std::int64_t        z,
               int                 begin,
               int                 end,
               ResamplePositions & positions)
{
  for (int k = begin; k < end; ++k)
  {
    double             d[3];
    const std::int64_t at = (x + k) * u.stride;
    for (int c = 0; c < 3; ++c)
    {
      d[c] = u.floats[c] ? double(u.floats[c][at]) : (u.doubles[c] ? u.doubles[c][at] : 0.0);
    }
    for (int c = 0; c < 3; ++c)
    {
      const double * a = map.A + 3 * c;
      const double * s = map.S + 3 * c;
      const double   row = (a[1] * double(y) + a[2] * double(z)) + map.t[c];
      positions.at[c][k] = (a[0] * double(x + k) + row) + ((s[0] * d[0] + s[1] * d[1]) + s[2] * d[2]);
    }
  }
}

} // namespace ffdp

#endif
