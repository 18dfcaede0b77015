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
#include "ffdpNotANumber.h"
#include "ffdpParallel.h"
#include "ffdpRowLanes.h"
#include "ffdpRowPieces.h"
#include "ffdpWarpGridTerms.h"

#include <cmath>
#include <limits>
#include <vector>

namespace ffdp
{
namespace
{

/** Where a fine index falls between two coarse ones. At the far border both are the last one. */
struct UpsamplePlace
{
  std::int64_t lower = 0;
  std::int64_t upper = 0;
  float        fraction = 0;
};

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

struct MeasurePartial
{
  float squaredNorm = 0;
  float largest[3] = { 0, 0, 0 };
  bool  finite = true;
};

} // namespace
} // namespace ffdp

#define FFDP_KERNEL_FILE "ffdpWarpGridKernel.h"
#include "ffdpForEachInstructionSet.h"

namespace ffdp
{
namespace
{

UpsamplePlace
PlaceOf(std::int64_t fineIndex, std::int64_t coarseSize, double scale, double offset)
{
  const double last = double(coarseSize - 1);
  const double at = std::min(std::max((double(fineIndex) - offset) / scale, 0.0), last);
  const auto   lower = std::int64_t(at);
  return UpsamplePlace{ lower, std::min(lower + 1, coarseSize - 1), float(at - double(lower)) };
}

void
Check(const GridMap & map)
{
  for (int axis = 0; axis < 3; ++axis)
  {
    Require(std::isfinite(map.scale[axis]) && map.scale[axis] > 0 && std::isfinite(map.offset[axis]),
            "a coarse grid's voxels must be larger than nothing");
  }
}

template <typename T>
void
RequirePlanar(const WarpView<T> & warp, const char * name)
{
  RequireUsable(warp, name);
  Require(warp.elementStride == 1 && warp.component[1], std::string(name) + " is not planar");
}

} // namespace

PlaneRange
UpsampleWarpPlanes(const Extent & coarse, const GridMap & map, const PlaneRange & planes)
{
  Check(map);
  PlaneRange needed;
  if (planes.first < planes.end)
  {
    needed.first = PlaceOf(planes.first, coarse.z, map.scale[2], map.offset[2]).lower;
    needed.end = PlaceOf(planes.end - 1, coarse.z, map.scale[2], map.offset[2]).upper + 1;
  }
  return needed;
}

void
UpsampleWarp(const WarpView<const float> & coarse, const WarpView<float> & fine, const GridMap & map, unsigned threads)
{
  RequirePlanar(coarse, "the coarse warp");
  RequirePlanar(fine, "the fine warp");
  Require(!coarse.component[2] == !fine.component[2], "the warps differ in their number of components");
  Require(coarse.domain.x < std::numeric_limits<std::int32_t>::max(), "a row of the coarse warp is too long");
  const PlaneRange needed = UpsampleWarpPlanes(coarse.domain, map, { fine.firstPlane, fine.EndPlane() });
  RequirePlanes(coarse, needed.first, needed.end, 0, "the coarse warp");

  const Extent               size = fine.domain;
  std::vector<std::int32_t>  lowerX(static_cast<std::size_t>(size.x));
  std::vector<float>         fractionX(static_cast<std::size_t>(size.x));
  std::vector<UpsamplePlace> placesY(static_cast<std::size_t>(size.y));
  std::vector<UpsamplePlace> placesZ(static_cast<std::size_t>(fine.planes));
  for (std::int64_t x = 0; x < size.x; ++x)
  {
    const UpsamplePlace place = PlaceOf(x, coarse.domain.x, map.scale[0], map.offset[0]);
    lowerX[std::size_t(x)] = std::int32_t(place.lower);
    fractionX[std::size_t(x)] = place.fraction;
  }
  for (std::int64_t y = 0; y < size.y; ++y)
  {
    placesY[std::size_t(y)] = PlaceOf(y, coarse.domain.y, map.scale[1], map.offset[1]);
  }
  for (std::int64_t z = 0; z < fine.planes; ++z)
  {
    placesZ[std::size_t(z)] = PlaceOf(fine.firstPlane + z, coarse.domain.z, map.scale[2], map.offset[2]);
  }

  UpsampleJob          job{ coarse,
                   fine,
                   fine.component[2] ? 3 : 2,
                   lowerX.data(),
                   fractionX.data(),
                   placesY.data(),
                   placesZ.data(),
                   { float(map.scale[0]), float(map.scale[1]), float(map.scale[2]) } };
  const std::size_t    lineLength = std::size_t(coarse.domain.x + 1);
  AlignedBuffer<float> lines(lineLength * ResolveThreads(threads));
  const RowPieces      pieces{ size.y, fine.firstPlane, fine.planes };
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
  RequirePlanar(warp, "the warp");
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

  WarpSize result;
  for (const MeasurePartial & partial : partials)
  {
    result.norm = std::max(result.norm, std::sqrt(double(partial.squaredNorm)));
    result.finite = result.finite && partial.finite;
    for (int c = 0; c < 3; ++c)
    {
      result.largest[c] = std::max(result.largest[c], double(partial.largest[c]));
    }
  }
  for (int c = 0; c < 3; ++c) // a squared norm may overflow where its components do not
  {
    result.norm = std::max(result.norm, std::abs(axisScale[c]) * result.largest[c]);
  }
  return result;
}

WarpSize
MeasureWarp(const WarpView<const float> & warp, unsigned threads)
{
  return MeasureWarp(warp, { 1, 1, 1 }, threads);
}

} // namespace ffdp
