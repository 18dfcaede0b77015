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
#ifndef ffdpLevels_h
#define ffdpLevels_h

#include "ffdpFieldOfView.h"
#include "ffdpLoss.h"
#include "ffdpPyramid.h"

namespace ffdp
{

/** All pairs at one level of the pyramid, the planes that this rank owns. Moving images get voxels of about the size
 * that the fixed ones have. */
class Level
{
public:
  Level(Backend &                        backend,
        Communicator &                   communicator,
        const std::vector<ImagePair> &   pairs,
        const std::vector<FieldOfView> & fields,
        const Extent &                   size,
        const LevelSmoothing &           smoothing = {});

  const std::vector<LevelPair> &
  Pairs() const
  {
    return m_Pairs;
  }
  const Extent &
  Size() const
  {
    return m_Pairs.front().fixed.domain;
  }
  const PlacedImage &
  Fixed() const
  {
    return m_Images.front().Image();
  }
  const PlacedImage &
  Moving() const
  {
    return m_Images[1].Image();
  }

private:
  std::vector<LevelImage> m_Images; ///< fixed and moving image of each pair, then masks
  std::vector<LevelPair>  m_Pairs;
};

/** A level that a stage goes through. */
struct PlannedLevel
{
  Extent         size;
  int            iterations = 0;
  LevelSmoothing smoothing;
};

/** The levels of a stage, without those that would repeat the size of another; notes tell what was left out. Of the
 * fixed image, only size and place are looked at. */
std::vector<PlannedLevel>
PlanLevels(const RegistrationStage & stage, const PlacedImage & fixed, std::vector<std::string> & notes);

/** Throws std::invalid_argument with this complaint if, under a map in mm, no point of a coarse grid over a fixed image
 * lies in its moving one, nor the other way round: then there is nothing to follow. */
void
RequireOverlap(const std::vector<ImagePair> & pairs, const AffineMap & physical, const std::string & complaint);

} // namespace ffdp

#endif
