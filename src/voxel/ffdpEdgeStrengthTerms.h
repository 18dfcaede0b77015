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
#ifndef ffdpEdgeStrengthTerms_h
#define ffdpEdgeStrengthTerms_h

#include "ffdpVoxelInline.h"

#include <cmath>

/** A voxel of EdgeStrength(). Terms are added in the order of planes, then rows, then voxels of the window. */
namespace ffdp
{

constexpr int EdgeWindowRadius = 2;
constexpr int EdgeWindowVoxels = 125;

struct EdgeSums
{
  float difference; ///< to the voxel in the middle, so that large intensities do not cancel
  float square;
  float slope[3];
};

FFDP_VOXEL_INLINE void
AddToEdgeWindow(float own, float neighbor, float & difference, float & square)
{
  const float d = neighbor - own;
  difference += d;
  square += d * d;
}

/** What a row beside the voxel, dy and dz away (-1 to 1), says about the slopes: three of its voxels. */
FFDP_VOXEL_INLINE void
AddToEdgeSlopes(int dy, int dz, float before, float at, float after, float & x, float & y, float & z)
{
  const float weightY = dy == 0 ? 0.5f : 0.25f;
  const float weightZ = dz == 0 ? 0.5f : 0.25f;
  const float smooth = 0.5f * at + 0.25f * (before + after);
  x += weightY * weightZ * (0.5f * (after - before));
  y += weightZ * (0.5f * float(dy)) * smooth;
  z += weightY * (0.5f * float(dz)) * smooth;
}

FFDP_VOXEL_INLINE float
FinishEdge(float difference, float square, float x, float y, float z, float noise)
{
  constexpr float part = 1.0f / float(EdgeWindowVoxels);
  const float     mean = difference * part;
  const float     variance = square * part - mean * mean;
  const float     deviation = std::sqrt(variance > 0.0f ? variance : 0.0f);
  return std::sqrt((x * x + y * y) + z * z) / (deviation + noise);
}

} // namespace ffdp

#endif
