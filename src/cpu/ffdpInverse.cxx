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

#include "ffdpBlockMarksTerms.h"
#include "ffdpInverseArguments.h"
#include "ffdpParallel.h"
#include "ffdpWarpGrid.h"

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

} // namespace

float
IterateInverse(const WarpView<const float> & u,
               const WarpView<float> &       w,
               const InverseStepParameters & parameters,
               unsigned                      threads)
{
  CheckInverseStep(u, w, parameters);
  if (w.planes == 0)
  {
    return 0;
  }
  WarpSweep sweep = DescribeInverseStep(u, w, parameters);
  if (parameters.boundAlongZ < 0)
  {
    sweep.boundAlongZ = float(MeasureWarp(w, threads).largest[2]);
  }
  return std::sqrt(RunWarpSweep(sweep, true, threads));
}

InverseResult
InvertWarp(const WarpView<const float> & u,
           const WarpView<float> &       w,
           const InverseParameters &     parameters,
           unsigned                      threads)
{
  CheckInverse(u, w);
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
InverseError(const WarpView<const float> & u,
             const WarpView<const float> & w,
             float                         boundAlongZ,
             int                           margin,
             const VolumeView<float> &     error,
             const BlockMarks *            marks,
             unsigned                      threads)
{
  CheckInverseError(u, w, error);
  if (w.planes == 0)
  {
    return 0;
  }
  WarpSweep sweep = DescribeInverseError(u, w, margin, error, marks);
  sweep.boundAlongZ = boundAlongZ >= 0 ? boundAlongZ : float(MeasureWarp(w, threads).largest[2]);
  return std::sqrt(RunWarpSweep(sweep, true, threads));
}

void
MarkInverseErrors(const VolumeView<const float> & error,
                  const WarpView<const float> &   w,
                  float                           longest,
                  BlockMarks &                    own,
                  BlockMarks &                    reached,
                  unsigned                        threads)
{
  CheckMarks(error, w, own, reached);
  const Extent &          domain = w.domain;
  std::vector<BlockMarks> ownOf(ResolveThreads(threads), BlockMarks(domain)), reachedOf = ownOf; // of each thread
  ParallelFor(w.planes, threads, [&](std::int64_t plane, unsigned worker) {
    const std::int64_t z = w.firstPlane + plane;
    for (std::int64_t y = 0; y < domain.y; ++y)
    {
      const float * errors = error.Row(y, z);
      for (std::int64_t x = 0; x < domain.x; ++x)
      {
        if (errors[x] < -longest)
        {
          const float at[3] = { float(x), float(y), float(z) };
          float       to[3];
          for (int c = 0; c < 3; ++c)
          {
            to[c] = at[c] + w.Row(c, y, z)[x];
          }
          MarkAround(at[0], at[1], at[2], domain, own.blocks, ownOf[worker].marks.data());
          MarkAround(to[0], to[1], to[2], domain, own.blocks, reachedOf[worker].marks.data());
        }
      }
    }
  });
  for (std::size_t worker = 0; worker < ownOf.size(); ++worker)
  {
    for (std::size_t i = 0; i < own.marks.size(); ++i)
    {
      own.marks[i] |= ownOf[worker].marks[i];
      reached.marks[i] |= reachedOf[worker].marks[i];
    }
  }
}

} // namespace ffdp
