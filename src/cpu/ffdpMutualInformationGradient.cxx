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
#include "ffdpCheck.h"
#include "ffdpMutualInformation.h"
#include "ffdpMutualInformationDetail.h"
#include "ffdpParallel.h"

#include <cstdint>

#define FFDP_KERNEL_FILE "ffdpParzenBlockKernel.h"
#include "ffdpForEachInstructionSet.h"
#define FFDP_KERNEL_FILE "ffdpMutualInformationGradientKernel.h"
#include "ffdpForEachInstructionSet.h"

namespace ffdp
{
namespace
{

auto
SelectGradientKernel(MutualInformationKind kind)
{
  switch (kind)
  {
    case MutualInformationKind::Gaussian:
      return FFDP_SELECT_KERNEL(WriteGradient<MutualInformationKind::Gaussian>);
    case MutualInformationKind::Approximate:
      return FFDP_SELECT_KERNEL(WriteGradient<MutualInformationKind::Approximate>);
    case MutualInformationKind::Mattes:
      return FFDP_SELECT_KERNEL(WriteGradient<MutualInformationKind::Mattes>);
    case MutualInformationKind::BSpline:
      break;
  }
  return FFDP_SELECT_KERNEL(WriteGradient<MutualInformationKind::BSpline>);
}

} // namespace

void
MutualInformationGradient(const MutualInformation &              information,
                          const VolumeView<const float> &        fixed,
                          const VolumeView<const float> &        moving,
                          const VolumeView<const std::uint8_t> & mask,
                          const VolumeView<float> &              gradientMoving,
                          const VolumeView<float> &              gradientFixed,
                          unsigned                               threads)
{
  const ParzenSetup         setup = MakeParzenSetup(information.parameters);
  const VolumeView<float> & output = gradientMoving ? gradientMoving : gradientFixed;
  RequireGradientImages(information, fixed, moving, mask, gradientMoving, gradientFixed);

  const GradientTask forMoving = MakeGradientTask(information, setup, false);
  const GradientTask forFixed = MakeGradientTask(information, setup, true);
  const auto         kernel = SelectGradientKernel(information.parameters.kind);
  const bool         dense =
    IsDense(fixed) && IsDense(moving) && IsDense(mask) && IsDense(gradientMoving) && IsDense(gradientFixed);
  const VoxelRuns runs(output.domain, output.firstPlane, output.planes, dense);
  ParallelFor(runs.Pieces(), threads, [&](std::int64_t piece, unsigned) {
    const float *        f = runs.Begin(fixed, piece);
    const float *        m = runs.Begin(moving, piece);
    const std::uint8_t * inside = runs.Begin(mask, piece);
    if (gradientMoving)
    {
      kernel(forMoving, m, f, inside, runs.Length(piece), runs.Begin(gradientMoving, piece));
    }
    if (gradientFixed)
    {
      kernel(forFixed, f, m, inside, runs.Length(piece), runs.Begin(gradientFixed, piece));
    }
  });
}

} // namespace ffdp
