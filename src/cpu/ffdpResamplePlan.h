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

#include "ffdpCellBlock.h"
#include "ffdpSamplerPlan.h"
#include "ffdpWarpChain.h"

/** What the rows of one call to the resampler share. */
namespace ffdp
{

/** Floats that are resampled in float where their cell is inside the image. */
struct FloatPlan
{
  SamplerPlan sampler; ///< its image is the box at hand
  FloatBox    box;
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

  /** Doubles that a worker needs for a row that ends at column `end`. */
  std::size_t
  Scratch(std::int64_t end) const
  {
    return m_Chain ? 3 * std::size_t(end) : 0;
  }

  /** The row, for columns [first, end); it is addressed from column 0 on. */
  WarpRow
  Row(std::int64_t first, std::int64_t end, std::int64_t y, std::int64_t z, double * scratch) const
  {
    if (!m_Chain)
    {
      return RowOf(m_Warp, y, z);
    }
    double * const row[3] = { scratch + first, scratch + end + first, scratch + 2 * end + first };
    FillResidualRow(*m_Chain, m_Map, first, y, z, end - first, row);
    WarpRow residual{};
    residual.stride = 1;
    for (int c = 0; c < 3; ++c)
    {
      residual.doubles[c] = scratch + c * end;
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
FFDP_VOXEL_INLINE std::int64_t
                  FirstOfBlock(std::int64_t x)
{
  return x / SamplerBlock * SamplerBlock;
}

} // namespace ffdp

#endif
