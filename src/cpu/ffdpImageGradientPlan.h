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
#ifndef ffdpImageGradientPlan_h
#define ffdpImageGradientPlan_h

#include "ffdpImageGradientTerms.h"
#include "ffdpSamplerPlan.h"

namespace ffdp
{

/** What the rows of one call of ImageGradient() share, as plain numbers for the kernels. */
struct GradientPlan
{
  SamplerPlan sampler; ///< the map, and the image if its voxels are floats
  int         dimension;
  bool        alongAxes;  ///< differences over one voxel along the image axes, in this order: M sorts them out
  float       step[3][3]; ///< else: h_c in voxels
  float       back[3][3]; ///< -h_c
  float       M[9];       ///< d = w M (differences), row major
};

/** Values of a block of voxels; `inside` is -1 or 0. */
template <typename T>
struct BlockValues
{
  alignas(64) T value[SamplerBlock];
  alignas(64) std::int32_t inside[SamplerBlock];
};

} // namespace ffdp

#endif
