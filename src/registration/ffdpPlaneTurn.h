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
#ifndef ffdpPlaneTurn_h
#define ffdpPlaneTurn_h

#include "ffdpRegistration.h"

namespace ffdp
{

/** Whether an image has one voxel along an axis. */
inline bool
IsPlane(const Extent & size)
{
  return size.x == 1 || size.y == 1 || size.z == 1;
}

/** Linear stages move an image of one plane within x and y of space. A slice may lie elsewhere (a sagittal one): then
 * all of space is turned for the registration such that its plane lies there. Warps are in voxels, and do not notice.
 */
class PlaneTurn
{
public:
  /** Turns nothing. */
  PlaneTurn() = default;
  /** For the plane of this image; turns nothing for a volume, or a plane that lies in x and y. */
  explicit PlaneTurn(const PlacedImage & image);

  std::vector<ImagePair>
  Apply(std::vector<ImagePair> pairs) const;
  /** A map of space, as one of turned space. */
  AffineMap
  Apply(const AffineMap & map) const;
  /** A map of turned space, as one of space. */
  AffineMap
  Undo(const AffineMap & map) const;

private:
  bool      m_Turns = false; ///< otherwise maps keep their bytes
  AffineMap m_Turn;
};

} // namespace ffdp

#endif
