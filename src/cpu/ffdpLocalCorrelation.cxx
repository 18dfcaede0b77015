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
#include "ffdpLocalCorrelation.h"

#include "ffdpAlignedBuffer.h"
#include "ffdpLocalCorrelationPlan.h"
#include "ffdpMaskCount.h"
#include "ffdpParallel.h"
#include "ffdpRowSum.h"

#include <cmath>
#include <type_traits>

#define FFDP_KERNEL_FILE "ffdpLocalCorrelationKernels.h"
#include "ffdpForEachInstructionSet.h"

namespace ffdp
{
namespace
{

/** How the volume is cut: a tile of rows and columns by a range of planes. Tiles lie on a grid of the whole
 * volume, since a tile's mean is subtracted before summing; how planes are cut changes no value. */
struct Cut
{
  std::int64_t tileX, tileY, tilesX, tilesY, chunks, planesPerChunk;

  Cut(const Extent & domain, std::int64_t planes, int radius, bool exact, unsigned threads)
    : tileX(CorrelationTileX(exact, domain.x))
    , tileY(std::min(CorrelationTileY(exact), domain.y))
    , tilesX((domain.x + tileX - 1) / tileX)
    , tilesY((domain.y + tileY - 1) / tileY)
  {
    // Enough pieces to keep all threads busy to the end, but none so short that its run-up dominates.
    const std::int64_t wanted = std::max<std::int64_t>(1, 4 * std::int64_t(threads) / (tilesX * tilesY));
    const std::int64_t shortest = exact ? 8 * (radius + 1) : 8;
    planesPerChunk = std::max((planes + wanted - 1) / wanted, shortest);
    planesPerChunk = (planesPerChunk + 3) / 4 * 4; // whole groups of planes
    chunks = (planes + planesPerChunk - 1) / planesPerChunk;
  }
  std::int64_t
  Tiles() const
  {
    return tilesX * tilesY;
  }
  std::int64_t
  Pieces() const
  {
    return Tiles() * chunks;
  }
};

LocalCorrelationResult
Run(const CorrelationTask & task, std::int64_t firstPlane, std::int64_t planes, unsigned threads)
{
  const Extent & domain = task.fixed.domain;
  const Cut      cut(domain, planes, task.radius[2], task.exact, ResolveThreads(threads));
  const auto     workers = std::size_t(std::min<std::int64_t>(cut.Pieces(), ResolveThreads(threads)));

  const CorrelationScratch layout(task, cut.tileX, cut.tileY);
  const auto               rowsLength = std::size_t(3 * GroupLength(std::max(task.radius[1], task.radius[2])));

  AlignedBuffer<float>         floats(workers * std::size_t(layout.total));
  AlignedBuffer<const float *> rows(workers * rowsLength);
  std::vector<double>          sums(std::size_t(planes * cut.Tiles()), 0.0);
  std::vector<std::int64_t>    counts(sums.size(), 0);

  const auto sweep = FFDP_SELECT_KERNEL(SweepCorrelationPiece);
  ParallelFor(cut.Pieces(), threads, [&](std::int64_t index, unsigned worker) {
    const std::int64_t tile = index % cut.Tiles();
    const std::int64_t chunk = index / cut.Tiles() * cut.planesPerChunk;
    CorrelationPiece   piece;
    piece.x0 = tile % cut.tilesX * cut.tileX;
    piece.x1 = std::min(domain.x, piece.x0 + cut.tileX);
    piece.y0 = tile / cut.tilesX * cut.tileY;
    piece.y1 = std::min(domain.y, piece.y0 + cut.tileY);
    piece.z0 = firstPlane + chunk;
    piece.z1 = firstPlane + std::min(planes, chunk + cut.planesPerChunk);
    piece.stride = cut.Tiles();
    piece.sums = sums.data() + chunk * piece.stride + tile;
    piece.counts = counts.data() + chunk * piece.stride + tile;
    piece.scratch = floats.Data() + worker * std::size_t(layout.total);
    piece.rows = rows.Data() + worker * rowsLength;
    sweep(task, piece);
  });

  LocalCorrelationResult result;
  result.planeSums.assign(std::size_t(planes), 0.0);
  result.planeCounts.assign(std::size_t(planes), 0);
  for (std::size_t i = 0; i < sums.size(); ++i)
  {
    result.planeSums[i / std::size_t(cut.Tiles())] += sums[i];
    result.planeCounts[i / std::size_t(cut.Tiles())] += counts[i];
  }
  return result;
}

} // namespace

std::int64_t
LocalCorrelationHalo(const LocalCorrelationParameters & parameters, bool withGradient)
{
  const bool exact = withGradient && parameters.gradient == LocalCorrelationParameters::Gradient::Exact;
  return std::int64_t(parameters.radius[2]) * (exact ? 2 : 1);
}

LocalCorrelationResult
LocalCorrelation(const VolumeView<const float> &        fixed,
                 const VolumeView<const float> &        moving,
                 const VolumeView<const std::uint8_t> & mask,
                 std::int64_t                           firstPlane,
                 std::int64_t                           planes,
                 const LocalCorrelationParameters &     parameters,
                 const LocalCorrelationOutputs &        outputs,
                 unsigned                               threads)
{
  CheckLocalCorrelation(fixed, moving, mask, firstPlane, planes, parameters, outputs);
  const WindowWeights weights(parameters, fixed.domain);
  CorrelationTask     task = MakeCorrelationTask(fixed, moving, mask, parameters, outputs, weights);

  std::int64_t normalizer = parameters.normalizer;
  if (normalizer == 0)
  {
    normalizer = CountVoxels(mask, fixed.domain, firstPlane, planes, threads);
  }
  task.gradientScale = CorrelationGradientScale(normalizer);
  return Run(task, firstPlane, planes, threads);
}

LocalCorrelationResult
LocalCorrelation(const VolumeView<const float> &        fixed,
                 const VolumeView<const float> &        moving,
                 const VolumeView<const std::uint8_t> & mask,
                 const LocalCorrelationParameters &     parameters,
                 const LocalCorrelationOutputs &        outputs,
                 unsigned                               threads)
{
  return LocalCorrelation(fixed, moving, mask, 0, fixed.domain.z, parameters, outputs, threads);
}

} // namespace ffdp
