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

#include "ffdpCudaMemory.h"
#include "ffdpDeformation.h"
#include "ffdpEdgePairs.h"
#include "ffdpLocalCorrelationPlan.h"
#include "ffdpPairEstimate.h"
#include "ffdpParallel.h"
#include "ffdpStageList.h"
#include "ffdpStartSearch.h"

#include <algorithm>
#include <cmath>

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

/** Neighbors of a rank, at most. */
double
SidesWithNeighbors(int ranks)
{
  return std::min(2, ranks - 1);
}

/** Floats per voxel that a deformable stage keeps: warps, a first moment and a second one. */
double
StateFloats(Kind kind)
{
  return kind == Kind::SyN ? 10 : 7;
}

/** Planes of a level that are worked on at a time. */
double
PlanesAtATimeOn(const EstimatedDevice & device, const Extent & size, int ranks)
{
  const std::int64_t fewVoxels = device.cuda ? cuda::FewVoxels : Backend::FewVoxelsOfCpu;
  return double(PlanesAtATime(fewVoxels, size, std::int64_t(MostPlanes(size, ranks))));
}

/** Images of a level, and what other ranks have of them. */
double
PairFloats(const PairGeometry &      pair,
           const RegistrationStage & stage,
           const PlannedLevel &      level,
           int                       ranks,
           const EstimatedDevice &   device)
{
  const PairEstimate estimate(pair, level, ranks);
  if (ranks == 1)
  {
    return estimate.ImageFloats();
  }
  const auto   owned = std::int64_t(MostPlanes(level.size, ranks));
  const auto   reach = std::int64_t(GaussianRadius(stage.gradientSigma));
  const double gradients = double(IsDeformable(stage) ? Deformation::PlanesPerPart(owned, reach) : owned);
  return estimate.ImageFloats() + estimate.ReachedFloats(PlanesAtATimeOn(device, level.size, ranks), gradients);
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

/** Whether derivatives of the loss by both images are computed. */
bool
TakesBothGradients(const RegistrationStage & stage)
{
  bool slopes = false; // of fixed images
  for (const RegistrationMetric & metric : stage.metrics)
  {
    slopes = slopes || (metric.kind == RegistrationMetric::Kind::LocalCorrelation && metric.fixedSlope != 0);
  }
  return stage.kind == Kind::SyN || (stage.kind == Kind::Greedy && slopes);
}

/** Planes of the windows that a loss and the gradient of a warp move through the images, as floats. */
double
WindowFloats(const std::vector<PairGeometry> & pairs,
             const RegistrationStage &         stage,
             const PlannedLevel &              level,
             bool                              withWarp,
             int                               ranks,
             const EstimatedDevice &           device)
{
  const double plane = double(level.size.x * level.size.y);
  const double atATime = PlanesAtATimeOn(device, level.size, ranks);
  const double all = double(level.size.z);
  const bool   both = stage.kind == Kind::SyN;
  double       planes = std::min(all, atATime) * (TakesBothGradients(stage) ? 2 : 1);
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

/** Planes of fixed images and warps of other ranks, and of those at the edges that other ranks need, as floats. */
double
HaloFloats(const std::vector<PairGeometry> & pairs,
           const RegistrationStage &         stage,
           const PlannedLevel &              level,
           int                               ranks,
           const EstimatedDevice &           device)
{
  if (ranks == 1)
  {
    return 0;
  }
  constexpr double Reached = 4; // of a fixed image that moves
  const bool       both = stage.kind == Kind::SyN;
  const double     sides = SidesWithNeighbors(ranks);
  const double     atATime = PlanesAtATimeOn(device, level.size, ranks);
  double           planes = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i)
  {
    const double halo = HaloOf(stage, i);
    const bool   masked = pairs[i].hasFixedMask || pairs[i].hasMovingMask;
    const double joined = atATime + 2 * halo; // planes of several ranks in one piece
    const double strips = (2 + sides) * halo; // own ones on both sides, whether somebody wants them or not
    planes += strips * (both ? 2 : 1) + (masked ? 0.25 * strips : 0) +
              (both ? sides * Reached + atATime : sides * halo + joined);
  }
  if (IsDeformable(stage))
  {
    constexpr double WarpHalo = 2;
    planes += 3 * double(GaussianRadius(stage.gradientSigma)) + 3 * sides * WarpHalo * (both ? 2 : 1);
  }
  return planes * double(level.size.x * level.size.y);
}

/** Planes that the kernels of a GPU keep of three components at once, for `planes` that are worked on and the `reach`
 * planes around them. */
double
GroupFloats(const Extent & size, double planes, double reach)
{
  const std::int64_t plane = 3 * size.x * size.y;
  const std::int64_t group = cuda::PlanesPerGroup(std::int64_t(planes), 4 * plane, cuda::DefaultGroupBytes);
  return double(plane) * std::min(planes, double(group) + reach);
}

/** What the kernels of local correlation keep on a GPU: mostly the fields that the exact gradient sums over windows. */
double
CorrelationFloats(const Extent &             size,
                  const RegistrationMetric & metric,
                  bool                       masked,
                  double                     planes,
                  bool                       both,
                  const EstimatedDevice &    device)
{
  if (metric.kind != RegistrationMetric::Kind::LocalCorrelation)
  {
    return 0;
  }
  const int                      radius[3] = { EffectiveRadius(metric.radius, size.x),
                                               EffectiveRadius(metric.radius, size.y),
                                               EffectiveRadius(metric.radius, size.z) };
  const cuda::CorrelationTiles   tiles(radius, true, size.x, size.y);
  const cuda::CorrelationBatches batches(
    device.multiprocessors, tiles.count, radius[2], metric.exactGradient, std::int64_t(planes));
  const int                      fields = metric.exactGradient ? (both ? 5 : 3) : 0;
  const std::int64_t             tileFloats = cuda::WindowTileFloats(radius, cuda::CorrelationQuantities(masked));
  const cuda::CorrelationBuffers buffers(tiles, batches, fields, size.x * size.y, tileFloats, device.multiprocessors);
  return double(buffers.Floats());
}

/** What the primitives of a GPU keep for themselves, one after the other: the largest counts. */
double
DeviceScratchFloats(const std::vector<PairGeometry> & pairs,
                    const PlannedLevel &              level,
                    const RegistrationStage &         stage,
                    int                               ranks,
                    const EstimatedDevice &           device)
{
  constexpr double HistogramFloats = 20e3; // bins, and the tables of a gradient
  const double     owned = MostPlanes(level.size, ranks);
  const double     atATime = PlanesAtATimeOn(device, level.size, ranks);
  double           floats = 0;
  for (const RegistrationMetric & metric : stage.metrics)
  {
    const PairGeometry & pair = pairs[std::size_t(metric.pair)];
    const bool           masked = pair.hasFixedMask || pair.hasMovingMask;
    const bool           information = metric.kind == RegistrationMetric::Kind::MutualInformation;
    floats = std::max({ floats,
                        information ? HistogramFloats : 0.0,
                        CorrelationFloats(level.size, metric, masked, atATime, TakesBothGradients(stage), device) });
  }
  if (IsDeformable(stage))
  {
    constexpr double Composed = 2; // planes that a step of a voxel or so reaches
    const auto       reach = double(GaussianRadius(stage.warpSigma));
    floats = std::max(
      { floats, GroupFloats(level.size, owned, std::max(Composed, reach)), GroupFloats(level.size, atATime, 0) });
  }
  return floats;
}

/** What primitives keep for themselves on the CPU: windows of planes of a warp per thread while it is smoothed and
 * composed, and joint histograms. */
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

/** What finding the inverse takes besides the warps: planes of either warp that the other reaches, those of other ranks
 * and a window of packed ones that the threads go through together. How far a warp will move points is not known yet.
 */
double
InversionFloats(const Extent & size, unsigned threads, int ranks)
{
  const double moved = std::min(double(size.z) / 16, 64.0); // planes: much, but usual for brains at 1 mm and at 250 um
  const double halos = SidesWithNeighbors(ranks) * moved;
  const double window = std::min(MostPlanes(size, ranks) + halos, 2 * moved + 8 * threads);
  return (6 * halos + (threads > 0 ? 4 * window : 0)) * double(size.x * size.y);
}

/** Edges of images, from pair number `first` on. */
double
EdgeFloats(const std::vector<PairGeometry> & pairs, std::size_t first, int ranks)
{
  double floats = 0;
  for (std::size_t i = first; i < pairs.size(); ++i)
  {
    floats += MostVoxels(pairs[i].fixedSize, ranks) + MostVoxels(pairs[i].movingSize, ranks);
  }
  return floats;
}

/** Coarse images on their ranks, and all of them on the first; what a GPU keeps is less. */
double
SearchFloats(const std::vector<PairGeometry> & pairs,
             const RegistrationStage &         stage,
             const PlannedLevel &              search,
             unsigned                          threads,
             int                               ranks)
{
  double floats = ScratchFloats(search, stage, threads);
  for (const PairGeometry & pair : pairs)
  {
    floats += PairEstimate(pair, search, ranks).ImageFloats() + PairEstimate(pair, search, 1).ImageFloats();
  }
  return floats;
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
                     int                                    ranks,
                     const EstimatedDevice &                device)
{
  Require(!pairs.empty(), "there are no images to register");
  Require(!stages.empty(), "there is no stage to run");
  const unsigned    workers = ResolveThreads(threads);
  const PlacedImage fixed{ VolumeView<const float>(nullptr, pairs.front().fixedSize), pairs.front().fixedToPhysical };
  const double      full = MostVoxels(pairs.front().fixedSize, ranks);
  double            held = startsFromWarp ? 3 * full : 0; // floats of the warp between stages
  double            edges = 0;                            // floats of all of them, once they are there
  RegistrationEstimate estimate;

  const EdgePairs                      edgePairs(stages, pairs.size());
  const std::vector<RegistrationStage> stagesOfImages = edgePairs.OfImages(stages);
  std::vector<PairGeometry>            withEdges = pairs;
  for (const int source : edgePairs.Sources())
  {
    withEdges.push_back(pairs[std::size_t(source)]);
  }
  for (std::size_t i = 0; i < stages.size(); ++i)
  {
    const RegistrationStage &         stage = stagesOfImages[i];
    const bool                        comparesEdges = ComparesEdges(stages[i]);
    const std::vector<PairGeometry> & compared = comparesEdges ? withEdges : pairs;
    edges = comparesEdges ? EdgeFloats(withEdges, pairs.size(), ranks) : edges;
    for (const RegistrationMetric & metric : stage.metrics)
    {
      Require(metric.pair >= 0 && metric.pair < int(compared.size()),
              "a metric names a pair of images that there is not");
    }
    if (stage.kind == Kind::Moments)
    {
      const PlannedLevel search = PlanSearch(stage, fixed);
      const double       floats = held + edges + SearchFloats(pairs, stage, search, workers, ranks);
      estimate.levels.push_back({ int(i), NameOf(stage.kind), search.size, search.iterations, 4 * floats });
      estimate.peakBytes = std::max(estimate.peakBytes, 4 * floats);
      continue;
    }
    for (const PlannedLevel & level : PlanLevels(stage, fixed, estimate.notes))
    {
      const double voxels = MostVoxels(level.size, ranks);
      double       floats = edges + WindowFloats(compared, stage, level, held > 0, ranks, device) +
                      HaloFloats(compared, stage, level, ranks, device) +
                      (device.cuda ? DeviceScratchFloats(compared, level, stage, ranks, device)
                                   : ScratchFloats(level, stage, workers));
      for (const PairGeometry & pair : compared)
      {
        floats += PairFloats(pair, stage, level, ranks, device);
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
  // around it that the inverse reaches. A GPU marks the voxels that it refines, in bytes.
  const Extent & grid = pairs.front().fixedSize;
  const double   marks = device.cuda ? std::min(full, double(cuda::DefaultGroupBytes)) / 4 : 0;
  const unsigned windows = device.cuda ? 0 : workers;
  estimate.resultBytes =
    held > 0 ? 4 * ((ranks == 1 ? 7 : 9) * full + marks + InversionFloats(grid, windows, ranks)) : 0;
  estimate.peakBytes = std::max(estimate.peakBytes, estimate.resultBytes);
  return estimate;
}

} // namespace ffdp
