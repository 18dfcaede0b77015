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
#include "ffdpEdgeStrength.h"

#include "ffdpEdgeStrengthArguments.h"
#include "ffdpEdgeStrengthTerms.h"
#include "ffdpParallel.h"
#include "ffdpRowPieces.h"

#include <algorithm>

namespace ffdp
{
namespace
{

struct EdgeStrengthJob
{
  VolumeView<const float> image;
  float                   noise;
  VolumeView<float>       edges;
};

} // namespace
} // namespace ffdp

#define FFDP_KERNEL_FILE "ffdpEdgeStrengthKernel.h"
#include "ffdpForEachInstructionSet.h"

namespace ffdp
{

void
EdgeStrength(const VolumeView<const float> & image, float noise, const VolumeView<float> & edges, unsigned threads)
{
  static_assert(EdgeStrengthReach == EdgeWindowRadius, "windows reach farther than the slopes");
  CheckEdgeStrength(image, noise, edges);
  const EdgeStrengthJob job{ image, noise, edges };
  const RowPieces       pieces{ image.domain.y, edges.firstPlane, edges.planes };
  const auto            kernel = FFDP_SELECT_KERNEL(EdgeStrengthPiece);
  ParallelFor(pieces.Count(), threads, [&](std::int64_t piece, unsigned) {
    kernel(job, pieces.Plane(piece), pieces.FirstRow(piece), pieces.EndRow(piece));
  });
}

} // namespace ffdp
