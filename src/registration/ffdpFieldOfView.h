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

/** What there is outside of an image. Sampling takes it for 0, and most images are about 0 where they show nothing, so
 * that their border is no edge. Others are not (CT in Hounsfield units, images that were cropped or shifted): there the
 * border would be aligned like an edge of what is shown, by as much as the intensities happen to be away from 0. */
struct OutsideOfImage
{
  enum class Kind
  {
    Zero,
    Dark,   ///< what the image shows around its object goes on: air, which is -1000 in CT
    Unknown ///< there is no such part in the image, so only what is inside of it, or of its mask, is compared
  };
  Kind  kind = Kind::Zero;
  float value = 0; ///< where it is dark

  /** Other images than those that are 0 outside do not fade at their borders. */
  SamplerParameters
  Sampling() const
  {
    SamplerParameters parameters;
    parameters.border = kind == Kind::Zero ? Border::Zero : Border::Edge;
    parameters.outsideValue = kind == Kind::Dark ? value : 0.0f;
    return parameters;
  }
};

inline bool
IsUnknown(const OutsideOfImage & outside)
{
  return outside.kind == OutsideOfImage::Kind::Unknown;
}

struct FieldOfView
{
  OutsideOfImage fixed, moving;
};

/** For each pair. Fixed images are asked only if they move, too. All ranks; notes tell which images it is. */
std::vector<FieldOfView>
FindFieldsOfView(Backend &                      backend,
                 Communicator &                 communicator,
                 const std::vector<ImagePair> & pairs,
                 bool                           fixedMoves,
                 std::vector<std::string> &     notes);

} // namespace ffdp

#endif
