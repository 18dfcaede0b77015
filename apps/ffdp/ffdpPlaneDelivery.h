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
#ifndef ffdpPlaneDelivery_h
#define ffdpPlaneDelivery_h

#include "ffdpCommunicator.h"
#include "ffdpPlaneSource.h"

#include <functional>

/** Takes planes of one of a source's volumes that this rank owns. */
using PlaneSink = std::function<void(int volume, const ffdp::PlaneRange & planes, const float * values)>;

/** Brings to each rank the planes of an image of size `domain` that it owns (see ffdp::Partition): each rank reads its
 * own where the source allows that, otherwise rank 0 reads all of them, in order, and sends them to their owners.
 * Memory: some megabytes, or two planes where they are larger.
 *
 * All ranks make the call. If reading fails on one of them, all throw the same CommandError. `take` does not throw. */
void
DeliverPlanes(ffdp::Communicator & communicator,
              PlaneSource &        source,
              const ffdp::Extent & domain,
              const PlaneSink &    take);

#endif
