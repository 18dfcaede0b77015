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
#ifndef ffdpRunInput_h
#define ffdpRunInput_h

#include "ffdpRegistration.h"
#include "ffdpSlab.h"

#include <vector>

namespace ffdp
{

/** Throws unless images and masks are densely packed and hold just the planes that this rank owns. Ranks agree on who
 * has what without asking: it follows from the sizes. */
void
RequireOwnPlanes(const Communicator & communicator, const std::vector<ImagePair> & pairs);

/** A copy of the caller's warp for images of this size, where the backend can reach it. */
Slab
TakeWarp(Backend & backend, Communicator & communicator, const WarpView<const float> & warp, const Extent & size);

} // namespace ffdp

#endif
