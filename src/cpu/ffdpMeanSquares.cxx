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
#include "ffdpMeanSquares.h"

#include "ffdpMaskCount.h"
#include "ffdpMeanSquaresJob.h"
#include "ffdpMeanSquaresTerms.h"
#include "ffdpParallel.h"
#include "ffdpRowLanes.h"
#include "ffdpRowPieces.h"

#define FFDP_KERNEL_FILE "ffdpMeanSquaresKernel.h"
#include "ffdpForEachInstructionSet.h"

namespace ffdp
{

MeanSquaresResult
MeanSquares(const VolumeView<const float> &        moving,
            const VolumeView<const float> &        fixed,
            const VolumeView<const std::uint8_t> & mask,
            const VolumeView<float> &              movingGradient,
            const VolumeView<float> &              fixedGradient,
            std::int64_t                           normalizer,
            unsigned                               threads)
{
  MeanSquaresJob job{ moving, fixed, mask, movingGradient, fixedGradient, 0 };
  CheckMeanSquares(job, normalizer);
  const RowPieces pieces{ moving.domain.y, moving.firstPlane, moving.planes };
  if (movingGradient || fixedGradient)
  {
    const std::int64_t voxels =
      normalizer > 0 ? normalizer : CountVoxels(job.mask, job.moving.domain, pieces.firstPlane, pieces.planes, threads);
    job.gradientScale = MeanSquaresGradientScale(voxels);
  }

  const auto kernel = mask ? FFDP_SELECT_KERNEL(MeanSquaresPiece<true>) : FFDP_SELECT_KERNEL(MeanSquaresPiece<false>);
  std::vector<MeanSquaresPartial> partials(std::size_t(pieces.Count()));
  ParallelFor(pieces.Count(), threads, [&](std::int64_t piece, unsigned) {
    partials[std::size_t(piece)] = kernel(job, pieces.Plane(piece), pieces.FirstRow(piece), pieces.EndRow(piece));
  });

  return AddPieces(partials, pieces);
}

} // namespace ffdp
