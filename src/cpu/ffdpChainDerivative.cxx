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
#include "ffdpChainDerivative.h"

#include "ffdpChainBlock.h"
#include "ffdpCheck.h"
#include "ffdpParallel.h"

#include <algorithm>
#include <cmath>

namespace ffdp
{
namespace
{

/** v = M^T v. */
void
MultiplyTransposed(const double * M, double * v)
{
  const double x = v[0], y = v[1], z = v[2];
  for (int c = 0; c < 3; ++c)
  {
    v[c] = (M[c] * x + M[3 + c] * y) + M[6 + c] * z;
  }
}

/** Which samples of an axis of n samples make the slope at sample i; false: J = 1 there. */
bool
FindSamples(FieldSlope::Border border, std::int64_t i, std::int64_t n, std::int64_t * at)
{
  const bool clamped = border == FieldSlope::Border::Clamped;
  if (i < 1 || i > (clamped ? n - 2 : n - 1))
  {
    return false;
  }
  const bool roomBefore = clamped || i > 1;
  const bool roomAfter = clamped || i < n - 2;
  at[0] = roomBefore ? std::max<std::int64_t>(i - 2, 0) : i;
  at[1] = roomBefore ? i - 1 : i;
  at[2] = roomAfter ? i + 1 : i;
  at[3] = roomAfter ? std::min(i + 2, n - 1) : i;
  return true;
}

/** G (row major) at the sample nearest to a point; false: J = 1 there. */
template <typename T>
bool
FindSlope(const WarpView<const T> & u,
          const AffineMap &         toIndex,
          FieldSlope::Border        border,
          const double *            point,
          double *                  G)
{
  const int          axes = u.component[2] ? 3 : 2;
  const std::int64_t size[3] = { u.domain.x, u.domain.y, u.domain.z };
  const std::int64_t stride[3] = { u.elementStride, u.rowStride, u.planeStride };
  std::int64_t       sample[3][4] = {};
  std::int64_t       nearest = 0;
  double             index[3];
  toIndex.Apply(point, index);
  for (int c = 0; c < axes; ++c)
  {
    const double rounded = std::floor(index[c] + 0.5);
    if (!(rounded >= 1 && rounded < double(size[c])) || !FindSamples(border, std::int64_t(rounded), size[c], sample[c]))
    {
      return false;
    }
    nearest += std::int64_t(rounded) * stride[c];
    for (std::int64_t & at : sample[c])
    {
      at = (at - std::int64_t(rounded)) * stride[c];
    }
  }
  double check = 0;
  std::fill_n(G, 9, 0.0);
  for (int r = 0; r < axes; ++r)
  {
    const T * const at = u.component[r] + nearest;
    for (int c = 0; c < axes; ++c)
    {
      const std::int64_t * const o = sample[c];
      G[3 * r + c] = ((double(at[o[0]]) - 8 * double(at[o[1]])) + (8 * double(at[o[2]]) - double(at[o[3]]))) / 12;
      check += G[3 * r + c] * 0; // not a number if one of them is not finite
    }
  }
  return check == 0;
}

bool
FindSlope(const WarpStep & step, const FieldSlope & slope, const double * point, double * G)
{
  return step.warp.floats ? FindSlope(step.warp.floats, step.toIndex, slope.border, point, G)
                          : FindSlope(step.warp.doubles, step.toIndex, slope.border, point, G);
}

/** v = J^T v at a point. */
void
LeadBackThroughField(const WarpStep & step, const FieldSlope & slope, const double * point, double * v)
{
  double G[9];
  if (FindSlope(step, slope, point, G))
  {
    double change[3] = { v[0], v[1], v[2] };
    MultiplyTransposed(slope.left, change);
    MultiplyTransposed(G, change);
    MultiplyTransposed(slope.right, change);
    for (int c = 0; c < 3; ++c)
    {
      v[c] += change[c];
    }
  }
}

/** The points of a block on their way: first q_s, then where the fields after segment s are read. */
void
FollowChain(const ChainDerivative & task, int count, BlockPositions & points, std::vector<BlockPositions> & seen)
{
  const std::vector<WarpStep> & steps = task.chain.steps;
  seen.clear();
  if (task.segment == 0)
  {
    seen.push_back(points);
  }
  MapPoints(task.chain.start, count, points);
  for (std::size_t k = 0; k < steps.size(); ++k)
  {
    if (k >= task.segment)
    {
      seen.push_back(points);
    }
    if (k >= task.segment && k + 1 == steps.size()) // nothing behind is needed
    {
      return;
    }
    AddDisplacements(steps[k], count, points);
    if (k + 1 == task.segment)
    {
      seen.push_back(points);
    }
    MapPoints(steps[k].after, count, points);
  }
}

/** v = last d_s for point k of a block, given v = e. */
void
LeadBackPoint(const ChainDerivative & task, const std::vector<BlockPositions> & seen, int k, double * v)
{
  const std::vector<WarpStep> & steps = task.chain.steps;
  for (std::size_t f = steps.size(); f-- > task.segment;)
  {
    const BlockPositions & at = seen[f - task.segment + 1];
    const double           point[3] = { at.at[0][k], at.at[1][k], at.at[2][k] };
    LeadBackThroughField(steps[f], task.slopes[f], point, v);
    if (f > task.segment)
    {
      MultiplyTransposed(steps[f - 1].after.matrix, v);
    }
  }
  const double   d[3] = { v[0], v[1], v[2] };
  const double * L = task.last.data();
  for (int r = 0; r < 3; ++r)
  {
    v[r] = (L[3 * r] * d[0] + L[3 * r + 1] * d[1]) + L[3 * r + 2] * d[2];
  }
}

template <typename T>
void
StoreVector(const WarpView<T> & to, std::int64_t x, std::int64_t y, std::int64_t z, const double * v)
{
  for (int c = 0; c < 3 && to.component[c]; ++c)
  {
    to.Row(c, y, z)[x * to.elementStride] = T(v[c]);
  }
}

void
AddMoments(const double * d, const BlockPositions & q, int k, double * sums)
{
  for (int r = 0; r < 3; ++r)
  {
    for (int c = 0; c < 3; ++c)
    {
      sums[3 * r + c] += d[r] * q.at[c][k];
    }
    sums[9 + r] += d[r];
  }
}

/** One row of LeadBack(); `sums` may be null. */
void
LeadBackRow(const ChainDerivative &       task,
            const WarpView<const float> & gradient,
            const WarpOutput &            derivative,
            std::int64_t                  y,
            std::int64_t                  z,
            std::vector<BlockPositions> & seen,
            double *                      sums)
{
  const float * const row[3] = { gradient.Row(0, y, z), gradient.Row(1, y, z), gradient.Row(2, y, z) };
  BlockPositions      points{};
  for (std::int64_t first = 0; first < gradient.domain.x; first += SamplerBlock)
  {
    const int count = int(std::min<std::int64_t>(SamplerBlock, gradient.domain.x - first));
    for (int k = 0; k < count; ++k)
    {
      points.at[0][k] = double(first + k);
      points.at[1][k] = double(y);
      points.at[2][k] = double(z);
    }
    FollowChain(task, count, points, seen);
    for (int k = 0; k < count; ++k)
    {
      const std::int64_t x = first + k;
      double             v[3] = { row[0][x], row[1][x], row[2][x] };
      const bool         any = v[0] != 0 || v[1] != 0 || v[2] != 0;
      if (any)
      {
        LeadBackPoint(task, seen, k, v);
      }
      StoreVector(derivative.floats, x, y, z, v);
      StoreVector(derivative.doubles, x, y, z, v);
      if (sums && any)
      {
        AddMoments(v, seen[0], k, sums);
      }
    }
  }
}

void
RequireTask(const ChainDerivative & task)
{
  Require(bool(task), "the chain of a derivative has no fields");
  RequireChain(task.chain);
  Require(task.segment <= task.chain.steps.size(), "the chain of a derivative has no such segment");
  Require(task.slopes.size() == task.chain.steps.size(), "the fields of a chain and their slopes differ in number");
}

} // namespace

void
FieldJacobian(const WarpStep & step, const FieldSlope & slope, const double * point, double * jacobian)
{
  for (int r = 0; r < 3; ++r) // J^T times the unit vectors gives the rows of J
  {
    double * const v = jacobian + 3 * r;
    std::fill_n(v, 3, 0.0);
    v[r] = 1;
    LeadBackThroughField(step, slope, point, v);
  }
}

std::vector<MapGradient>
LeadBack(const ChainDerivative &       task,
         const WarpView<const float> & gradient,
         const WarpOutput &            derivative,
         bool                          moments,
         unsigned                      threads)
{
  RequireTask(task);
  RequireUsable(gradient, "the gradient to lead back");
  Require(gradient.elementStride == 1 && gradient.component[1] && gradient.component[2],
          "the gradient to lead back needs three planar components");
  const auto requireOutput = [&](const auto & output) {
    if (output)
    {
      RequirePlanes(output, gradient.firstPlane, gradient.EndPlane(), 0, "the derivative");
      RequireSameDomain(gradient.domain, output.domain, "the gradient and the derivative");
    }
  };
  requireOutput(derivative.floats);
  requireOutput(derivative.doubles);

  const std::int64_t                       height = gradient.domain.y;
  const std::int64_t                       rows = gradient.planes * height;
  std::vector<MapGradient>                 rowSums(moments ? std::size_t(rows) : 0, MapGradient{});
  std::vector<std::vector<BlockPositions>> seen(ResolveThreads(threads));
  ParallelFor(rows, threads, [&](std::int64_t piece, unsigned worker) {
    double * const sums = moments ? rowSums[std::size_t(piece)].data() : nullptr;
    LeadBackRow(task, gradient, derivative, piece % height, gradient.firstPlane + piece / height, seen[worker], sums);
  });
  std::vector<MapGradient> planeSums;
  for (auto first = rowSums.begin(); first != rowSums.end(); first += height)
  {
    planeSums.push_back(AddPlanes(std::vector<MapGradient>(first, first + height)));
  }
  return planeSums;
}

} // namespace ffdp
