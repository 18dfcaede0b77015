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
#include <sstream>

namespace ffdp
{
namespace
{

OutsideOfImage
FindOutside(Backend & backend, Communicator & communicator, const VolumeView<const float> & image)
{
  constexpr double         About = 0.05;     // of the range of intensities
  constexpr double         Background = 0.2; // of the voxels of an image that shows what is around its object
  const Statistics         statistics = MeasureImage(backend, communicator, image);
  const IntensityHistogram histogram = MeasureHistogram(backend, communicator, image, statistics);
  const IntensityRange     range = RangeOf(histogram);
  const double             little = About * (double(range.high) - double(range.low));
  OutsideOfImage           outside;
  if (std::abs(double(range.low)) > little) // the darkest thousandth is not about 0
  {
    const bool isDark = histogram.Quantile(Background) <= double(range.low) + little;
    outside.kind = isDark ? OutsideOfImage::Kind::Dark : OutsideOfImage::Kind::Unknown;
    outside.value = range.low;
  }
  return outside;
}

std::string
NoteOn(const OutsideOfImage & outside, const std::string & name)
{
  std::ostringstream note;
  note << "the darkest part of a " << name << " image is not about 0: ";
  if (outside.kind == OutsideOfImage::Kind::Dark)
  {
    note << "what is outside of it is taken for as dark (" << outside.value << ")";
  }
  else
  {
    note << "what is outside of it is not compared";
  }
  return note.str();
}

} // namespace

std::vector<FieldOfView>
FindFieldsOfView(Backend &                      backend,
                 Communicator &                 communicator,
                 const std::vector<ImagePair> & pairs,
                 bool                           fixedMoves,
                 std::vector<std::string> &     notes)
{
  const auto find = [&](const PlacedImage & image, const VolumeView<const float> & mask, const char * name) {
    const OutsideOfImage outside = FindOutside(backend, communicator, image.voxels);
    if (outside.kind != OutsideOfImage::Kind::Zero && !mask.IsGiven())
    {
      notes.push_back(NoteOn(outside, name));
    }
    return outside;
  };
  std::vector<FieldOfView> fields;
  for (const ImagePair & pair : pairs)
  {
    FieldOfView field;
    field.moving = find(pair.moving, pair.movingMask, "moving");
    field.fixed = fixedMoves ? find(pair.fixed, pair.fixedMask, "fixed") : OutsideOfImage();
    fields.push_back(field);
  }
  return fields;
}

} // namespace ffdp
