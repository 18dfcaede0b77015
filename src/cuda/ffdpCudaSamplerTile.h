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
#ifndef ffdpCudaSamplerTile_h
#define ffdpCudaSamplerTile_h

#include "ffdpCudaLaunch.h"
#include "ffdpCudaRows.h"
#include "ffdpSamplerPlan.h"

#include <cstdint>
#include <type_traits>
#include <utility>

/** How the kernels of the sampler find the positions of their voxels in the image.
 *
 * A block has a thread for each voxel of a SamplerBlock, so the step of a voxel within its block is computed once per
 * thread, and works on a tile of eight rows: where their blocks begin is computed by 24 threads for all. Both are in
 * double, of which many devices do one for 64 floats; so there is less than one such computation for 40 voxels. Rows of
 * a tile follow each other in the image, too: what one reads of it the next finds in the first-level cache. */
namespace ffdp
{
namespace cuda
{

constexpr int SamplerTileRows = 8;

/** Voxels of the fixed grid: the rows [firstRow, endRow) of the planes [firstPlane, endPlane). */
struct SamplerBox
{
  std::int64_t width;
  std::int64_t firstRow;
  std::int64_t endRow;
  std::int64_t firstPlane;
  std::int64_t endPlane;
};

template <typename TView>
SamplerBox
BoxOf(const TView & view)
{
  return { view.domain.x, 0, view.domain.y, view.firstPlane, view.EndPlane() };
}

inline LaunchShape
TilesOf(const SamplerBox & box)
{
  const std::int64_t tiles = (box.endRow - box.firstRow + SamplerTileRows - 1) / SamplerTileRows;
  const std::int64_t planes = box.endPlane - box.firstPlane;
  LaunchShape        shape;
  shape.block = dim3(SamplerBlock);
  shape.grid = dim3(BlocksFor(box.width, SamplerBlock),
                    unsigned(tiles < MostBlocks ? tiles : MostBlocks),
                    unsigned(planes < MostBlocks ? planes : MostBlocks));
  return shape;
}

/** X = A x + t + S u(x); see SamplerMap. */
struct MapTerms
{
  double A[9];
  double t[3];
  float  S[9];
  bool   plain; ///< S is the identity, and its products may be left out
};

inline MapTerms
MakeMapTerms(const SamplerMap & map, bool mayBePlain)
{
  MapTerms terms;
  for (int i = 0; i < 9; ++i)
  {
    terms.A[i] = map.A[i];
    terms.S[i] = map.S[i];
  }
  for (int c = 0; c < 3; ++c)
  {
    terms.t[c] = map.t[c];
  }
  terms.plain = mayBePlain && map.plain;
  return terms;
}

/** Calls body(u) with the field as a view of its own element type; no field is one of floats without components. */
template <typename TBody>
void
WithElementsOf(const WarpInput & u, const TBody & body)
{
  if (u.doubles)
  {
    body(u.doubles);
  }
  else
  {
    body(u.floats);
  }
}

template <typename TView>
using ElementOf = std::remove_cv_t<std::remove_reference_t<decltype(*std::declval<TView>().component[0])>>;

template <typename T>
__device__ float
ReadComponent(const WarpView<const T> & u, int c, std::int64_t x, std::int64_t y, std::int64_t z)
{
  const T * const row = u.Row(c, y, z);
  return row ? float(row[x * u.elementStride]) : 0.0f;
}

/** The steps of this thread's voxel, k = threadIdx.x, along the three axes. */
struct BlockStep
{
  AxisPosition axis[3];

  __device__ explicit BlockStep(const MapTerms & map)
  {
    for (int c = 0; c < 3; ++c)
    {
      axis[c] = StepInBlock(map.A[3 * c], int(threadIdx.x));
    }
  }
};

/** The position of a voxel with displacement d, whose block begins at start[0..2]. */
__device__ inline CellPosition
Locate(const MapTerms & map, const float (&d)[3], const AxisPosition * start, const BlockStep & step)
{
  CellPosition position;
  for (int c = 0; c < 3; ++c)
  {
    const float * S = map.S + 3 * c;
    const float   displacement = map.plain ? d[c] : AddThreeProducts(S[0], d[0], S[1], d[1], S[2], d[2]);
    const float   within = start[c].fraction + step.axis[c].fraction;

    const AxisPosition p = LocateOnAxis(start[c].index + step.axis[c].index, within + displacement);
    position.index[c] = p.index;
    position.fraction[c] = p.fraction;
  }
  return position;
}

/** The position of voxel (x, y, z). */
template <typename T>
__device__ CellPosition
Locate(const MapTerms &          map,
       const WarpView<const T> & u,
       const AxisPosition *      start,
       const BlockStep &         step,
       std::int64_t              x,
       std::int64_t              y,
       std::int64_t              z)
{
  float d[3];
  for (int c = 0; c < 3; ++c)
  {
    d[c] = ReadComponent(u, c, x, y, z);
  }
  return Locate(map, d, start, step);
}

/** Calls body(x, y, z, start, step) for the voxels of this thread, from column `firstBlock` on, which is a multiple of
 * SamplerBlock, and endOfPlane(z) in all threads of the block when those of a plane are done. */
template <typename TBody, typename TEndOfPlane>
__device__ void
ForEachVoxelOfTiles(const SamplerBox &  box,
                    const MapTerms &    map,
                    std::int64_t        firstBlock,
                    const TBody &       body,
                    const TEndOfPlane & endOfPlane)
{
  __shared__ AxisPosition start[SamplerTileRows][3];

  const int          k = int(threadIdx.x);
  const std::int64_t begin = firstBlock + std::int64_t(blockIdx.x) * SamplerBlock;
  const std::int64_t tileStep = std::int64_t(gridDim.y) * SamplerTileRows;
  const BlockStep    step(map);
  for (std::int64_t z = box.firstPlane + blockIdx.z; z < box.endPlane; z += gridDim.z)
  {
    for (std::int64_t y = box.firstRow + std::int64_t(blockIdx.y) * SamplerTileRows; y < box.endRow; y += tileStep)
    {
      if (k < 3 * SamplerTileRows)
      {
        const int c = k % 3;
        start[k / 3][c] = StartOfBlock(map.A + 3 * c, map.t[c], begin, y + k / 3, z);
      }
      __syncthreads();
      for (int row = 0; row < SamplerTileRows && y + row < box.endRow && begin + k < box.width; ++row)
      {
        body(begin + k, y + row, z, start[row], step);
      }
      __syncthreads(); // the next tile has other starts
    }
    endOfPlane(z);
  }
}

template <typename TBody>
__device__ void
ForEachVoxelOfTiles(const SamplerBox & box, const MapTerms & map, std::int64_t firstBlock, const TBody & body)
{
  ForEachVoxelOfTiles(box, map, firstBlock, body, [](std::int64_t) {});
}

/** Calls body(x, y, z, position) for the voxels of this thread, and endOfPlane(z) as above. */
template <typename T, typename TBody, typename TEndOfPlane>
__device__ void
ForEachPosition(const SamplerBox &        box,
                const MapTerms &          map,
                const WarpView<const T> & u,
                const TBody &             body,
                const TEndOfPlane &       endOfPlane)
{
  ForEachVoxelOfTiles(
    box,
    map,
    0,
    [&](std::int64_t x, std::int64_t y, std::int64_t z, const AxisPosition * start, const BlockStep & step) {
      body(x, y, z, Locate(map, u, start, step, x, y, z));
    },
    endOfPlane);
}

template <typename T, typename TBody>
__device__ void
ForEachPosition(const SamplerBox & box, const MapTerms & map, const WarpView<const T> & u, const TBody & body)
{
  ForEachPosition(box, map, u, body, [](std::int64_t) {});
}

} // namespace cuda
} // namespace ffdp

#endif
