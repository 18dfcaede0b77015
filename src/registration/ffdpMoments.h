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
#ifndef ffdpMoments_h
#define ffdpMoments_h

#include "ffdpPyramid.h"

namespace ffdp
{

/** Where the intensities of an image above its darkest voxel balance, in mm. */
std::array<double, 3>
CenterOfMass(Backend & backend, const PlacedImage & image);

/** A map to start from: centers of mass on each other, and the rotation about them under which coarse images are most
 * similar, of a grid of rotations and of what the best of them lead to. `start` itself is tried, too. */
AffineMap
FindStart(Backend &                      backend,
          Communicator &                 communicator,
          const std::vector<ImagePair> & pairs,
          const RegistrationStage &      stage,
          const AffineMap &              start);

} // namespace ffdp

#endif
