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

#include "ffdpInverseArguments.h"
#include "ffdpInverseRefinementRow.h"
#include "ffdpParallel.h"
#include "ffdpWarpGrid.h"

#include <algorithm>
#include <cmath>
#include <vector>

#define FFDP_KERNEL_FILE "ffdpInverseRefinementKernel.h"
#include "ffdpForEachInstructionSet.h"

namespace ffdp
{

float
RefineInverse(const WarpView<const float> &   u,
              const WarpView<float> &         w,
              const VolumeView<const float> & error,
              const InverseRefinement &       refinement,
              unsigned                        threads)
{
  CheckRefinement(u, w, error, refinement);
  const double bound =
    refinement.boundAlongZ >= 0 ? double(refinement.boundAlongZ) : MeasureWarp(u, threads).largest[2] * RoundingRoom;
  CheckRefinementBound(u, w, bound);

  RefinementRow every;
  every.u = DescribePlanes(u);
  every.limits = DescribeLimits(refinement);
  every.boundAlongZ = bound;
  every.tolerance = double(refinement.tolerance) * double(refinement.tolerance);
  every.iterations = refinement.iterations;
  every.rowStride = w.rowStride;
  every.width = u.domain.x;
  const auto          kernel = FFDP_SELECT_KERNEL(RefineRow);
  std::vector<double> largest(std::size_t(w.planes), 0.0);
  ParallelFor(w.planes, threads, [&](std::int64_t plane, unsigned) {
    RefinementRow row = every;
    row.z = w.firstPlane + plane;
    double worst = 0;
    for (row.y = 0; row.y < u.domain.y; ++row.y)
    {
      for (int c = 0; c < 3; ++c)
      {
        row.w[c] = w.Row(c, row.y, row.z);
      }
      row.errors = error ? error.Row(row.y, row.z) : nullptr;
      worst = std::max(worst, kernel(row));
    }
    largest[std::size_t(plane)] = worst;
  });
  return largest.empty() ? 0.0f : float(std::sqrt(*std::max_element(largest.begin(), largest.end())));
}

float
RefineInverse(const WarpView<const float> & u,
              const WarpView<float> &       w,
              const InverseRefinement &     refinement,
              unsigned                      threads)
{
  return RefineInverse(u, w, {}, refinement, threads);
}

} // namespace ffdp
