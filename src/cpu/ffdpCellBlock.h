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
#ifndef ffdpCellBlock_h
#define ffdpCellBlock_h

#include "ffdpResampleTerms.h"
#include "ffdpSamplerPlan.h"

#include <cmath>
#include <cstdint>

/** A block of voxels of a row whose positions are in double: plain numbers for ffdpCellBlockKernel.h. */
namespace ffdp
{

struct BlockMap
{
  double A[9];
  double t[3];
  double S[9];
};

/** A point per voxel. */
struct BlockPositions
{
  alignas(64) double at[3][SamplerBlock];
};

/** A grid that is sampled: its size, and the samples [first, end) that are at hand. */
struct BlockGrid
{
  std::int32_t size[3];
  std::int32_t first[3];
  std::int32_t end[3];
};

/** The samples around each position, clamped to what is at hand and counted from its first one. */
struct BlockCells
{
  alignas(64) std::int32_t lower[3][SamplerBlock];
  alignas(64) std::int32_t upper[3][SamplerBlock];
  alignas(64) double fraction[3][SamplerBlock];
  alignas(
    64) std::int32_t inside[SamplerBlock]; ///< 1: inside from half a sample before the first to half after the last
};

/** One component of a volume of any type. Strides in components. */
struct BlockVolume
{
  const void * data; ///< the first sample at hand
  std::int64_t elementStride;
  std::int64_t rowStride;
  std::int64_t planeStride;
};

} // namespace ffdp

#endif
