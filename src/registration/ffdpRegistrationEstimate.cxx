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
#include "ffdpRegistrationEstimate.h"

#include "ffdpLevels.h"
#include "ffdpParallel.h"
#include "ffdpStageList.h"

#include <algorithm>

namespace ffdp
{
namespace
{

using Kind = RegistrationStage::Kind;

/** Planes of a volume of this size on the rank that owns most. */
double
MostPlanes(const Extent & size, int ranks)
{
  return double(Partition(size.z, ranks).ThickestSlab());
}

double
MostVoxels(const Extent & size, int ranks)
{
  return MostPlanes(size, ranks) * double(size.x * size.y);
}

/** Floats per voxel that a deformable stage keeps: warps, a first moment and a second one. */
double
StateFloats(Kind kind)
{
  return kind == Kind::SyN ? 10 : 7;
}

/** Shrunk copies of the images; none where a level is the image itself. */
double
ImageFloats(const PairGeometry & pair, const PlannedLevel & level, int ranks)
{
  const PlacedImage fixed{ VolumeView<const float>(nullptr, pair.fixedSize), pair.fixedToPhysical };
  const PlacedImage moving{ VolumeView<const float>(nullptr, pair.movingSize), pair.movingToPhysical };
  const Extent      movingSize = SizeAtSpacing(moving, LevelSpacing(fixed, level.size));
  const auto        copy = [&](const Extent & full, const Extent & size) {
    return full == size && level.smoothing.sigma <= 0 ? 0.0 : MostVoxels(size, ranks);
  };
  return copy(pair.fixedSize, level.size) * (pair.hasFixedMask ? 2 : 1) +
         copy(pair.movingSize, movingSize) * (pair.hasMovingMask ? 2 : 1);
}

/** The planes beside a volume's own that its windows reach: farthest of the metrics of a pair. */
double
HaloOf(const RegistrationStage & stage, std::size_t pair)
{
  double halo = 0;
  for (const RegistrationMetric & metric : stage.metrics)
  {
    const bool windowed = metric.kind == RegistrationMetric::Kind::LocalCorrelation && metric.pair == int(pair);
    halo = windowed ? std::max(halo, 2.0 * metric.radius) : halo;
  }
  return halo;
}

/** Planes of the windows that a loss and the gradient of a warp move through the images, as floats. */
double
WindowFloats(const std::vector<PairGeometry> & pairs,
             const RegistrationStage &         stage,
             const PlannedLevel &              level,
             bool                              withWarp,
             int                               ranks)
{
  const double plane = double(level.size.x * level.size.y);
  const double owned = MostPlanes(level.size, ranks);
  const double atATime = double(PlanesAtATime(Backend::FewVoxelsOfCpu, level.size, std::int64_t(owned)));
  const double all = double(level.size.z);
  const bool   both = stage.kind == Kind::SyN;
  double       planes = std::min(all, atATime) * (both ? 2 : 1); // gradients of the loss
  for (std::size_t i = 0; i < pairs.size(); ++i)
  {
    const double halo = HaloOf(stage, i);
    const double window = std::min(all, atATime + 2 * halo);
    const bool   masked = pairs[i].hasFixedMask || pairs[i].hasMovingMask;
    planes += window * (both ? 2 : 1) + (masked ? 0.25 * window : 0) + (pairs[i].hasMovingMask ? window : 0) +
              (both && pairs[i].hasFixedMask ? window : 0);
  }
  if (IsDeformable(stage))
  {
    const auto reach = double(GaussianRadius(stage.gradientSigma));
    planes += 3 * (std::min(all, atATime + 2 * reach) + std::min(all, atATime));
  }
  else if (withWarp)
  {
    planes += 3 * std::min(all, atATime);
  }
  return planes * plane;
}

/** Planes of other ranks, and of those at the edges that other ranks need, as floats. */
double
HaloFloats(const std::vector<PairGeometry> & pairs,
           const RegistrationStage &         stage,
           const PlannedLevel &              level,
           int                               ranks)
{
  if (ranks == 1)
  {
    return 0;
  }
  constexpr double Reached = 4; // of a moving image, on both sides
  const bool       both = stage.kind == Kind::SyN;
  const double     atATime =
    double(PlanesAtATime(Backend::FewVoxelsOfCpu, level.size, std::int64_t(MostPlanes(level.size, ranks))));
  double planes = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i)
  {
    const double halo = HaloOf(stage, i);
    const bool   masked = pairs[i].hasFixedMask || pairs[i].hasMovingMask;
    const double joined = atATime + 2 * halo; // planes of several ranks in one piece
    planes += 4 * halo * (both ? 2 : 1) + (masked ? halo : 0) + (both ? 0 : 2 * halo + joined) +
              (both ? 2 : 1) * (2 * Reached + atATime);
  }
  if (IsDeformable(stage))
  {
    constexpr double WarpHalo = 2;
    planes += 3 * double(GaussianRadius(stage.gradientSigma)) + 6 * WarpHalo * (both ? 2 : 1);
  }
  return planes * double(level.size.x * level.size.y);
}

/** What primitives keep for themselves: windows of planes of a warp per thread while it is smoothed and composed, and
 * joint histograms. */
double
ScratchFloats(const PlannedLevel & level, const RegistrationStage & stage, unsigned threads)
{
  constexpr double HistogramFloats = 50e3;
  const double     plane = double(level.size.x * level.size.y);
  double           floats = (IsDeformable(stage) ? 12 : 1) * plane * threads;
  for (const RegistrationMetric & metric : stage.metrics)
  {
    floats += metric.kind == RegistrationMetric::Kind::MutualInformation ? HistogramFloats * threads : 0;
  }
  return floats;
}

/** What finding the inverse takes where a slab is not the whole: planes of either warp that the other reaches, and a
 * window as wide on each thread. How far a warp will move points is not known yet. */
double
InversionFloats(const Extent & size, unsigned threads, int ranks)
{
  constexpr double Moved = 20; // planes: much, but usual
  const double     window = std::min(3 * Moved + 1, MostPlanes(size, ranks) + 2 * Moved);
  return ranks == 1 ? 0 : (12 * Moved + 4 * window * threads) * double(size.x * size.y);
}

} // namespace

const char *
NameOf(RegistrationStage::Kind kind)
{
  switch (kind)
  {
    case Kind::Moments:
      return "moments";
    case Kind::Rigid:
      return "rigid";
    case Kind::Similarity:
      return "similarity";
    case Kind::Affine:
      return "affine";
    case Kind::Greedy:
      return "greedy";
    case Kind::SyN:
      return "SyN";
  }
  return "";
}

PairGeometry
DescribePair(const ImagePair & pair)
{
  PairGeometry geometry;
  geometry.fixedSize = pair.fixed.voxels.domain;
  geometry.fixedToPhysical = pair.fixed.indexToPhysical;
  geometry.movingSize = pair.moving.voxels.domain;
  geometry.movingToPhysical = pair.moving.indexToPhysical;
  geometry.hasFixedMask = bool(pair.fixedMask);
  geometry.hasMovingMask = bool(pair.movingMask);
  return geometry;
}

RegistrationEstimate
EstimateRegistration(const std::vector<PairGeometry> &      pairs,
                     bool                                   startsFromWarp,
                     const std::vector<RegistrationStage> & stages,
                     unsigned                               threads,
                     int                                    ranks)
{
  Require(!pairs.empty(), "there are no images to register");
  Require(!stages.empty(), "there is no stage to run");
  const unsigned       workers = ResolveThreads(threads);
  const double         full = MostVoxels(pairs.front().fixedSize, ranks);
  double               held = startsFromWarp ? 3 * full : 0; // floats of the warp between stages
  RegistrationEstimate estimate;
  for (std::size_t i = 0; i < stages.size(); ++i)
  {
    const RegistrationStage & stage = stages[i];
    if (stage.kind == Kind::Moments)
    {
      continue;
    }
    for (const PlannedLevel & level : PlanLevels(stage, pairs.front().fixedSize, estimate.notes))
    {
      const double voxels = MostVoxels(level.size, ranks);
      double floats = WindowFloats(pairs, stage, level, held > 0, ranks) + HaloFloats(pairs, stage, level, ranks) +
                      ScratchFloats(level, stage, workers);
      for (const PairGeometry & pair : pairs)
      {
        floats += ImageFloats(pair, level, ranks);
      }
      if (IsDeformable(stage))
      {
        floats += StateFloats(stage.kind) * voxels;
        held = 3 * voxels;
      }
      else if (held > 0)
      {
        floats += held + 3 * voxels;
      }
      estimate.levels.push_back({ int(i), NameOf(stage.kind), level.size, level.iterations, 4 * floats });
      estimate.peakBytes = std::max(estimate.peakBytes, 4 * floats);
    }
  }
  // The warp and its inverse, and by how much they miss each other; between ranks another warp instead, and the planes
  // around it that the inverse reaches.
  const Extent & grid = pairs.front().fixedSize;
  estimate.resultBytes = held > 0 ? 4 * ((ranks == 1 ? 7 : 9) * full + InversionFloats(grid, workers, ranks)) : 0;
  estimate.peakBytes = std::max(estimate.peakBytes, estimate.resultBytes);
  return estimate;
}

} // namespace ffdp
