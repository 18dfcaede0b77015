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
#include "ffdpComposition.h"

#include "ffdpBlockMarksTerms.h"
#include "ffdpInPlaceSweep.h"
#include "ffdpWarpGrid.h"
#include "ffdpWarpSweepArguments.h"
#include "ffdpWarpSweepTerms.h"

#include <algorithm>
#include <cmath>
#include <vector>

#define FFDP_KERNEL_FILE "ffdpWarpSweepKernel.h"
#include "ffdpForEachInstructionSet.h"

namespace ffdp
{
namespace
{

/** Rounding may carry a convex combination this little above its largest member. */
constexpr float RoundingRoom = 1.00001f;

/** The largest finite |v_z| of the planes [first, end). */
float
LargestAlongZ(const WarpView<const float> & v, std::int64_t first, std::int64_t end, unsigned threads)
{
  std::vector<float> largest(ResolveThreads(threads), 0.0f);
  const auto         reachOfComponent = FFDP_SELECT_KERNEL(ReachOfComponent);
  ParallelFor(end - first, threads, [&](std::int64_t plane, unsigned worker) {
    float found = largest[worker];
    for (std::int64_t y = 0; y < v.domain.y; ++y)
    {
      found = reachOfComponent(v.Row(2, y, first + plane), v.domain.x, found);
    }
    largest[worker] = found;
  });
  return *std::max_element(largest.begin(), largest.end());
}

/** Composition and squaring: they differ in where v is and in whether u is scaled. */
void
Compose(WarpSweep sweep, const CompositionParameters & parameters, float gain, unsigned threads)
{
  if (sweep.first == sweep.end)
  {
    return;
  }
  sweep.step = parameters.stepScale;
  sweep.keep = parameters.stepScale;
  sweep.gain = gain;
  sweep.border = parameters.border;
  sweep.boundAlongZ = parameters.boundAlongZ >= 0
                        ? parameters.boundAlongZ
                        : std::abs(parameters.stepScale) * LargestAlongZ(sweep.v, sweep.first, sweep.end, threads);
  RunWarpSweep(sweep, false, threads);
}

/** What the kernel needs for rows of one plane; `packed` are the old planes within reach of it. */
WarpPlane
DescribePlane(const WarpSweep & sweep, const SweepRows & rows, std::int64_t reach, const float * const * packed)
{
  WarpPlane plane;
  plane.packed = packed;
  for (int c = 0; c < 3; ++c)
  {
    plane.v[c] = sweep.v ? sweep.v.Row(c, 0, rows.z) : nullptr;
    plane.output[c] = sweep.output ? sweep.output.Row(c, 0, rows.z) : nullptr;
  }
  plane.error = sweep.error ? sweep.error.Row(0, rows.z) : nullptr;
  plane.errorRowStride = sweep.error.rowStride;
  plane.margin = sweep.margin;
  if (sweep.marks)
  {
    const Extent & blocks = sweep.marks->blocks;
    plane.marks = sweep.marks->marks.data() + rows.z / BlockMarks::Depth * blocks.y * blocks.x;
  }
  plane.vRowStride = sweep.v.rowStride;
  plane.outputRowStride = sweep.output.rowStride;
  plane.domain = sweep.u.domain;
  plane.z = rows.z;
  plane.firstRow = rows.firstRow;
  plane.endRow = rows.endRow;
  plane.reach = reach;
  plane.step = sweep.step;
  plane.keep = sweep.keep;
  plane.gain = sweep.gain;
  plane.boundAlongZ = sweep.boundAlongZ;
  plane.edge = sweep.border == WarpBorder::Edge;
  return plane;
}

/** Whether a sweep reads plane z of u: not if there are marks, and none within reach. */
bool
IsRead(const WarpSweep & sweep, std::int64_t z, std::int64_t reach)
{
  if (!sweep.marks)
  {
    return true;
  }
  const std::int64_t inLayer = sweep.marks->blocks.x * sweep.marks->blocks.y;
  const std::int64_t first = std::max(sweep.first, z - reach) / BlockMarks::Depth;
  const std::int64_t last = std::min(sweep.end - 1, z + reach) / BlockMarks::Depth;
  const auto         begin = sweep.marks->marks.begin() + first * inLayer;
  const auto         end = sweep.marks->marks.begin() + (last + 1) * inLayer;
  return std::any_of(begin, end, [](std::uint8_t mark) { return mark != 0; });
}

/** Has rows of v written to `memory`, where the kernel finds them. */
void
ProvideRows(const WarpSweep & sweep, const SweepRows & rows, float * memory, WarpPlane & plane)
{
  const Extent & domain = sweep.u.domain;
  float * const  component[3] = { memory, memory + domain.x * domain.y, memory + 2 * domain.x * domain.y };
  for (std::int64_t y = rows.firstRow; y < rows.endRow; ++y)
  {
    float * const row[3] = { component[0] + y * domain.x, component[1] + y * domain.x, component[2] + y * domain.x };
    sweep.provide(y, rows.z, row);
  }
  std::copy(component, component + 3, plane.v);
  plane.vRowStride = domain.x;
}

} // namespace

std::int64_t
CompositionHalo(float boundAlongZ)
{
  // The corner below is within floor(bound) + 1, and so is the one above. Beyond 2^40 planes nothing matters.
  return std::int64_t(std::floor(std::min(double(boundAlongZ), 1e12))) + 1;
}

float
RunWarpSweep(const WarpSweep & sweep, bool wantResidual, unsigned threads)
{
  const Extent & domain = sweep.u.domain;
  CheckSweep(sweep);
  // Displacements are limited to one voxel outside, so no more planes than exist are ever in reach.
  const std::int64_t           reach = std::min(CompositionHalo(sweep.boundAlongZ), domain.z);
  const unsigned               workers = ResolveThreads(threads);
  std::vector<WarpRowsResult>  results(workers);
  AlignedBuffer<const float *> tables(std::size_t(workers * (2 * reach + 1)));
  AlignedBuffer<float>         provided(sweep.provide ? std::size_t(3 * workers * domain.x * domain.y) : 0);
  const auto                   packPlane = FFDP_SELECT_KERNEL(PackWarpPlane);
  const auto                   warpRows = sweep.error    ? FFDP_SELECT_KERNEL(ErrorRows)
                                          : wantResidual ? FFDP_SELECT_KERNEL(WarpRows<true>)
                                                         : FFDP_SELECT_KERNEL(WarpRows<false>);

  const auto pack = [&](std::int64_t, std::int64_t z, float * slot) {
    if (!IsRead(sweep, z, reach))
    {
      return;
    }
    const float * const components[3] = { sweep.u.Row(0, 0, z), sweep.u.Row(1, 0, z), sweep.u.Row(2, 0, z) };
    packPlane(components, sweep.u.rowStride, domain.x, domain.y, slot);
  };
  const auto compute = [&](const SweepRows & rows, const InPlaceSweep::Window & window) {
    const float ** table = tables.Data() + rows.worker * (2 * reach + 1);
    for (std::int64_t i = 0; i <= 2 * reach; ++i)
    {
      // A plane outside has weight 0; the nearest one stands in for it.
      table[i] = window(std::max<std::int64_t>(0, std::min(domain.z - 1, rows.z - reach + i)));
    }
    WarpPlane plane = DescribePlane(sweep, rows, reach, table);
    if (sweep.provide)
    {
      ProvideRows(sweep, rows, provided.Data() + rows.worker * 3 * domain.x * domain.y, plane);
    }
    WarpRowsResult found = results[rows.worker];
    warpRows(plane, found);
    results[rows.worker] = found;
  };
  const std::int64_t packedFloats = WarpPlane::PackedFloats * (domain.x + 2) * (domain.y + 2);
  InPlaceSweep(domain, sweep.first, sweep.end, reach, packedFloats, 1, workers).Run(pack, compute);

  WarpRowsResult all;
  for (const WarpRowsResult & found : results)
  {
    all.residual = std::max(all.residual, found.residual);
    all.largestAlongZ = std::max(all.largestAlongZ, found.largestAlongZ);
  }
  CheckBound(all.largestAlongZ, sweep.boundAlongZ);
  return all.residual;
}

void
ComposeWarps(const WarpView<float> &       u,
             std::int64_t                  firstOwned,
             std::int64_t                  ownedPlanes,
             const WarpView<const float> & v,
             const CompositionParameters & parameters,
             unsigned                      threads)
{
  CheckComposition(u, firstOwned, ownedPlanes, v, parameters);
  WarpSweep sweep;
  sweep.u = u;
  sweep.v = v;
  sweep.output = u;
  sweep.first = firstOwned;
  sweep.end = firstOwned + ownedPlanes;
  Compose(sweep, parameters, 1.0f, threads);
}

void
ComposeWarps(const WarpView<float> &       u,
             const WarpView<const float> & v,
             const CompositionParameters & parameters,
             unsigned                      threads)
{
  ComposeWarps(u, u.firstPlane, u.planes, v, parameters, threads);
}

void
SquareWarp(const WarpView<float> &       u,
           std::int64_t                  firstOwned,
           std::int64_t                  ownedPlanes,
           const CompositionParameters & parameters,
           unsigned                      threads)
{
  CheckOwned(u, firstOwned, ownedPlanes, parameters);
  WarpSweep sweep;
  sweep.u = u;
  sweep.v = u;
  sweep.output = u;
  sweep.first = firstOwned;
  sweep.end = firstOwned + ownedPlanes;
  Compose(sweep, parameters, parameters.stepScale, threads);
}

int
CountSquarings(float largestNorm, float largestStep)
{
  Require(largestStep > 0, "the largest step of an exponential must be positive");
  int squarings = 0;
  for (double norm = largestNorm; norm > largestStep && squarings < 100; norm /= 2)
  {
    ++squarings;
  }
  return squarings;
}

int
ExponentiateWarp(const WarpView<float> & v, const ExponentialParameters & parameters, unsigned threads)
{
  Require(parameters.squarings <= 100, "an exponential has at most 100 squarings");
  const WarpSize size = MeasureWarp(v, threads);
  const int      squarings =
    parameters.squarings >= 0 ? parameters.squarings : CountSquarings(float(size.norm), parameters.largestStep);
  CompositionParameters step;
  step.border = parameters.border;
  step.stepScale = std::ldexp(1.0f, -squarings);
  step.boundAlongZ = float(size.largest[2]) * step.stepScale;
  for (int i = 0; i < squarings; ++i)
  {
    SquareWarp(v, v.firstPlane, v.planes, step, threads);
    step.stepScale = 1;
    step.boundAlongZ *= 2 * RoundingRoom;
  }
  return squarings;
}

} // namespace ffdp
