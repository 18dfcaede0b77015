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
#include "ffdpFieldOfView.h"

#include "ffdpImageIntensities.h"

#include <cmath>

namespace ffdp
{
namespace
{

/** Whether what an image shows as nothing, its darkest thousandth, is about 0. */
bool
IsDarkOutside(Backend & backend, Communicator & communicator, const VolumeView<const float> & image)
{
  constexpr float      About = 0.05f; // of the range of intensities
  const Statistics     statistics = MeasureImage(backend, communicator, image);
  const IntensityRange range = MeasureRange(backend, communicator, image, statistics);
  return std::abs(range.low) <= About * (range.high - range.low);
}

} // namespace

std::vector<FieldOfView>
FindFieldsOfView(Backend &                      backend,
                 Communicator &                 communicator,
                 const std::vector<ImagePair> & pairs,
                 bool                           fixedMoves,
                 std::vector<std::string> &     notes)
{
  const auto ends = [&](const PlacedImage & image, const VolumeView<const float> & mask, const char * name) {
    const bool isSo = !IsDarkOutside(backend, communicator, image.voxels);
    if (isSo && !mask.IsGiven())
    {
      notes.push_back("the darkest part of a " + std::string(name) +
                      " image is not about 0: what is outside of it is not compared");
    }
    return isSo;
  };
  std::vector<FieldOfView> fields;
  for (const ImagePair & pair : pairs)
  {
    FieldOfView field;
    field.movingEnds = ends(pair.moving, pair.movingMask, "moving");
    field.fixedEnds = fixedMoves && ends(pair.fixed, pair.fixedMask, "fixed");
    fields.push_back(field);
  }
  return fields;
}

} // namespace ffdp
