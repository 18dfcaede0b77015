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
#include "ffdpImageSlope.h"

#include "ffdpImageSlopeArguments.h"
#include "ffdpImageSlopeTerms.h"
#include "ffdpParallel.h"
#include "ffdpRowPieces.h"

namespace ffdp
{
namespace
{

struct ImageSlopeJob
{
  VolumeView<const float>        image;
  VolumeView<const std::uint8_t> mask;
  VolumeView<const float>        weights;
  float                          factor;
  WarpView<float>                gradient;
};

} // namespace
} // namespace ffdp

#define FFDP_KERNEL_FILE "ffdpImageSlopeKernel.h"
#include "ffdpForEachInstructionSet.h"

namespace ffdp
{

void
AddImageSlope(const VolumeView<const float> &        image,
              const VolumeView<const std::uint8_t> & mask,
              const VolumeView<const float> &        weights,
              float                                  factor,
              const WarpView<float> &                gradient,
              unsigned                               threads)
{
  CheckImageSlope(image, mask, weights, gradient);
  const ImageSlopeJob job{ image, mask, weights, factor, gradient };
  const RowPieces     pieces{ image.domain.y, weights.firstPlane, weights.planes };
  const auto          kernel =
    mask ? FFDP_SELECT_KERNEL(AddImageSlopePiece<true>) : FFDP_SELECT_KERNEL(AddImageSlopePiece<false>);
  ParallelFor(pieces.Count(), threads, [&](std::int64_t piece, unsigned) {
    kernel(job, pieces.Plane(piece), pieces.FirstRow(piece), pieces.EndRow(piece));
  });
}

} // namespace ffdp
