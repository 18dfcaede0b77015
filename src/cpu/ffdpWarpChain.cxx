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

#include "ffdpCheck.h"
#include "ffdpEdgeCell.h"
#include "ffdpParallel.h"

namespace ffdp
{
namespace
{

/** u(index) by linear interpolation, or zero outside the grid of the field. */
template <typename T>
void
Interpolate(const WarpView<const T> & warp, const double * index, double * u)
{
  const std::int64_t size[3] = { warp.domain.x, warp.domain.y, warp.domain.z };
  EdgeCell           cell[3];
  bool               inside = true;
  for (int c = 0; c < 3; ++c)
  {
    inside = inside && IsInsideGrid(index[c], size[c]);
    cell[c] = inside ? FindEdgeCell(index[c], 0, size[c]) : EdgeCell{};
    u[c] = 0;
  }
  for (int c = 0; inside && c < 3 && warp.component[c]; ++c)
  {
    double plane[2];
    for (int z = 0; z < 2; ++z)
    {
      double row[2];
      for (int y = 0; y < 2; ++y)
      {
        const T * values = warp.Row(c, cell[1].at[y], cell[2].at[z]);
        row[y] = InterpolateOnAxis(double(values[cell[0].at[0] * warp.elementStride]),
                                   double(values[cell[0].at[1] * warp.elementStride]),
                                   cell[0].fraction);
      }
      plane[z] = InterpolateOnAxis(row[0], row[1], cell[1].fraction);
    }
    u[c] = InterpolateOnAxis(plane[0], plane[1], cell[2].fraction);
  }
}

} // namespace

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
      }
    };
    requireWhole(step.warp.floats);
    requireWhole(step.warp.doubles);
  }
}

AffineMap
Compose(const AffineMap & second, const AffineMap & first)
{
  AffineMap both;
  for (int r = 0; r < 3; ++r)
  {
    const double * m = second.matrix + 3 * r;
    for (int c = 0; c < 3; ++c)
    {
      both.matrix[3 * r + c] = (m[0] * first.matrix[c] + m[1] * first.matrix[3 + c]) + m[2] * first.matrix[6 + c];
    }
  }
  second.Apply(first.offset, both.offset);
  return both;
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
  chain.start.Apply(x, X);
  for (const WarpStep & step : chain.steps)
  {
    double index[3];
    double u[3];
    step.toIndex.Apply(X, index);
    if (step.warp.floats)
    {
      Interpolate(step.warp.floats, index, u);
    }
    else
    {
      Interpolate(step.warp.doubles, index, u);
    }
    const double moved[3] = { X[0] + u[0], X[1] + u[1], X[2] + u[2] };
    step.after.Apply(moved, X);
  }
}

void
FillResidualRow(const WarpChain &    chain,
                const CompositeMap & linear,
                std::int64_t         x,
                std::int64_t         y,
                std::int64_t         z,
                std::int64_t         count,
                float * const *      residual)
{
  for (std::int64_t k = 0; k < count; ++k)
  {
    const double voxel[3] = { double(x + k), double(y), double(z) };
    double       X[3];
    MapPoint(chain, voxel, X);
    for (int c = 0; c < 3; ++c)
    {
      const double * a = linear.A + 3 * c;
      const double   straight = ((a[0] * voxel[0] + a[1] * voxel[1]) + a[2] * voxel[2]) + linear.t[c];
      residual[c][k] = float(X[c] - straight);
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
    const std::int64_t y = piece % residual.domain.y;
    const std::int64_t z = residual.firstPlane + piece / residual.domain.y;
    float * const      row[3] = { residual.Row(0, y, z), residual.Row(1, y, z), residual.Row(2, y, z) };
    FillResidualRow(chain, linear, 0, y, z, residual.domain.x, row);
  });
}

void
FillResiduals(const WarpChain & chain, const WarpView<float> & residual, unsigned threads)
{
  FillResiduals(chain, LinearPart(chain), residual, threads);
}

} // namespace ffdp
