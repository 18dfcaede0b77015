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

namespace ffdp
{
namespace
{

/** How to look up the gradient for one image. */
struct GradientTask
{
  ParzenSetup   setup;
  ParzenBinning active;
  ParzenBinning other;
  std::int32_t  activeStride = 1; ///< table entries from an active bin to the next
  std::int32_t  otherStride = 1;
  std::int32_t  stride = 1; ///< the larger of the two: from row to row
  const float * table = nullptr;
};

} // namespace
} // namespace ffdp

#define FFDP_KERNEL_FILE "ffdpParzenBlockKernel.h"
#include "ffdpForEachInstructionSet.h"
#define FFDP_KERNEL_FILE "ffdpMutualInformationGradientKernel.h"
#include "ffdpForEachInstructionSet.h"

namespace ffdp
{
namespace
{

GradientTask
MakeGradientTask(const MutualInformation & information, const ParzenSetup & setup, bool forFixed)
{
  GradientTask task;
  task.setup = setup;
  task.active = forFixed ? setup.fixed : setup.moving;
  task.other = forFixed ? setup.moving : setup.fixed;
  task.table = forFixed ? information.fixedTable.data() : information.movingTable.data();
  task.stride = setup.bins;
  switch (information.parameters.kind)
  {
    case MutualInformationKind::BSpline: // rows are differences of active bins
      task.activeStride = task.stride;
      break;
    case MutualInformationKind::Gaussian: // rows are other bins
      task.stride = setup.PaddedStride();
      task.otherStride = task.stride;
      break;
    case MutualInformationKind::Approximate: // rows are fixed bins
      (forFixed ? task.activeStride : task.otherStride) = task.stride;
      break;
    case MutualInformationKind::Mattes: // has a loop of its own
      break;
  }
  return task;
}

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
  RequireUsable(output, "the gradient");
  const std::int64_t first = output.firstPlane;
  const std::int64_t end = output.EndPlane();
  RequireSameDomain(fixed.domain, output.domain, "fixed image and gradient");
  RequireSameDomain(moving.domain, output.domain, "moving image and gradient");
  RequirePlanes(fixed, first, end, 0, "the fixed image");
  RequirePlanes(moving, first, end, 0, "the moving image");
  if (mask)
  {
    RequireSameDomain(mask.domain, output.domain, "mask and gradient");
    RequirePlanes(mask, first, end, 0, "the mask");
  }
  if (gradientMoving && gradientFixed)
  {
    RequireSameDomain(gradientMoving.domain, gradientFixed.domain, "the two gradients");
    Require(gradientFixed.firstPlane == first && gradientFixed.EndPlane() == end,
            "the gradients for the moving and the fixed image hold different planes");
  }
  const std::size_t tableSize = MutualInformationTableSize(information.parameters);
  Require(!gradientMoving || information.movingTable.size() == tableSize, "there is no table for the moving image");
  Require(!gradientFixed || information.fixedTable.size() == tableSize,
          "a gradient for the fixed image needs FinishMutualInformation with forFixed");

  const GradientTask forMoving = MakeGradientTask(information, setup, false);
  const GradientTask forFixed = MakeGradientTask(information, setup, true);
  const auto         kernel = SelectGradientKernel(information.parameters.kind);
  const bool         dense =
    IsDense(fixed) && IsDense(moving) && IsDense(mask) && IsDense(gradientMoving) && IsDense(gradientFixed);
  const VoxelRuns runs(output.domain, first, output.planes, dense);
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
