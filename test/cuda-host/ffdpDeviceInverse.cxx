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
#include "ffdpCudaInverse.h"
#include "ffdpDeviceStaging.h"
#include "ffdpInverseArguments.h"
#include "ffdpWarpGrid.h"

#include <algorithm>
#include <limits>

namespace ffdp
{

float
IterateInverse(const WarpView<const float> & u,
               const WarpView<float> &       w,
               const InverseStepParameters & parameters,
               unsigned)
{
  const test::StagedWarp<const float> stagedU(u);
  const test::StagedWarp<float>       stagedW(w);
  return cuda::IterateInverse(test::TestDevice(), stagedU, stagedW, parameters);
}

float
RefineInverse(const WarpView<const float> &   u,
              const WarpView<float> &         w,
              const VolumeView<const float> & error,
              const InverseRefinement &       refinement,
              unsigned)
{
  const test::StagedWarp<const float>   stagedU(u);
  const test::StagedWarp<float>         stagedW(w);
  const test::StagedVolume<const float> stagedError(error);
  return cuda::RefineInverse(test::TestDevice(), stagedU, stagedW, stagedError, refinement);
}

float
RefineInverse(const WarpView<const float> & u,
              const WarpView<float> &       w,
              const InverseRefinement &     refinement,
              unsigned                      threads)
{
  return RefineInverse(u, w, {}, refinement, threads);
}

/** As the processor's: the steps above, until they stand still. */
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
  for (int c = 0; c < 3 && !parameters.startFromOutput; ++c)
  {
    const float * const from = u.Row(c, 0, w.firstPlane); // packed, as the tests' warps are
    const std::int64_t  count = w.planes * w.planeStride;
    std::transform(from, from + count, w.component[c], [](float value) { return 0.0f - value; });
  }
  InverseResult result;
  float         previous = std::numeric_limits<float>::infinity();
  while (result.iterations < parameters.maximumIterations && !result.converged)
  {
    result.maximumResidual = IterateInverse(u, w, step, threads);
    ++result.iterations;
    result.converged = result.maximumResidual <= parameters.tolerance;
    step.damping = result.maximumResidual > previous ? std::max(step.damping / 2, 1.0f / 16) : step.damping;
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
             unsigned)
{
  return cuda::InverseError(test::TestDevice(),
                            test::StagedWarp<const float>(u),
                            test::StagedWarp<const float>(w),
                            boundAlongZ,
                            margin,
                            test::StagedVolume<float>(error),
                            marks);
}

void
MarkInverseErrors(const VolumeView<const float> & error,
                  const WarpView<const float> &   w,
                  float                           longest,
                  BlockMarks &                    own,
                  BlockMarks &                    reached,
                  unsigned)
{
  cuda::MarkInverseErrors(test::TestDevice(),
                          test::StagedVolume<const float>(error),
                          test::StagedWarp<const float>(w),
                          longest,
                          own,
                          reached);
}

} // namespace ffdp
