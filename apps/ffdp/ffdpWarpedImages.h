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
#ifndef ffdpWarpedImages_h
#define ffdpWarpedImages_h

#include "ffdpImageFiles.h"

#include "ffdpRegistration.h"

/** The planes of one of a result's two warps that this rank owns. */
ffdp::WarpView<const float>
OwnWarp(const std::vector<float> & warp, const ffdp::RegistrationResult & result);

/** The images seen through the result of a registration. All ranks make these calls, with the planes of the images that
 * they own, and get their planes of what is asked for. */

/** The moving image on the fixed grid: M(A (x + u(x)) + t), straight from the warp as the engine has it. */
FloatImage::Pointer
WarpMoving(const ffdp::RegistrationResult & result,
           const FloatImage *               fixed,
           const FloatImage *               moving,
           ffdp::Backend &                  backend,
           ffdp::Communicator &             communicator);

/** The fixed image on the moving grid: the affine's inverse, then that of the warp, which lies on the fixed grid. Extra
 * memory: three floats per voxel of the moving image, if there is a warp. */
FloatImage::Pointer
WarpFixed(const ffdp::RegistrationResult & result,
          const FloatImage *               fixed,
          const FloatImage *               moving,
          ffdp::Backend &                  backend,
          ffdp::Communicator &             communicator);

#endif
