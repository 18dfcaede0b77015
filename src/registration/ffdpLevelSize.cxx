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
#include "ffdpLevelSize.h"

#include "ffdpGridMap.h"
#include "ffdpPyramid.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace ffdp
{
namespace
{

/** Edges of a voxel in units of the shortest one. Axes that are one voxel long do not count, and have a 1. */
std::array<double, 3>
RelativeSpacing(const PlacedImage & full)
{
  constexpr double            Rounding = 1.01; // edges that are meant to be alike differ in some headers
  const Extent &              size = full.voxels.domain;
  const std::int64_t          voxels[3] = { size.x, size.y, size.z };
  const std::array<double, 3> spacing = SpacingOf(full.indexToPhysical);
  double                      shortest = 0;
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    const bool counts = voxels[axis] > 1 && (shortest == 0 || spacing[axis] < shortest);
    shortest = counts ? spacing[axis] : shortest;
  }
  std::array<double, 3> relative{ { 1, 1, 1 } };
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    const bool longer = voxels[axis] > 1 && spacing[axis] > Rounding * shortest;
    relative[axis] = longer ? spacing[axis] / shortest : 1.0;
  }
  return relative;
}

/** What shrinks voxels with these edges to cubes with this one, as far as theirs are shorter. */
std::array<double, 3>
FactorsToEdge(double edge, const std::array<double, 3> & relative)
{
  std::array<double, 3> factors;
  std::transform(
    relative.begin(), relative.end(), factors.begin(), [=](double own) { return std::max(1.0, edge / own); });
  return factors;
}

/** The edge of cubes that the finest axes are to be shrunk to, so that voxels become so many times as large. */
double
EdgeForVolume(double times, std::vector<double> relative)
{
  std::sort(relative.begin(), relative.end());
  double volume = times, edge = 1; // of voxels along the finest axes
  for (std::size_t shrunk = 1; shrunk <= relative.size(); ++shrunk)
  {
    volume *= relative[shrunk - 1];
    edge = std::pow(volume, 1.0 / double(shrunk));
    if (shrunk < relative.size() && edge <= relative[shrunk])
    {
      break;
    }
  }
  return edge;
}

double
EdgeBySpacing(double factor, const std::array<double, 3> & relative, const Extent & size)
{
  std::vector<double> ofLongAxes;
  const std::int64_t  voxels[3] = { size.x, size.y, size.z };
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    if (voxels[axis] > 1)
    {
      ofLongAxes.push_back(relative[axis]);
    }
  }
  constexpr double Rounding = 1e-9; // usually the two are the same
  const double     fewest = EdgeForVolume(std::pow(factor, double(ofLongAxes.size()) - 1), ofLongAxes);
  return fewest > factor * (1 + Rounding) ? fewest : factor;
}

} // namespace

std::array<double, 3>
FactorsOfAxes(const ShrinkFactor & factor, const PlacedImage & full)
{
  if (!factor.bySpacing)
  {
    return { { factor.axis[0], factor.axis[1], factor.axis[2] } };
  }
  const std::array<double, 3> relative = RelativeSpacing(full);
  return FactorsToEdge(EdgeBySpacing(factor.axis[0], relative, full.voxels.domain), relative);
}

std::array<double, 3>
FactorsForVoxelsAcross(double voxels, const PlacedImage & full)
{
  const Extent &              size = full.voxels.domain;
  const std::array<double, 3> relative = RelativeSpacing(full);
  const double                longest =
    std::max({ double(size.x) * relative[0], double(size.y) * relative[1], double(size.z) * relative[2] });
  return FactorsToEdge(longest / voxels, relative);
}

Extent
ShrinkExtent(const Extent & full, const std::array<double, 3> & factors, std::int64_t smallest)
{
  const auto shrink = [=](std::int64_t n, double factor) { return LevelSize({ n, 1, 1 }, factor, smallest).x; };
  return { shrink(full.x, factors[0]), shrink(full.y, factors[1]), shrink(full.z, factors[2]) };
}

} // namespace ffdp
