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
#ifndef ffdpImageScores_h
#define ffdpImageScores_h

#include "ffdpImageFiles.h"

/** How similar two images on one grid are. */
struct ImageScores
{
  std::int64_t voxels = 0;
  double       correlation = 0;       ///< of all voxels (NCC), in [-1, 1]
  double       localCorrelation = 0;  ///< mean squared correlation of windows of 7 voxels (LNCC), in [0, 1]
  double       mutualInformation = 0; ///< in nats, 32 bins over the range of each image
};

/** The images must have the same size, and so must the mask, if there is one: voxels where it is not 0 count.
 * Windows without contrast count 0. Throws CommandError if an image is constant there. */
ImageScores
CompareImages(const FloatImage * fixed, const FloatImage * moved, const FloatImage * mask);

#endif
