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
#include "ffdpDownsample.h"

#include "ffdpAlignedBuffer.h"
#include "ffdpCheck.h"
#include "ffdpDownsamplePlan.h"
#include "ffdpParallel.h"

namespace ffdp
{
namespace
{

/** A table of weights as the kernel sees it. */
struct DownsampleAxis
{
  const std::int64_t * first;
  const std::int64_t * count;
  const float *        weights;
  std::int64_t         taps;

  explicit DownsampleAxis(const DownsampleWeights & table)
    : first(table.first.data())
    , count(table.count.data())
    , weights(table.weights.data())
    , taps(table.taps)
  {}
};

/** The table along x, laid out for vectors of coarse voxels. */
struct DownsampleColumns
{
  const std::int32_t * first;   ///< the first tap of each coarse column
  const float *        weights; ///< of tap 0 for all columns, then of tap 1, ...
  std::int64_t         taps;
};

struct DownsampleJob
{
  VolumeView<const float> fine;
  VolumeView<float>       coarse;
  DownsampleColumns       x;
  DownsampleAxis          y;
  DownsampleAxis          z; ///< begins at the first plane of `coarse`
};

/** What one thread works in. */
struct DownsampleScratch
{
  float *        rows;     ///< y.taps + 1 fine rows
  const float ** pointers; ///< as many as the longer of y.taps and z.taps
};

} // namespace
} // namespace ffdp

#define FFDP_KERNEL_FILE "ffdpDownsampleKernel.h"
#include "ffdpForEachInstructionSet.h"

namespace ffdp
{
namespace
{

/** Coarse rows per piece: the fine rows that a piece sums, times the planes it sums them over, should stay in
 * a second-level cache of 512 KB while the piece walks along z. */
std::int64_t
RowsPerPiece(const DownsampleJob & job, double scale)
{
  const double cachedRows = 256.0 * 1024 / (double(job.fine.domain.x) * sizeof(float) * double(job.z.taps + 1));
  const double rows = (cachedRows - double(job.y.taps)) / scale;
  return std::int64_t(std::min(64.0, std::max(8.0, rows)));
}

} // namespace

PlaneRange
DownsamplePlanes(const Extent &               fine,
                 const Extent &               coarse,
                 const GridMap &              map,
                 const PlaneRange &           planes,
                 const DownsampleParameters & parameters)
{
  RequireDownsample(map, parameters);
  PlaneRange needed;
  if (planes.first < planes.end)
  {
    const auto z = MakeDownsampleWeights(2, fine, coarse, map, parameters, planes.first, planes.end);
    needed.first = z.first.front();
    needed.end = z.first.back() + z.count.back();
  }
  return needed;
}

void
Downsample(const VolumeView<const float> & fine,
           const VolumeView<float> &       coarse,
           const GridMap &                 map,
           const DownsampleParameters &    parameters,
           unsigned                        threads)
{
  RequireDownsample(fine, coarse, map, parameters);
  if (coarse.planes == 0)
  {
    return;
  }
  const DownsamplePlan         plan(fine, coarse, map, parameters);
  const auto &                 y = plan.y;
  const auto &                 z = plan.z;
  const DownsampleJob          job{ fine,
                           coarse,
                           { plan.columns.first.data(), plan.columns.weights.data(), plan.x.taps },
                           DownsampleAxis(y),
                           DownsampleAxis(z) };
  const auto                   workers = std::size_t(ResolveThreads(threads));
  const std::size_t            rowsPerWorker = std::size_t((y.taps + 1) * fine.domain.x);
  const std::size_t            pointersPerWorker = std::size_t(std::max(y.taps, z.taps));
  AlignedBuffer<float>         rows(workers * rowsPerWorker);
  AlignedBuffer<const float *> pointers(workers * pointersPerWorker);

  const std::int64_t rowsPerPiece = RowsPerPiece(job, map.scale[1]);
  const std::int64_t planesPerPiece = 16;
  const std::int64_t strips = (coarse.domain.y + rowsPerPiece - 1) / rowsPerPiece;
  const std::int64_t blocks = (coarse.planes + planesPerPiece - 1) / planesPerPiece;
  const auto         kernel = FFDP_SELECT_KERNEL(DownsampleRows);
  ParallelFor(strips * blocks, threads, [&](std::int64_t piece, unsigned worker) {
    const DownsampleScratch scratch{ rows.Data() + worker * rowsPerWorker,
                                     pointers.Data() + worker * pointersPerWorker };
    const std::int64_t      firstRow = piece % strips * rowsPerPiece;
    const std::int64_t      endRow = std::min(coarse.domain.y, firstRow + rowsPerPiece);
    const std::int64_t      firstPlane = coarse.firstPlane + piece / strips * planesPerPiece;
    const std::int64_t      endPlane = std::min(coarse.EndPlane(), firstPlane + planesPerPiece);
    for (std::int64_t plane = firstPlane; plane < endPlane; ++plane)
    {
      kernel(job, plane, firstRow, endRow, scratch);
    }
  });
}

} // namespace ffdp
