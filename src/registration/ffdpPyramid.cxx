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
#include "ffdpPyramid.h"

#include "ffdpExtendedImage.h"

#include <cmath>

namespace ffdp
{

namespace
{

/** Downsamples an image that is spread over the ranks. Most planes need only what their rank owns, and are made from it
 * where it lies. Some at the edges of a slab, or all where fewer ranks share a level, need planes of others, too: few
 * at a time, so that putting those side by side takes little memory. */
void
DownsampleSpread(Backend &                       backend,
                 Communicator &                  communicator,
                 const VolumeView<const float> & full,
                 const Slab &                    level,
                 const GridMap &                 map,
                 const DownsampleParameters &    parameters)
{
  constexpr std::int64_t FewPlanes = 4;
  const PlaneRange &     owned = level.Owned();
  const auto             needed = [&](std::int64_t first, std::int64_t end) {
    return DownsamplePlanes(full.domain, level.Domain(), map, { first, end }, parameters);
  };
  const auto isHere = [&](std::int64_t plane) {
    const PlaneRange planes = needed(plane, plane + 1);
    return planes.first >= full.firstPlane && planes.end <= full.EndPlane();
  };
  ExtendedImage nearby(backend, communicator, full, std::make_shared<DeviceArray<float>>());
  nearby.Extend(GatherRanges(communicator, level.IsEmpty() ? PlaneRange() : needed(owned.first, owned.end)));
  for (std::int64_t first = owned.first, end; first < owned.end; first = end)
  {
    const bool here = isHere(first);
    for (end = first + 1; end < owned.end && isHere(end) == here && (here || end - first < FewPlanes); ++end)
    {}
    backend.Downsample(nearby.View(needed(first, end)), level.Volume().Planes(first, end - first), map, parameters);
  }
}

} // namespace

AffineMap
LevelToPhysical(const PlacedImage & full, const Extent & size)
{
  const GridMap map = GridMap::Centered(full.voxels.domain, size);
  AffineMap     toFine;
  for (int axis = 0; axis < 3; ++axis)
  {
    toFine.matrix[4 * axis] = map.scale[axis];
    toFine.offset[axis] = map.offset[axis];
  }
  return Compose(full.indexToPhysical, toFine);
}

std::array<double, 3>
SpacingOf(const AffineMap & map)
{
  std::array<double, 3> spacing;
  for (int c = 0; c < 3; ++c)
  {
    spacing[c] = std::sqrt(map.matrix[c] * map.matrix[c] + map.matrix[3 + c] * map.matrix[3 + c] +
                           map.matrix[6 + c] * map.matrix[6 + c]);
  }
  return spacing;
}

LevelImage::LevelImage(Backend &              backend,
                       Communicator &         communicator,
                       const PlacedImage &    full,
                       const Extent &         size,
                       const LevelSmoothing & smoothing)
  : m_Image(full)
{
  const Extent & fine = full.voxels.domain;
  if (size == fine && smoothing.sigma <= 0)
  {
    return;
  }
  DownsampleParameters        parameters;
  const std::array<double, 3> spacing = SpacingOf(full.indexToPhysical);
  const std::int64_t          voxels[3] = { fine.x, fine.y, fine.z };
  for (int axis = 0; axis < 3; ++axis)
  {
    const double sigma = smoothing.inMm ? smoothing.sigma / spacing[std::size_t(axis)] : smoothing.sigma;
    parameters.sigma[axis] = smoothing.sigma < 0 ? -1.0 : voxels[axis] > 1 ? sigma : 0.0;
  }
  const GridMap map = GridMap::Centered(fine, size);
  m_Slab = Slab(backend, communicator, size, 1);
  if (communicator.Size() == 1)
  {
    backend.Downsample(full.voxels, m_Slab.Volume(), map, parameters);
  }
  else
  {
    DownsampleSpread(backend, communicator, full.voxels, m_Slab, map, parameters);
  }
  m_Image.voxels = m_Slab.Volume();
  m_Image.indexToPhysical = LevelToPhysical(full, size);
}

Extent
SizeForGrid(const PlacedImage & full, const AffineMap & gridToPhysical)
{
  // Steps along the axes of the image, in voxels of the grid.
  const std::array<double, 3> steps = SpacingOf(Compose(gridToPhysical.Inverse(), full.indexToPhysical));
  const Extent &              size = full.voxels.domain;
  constexpr double            WorthIt = 1.4; // voxels that are a little finer do no harm; smoothing them would
  constexpr std::int64_t      Least = 8;     // a small image must not become one of a voxel, which shows nothing
  const auto                  shrink = [=](std::int64_t n, double step) {
    const auto shrunk = std::int64_t(std::floor(double(n) * step + 1e-6));
    return step * WorthIt < 1 ? std::max(std::min(n, Least), shrunk) : n;
  };
  return Extent{ shrink(size.x, steps[0]), shrink(size.y, steps[1]), shrink(size.z, steps[2]) };
}

std::int64_t
PlanesAtATime(std::int64_t fewVoxels, const Extent & domain, std::int64_t planes)
{
  constexpr std::int64_t Least = 8;
  constexpr std::int64_t Part = 16;                  // what is kept of a slab is to be a small part of it
  const std::int64_t     manyVoxels = 8 * fewVoxels; // caches are full above this
  const auto             planesOf = [&](std::int64_t voxels) { return voxels / (domain.x * domain.y) + 1; };
  const std::int64_t wanted = std::max({ Least, planesOf(fewVoxels), std::min(planesOf(manyVoxels), planes / Part) });
  return std::max<std::int64_t>(1, std::min(planes, wanted));
}

} // namespace ffdp
