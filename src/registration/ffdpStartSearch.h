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
#ifndef ffdpStartSearch_h
#define ffdpStartSearch_h

#include "ffdpStageRunner.h"

#include <functional>

namespace ffdp
{

/** How many rotations are tried, or followed up with about as much work, between two reports of FindStart(). */
constexpr int RotationsPerStep = 128;

/** The grid of the coarse images that FindStart() compares, and how often it reports. */
PlannedLevel
PlanSearch(const RegistrationStage & stage, const PlacedImage & fixed);

/** A map to start from: centers of mass on each other, and the rotation about them under which coarse images are most
 * similar, of those that align the principal axes, of a grid of small rotations, and of what the best of them lead
 * to. The map to start from itself is tried, too. A warp that is there stays. What is outside of the images and unknown
 * counts as 0 here: the least that is seen of both would often look most alike. The first rank searches; `report` is
 * told on all ranks what the least loss is so far, and may throw, on all, to end it. */
AffineMap
FindStart(Backend &                           backend,
          Communicator &                      communicator,
          const std::vector<ImagePair> &      pairs,
          std::vector<FieldOfView>            fields,
          const RegistrationStage &           stage,
          const Alignment &                   start,
          const std::function<void(double)> & report);

} // namespace ffdp

#endif
