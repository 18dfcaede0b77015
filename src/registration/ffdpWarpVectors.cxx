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
#include "ffdpWarpVectors.h"

#include "ffdpCheck.h"
#include "ffdpParallel.h"

#include <algorithm>
#include <atomic>
#include <cmath>

namespace ffdp
{
namespace
{

/** The product of a row-major matrix with a vector. */
void
Multiply(const double * matrix, const double * from, double * to)
{
  for (int r = 0; r < 3; ++r)
  {
    to[r] = matrix[3 * r] * from[0] + matrix[3 * r + 1] * from[1] + matrix[3 * r + 2] * from[2];
  }
}

/** to = M from, for the planes of `to`; false if a value is not finite. Both may be the same memory. */
template <typename TFrom>
bool
MultiplyWarp(const double * matrix, const WarpView<TFrom> & from, const WarpView<float> & to, unsigned threads)
{
  std::atomic<bool> finite{ true };
  ParallelFor(to.planes * to.domain.y, threads, [&](std::int64_t piece, unsigned) {
    const std::int64_t y = piece % to.domain.y, z = to.firstPlane + piece / to.domain.y;
    bool               rowIsFinite = true;
    for (std::int64_t x = 0; x < to.domain.x; ++x)
    {
      double u[3], v[3];
      for (int c = 0; c < 3; ++c)
      {
        u[c] = from.component[c] ? double(from.Row(c, y, z)[x * from.elementStride]) : 0.0;
      }
      Multiply(matrix, u, v);
      for (int c = 0; c < 3; ++c)
      {
        to.Row(c, y, z)[x] = float(v[c]);
        rowIsFinite = rowIsFinite && std::isfinite(float(v[c]));
      }
    }
    if (!rowIsFinite)
    {
      finite = false;
    }
  });
  return finite;
}

} // namespace

void
WarpToVectors(const std::vector<float> & warp,
              const Extent &             size,
              const AffineMap &          indexToPhysical,
              int                        dimension,
              double *                   vectors,
              unsigned                   threads)
{
  Require(dimension == 2 || dimension == 3, "vectors have two or three components");
  Require(warp.size() == std::size_t(3 * size.Voxels()), "a warp does not have the size that is said");
  const std::int64_t count = size.Voxels();
  const std::int64_t plane = size.x * size.y;
  ParallelFor(size.z, threads, [&](std::int64_t z, unsigned) {
    for (std::int64_t i = z * plane; i < (z + 1) * plane; ++i)
    {
      const double u[3] = { warp[std::size_t(i)], warp[std::size_t(count + i)], warp[std::size_t(2 * count + i)] };
      double       v[3];
      Multiply(indexToPhysical.matrix, u, v);
      std::copy(v, v + dimension, vectors + dimension * i);
    }
  });
}

WarpedStart
MakeWarpedStart(const CompositeMap & map,
                const WarpInput &    warp,
                const WarpChain &    chain,
                const Extent &       size,
                const PlaneRange &   planes,
                const AffineMap &    indexToPhysical,
                unsigned             threads)
{
  AffineMap linear;
  std::copy(map.A, map.A + 9, linear.matrix);
  std::copy(map.t, map.t + 3, linear.offset);
  Require(std::isfinite(linear.Determinant()) && linear.Determinant() != 0,
          "the linear part of the initial transform cannot be inverted");
  WarpedStart start;
  start.affine = Compose(indexToPhysical, Compose(linear, indexToPhysical.Inverse()));
  if (!warp && chain.steps.empty())
  {
    return start;
  }
  start.hasWarp = true;
  start.planes = planes;
  const std::int64_t count = (planes.end - planes.first) * size.x * size.y;
  if (count == 0)
  {
    return start;
  }
  start.warp.resize(std::size_t(3 * count));
  float * const         values = start.warp.data();
  const WarpView<float> u =
    WarpView<float>::Planar(values, values + count, values + 2 * count, size, planes.first, planes.end - planes.first);
  AffineMap toWarp = linear.Inverse();
  bool      finite = true;
  if (!chain.steps.empty())
  {
    FillResiduals(chain, map, u, threads);
    finite = MultiplyWarp(toWarp.matrix, u, u, threads);
  }
  else
  {
    AffineMap scale;
    std::copy(map.S, map.S + 9, scale.matrix);
    toWarp = Compose(toWarp, scale);
    finite = warp.floats ? MultiplyWarp(toWarp.matrix, warp.floats, u, threads)
                         : MultiplyWarp(toWarp.matrix, warp.doubles, u, threads);
  }
  Require(finite, "the initial transform holds displacements that are infinite or not a number");
  return start;
}

} // namespace ffdp
