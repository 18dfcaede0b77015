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
#include "ffdpPairEstimate.h"

#include "ffdpSampledImage.h"

#include <algorithm>
#include <cmath>

namespace ffdp
{
namespace
{

double
PlanesOf(const PlaneRange & range)
{
  return double(std::max<std::int64_t>(0, range.end - range.first));
}

} // namespace

PairEstimate::PairEstimate(const PairGeometry & pair, const PlannedLevel & level, int ranks)
  : m_Pair(pair)
  , m_IsSmoothed(level.smoothing.sigma > 0)
  , m_FixedSize(level.size)
  , m_FixedOwners(level.size.z, ranks)
  , m_MovingOwners(pair.movingSize.z, ranks)
{
  const PlacedImage fixed{ VolumeView<const float>(nullptr, pair.fixedSize), pair.fixedToPhysical };
  const PlacedImage moving{ VolumeView<const float>(nullptr, pair.movingSize), pair.movingToPhysical };
  const AffineMap   fixedToPhysical = LevelToPhysical(fixed, m_FixedSize);
  m_MovingSize = SizeForGrid(moving, fixedToPhysical);
  m_MovingOwners = Partition(m_MovingSize.z, ranks);
  m_ToMoving = Compose(LevelToPhysical(moving, m_MovingSize).Inverse(), fixedToPhysical);
}

double
PairEstimate::ImageFloats() const
{
  const auto copy = [&](const Extent & full, const Extent & size, const Partition & owners) {
    return full == size && !m_IsSmoothed ? 0.0 : double(owners.ThickestSlab() * size.x * size.y);
  };
  return copy(m_Pair.fixedSize, m_FixedSize, m_FixedOwners) * (m_Pair.hasFixedMask ? 2 : 1) +
         copy(m_Pair.movingSize, m_MovingSize, m_MovingOwners) * (m_Pair.hasMovingMask ? 2 : 1);
}

double
PairEstimate::ReachedFloats(double planesAtATime, double gradientPlanes) const
{
  const double images = m_Pair.hasMovingMask ? 2 : 1;
  const auto   movingPlane = double(m_MovingSize.x * m_MovingSize.y);
  if (this->IsFromRing())
  {
    const auto       fixedPlane = double(m_FixedSize.x * m_FixedSize.y);
    constexpr double ChunksAtATime = 2;
    const double     chunk = std::floor(double(m_MovingOwners.ThickestSlab()) / SampledImage::RingChunksPerSlab);
    return (images * double(m_FixedOwners.ThickestSlab()) + 3 * gradientPlanes) * fixedPlane +
           ChunksAtATime * std::max(1.0, chunk) * movingPlane;
  }
  double most = 0;
  for (int rank = 0; rank < m_FixedOwners.Ranks(); ++rank)
  {
    const PlaneRange fixed = m_FixedOwners.Owned(rank), own = m_MovingOwners.Owned(rank);
    const PlaneRange reached = this->PlanesReached(double(fixed.first), double(fixed.end));
    const double     fetched = PlanesOf(reached) - PlanesOf(Intersection(own, reached));
    double           atOnce = 0, joined = 0;
    for (std::int64_t plane = fixed.first; plane < fixed.end; ++plane)
    {
      const auto first = double(plane);
      atOnce = std::max(atOnce, PlanesOf(this->PlanesReached(first, first + 1)));
      joined = std::max(joined, PlanesOf(this->PlanesReached(first, first + planesAtATime)));
    }
    const bool inOnePiece = SampledImage::IsBetterInOnePiece(atOnce, PlanesOf(own));
    most = std::max(most, images * (fetched + (inOnePiece ? PlanesOf(own) : 0)) + (inOnePiece ? 0 : joined));
  }
  return most * movingPlane;
}

PlaneRange
PairEstimate::PlanesReached(double first, double end) const
{
  constexpr double Warped = 2; // and fetched to spare, on either side
  const double(&toMoving)[9] = m_ToMoving.matrix;
  const double fromCenter = 0.5 * (first + end - double(m_FixedSize.z));
  const double center = 0.5 * double(m_MovingSize.z - 1) + toMoving[8] * fromCenter;
  const double reach =
    Warped + 0.5 * (std::abs(toMoving[6]) * double(m_FixedSize.x) + std::abs(toMoving[7]) * double(m_FixedSize.y) +
                    std::abs(toMoving[8]) * (end - first));
  return Intersection({ 0, m_MovingSize.z },
                      { std::int64_t(std::floor(center - reach)), std::int64_t(std::ceil(center + reach)) + 1 });
}

bool
PairEstimate::IsFromRing() const
{
  std::vector<PlaneRange> wanted;
  for (int rank = 0; rank < m_FixedOwners.Ranks(); ++rank)
  {
    const PlaneRange own = m_FixedOwners.Owned(rank);
    wanted.push_back(this->PlanesReached(double(own.first), double(own.end)));
  }
  return SampledImage::NeedsRing(m_MovingOwners, wanted);
}

} // namespace ffdp
