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
#ifndef ffdpImageSlopeTerms_h
#define ffdpImageSlopeTerms_h

#include "ffdpVoxelInline.h"

/** One component of a voxel of AddImageSlope(). */
namespace ffdp
{

/** A neighbor that is outside of the mask is not known: the voxel itself stands for it. */
FFDP_VOXEL_INLINE float
NeighborInMask(float neighbor, unsigned char mask, float own)
{
  return mask != 0 ? neighbor : own;
}

FFDP_VOXEL_INLINE float
WithSlope(float gradient, float weight, float before, float after)
{
  return gradient + weight * (0.5f * (after - before));
}

} // namespace ffdp

#endif
