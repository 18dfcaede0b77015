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
#ifndef ffdpPairEstimate_h
#define ffdpPairEstimate_h

#include "ffdpLevels.h"
#include "ffdpPlaneTransfer.h"
#include "ffdpRegistrationEstimate.h"

namespace ffdp
{

/** What a rank keeps of the images of a pair at a level, before they are there: numbers of floats. Its moving image
 * lies as headers tell; a map that turns it, and a warp, are not known yet. */
class PairEstimate
{
public:
  PairEstimate(const PairGeometry & pair, const PlannedLevel & level, int ranks);

  /** Shrunk copies of the images; none where a level is the image itself. */
  double
  ImageFloats() const;

  /** Planes of the moving image that other ranks own, as SampledImage brings them for `planesAtATime` of the fixed
   * grid. `gradientPlanes`: of the fixed grid, that derivatives are kept of at once where the ring brings them. */
  double
  ReachedFloats(double planesAtATime, double gradientPlanes) const;

private:
  /** Of the moving image, when the centers of the images lie on each other. */
  PlaneRange
  PlanesReached(double first, double end) const;

  /** Whether ranks need more planes of others than a rank has. */
  bool
  IsFromRing() const;

  PairGeometry m_Pair;
  bool         m_IsSmoothed;
  Extent       m_FixedSize, m_MovingSize;
  AffineMap    m_ToMoving; ///< index to index
  Partition    m_FixedOwners, m_MovingOwners;
};

} // namespace ffdp

#endif
