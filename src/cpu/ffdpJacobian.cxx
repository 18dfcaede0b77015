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
#include "ffdpJacobian.h"

#include "ffdpJacobianDetail.h"
#include "ffdpJacobianTerms.h"
#include "ffdpNotANumber.h"
#include "ffdpParallel.h"
#include "ffdpRowLanes.h"
#include "ffdpRowPieces.h"

namespace ffdp
{
namespace
{

struct JacobianJob
{
  WarpView<const float>          warp;
  VolumeView<float>              determinant;
  VolumeView<const std::uint8_t> mask;
  const float *                  zeros = nullptr; ///< a row for the component that a 2-D field lacks
  const BlockMarks *             marks = nullptr;
};

} // namespace
} // namespace ffdp

#define FFDP_KERNEL_FILE "ffdpJacobianKernel.h"
#include "ffdpForEachInstructionSet.h"

namespace ffdp
{

JacobianResult
JacobianDeterminant(const WarpView<const float> &          warp,
                    std::int64_t                           firstPlane,
                    std::int64_t                           planes,
                    const VolumeView<float> &              determinant,
                    const VolumeView<const std::uint8_t> & mask,
                    const JacobianParameters &             parameters,
                    unsigned                               threads)
{
  RequireJacobianInputs(warp, firstPlane, planes, determinant, mask, parameters);
  const std::vector<float> zeros(warp.component[2] ? 0 : std::size_t(warp.domain.x));
  const JacobianJob        job{ warp, determinant, mask, zeros.data(), parameters.marks };
  const RowPieces          pieces{ warp.domain.y, firstPlane, planes };
  const auto               central =
    mask ? FFDP_SELECT_KERNEL(JacobianPiece<true, false>) : FFDP_SELECT_KERNEL(JacobianPiece<false, false>);
  const auto leastOneSided =
    mask ? FFDP_SELECT_KERNEL(JacobianPiece<true, true>) : FFDP_SELECT_KERNEL(JacobianPiece<false, true>);
  const auto kernel = parameters.differences == JacobianDifferences::Central ? central : leastOneSided;
  std::vector<JacobianPartial> partials(static_cast<std::size_t>(pieces.Count()));
  ParallelFor(pieces.Count(), threads, [&](std::int64_t piece, unsigned) {
    partials[std::size_t(piece)] = kernel(job, pieces.Plane(piece), pieces.FirstRow(piece), pieces.EndRow(piece));
  });

  return GatherJacobian(pieces, partials);
}

} // namespace ffdp
