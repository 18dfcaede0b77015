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

#include "ffdpRegistration.h"

#include <array>
#include <vector>

namespace ffdp
{

/** How the intensities of an image above its darkest voxel are spread in space. */
struct IntensityMoments
{
  std::array<double, 3> center;     ///< where they balance, in mm
  std::array<double, 9> covariance; ///< about the center, mm^2
};

/** Of what is above the darkest voxel, where the mask is at least 0.5, if there is one. */
IntensityMoments
MeasureMoments(Backend & backend, const PlacedImage & image, const VolumeView<const float> & mask = {});

/** The rotations that bring the principal axes of one image to those of another: four in 3-D, as an axis has two ends,
 * and two in the plane. Mirrors are not among them. */
std::vector<std::array<double, 9>>
AlignPrincipalAxes(const IntensityMoments & fixed, const IntensityMoments & moving, bool planar);

} // namespace ffdp

#endif
