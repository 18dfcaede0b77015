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
#include "ffdpWarpGrid.h"

#include "ffdpAlignedBuffer.h"
#include "ffdpCheck.h"
#include "ffdpParallel.h"
#include "ffdpRowLanes.h"
#include "ffdpRowPieces.h"
#include "ffdpWarpGridPlan.h"
#include "ffdpWarpGridTerms.h"

#include <vector>

namespace ffdp
{
namespace
{

struct UpsampleJob
{
  WarpView<const float> coarse;
  WarpView<float>       fine;
  int                   components = 3;
  const std::int32_t *  lowerX = nullptr; ///< as UpsamplePlace, laid out for vector loads
  const float *         fractionX = nullptr;
  const UpsamplePlace * y = nullptr;
  const UpsamplePlace * z = nullptr; ///< begins at the first plane of `fine`
  float                 scale[3] = { 1, 1, 1 };
};

struct MeasureJob
{
  WarpView<const float> warp;
  int                   components = 3;
  float                 axisWeight[3] = { 1, 1, 1 };
};

} // namespace
} // namespace ffdp

#define FFDP_KERNEL_FILE "ffdpWarpGridKernel.h"
#include "ffdpForEachInstructionSet.h"

namespace ffdp
{

PlaneRange
UpsampleWarpPlanes(const Extent & coarse, const GridMap & map, const PlaneRange & planes)
{
  RequireGridMap(map);
  PlaneRange needed;
  if (planes.first < planes.end)
  {
    needed.first = UpsamplePlaceOf(planes.first, coarse.z, map.scale[2], map.offset[2]).lower;
    needed.end = UpsamplePlaceOf(planes.end - 1, coarse.z, map.scale[2], map.offset[2]).upper + 1;
  }
  return needed;
}

void
UpsampleWarp(const WarpView<const float> & coarse, const WarpView<float> & fine, const GridMap & map, unsigned threads)
{
  const UpsamplePlan   plan(coarse, fine, map);
  UpsampleJob          job{ coarse,
                   fine,
                   fine.component[2] ? 3 : 2,
                   plan.lowerX.data(),
                   plan.fractionX.data(),
                   plan.placesY.data(),
                   plan.placesZ.data(),
                   { float(map.scale[0]), float(map.scale[1]), float(map.scale[2]) } };
  const std::size_t    lineLength = std::size_t(coarse.domain.x + 1);
  AlignedBuffer<float> lines(lineLength * ResolveThreads(threads));
  const RowPieces      pieces{ fine.domain.y, fine.firstPlane, fine.planes };
  const auto           kernel = FFDP_SELECT_KERNEL(UpsampleRow);
  ParallelFor(pieces.Count(), threads, [&](std::int64_t piece, unsigned worker) {
    for (std::int64_t y = pieces.FirstRow(piece); y < pieces.EndRow(piece); ++y)
    {
      kernel(job, y, pieces.Plane(piece), lines.Data() + worker * lineLength);
    }
  });
}

WarpSize
MeasureWarp(const WarpView<const float> & warp, const double (&axisScale)[3], unsigned threads)
{
  RequirePlanarWarp(warp, "the warp");
  MeasureJob job{ warp, warp.component[2] ? 3 : 2, {} };
  for (int c = 0; c < 3; ++c)
  {
    job.axisWeight[c] = float(axisScale[c]);
  }
  const RowPieces             pieces{ warp.domain.y, warp.firstPlane, warp.planes };
  const auto                  kernel = FFDP_SELECT_KERNEL(MeasurePiece);
  std::vector<MeasurePartial> partials(static_cast<std::size_t>(pieces.Count()));
  ParallelFor(pieces.Count(), threads, [&](std::int64_t piece, unsigned) {
    partials[std::size_t(piece)] = kernel(job, pieces.Plane(piece), pieces.FirstRow(piece), pieces.EndRow(piece));
  });

  MeasurePartial whole;
  for (const MeasurePartial & partial : partials)
  {
    whole.Join(partial);
  }
  return MakeWarpSize(whole, axisScale);
}

WarpSize
MeasureWarp(const WarpView<const float> & warp, unsigned threads)
{
  return MeasureWarp(warp, { 1, 1, 1 }, threads);
}

} // namespace ffdp
