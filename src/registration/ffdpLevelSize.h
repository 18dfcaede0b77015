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
#ifndef ffdpLevelSize_h
#define ffdpLevelSize_h

#include "ffdpRegistration.h"

#include <array>

namespace ffdp
{

/** How many times longer a voxel of a level is along each axis. By spacing, with factor f: voxels are cubes with f
 * times the shortest edge of those of the image, and axes whose voxels are longer stay as they are. Where a single axis
 * is sampled finely, that would leave most of the voxels: the cubes are then larger, so that voxels are f^2 times as
 * large in 3-D, as they are where slices are thick. Axes that are one voxel long do not count. */
std::array<double, 3>
FactorsOfAxes(const ShrinkFactor & factor, const PlacedImage & full);

/** Factors that make voxels cubes, so that as many as this would reach from one end of the image to the other along the
 * axis that is the longest in mm. Axes that have larger voxels already, and all of an image that is small, stay. */
std::array<double, 3>
FactorsForVoxelsAcross(double voxels, const PlacedImage & full);

/** The size of a level, see LevelSize() of ffdpGridMap.h. */
Extent
ShrinkExtent(const Extent & full, const std::array<double, 3> & factors, std::int64_t smallest);

} // namespace ffdp

#endif
