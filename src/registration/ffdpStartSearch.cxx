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
#include "ffdpStartSearch.h"

#include "ffdpLevelSize.h"
#include "ffdpLevels.h"
#include "ffdpLinearOptimizer.h"
#include "ffdpPlaneTurn.h"
#include "ffdpLoss.h"
#include "ffdpMoments.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ffdp
{
namespace
{

constexpr double Degree = 3.14159265358979323846 / 180;

/** Rotation by angles in degrees about x, then y, then z. */
AffineMap
RotationByAngles(double x, double y, double z)
{
  const double    cx = std::cos(x * Degree), sx = std::sin(x * Degree);
  const double    cy = std::cos(y * Degree), sy = std::sin(y * Degree);
  const double    cz = std::cos(z * Degree), sz = std::sin(z * Degree);
  const AffineMap aboutX{ { 1, 0, 0, 0, cx, -sx, 0, sx, cx }, {} };
  const AffineMap aboutY{ { cy, 0, sy, 0, 1, 0, -sy, 0, cy }, {} };
  const AffineMap aboutZ{ { cz, -sz, 0, sz, cz, 0, 0, 0, 1 }, {} };
  return Compose(aboutZ, Compose(aboutY, aboutX));
}

/** x -> R (x - from) + to. */
AffineMap
About(AffineMap rotation, const std::array<double, 3> & from, const std::array<double, 3> & to)
{
  const std::array<double, 3> moved = rotation(from);
  for (int c = 0; c < 3; ++c)
  {
    rotation.offset[c] = to[c] - moved[c];
  }
  return rotation;
}

std::vector<double>
AnglesToTry(double largest, double step)
{
  std::vector<double> angles = { 0 };
  for (double angle = step; step > 0 && angle <= largest + 1e-9; angle += step)
  {
    angles.push_back(angle);
    if (angle < 180 - 1e-9)
    {
      angles.push_back(-angle);
    }
  }
  return angles;
}

struct Candidate
{
  AffineMap map;
  double    value = 0;
};

/** Infinite where masks leave nothing to compare: one rotation of many may do that. */
double
Evaluate(Loss & loss, const AffineMap & map, const WarpView<const float> & warp)
{
  try
  {
    loss.Begin(map, warp, {}, {});
    loss.AddValue(0, loss.Domain().z);
    return loss.Value();
  }
  catch (const NothingToCompare &)
  {
    return std::numeric_limits<double>::infinity();
  }
}

struct MomentsOfBoth
{
  IntensityMoments fixed, moving;
};

/** The planes of a coarse level of all ranks, on the first: it is small, and searching takes many evaluations. */
class WholeLevel
{
public:
  WholeLevel(Backend & backend, Communicator & communicator, const Level & level, const Slab & warp)
  {
    const auto gather = [&](const VolumeView<const float> & own) {
      m_Volumes.push_back(FetchPlanes(backend, communicator, { own }, this->Wanted(communicator, own.domain)));
      return VolumeView<const float>(m_Volumes.back().Volume());
    };
    for (LevelPair pair : level.Pairs())
    {
      for (VolumeView<const float> * volume : { &pair.fixed, &pair.moving, &pair.fixedMask, &pair.movingMask })
      {
        if (volume->IsGiven())
        {
          *volume = gather(*volume);
        }
      }
      pairs.push_back(pair);
    }
    fixed = { pairs.front().fixed, level.Fixed().indexToPhysical };
    moving = { pairs.front().moving, level.Moving().indexToPhysical };
    if (warp)
    {
      m_Warp = FetchPlanes(backend,
                           communicator,
                           { warp.OwnedVolume(0), warp.OwnedVolume(1), warp.OwnedVolume(2) },
                           this->Wanted(communicator, warp.Domain()));
    }
  }

  WarpView<const float>
  Warp() const
  {
    return m_Warp ? m_Warp.Warp() : WarpView<float>();
  }

  std::vector<LevelPair> pairs;
  PlacedImage            fixed, moving; ///< of the first pair

private:
  static PlaneRange
  Wanted(Communicator & communicator, const Extent & domain)
  {
    return communicator.Rank() == 0 ? PlaneRange{ 0, domain.z } : PlaneRange();
  }

  std::vector<Slab> m_Volumes;
  Slab              m_Warp;
};

/** One mask alone would measure a part of one image against the whole of the other. */
MomentsOfBoth
MeasureBoth(Backend & backend, const WholeLevel & images)
{
  const LevelPair & first = images.pairs.front();
  const bool        masked = first.fixedMask.IsGiven() && first.movingMask.IsGiven();
  const auto        inMask = [masked](const VolumeView<const float> & mask) {
    return masked ? mask : VolumeView<const float>();
  };
  return { MeasureMoments(backend, images.fixed, inMask(first.fixedMask)),
           MeasureMoments(backend, images.moving, inMask(first.movingMask)) };
}

/** The rotations of a search in their order: those that align principal axes, then a grid of angles. How many there are
 * follows from the stage, so that all ranks know it. */
struct RotationGrid
{
  std::vector<double> angles; ///< in degrees, about each axis
  bool                planar;
  bool                turns; ///< otherwise images are only shifted

  RotationGrid(const RegistrationStage & stage, bool isPlanar)
    : angles(AnglesToTry(stage.searchAngle, stage.searchStep))
    , planar(isPlanar)
    , turns(stage.searchAngle > 0)
  {}

  std::int64_t
  AlignedAxes() const
  {
    return !turns ? 0 : planar ? 2 : 4;
  }

  /** How many of the best are followed up, in a step each. */
  int
  Refined() const
  {
    return turns ? 4 : 0;
  }

  std::int64_t
  Size() const
  {
    const auto about = std::int64_t(angles.size());
    return this->AlignedAxes() + (planar ? about : about * about * about);
  }

  /** The k-th of the grid of angles. */
  AffineMap
  ByAngles(std::int64_t k) const
  {
    const auto   about = std::int64_t(angles.size());
    const double x = planar ? 0 : angles[std::size_t(k % about)],
                 y = planar ? 0 : angles[std::size_t(k / about % about)];
    return RotationByAngles(x, y, angles[std::size_t(planar ? k : k / about / about)]);
  }

  /** Steps in which some rotations are tried each. */
  int
  Trials() const
  {
    return int((this->Size() + RotationsPerStep - 1) / RotationsPerStep);
  }
};

/** A search on one rank, in steps between which it can be given up. */
class Search
{
public:
  Search(Backend & backend, const WholeLevel & images, const RegistrationStage & stage, const AffineMap & start)
    : m_Images(images)
    , m_Rotations(stage, IsPlane(images.fixed.voxels.domain))
    , m_Self(MakeSelfCommunicator())
    , m_Loss(backend, *m_Self, images.pairs, stage.metrics, images.fixed.voxels.domain.z)
    , m_Moments(MeasureBoth(backend, images))
    , m_Axes(AlignPrincipalAxes(m_Moments.fixed, m_Moments.moving, m_Rotations.planar))
    , m_Start(start)
  {
    this->Try(start);
  }

  void
  Do(int step)
  {
    const int trials = m_Rotations.Trials();
    if (step >= trials)
    {
      this->Refine(m_Best[std::size_t(step - trials)]);
      return;
    }
    const std::int64_t first = std::int64_t(step) * RotationsPerStep;
    for (std::int64_t k = first; k < std::min(first + RotationsPerStep, m_Rotations.Size()); ++k)
    {
      this->Try(About(this->Rotation(k), m_Moments.fixed.center, m_Moments.moving.center));
    }
    if (step == trials - 1 && !std::isfinite(this->Best().value))
    {
      throw NothingToCompare();
    }
  }

  const Candidate &
  Best() const
  {
    return *std::min_element(m_Best.begin(), m_Best.end(), IsBetter);
  }

private:
  static bool
  IsBetter(const Candidate & a, const Candidate & b)
  {
    return a.value < b.value;
  }

  AffineMap
  Rotation(std::int64_t k) const
  {
    if (!m_Rotations.turns)
    {
      return m_Start;
    }
    if (k >= m_Rotations.AlignedAxes())
    {
      return m_Rotations.ByAngles(k - m_Rotations.AlignedAxes());
    }
    AffineMap map;
    std::copy(m_Axes[std::size_t(k)].begin(), m_Axes[std::size_t(k)].end(), map.matrix);
    return map;
  }

  /** Keeps a map if it is among the best; of equal ones, those that came first. */
  void
  Try(const AffineMap & map)
  {
    const Candidate candidate{ map, Evaluate(m_Loss, map, m_Images.Warp()) };
    m_Best.insert(std::upper_bound(m_Best.begin(), m_Best.end(), candidate, IsBetter), candidate);
    m_Best.resize(std::min(m_Best.size(), std::size_t(std::max(1, m_Rotations.Refined()))));
  }

  void
  Refine(Candidate & candidate)
  {
    LinearOptimizer optimizer(RegistrationStage::Kind::Rigid, m_Images.fixed, candidate.map, m_Rotations.planar);
    try
    {
      this->Follow(optimizer);
    }
    catch (const NothingToCompare &)
    {} // it has led away from what the masks leave, and will not be chosen
    const double value = Evaluate(m_Loss, optimizer.Map(), m_Images.Warp());
    if (value < candidate.value)
    {
      candidate = { optimizer.Map(), value };
    }
  }

  void
  Follow(LinearOptimizer & optimizer)
  {
    constexpr int Iterations = 40;
    const double  edge = VoxelEdge(m_Images.fixed);
    for (int i = 0; i < Iterations; ++i)
    {
      m_Loss.Begin(optimizer.Map(), m_Images.Warp(), {}, m_Loss.Planes());
      m_Loss.AddMapGradient(0, m_Images.fixed.voxels.domain.z);
      optimizer.Step(m_Loss.PhysicalMapGradient(), edge * 0.5 * double(Iterations - i) / Iterations);
    }
  }

  const WholeLevel &                 m_Images;
  RotationGrid                       m_Rotations;
  std::unique_ptr<Communicator>      m_Self;
  Loss                               m_Loss;
  MomentsOfBoth                      m_Moments;
  std::vector<std::array<double, 9>> m_Axes;
  AffineMap                          m_Start;
  std::vector<Candidate>             m_Best; ///< the best first, until they are refined
};

/** Calls work() on the first rank. What it cannot do is an error on all of them. */
template <typename TWork>
void
DoOnFirstRank(Communicator & communicator, const TWork & work)
{
  std::vector<double> said;
  if (communicator.Rank() == 0)
  {
    try
    {
      work();
    }
    catch (const std::exception & error)
    {
      const std::string reason = error.what();
      said.assign(reason.begin(), reason.end());
    }
  }
  said = communicator.Gather(said);
  if (!said.empty())
  {
    throw std::invalid_argument(std::string(said.begin(), said.end()));
  }
}

/** What the first rank found, on all ranks. */
Candidate
TakeFromFirstRank(Communicator & communicator, const Search * search)
{
  std::vector<double> said;
  if (search)
  {
    const Candidate & best = search->Best();
    said.assign(best.map.matrix, best.map.matrix + 9);
    said.insert(said.end(), best.map.offset, best.map.offset + 3);
    said.push_back(best.value);
  }
  said = communicator.Gather(said);
  Candidate best;
  std::copy(said.begin(), said.begin() + 9, best.map.matrix);
  std::copy(said.begin() + 9, said.begin() + 12, best.map.offset);
  best.value = said.at(12);
  return best;
}

} // namespace

PlannedLevel
PlanSearch(const RegistrationStage & stage, const PlacedImage & fixed)
{
  constexpr double       VoxelsAcross = 32; // of the coarse images that are compared
  constexpr std::int64_t Smallest = 8;
  const Extent &         size = fixed.voxels.domain;
  const RotationGrid     rotations(stage, IsPlane(size));
  return { ShrinkExtent(size, FactorsForVoxelsAcross(VoxelsAcross, fixed), Smallest),
           rotations.Trials() + rotations.Refined(),
           {} };
}

AffineMap
FindStart(Backend &                           backend,
          Communicator &                      communicator,
          const std::vector<ImagePair> &      pairs,
          std::vector<FieldOfView>            fields,
          const RegistrationStage &           stage,
          const Alignment &                   start,
          const std::function<void(double)> & report)
{
  for (FieldOfView & field : fields)
  {
    field.moving = IsUnknown(field.moving) ? OutsideOfImage() : field.moving;
  }
  const PlannedLevel      plan = PlanSearch(stage, pairs.front().fixed);
  const Level             level(backend, communicator, pairs, fields, plan.size);
  const Slab              warp = start.warp ? Regrid(backend, communicator, start.warp, level.Size()) : Slab();
  const WholeLevel        whole(backend, communicator, level, warp);
  std::unique_ptr<Search> search;
  DoOnFirstRank(communicator, [&] { search = std::make_unique<Search>(backend, whole, stage, start.affine); });
  for (int step = 0; step < plan.iterations; ++step)
  {
    DoOnFirstRank(communicator, [&] { search->Do(step); });
    report(TakeFromFirstRank(communicator, search.get()).value);
  }
  return TakeFromFirstRank(communicator, search.get()).map;
}

} // namespace ffdp
