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
#include "ffdpInverse.h"

#include "ffdpInverseTerms.h"
#include "ffdpParallel.h"
#include "ffdpWarpGrid.h"
#include "ffdpWarpSweep.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace ffdp
{
namespace
{

/** Less than this and 20 iterations no longer get anywhere. */
constexpr float LeastDamping = 1.0f / 16;

/** Rounding may carry an interpolated displacement this little above the largest of the warp. */
constexpr float RoundingRoom = 1.00001f;

void
CheckWarps(const WarpView<const float> & u, const WarpView<float> & w)
{
  RequirePlanarWarp(u, "the warp to invert");
  RequirePlanarWarp(w, "the inverse");
  RequireSameDomain(u.domain, w.domain, "a warp and its inverse");
  RequirePlanes(u, w.firstPlane, w.EndPlane(), 0, "the warp to invert");
  RequireApart(u, w, "a warp and its inverse");
}

/** w = -u, bit for bit what an iteration makes of w = 0 (which has no negative zeros). */
void
Negate(const WarpView<const float> & u, const WarpView<float> & w, unsigned threads)
{
  ParallelFor(3 * w.planes, threads, [&](std::int64_t piece, unsigned) {
    const int          c = int(piece % 3);
    const std::int64_t z = w.firstPlane + piece / 3;
    for (std::int64_t y = 0; y < w.domain.y; ++y)
    {
      const float * in = u.Row(c, y, z);
      float *       out = w.Row(c, y, z);
      for (std::int64_t x = 0; x < w.domain.x; ++x)
      {
        out[x] = 0.0f - in[x];
      }
    }
  });
}

WarpPlanes
PlanesOf(const WarpView<const float> & u)
{
  WarpPlanes planes;
  for (int c = 0; c < 3; ++c)
  {
    planes.component[c] = u.component[c];
  }
  planes.size[0] = u.domain.x;
  planes.size[1] = u.domain.y;
  planes.size[2] = u.domain.z;
  planes.firstPlane = u.firstPlane;
  planes.rowStride = u.rowStride;
  planes.planeStride = u.planeStride;
  return planes;
}

/** Whether a displacement is finite and samples planes that are there. */
bool
IsUsable(const double (&w)[3], double boundAlongZ)
{
  return SquaredLength(w) < 1e16 && std::abs(w[2]) <= boundAlongZ;
}

/** Rows of the inverse at one y and z, for one voxel after the other. */
struct RefinedRow
{
  const WarpPlanes & u;
  float *            w[3];
  std::int64_t       toRowBefore; ///< from voxel to voxel, 0 in the first row
  double             boundAlongZ;
  double             tolerance; ///< squared
  int                iterations;

  /** Solves for the voxel at `at`, which starts from `found`; returns the squared residual. */
  double
  Solve(const double (&at)[3], std::int64_t x, double (&found)[3]) const
  {
    double squared = RefineInverseVoxel(u, at, boundAlongZ, tolerance, iterations, found);
    // A start on the wrong side of a crease leads nowhere. Neighbors, which came before, are on the right one.
    for (int other = 0; other < 2 && squared > tolerance; ++other)
    {
      const std::int64_t shift = other == 0 ? (x > 0 ? 1 : 0) : toRowBefore;
      double             start[3] = { w[0][x - shift], w[1][x - shift], w[2][x - shift] };
      if (shift == 0 || !IsUsable(start, boundAlongZ))
      {
        continue;
      }
      const double reached = RefineInverseVoxel(u, at, boundAlongZ, tolerance, iterations, start);
      if (reached < squared)
      {
        squared = reached;
        std::copy(start, start + 3, found);
      }
    }
    return squared;
  }
};

} // namespace

float
IterateInverse(const WarpView<const float> & u,
               const WarpView<float> &       w,
               const InverseStepParameters & parameters,
               unsigned                      threads)
{
  CheckWarps(u, w);
  Require(parameters.damping > 0 && parameters.damping <= 1, "the damping of an inverse must be above 0 and at most 1");
  Require(!std::isnan(parameters.boundAlongZ), "the bound of an inverse must be a number");
  if (w.planes == 0)
  {
    return 0;
  }
  WarpSweep sweep;
  sweep.u = u;
  sweep.v = w;
  sweep.output = w;
  sweep.first = w.firstPlane;
  sweep.end = w.EndPlane();
  sweep.keep = 1 - parameters.damping;
  sweep.gain = -parameters.damping;
  sweep.border = parameters.border;
  sweep.boundAlongZ = parameters.boundAlongZ >= 0 ? parameters.boundAlongZ : float(MeasureWarp(w, threads).largest[2]);
  return std::sqrt(RunWarpSweep(sweep, true, threads));
}

InverseResult
InvertWarp(const WarpView<const float> & u,
           const WarpView<float> &       w,
           const InverseParameters &     parameters,
           unsigned                      threads)
{
  CheckWarps(u, w);
  Require(parameters.tolerance >= 0, "the tolerance of an inverse must not be negative");

  InverseStepParameters step;
  step.border = parameters.border;
  step.boundAlongZ = float(MeasureWarp(u, threads).largest[2]) * RoundingRoom;
  if (parameters.startFromOutput)
  {
    step.boundAlongZ = std::max(step.boundAlongZ, float(MeasureWarp(w, threads).largest[2]) * RoundingRoom);
  }
  else
  {
    Negate(u, w, threads);
  }

  InverseResult result;
  float         previous = std::numeric_limits<float>::infinity();
  while (result.iterations < parameters.maximumIterations && !result.converged)
  {
    result.maximumResidual = IterateInverse(u, w, step, threads);
    ++result.iterations;
    result.converged = result.maximumResidual <= parameters.tolerance;
    if (result.maximumResidual > previous)
    {
      step.damping = std::max(step.damping / 2, LeastDamping);
    }
    previous = result.maximumResidual;
  }
  return result;
}

float
RefineInverse(const WarpView<const float> & u,
              const WarpView<float> &       w,
              const InverseRefinement &     refinement,
              unsigned                      threads)
{
  CheckWarps(u, w);
  Require(refinement.tolerance > 0 && refinement.iterations >= 0, "the tolerance of an inverse must be positive");
  Require(refinement.allowed >= 0, "the residual that is allowed must not be negative");
  const double bound =
    refinement.boundAlongZ >= 0 ? double(refinement.boundAlongZ) : MeasureWarp(u, threads).largest[2] * RoundingRoom;
  RequirePlanes(u, w.firstPlane, w.EndPlane(), CompositionHalo(float(bound)), "the warp to invert");

  const WarpPlanes    planes = PlanesOf(u);
  const double        tolerance = double(refinement.tolerance) * double(refinement.tolerance);
  const double        allowed = double(refinement.allowed);
  std::vector<double> largest(std::size_t(w.planes), 0.0);
  ParallelFor(w.planes, threads, [&](std::int64_t plane, unsigned) {
    const std::int64_t z = w.firstPlane + plane;
    double             worst = 0;
    for (std::int64_t y = 0; y < u.domain.y; ++y)
    {
      const RefinedRow row{ planes,
                            { w.Row(0, y, z), w.Row(1, y, z), w.Row(2, y, z) },
                            y > 0 ? w.rowStride : 0,
                            bound,
                            tolerance,
                            refinement.iterations };
      for (std::int64_t x = 0; x < u.domain.x; ++x)
      {
        const double at[3] = { double(x), double(y), double(z) };
        const double start[3] = { row.w[0][x], row.w[1][x], row.w[2][x] };
        const double to[3] = { at[0] + start[0], at[1] + start[1], at[2] + start[2] };
        if (!IsUsable(start, bound) || (refinement.insideOnly && !IsOnGrid(planes, to)))
        {
          continue;
        }
        double part = 1;
        if (allowed > 0)
        {
          const double length = std::sqrt(SquaredInverseError(planes, at, start));
          part = length > allowed ? 1 - allowed / length : 0;
        }
        double found[3] = { start[0], start[1], start[2] };
        if (part > 0)
        {
          const double squared = row.Solve(at, x, found);
          worst = squared > worst ? squared : worst;
        }
        for (int c = 0; c < 3; ++c)
        {
          row.w[c][x] = part < 1 ? float(start[c] + part * (found[c] - start[c])) : float(found[c]);
        }
      }
    }
    largest[std::size_t(plane)] = worst;
  });
  return largest.empty() ? 0.0f : float(std::sqrt(*std::max_element(largest.begin(), largest.end())));
}

float
InverseError(const WarpView<const float> & u,
             const WarpView<const float> & w,
             float                         boundAlongZ,
             const VolumeView<float> &     error,
             unsigned                      threads)
{
  RequirePlanarWarp(u, "the warp");
  RequirePlanarWarp(w, "the inverse");
  RequireSameDomain(u.domain, w.domain, "a warp and its inverse");
  RequireSameDomain(u.domain, error.domain, "a warp and the error of its inverse");
  RequirePlanes(error, w.firstPlane, w.EndPlane(), 0, "the error of the inverse");
  const double bound = boundAlongZ >= 0 ? double(boundAlongZ) : MeasureWarp(w, threads).largest[2] * RoundingRoom;
  RequirePlanes(u, w.firstPlane, w.EndPlane(), CompositionHalo(float(bound)), "the warp");

  const WarpPlanes    planes = PlanesOf(u);
  std::vector<double> largest(std::size_t(w.planes), 0.0);
  ParallelFor(w.planes, threads, [&](std::int64_t plane, unsigned) {
    const std::int64_t z = w.firstPlane + plane;
    double             worst = 0;
    for (std::int64_t y = 0; y < u.domain.y; ++y)
    {
      const float * rows[3] = { w.Row(0, y, z), w.Row(1, y, z), w.Row(2, y, z) };
      float *       out = error.Row(y, z);
      for (std::int64_t x = 0; x < u.domain.x; ++x)
      {
        const double at[3] = { double(x), double(y), double(z) };
        const double move[3] = { rows[0][x], rows[1][x], rows[2][x] };
        const double to[3] = { at[0] + move[0], at[1] + move[1], at[2] + move[2] };
        const bool   known = IsUsable(move, bound) && IsOnGrid(planes, to);
        const double squared = known ? SquaredInverseError(planes, at, move) : 0.0;
        worst = squared > worst ? squared : worst;
        out[x] = float(-std::sqrt(squared));
      }
    }
    largest[std::size_t(plane)] = worst;
  });
  return largest.empty() ? 0.0f : float(std::sqrt(*std::max_element(largest.begin(), largest.end())));
}

} // namespace ffdp
