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
#ifndef ffdpFieldOfView_h
#define ffdpFieldOfView_h

#include "ffdpBackend.h"
#include "ffdpCommunicator.h"
#include "ffdpRegistration.h"

#include <string>
#include <vector>

namespace ffdp
{

/** Sampling takes what is outside of an image for 0. Most images are about 0 where they show nothing, and then the
 * border of the image is no edge. Others are not (CT in Hounsfield units, images that were cropped or shifted): there
 * the border would be aligned like an edge of what is shown, by as much as the intensities happen to be away from 0.
 * So samples of such images do not fade at the border, and only what is inside of them, or of their masks, is compared.
 */
struct FieldOfView
{
  bool fixedEnds = false; ///< the fixed image is such a one
  bool movingEnds = false;
};

/** How such images are sampled, and all others. */
inline Border
BorderOf(bool ends)
{
  return ends ? Border::Edge : Border::Zero;
}

/** For each pair. Fixed images are asked only if they move, too. All ranks; notes tell which images it is. */
std::vector<FieldOfView>
FindFieldsOfView(Backend &                      backend,
                 Communicator &                 communicator,
                 const std::vector<ImagePair> & pairs,
                 bool                           fixedMoves,
                 std::vector<std::string> &     notes);

} // namespace ffdp

#endif
