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
#include "ffdpSampler.h"

#include "ffdpCheck.h"
#include "ffdpParallel.h"
#include "ffdpSamplerPlan.h"

#define FFDP_KERNEL_FILE "ffdpSamplerBlockKernel.h"
#include "ffdpForEachInstructionSet.h"
#define FFDP_KERNEL_FILE "ffdpSamplerKernel.h"
#include "ffdpForEachInstructionSet.h"

namespace ffdp
{

void
Sample(const VolumeView<const float> & image,
       const CompositeMap &            map,
       const WarpInput &               u,
       const VolumeView<float> &       output,
       const SamplerParameters &       parameters,
       unsigned                        threads)
{
  CheckSample(u, output);
  const SamplerPlan plan = MakeSamplerPlan(image, "the image to sample", map, parameters);

  const bool edge = parameters.border == Border::Edge;
  const bool nearest = parameters.interpolation == Interpolation::Nearest;
  const auto sampleRow =
    nearest ? (edge ? FFDP_SELECT_KERNEL(SampleRow<true, true>) : FFDP_SELECT_KERNEL(SampleRow<false, true>))
            : (edge ? FFDP_SELECT_KERNEL(SampleRow<true, false>) : FFDP_SELECT_KERNEL(SampleRow<false, false>));

  const SamplerStrips strips{ output.domain.y, output.firstPlane, output.planes };
  ParallelFor(strips.Pieces(), threads, [&](std::int64_t piece, unsigned) {
    strips.ForEachRow(piece, [&](std::int64_t y, std::int64_t z, std::int64_t) {
      sampleRow(plan, RowOf(u, y, z), output.domain.x, y, z, output.Row(y, z));
    });
  });
}

std::vector<PlaneRange>
FindReachedPlanes(const Extent &            imageSize,
                  const CompositeMap &      map,
                  const WarpInput &         u,
                  const Extent &            fixedSize,
                  std::int64_t              firstPlane,
                  std::int64_t              planes,
                  const SamplerParameters & parameters,
                  unsigned                  threads)
{
  CheckReach(u, fixedSize, firstPlane, planes);
  const float                   noVoxel = 0;
  const VolumeView<const float> image(&noVoxel, imageSize); // only its size is used
  const SamplerPlan             plan = MakeSamplerPlan(image, "the image", map, parameters);

  const auto              findReach = FFDP_SELECT_KERNEL(FindReachOfRow);
  std::vector<PlaneRange> ranges(std::size_t(planes), PlaneRange{});
  ParallelFor(planes, threads, [&](std::int64_t plane, unsigned) {
    const std::int64_t z = firstPlane + plane;
    std::int32_t       reach[2] = { plan.image.size[2], -1 };
    for (std::int64_t y = 0; y < fixedSize.y; ++y)
    {
      findReach(plan, RowOf(u, y, z), fixedSize.x, y, z, reach);
    }
    ranges[std::size_t(plane)] = ReachedRange(reach[0], reach[1], imageSize.z);
  });
  return ranges;
}

} // namespace ffdp
