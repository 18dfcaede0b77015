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
#include "ffdpLevels.h"

#include "ffdpLevelSize.h"
#include "ffdpRegistrationEstimate.h"
#include "ffdpStageList.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace ffdp
{
namespace
{

/** The largest voxel of an image that is spread over the ranks. */
double
LargestOf(Backend & backend, Communicator & communicator, const VolumeView<const float> & image)
{
  double largest = 0;
  if (image.planes > 0)
  {
    for (const Statistics & plane : backend.PlaneStatistics(image))
    {
      largest = std::max(largest, double(plane.maximum));
    }
  }
  communicator.Maximum(&largest, 1);
  return largest;
}

} // namespace

Level::Level(Backend &                        backend,
             Communicator &                   communicator,
             const std::vector<ImagePair> &   pairs,
             const std::vector<FieldOfView> & fields,
             const Extent &                   size,
             const LevelSmoothing &           smoothing)
{
  m_Images.reserve(4 * pairs.size());
  const auto shrink = [&](const PlacedImage & image, const Extent & to) -> const PlacedImage & {
    m_Images.emplace_back(backend, communicator, image, to, smoothing);
    return m_Images.back().Image();
  };
  // Half of a voxel must be inside the mask for it to count. Masks that are nowhere as thick as a voxel of the level
  // would leave nothing: they are measured by the voxel that they fill most.
  const auto shrinkMask = [&](const PlacedImage & mask, const Extent & to) {
    shrink(mask, to);
    const double most = LargestOf(backend, communicator, m_Images.back().Image().voxels);
    if (most > 0 && most < 1)
    {
      m_Images.back().Scale(backend, float(1 / most));
    }
    return m_Images.back().Image().voxels;
  };
  for (std::size_t i = 0; i < pairs.size(); ++i)
  {
    const ImagePair &   pair = pairs[i];
    const PlacedImage & fixed = shrink(pair.fixed, size);
    const Extent        movingSize = SizeForGrid(pair.moving, fixed.indexToPhysical);
    const PlacedImage & moving = shrink(pair.moving, movingSize);

    LevelPair level;
    level.field = fields[i];
    level.fixed = fixed.voxels;
    level.moving = moving.voxels;
    level.fixedToPhysical = fixed.indexToPhysical;
    level.physicalToMoving = moving.indexToPhysical.Inverse();
    if (pair.fixedMask.IsGiven())
    {
      level.fixedMask = shrinkMask({ pair.fixedMask, pair.fixed.indexToPhysical }, size);
    }
    if (pair.movingMask.IsGiven())
    {
      level.movingMask = shrinkMask({ pair.movingMask, pair.moving.indexToPhysical }, movingSize);
    }
    m_Pairs.push_back(level);
  }
}

namespace
{

void
RequireNumbers(const RegistrationStage & stage)
{
  Require(stage.learningRate > 0 && std::isfinite(stage.learningRate), "a learning rate must be positive");
  double weights = 0;
  for (const RegistrationMetric & metric : stage.metrics)
  {
    Require(metric.weight >= 0 && std::isfinite(metric.weight), "the weight of a metric must not be negative");
    weights += metric.weight;
  }
  Require(weights > 0, "a stage needs a metric whose weight is not 0");
}

/** Of each level, how much each axis is shrunk. */
std::vector<std::array<double, 3>>
FactorsOfLevels(const RegistrationStage & stage, const PlacedImage & fixed)
{
  std::vector<std::array<double, 3>> factors;
  for (const ShrinkFactor & factor : stage.shrinkFactors)
  {
    factors.push_back(FactorsOfAxes(factor, fixed));
    const std::array<double, 3> & own = factors.back();
    const std::array<double, 3> & before = factors.size() > 1 ? *(factors.end() - 2) : own;
    for (std::size_t axis = 0; axis < 3; ++axis)
    {
      Require(factor.axis[axis] >= 1 && own[axis] <= before[axis],
              "shrink factors must not rise from level to level and not be below 1");
    }
  }
  return factors;
}

/** Tells if the first level is far from as small as was asked for, along the axes that were to be shrunk. */
void
NoteSmallest(const RegistrationStage &     stage,
             const Extent &                full,
             const std::array<double, 3> & factors,
             const PlannedLevel &          first,
             std::vector<std::string> &    notes)
{
  const std::int64_t voxels[3] = { full.x, full.y, full.z };
  const std::int64_t left[3] = { first.size.x, first.size.y, first.size.z };
  double             longest = 0, wanted = 0;
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    if (factors[axis] > 1)
    {
      longest = std::max(longest, double(left[axis]));
      wanted = std::max(wanted, double(voxels[axis]) / factors[axis]);
    }
  }
  if (longest > 2 * wanted)
  {
    std::ostringstream note;
    note << NameOf(stage.kind) << ": with a shrink factor of " << DescribeFactor(stage.shrinkFactors.front())
         << " too little would be left of the image; the level has " << first.size.x << "x" << first.size.y << "x"
         << first.size.z << " voxels";
    notes.push_back(note.str());
  }
}

/** Whether a point of a coarse grid over one image lies in another. */
bool
SeesPoint(const Extent & from, const AffineMap & map, const Extent & to)
{
  constexpr int Points = 16; // along each axis
  const auto    at = [](int k, std::int64_t size) { return double(size - 1) * k / (Points - 1); };
  for (int i = 0; i < Points * Points * Points; ++i)
  {
    const auto p =
      map({ { at(i % Points, from.x), at(i / Points % Points, from.y), at(i / Points / Points, from.z) } });
    if (p[0] > -1 && p[0] < double(to.x) && p[1] > -1 && p[1] < double(to.y) && p[2] > -1 && p[2] < double(to.z))
    {
      return true;
    }
  }
  return false;
}

} // namespace

std::vector<PlannedLevel>
PlanLevels(const RegistrationStage & stage, const PlacedImage & fixed, std::vector<std::string> & notes)
{
  Require(!stage.shrinkFactors.empty() && stage.shrinkFactors.size() == stage.iterations.size(),
          "a stage needs as many shrink factors as numbers of iterations, and at least one");
  Require(stage.smoothingSigmas.empty() || stage.smoothingSigmas.size() == stage.shrinkFactors.size(),
          "a stage needs as many smoothing sigmas as shrink factors, or none");
  RequireNumbers(stage);
  const Extent &                           full = fixed.voxels.domain;
  const std::vector<std::array<double, 3>> factors = FactorsOfLevels(stage, fixed);
  std::vector<PlannedLevel>                levels;
  for (std::size_t i = 0; i < factors.size(); ++i)
  {
    Require(stage.iterations[i] >= 0, "a number of iterations cannot be negative");
    PlannedLevel level{ ShrinkExtent(full, factors[i], stage.smallestSize), stage.iterations[i], {} };
    if (!stage.smoothingSigmas.empty())
    {
      level.smoothing = { stage.smoothingSigmas[i], stage.smoothingInMm };
    }
    const bool again = i > 0 && stage.shrinkFactors[i] == stage.shrinkFactors[i - 1]; // as was asked for
    if (!levels.empty() && !again && levels.back().size == level.size)
    {
      std::ostringstream note;
      note << NameOf(stage.kind) << ": the level with shrink factor " << DescribeFactor(stage.shrinkFactors[i - 1])
           << " was left out: the image is too small to tell it from the next";
      notes.push_back(note.str());
      levels.back() = level;
    }
    else
    {
      levels.push_back(level);
    }
  }
  if (levels.size() == factors.size()) // otherwise it was told already
  {
    NoteSmallest(stage, full, factors.front(), levels.front(), notes);
  }
  return levels;
}

void
RequireOverlap(const std::vector<ImagePair> & pairs, const AffineMap & physical, const std::string & complaint)
{
  for (const ImagePair & pair : pairs)
  {
    const AffineMap toMoving =
      Compose(pair.moving.indexToPhysical.Inverse(), Compose(physical, pair.fixed.indexToPhysical));
    const Extent & fixed = pair.fixed.voxels.domain;
    const Extent & moving = pair.moving.voxels.domain;
    // Either way: points of a coarse grid may all miss an image that is thin.
    Require(SeesPoint(fixed, toMoving, moving) || SeesPoint(moving, toMoving.Inverse(), fixed), complaint);
  }
}

} // namespace ffdp
