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
#ifndef ffdpCudaRows_h
#define ffdpCudaRows_h

#include "ffdpCudaLaunch.h"
#include "ffdpVolume.h"

#include <cstdint>

/** The launch of kernels that do each voxel by itself: 128 threads side by side along x, so that reads and writes
 * coalesce; rows along y of the grid, planes along z. 128 and not more: narrow volumes leave fewer threads idle. */
namespace ffdp
{
namespace cuda
{

constexpr unsigned RowBlockWidth = 128;
constexpr unsigned MostBlocks = 65535; // along y or z of a grid

/** One row of voxels for each (blockIdx.y, blockIdx.z); rows and planes beyond the grid's limits are taken in turns. */
template <typename TView>
LaunchShape
RowsOf(const TView & view)
{
  LaunchShape shape;
  shape.block = dim3(RowBlockWidth);
  shape.grid = dim3(BlocksFor(view.domain.x, RowBlockWidth),
                    unsigned(view.domain.y < MostBlocks ? view.domain.y : MostBlocks),
                    unsigned(view.planes < MostBlocks ? view.planes : MostBlocks));
  return shape;
}

#if defined(__CUDACC__) || defined(FFDP_CUDA_ON_HOST) // other files include this for the shapes

/** Calls body(x, y, z) for the voxels of this thread. */
template <typename TView, typename TBody>
__device__ void
ForEachVoxel(const TView & view, const TBody & body)
{
  const std::int64_t x = std::int64_t(blockIdx.x) * RowBlockWidth + threadIdx.x;
  if (x < view.domain.x)
  {
    for (std::int64_t z = view.firstPlane + blockIdx.z; z < view.EndPlane(); z += gridDim.z)
    {
      for (std::int64_t y = blockIdx.y; y < view.domain.y; y += gridDim.y)
      {
        body(x, y, z);
      }
    }
  }
}

#endif

} // namespace cuda
} // namespace ffdp

#endif
