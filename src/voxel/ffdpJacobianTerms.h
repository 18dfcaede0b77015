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
#ifndef ffdpJacobianTerms_h
#define ffdpJacobianTerms_h

#include "ffdpVoxelInline.h"

namespace ffdp
{

/** The determinant of identity + D, where D[c][a] is the derivative of component c along axis a. */
FFDP_VOXEL_INLINE float
JacobianOf(float xx, float xy, float xz, float yx, float yy, float yz, float zx, float zy, float zz)
{
  const float a = 1.0f + xx;
  const float b = 1.0f + yy;
  const float c = 1.0f + zz;
  return a * (b * c - yz * zy) - xy * (yx * c - yz * zx) + xz * (yx * zy - b * zx);
}

} // namespace ffdp

#endif
