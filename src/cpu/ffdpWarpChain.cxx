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
#include "ffdpWarpChain.h"

#include "ffdpChainBlock.h"
#include "ffdpCheck.h"
#include "ffdpParallel.h"

#include <algorithm>

#define FFDP_KERNEL_FILE "ffdpCellBlockKernel.h"
#include "ffdpForEachInstructionSet.h"

namespace ffdp
{
namespace
{

template <typename T>
void
AddDisplacements(const WarpView<const T> & warp, const AffineMap & toIndex, int count, BlockPositions & points)
{
  BlockPositions     indices;
  BlockCells         cells;
  BlockGrid          grid{};
  const std::int64_t size[3] = { warp.domain.x, warp.domain.y, warp.domain.z };
  for (int c = 0; c < 3; ++c)
  {
    grid.size[c] = std::int32_t(size[c]);
    grid.end[c] = grid.size[c];
  }
  FFDP_SELECT_KERNEL(MapBlock)(toIndex.matrix, toIndex.offset, points, 0, count, indices);
  FFDP_SELECT_KERNEL(FindCells<false>)(grid, indices, 0, count, cells);
  for (int c = 0; c < 3 && warp.component[c]; ++c)
  {
    alignas(64) double u[SamplerBlock];
    const BlockVolume  volume{ warp.component[c], warp.elementStride, warp.rowStride, warp.planeStride };
    FFDP_SELECT_KERNEL(InterpolateCells<T>)(volume, cells, 0, count, u);
    for (int k = 0; k < count; ++k)
    {
      points.at[c][k] = cells.inside[k] ? points.at[c][k] + u[k] : points.at[c][k];
    }
  }
}

/** X of the first `count` points of a block. */
void
MapThroughChain(const WarpChain & chain, int count, BlockPositions & points)
{
  MapPoints(chain.start, count, points);
  for (const WarpStep & step : chain.steps)
  {
    AddDisplacements(step, count, points);
    MapPoints(step.after, count, points);
  }
}

} // namespace

void
MapPoints(const AffineMap & map, int count, BlockPositions & points)
{
  const BlockPositions before = points;
  FFDP_SELECT_KERNEL(MapBlock)(map.matrix, map.offset, before, 0, count, points);
}

void
AddDisplacements(const WarpStep & step, int count, BlockPositions & points)
{
  if (step.warp.floats)
  {
    AddDisplacements(step.warp.floats, step.toIndex, count, points);
  }
  else
  {
    AddDisplacements(step.warp.doubles, step.toIndex, count, points);
  }
}

void
RequireChain(const WarpChain & chain)
{
  for (const WarpStep & step : chain.steps)
  {
    Require(bool(step.warp), "a step of a chain of warps has no field");
    const auto requireWhole = [](const auto & warp) {
      if (warp)
      {
        RequirePlanes(warp, 0, warp.domain.z, 0, "a field of a chain of warps");
        Require(warp.component[1] != nullptr, "a field of a chain of warps has no y component");
        Require(warp.domain.x <= SamplerLongestAxis && warp.domain.y <= SamplerLongestAxis &&
                  warp.domain.z <= SamplerLongestAxis,
                "a field of a chain of warps has an axis of more than 2^28 voxels");
      }
    };
    requireWhole(step.warp.floats);
    requireWhole(step.warp.doubles);
  }
}

CompositeMap
LinearPart(const WarpChain & chain)
{
  AffineMap all = chain.start;
  for (const WarpStep & step : chain.steps)
  {
    all = Compose(step.after, all);
  }
  CompositeMap map;
  for (int i = 0; i < 9; ++i)
  {
    map.A[i] = all.matrix[i];
  }
  for (int c = 0; c < 3; ++c)
  {
    map.t[c] = all.offset[c];
  }
  return map;
}

void
MapPoint(const WarpChain & chain, const double * x, double * X)
{
  BlockPositions points{};
  for (int c = 0; c < 3; ++c)
  {
    points.at[c][0] = x[c];
  }
  MapThroughChain(chain, 1, points);
  for (int c = 0; c < 3; ++c)
  {
    X[c] = points.at[c][0];
  }
}

void
FillResidualRow(const WarpChain &    chain,
                const CompositeMap & linear,
                std::int64_t         x,
                std::int64_t         y,
                std::int64_t         z,
                std::int64_t         count,
                double * const *     residual)
{
  BlockPositions points{};
  for (std::int64_t first = 0; first < count; first += SamplerBlock)
  {
    const int voxels = int(std::min<std::int64_t>(SamplerBlock, count - first));
    for (int k = 0; k < voxels; ++k)
    {
      points.at[0][k] = double(x + first + k);
      points.at[1][k] = double(y);
      points.at[2][k] = double(z);
    }
    MapThroughChain(chain, voxels, points);
    for (int c = 0; c < 3; ++c)
    {
      const double * a = linear.A + 3 * c;
      for (int k = 0; k < voxels; ++k)
      {
        const double straight = ((a[0] * double(x + first + k) + a[1] * double(y)) + a[2] * double(z)) + linear.t[c];
        residual[c][first + k] = points.at[c][k] - straight;
      }
    }
  }
}

void
FillResiduals(const WarpChain & chain, const CompositeMap & linear, const WarpView<float> & residual, unsigned threads)
{
  RequireUsable(residual, "the residual of a chain of warps");
  Require(residual.elementStride == 1 && residual.component[1] && residual.component[2],
          "the residual of a chain of warps needs three planar components");
  RequireChain(chain);
  ParallelFor(residual.planes * residual.domain.y, threads, [&](std::int64_t piece, unsigned) {
    const std::int64_t     y = piece % residual.domain.y;
    const std::int64_t     z = residual.firstPlane + piece / residual.domain.y;
    constexpr std::int64_t block = SamplerBlock;
    double                 values[3][block];
    double * const         rows[3] = { values[0], values[1], values[2] };
    for (std::int64_t x = 0; x < residual.domain.x; x += block)
    {
      const std::int64_t count = std::min(block, residual.domain.x - x);
      FillResidualRow(chain, linear, x, y, z, count, rows);
      for (int c = 0; c < 3; ++c)
      {
        float * const to = residual.Row(c, y, z) + x;
        for (std::int64_t k = 0; k < count; ++k)
        {
          to[k] = float(values[c][k]);
        }
      }
    }
  });
}

void
FillResiduals(const WarpChain & chain, const WarpView<float> & residual, unsigned threads)
{
  FillResiduals(chain, LinearPart(chain), residual, threads);
}

} // namespace ffdp
