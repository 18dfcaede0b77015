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
#ifndef ffdpEdgeStrength_h
#define ffdpEdgeStrength_h

#include "FFDPExport.h"
#include "ffdpVolume.h"

namespace ffdp
{

/** Planes of an image that a plane of its edges needs on either side. */
constexpr std::int64_t EdgeStrengthReach = 2;

/** How strong the edge at a voxel is, compared with what else there is around it:
 *
 *   E = |g| / (s + noise)
 *
 * g is the gradient by central differences, in intensities per voxel, smoothed along the two other axes (1/4, 1/2,
 * 1/4); s is the standard deviation of the 125 voxels around. So E depends neither on the contrast of an edge nor on
 * which of its sides is bright: two images of one object that come from different scanners have edges in common, if
 * nothing else. `noise` (positive) is a contrast that counts for little, in intensities. Beyond the volume it goes on
 * as at its border, which is no edge.
 *
 * Works on the planes that `edges` holds; the image holds EdgeStrengthReach more on either side, where the volume has
 * them. Extra memory: some rows per thread. */
FFDP_EXPORT void
EdgeStrength(const VolumeView<const float> & image, float noise, const VolumeView<float> & edges, unsigned threads = 0);

} // namespace ffdp

#endif
