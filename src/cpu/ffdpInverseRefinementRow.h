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
#ifndef ffdpInverseRefinementRow_h
#define ffdpInverseRefinementRow_h

#include "ffdpInverseTerms.h"

namespace ffdp
{

/** A row of the inverse of a warp that is to be refined. */
struct RefinementRow
{
  WarpPlanes       u;
  RefinementLimits limits;
  double           boundAlongZ;
  double           tolerance; ///< of squared residuals
  int              iterations;
  float *          w[3];   ///< voxel 0 of the row
  const float *    errors; ///< null: all voxels are refined, and all the way
  std::int64_t     rowStride;
  std::int64_t     width, y, z;
};

} // namespace ffdp

#endif
