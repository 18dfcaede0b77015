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
#include "ffdpCheck.h"
#include "ffdpLocalCorrelationTask.h"
#include "ffdpMaskCount.h"
#include "ffdpParallel.h"
#include "ffdpRowSum.h"

#include <cmath>
#include <type_traits>

#define FFDP_KERNEL_FILE "ffdpLocalCorrelationKernels.h"
// With vectors of 512 bits the same loops take a quarter longer (measured on a Xeon with AMX).
#define FFDP_KERNEL_UP_TO_AVX2
#include "ffdpForEachInstructionSet.h"

namespace ffdp
{
namespace
{

/** A window never needs to reach further than from one end of the volume to the other. */
int
EffectiveRadius(int radius, std::int64_t size)
{
  return int(std::min<std::int64_t>(radius, size - 1));
}

/** The window's weights and, for each index along each axis, the inverse of the sum of those inside. */
struct WindowWeights
{
  std::vector<float> taps[3];
  std::vector<float> inverse[3];

  WindowWeights(const LocalCorrelationParameters & parameters, const int * radius, const Extent & domain)
  {
    const std::int64_t size[3] = { domain.x, domain.y, domain.z };
    for (int axis = 0; axis < 3; ++axis)
    {
      const int           r = radius[axis];
      std::vector<double> weights(std::size_t(2 * r + 1), 1.0);
      if (parameters.window == LocalCorrelationParameters::Window::Gaussian)
      {
        for (int j = -r; j <= r; ++j)
        {
          weights[std::size_t(j + r)] = std::exp(-0.5 * j * j / (parameters.sigma[axis] * parameters.sigma[axis]));
        }
        taps[axis].assign(weights.begin(), weights.end());
      }
      inverse[axis].resize(std::size_t(size[axis]));
      for (std::int64_t i = 0; i < size[axis]; ++i)
      {
        double sum = 0;
        for (std::int64_t j = -r; j <= r; ++j)
        {
          sum += i + j >= 0 && i + j < size[axis] ? weights[std::size_t(j + r)] : 0.0;
        }
        inverse[axis][std::size_t(i)] = float(1.0 / sum);
      }
    }
  }
};

void
CheckParameters(const LocalCorrelationParameters & parameters)
{
  for (int axis = 0; axis < 3; ++axis)
  {
    Require(parameters.radius[axis] >= 0, "the radius of a correlation window cannot be negative");
    Require(parameters.window == LocalCorrelationParameters::Window::Box || parameters.sigma[axis] > 0,
            "the sigma of a Gaussian correlation window must be positive");
  }
  Require(parameters.epsilon >= 0, "epsilon cannot be negative");
  Require(parameters.fixedVariance > 0 && std::isfinite(parameters.fixedVariance) && parameters.movingVariance > 0 &&
            std::isfinite(parameters.movingVariance),
          "the variances that scale a correlation must be positive: is an image constant?");
}

void
CheckOutput(const VolumeView<float> & output,
            const Extent &            domain,
            std::int64_t              firstPlane,
            std::int64_t              planes,
            const char *              name)
{
  if (output)
  {
    RequireUsable(output, name);
    RequireSameDomain(domain, output.domain, "an image and an output of the correlation");
    Require(output.firstPlane == firstPlane && output.planes == planes,
            std::string(name) + " does not hold the planes that are computed");
  }
}

/** How the volume is cut: a tile of rows and columns by a range of planes. Tiles lie on a grid of the whole
 * volume, since a tile's mean is subtracted before summing; how planes are cut changes no value. */
struct Cut
{
  std::int64_t tilesX, tilesY, chunks, planesPerChunk;

  Cut(const Extent & domain, std::int64_t planes, int radius, bool exact, unsigned threads)
    : tilesX((domain.x + CorrelationTileX - 1) / CorrelationTileX)
    , tilesY((domain.y + CorrelationTileY - 1) / CorrelationTileY)
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

  const CorrelationScratch layout(task, std::min(CorrelationTileX, domain.x), std::min(CorrelationTileY, domain.y));
  const auto               rowsLength = std::size_t(3 * GroupLength(std::max(task.radius[1], task.radius[2])));

  AlignedBuffer<float>         floats(workers * std::size_t(layout.total));
  AlignedBuffer<const float *> rows(workers * rowsLength);
  std::vector<double>          sums(std::size_t(planes * cut.Tiles()), 0.0);
  std::vector<std::int64_t>    counts(sums.size(), 0);

  const auto sweep = FFDP_SELECT_KERNEL_UP_TO_AVX2(SweepCorrelationPiece);
  ParallelFor(cut.Pieces(), threads, [&](std::int64_t index, unsigned worker) {
    const std::int64_t tile = index % cut.Tiles();
    const std::int64_t chunk = index / cut.Tiles() * cut.planesPerChunk;
    CorrelationPiece   piece;
    piece.x0 = tile % cut.tilesX * CorrelationTileX;
    piece.x1 = std::min(domain.x, piece.x0 + CorrelationTileX);
    piece.y0 = tile / cut.tilesX * CorrelationTileY;
    piece.y1 = std::min(domain.y, piece.y0 + CorrelationTileY);
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
  CheckParameters(parameters);
  const bool         withGradient = outputs.movingGradient || outputs.fixedGradient;
  const std::int64_t halo = LocalCorrelationHalo(parameters, withGradient);
  RequirePlanes(fixed, firstPlane, firstPlane + planes, halo, "the fixed image");
  RequirePlanes(moving, firstPlane, firstPlane + planes, halo, "the moving image");
  RequireSameDomain(fixed.domain, moving.domain, "fixed and moving image");
  if (mask)
  {
    RequirePlanes(mask, firstPlane, firstPlane + planes, halo, "the mask");
    RequireSameDomain(fixed.domain, mask.domain, "image and mask");
  }
  CheckOutput(outputs.movingGradient, fixed.domain, firstPlane, planes, "the moving gradient");
  CheckOutput(outputs.fixedGradient, fixed.domain, firstPlane, planes, "the fixed gradient");
  CheckOutput(outputs.map, fixed.domain, firstPlane, planes, "the correlation map");

  CorrelationTask task;
  task.fixed = fixed;
  task.moving = moving;
  task.mask = mask;
  task.outputs = outputs;
  task.maskWindows = parameters.maskWindows;
  task.exact = withGradient && parameters.gradient == LocalCorrelationParameters::Gradient::Exact;

  const std::int64_t size[3] = { fixed.domain.x, fixed.domain.y, fixed.domain.z };
  for (int axis = 0; axis < 3; ++axis)
  {
    task.radius[axis] = EffectiveRadius(parameters.radius[axis], size[axis]);
  }
  const WindowWeights weights(parameters, task.radius, fixed.domain);
  for (int axis = 0; axis < 3; ++axis)
  {
    task.taps[axis] = weights.taps[axis].empty() ? nullptr : weights.taps[axis].data();
    task.inverseWeight[axis] = weights.inverse[axis].data();
  }

  task.constants.scale = float(1 / (std::sqrt(parameters.fixedVariance) * std::sqrt(parameters.movingVariance)));
  task.constants.epsilon = std::max(float(parameters.epsilon), SmallestCorrelationEpsilon);
  task.constants.flatValue = float(parameters.flatValue);

  std::int64_t normalizer = parameters.normalizer;
  if (normalizer == 0)
  {
    normalizer = CountVoxels(mask, fixed.domain, firstPlane, planes, threads);
  }
  task.gradientScale = normalizer > 0 ? float(-1.0 / double(normalizer)) : 0.0f;
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
