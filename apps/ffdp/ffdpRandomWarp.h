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
#ifndef ffdpRandomWarp_h
#define ffdpRandomWarp_h

#include "ffdpImageFiles.h"

struct RandomWarpParameters
{
  double        size = 0;        ///< no point moves farther than this, in mm
  double        smoothness = 12; ///< sigma of the Gaussian that smooths the velocity, in mm
  std::uint64_t seed = 0;
};

/** A random diffeomorphic displacement field in mm (LPS) for all points of a grid: u = exp(v) - id, with v white noise
 * smoothed by a Gaussian and scaled to the size asked for.
 *
 * It lies on a grid of its own that covers the same part of space with a spacing of a third of its smoothness: its size
 * does not grow with that of the image, and images of any spacing get the same warp. Throws CommandError if it folds,
 * which a size of many times the smoothness makes it do. */
FieldImage::Pointer
MakeRandomWarp(const itk::ImageBase<3> * grid, const RandomWarpParameters & parameters, unsigned threads);

/** Vectors of such a field. */
double
CountWarpNodes(const itk::ImageBase<3> * grid, double smoothness);

#endif
