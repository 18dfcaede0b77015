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
#include "ffdpCudaResample.h"

#include "ffdpCudaResampleVoxel.h"
#include "ffdpCudaSamplerTile.h"
#include "ffdpResampleArguments.h"

/** Bytes per pixel, of p bytes in and q out: p of the image from memory and up to 7 p more from the caches, q written;
 * 12 (floats) or 24 (doubles) of a field on the grid, and per field of a chain as much again with its seven neighbors
 * from the caches. No position is stored.
 *
 * A block is 128 threads side by side along x: what they read of a field, and write, coalesces. Floats go by the tiles
 * of ffdpCudaSamplerTile.h, where positions are in double once per block of pixels and row; they are interpolated in
 * float but at the border. All other types have their positions and their interpolation in double, as on the processor,
 * and differ in what they read only: one kernel per type that is read. Which type is written, whether the nearest pixel
 * is picked and where displacements come from is the same for all threads, so branches that ask for it do not diverge.
 */
namespace ffdp
{
namespace cuda
{
namespace
{

template <typename T>
__global__ void
ResampleKernel(BlockMap map, Displacements u, ResampledImage image, ResampledOutput output, bool nearest)
{
  const PixelBox &   box = output.box;
  const std::int64_t x = box.first[0] + std::int64_t(blockIdx.x) * RowBlockWidth + threadIdx.x;
  if (x < box.first[0] + box.count[0])
  {
    for (std::int64_t z = box.first[2] + blockIdx.z; z < box.first[2] + box.count[2]; z += gridDim.z)
    {
      for (std::int64_t y = box.first[1] + blockIdx.y; y < box.first[1] + box.count[1]; y += gridDim.y)
      {
        double d[3];
        FindDisplacement(u, map, x, y, z, d);
        const CellInDouble cell = FindCell(map, image.grid, x, y, z, d, nearest);
        for (int c = 0; c < image.components; ++c)
        {
          const double value = cell.inside ? ReadCell<T>(image, cell, c, nearest) : 0.0;
          WriteComponent(output, x, y, z, c, cell.inside, value);
        }
      }
    }
  }
}

/** One component of floats to one of floats. */
__global__ void
ResampleFloatsKernel(BlockMap        map,
                     MapTerms        terms,
                     Displacements   u,
                     ImagePlanes     held,
                     FloatBox        box,
                     ResampledImage  image,
                     ResampledOutput output)
{
  const PixelBox & asked = output.box;
  SamplerBox       rows{ asked.first[0] + asked.count[0],
                   asked.first[1],
                   asked.first[1] + asked.count[1],
                   asked.first[2],
                   asked.first[2] + asked.count[2] };
  ForEachVoxelOfTiles(
    rows,
    terms,
    FirstOfBlock(asked.first[0]),
    [&](std::int64_t x, std::int64_t y, std::int64_t z, const AxisPosition * start, const BlockStep & step) {
      if (x < asked.first[0])
      {
        return;
      }
      double d[3];
      FindDisplacement(u, map, x, y, z, d);
      const float  rounded[3] = { float(d[0]), float(d[1]), float(d[2]) };
      CellPosition position = Locate(terms, rounded, start, step);
      for (int c = 0; c < 3; ++c)
      {
        position.index[c] -= box.first[c]; // whole voxels: the fraction does not depend on the box of the image
      }
      float * const to = static_cast<float *>(output.data) + PixelOffset(output, x, y, z);
      if (!ResampleInFloat(held, box, position, to))
      {
        const CellInDouble cell = FindCell(map, image.grid, x, y, z, d, false);
        *to = cell.inside ? CastComponent<float>(ReadCell<float>(image, cell, 0, false)) : box.outside;
      }
    });
}

/** Blocks of threads over the columns of a box, from column `firstColumn` on, which may lie before it. */
LaunchShape
PixelsOf(const PixelBox & box, std::int64_t firstColumn, unsigned columnsPerBlock, std::int64_t rowsPerBlock)
{
  const std::int64_t tiles = (box.count[1] + rowsPerBlock - 1) / rowsPerBlock;
  LaunchShape        shape;
  shape.block = dim3(columnsPerBlock);
  shape.grid = dim3(BlocksFor(box.first[0] + box.count[0] - firstColumn, columnsPerBlock),
                    unsigned(tiles < MostBlocks ? tiles : MostBlocks),
                    unsigned(box.count[2] < MostBlocks ? box.count[2] : MostBlocks));
  return shape;
}

void
ResampleBox(Device &                   device,
            const ConstPixelView &     image,
            const CompositeMap &       map,
            const Displacements &      u,
            const PixelView &          output,
            const ResampleParameters & parameters)
{
  CheckResample(image, output, parameters);
  const BlockMap           blockMap = MakeBlockMap(map);
  const std::vector<char>  outside = MakeOutsidePixel(output, parameters);
  const DeviceBuffer<char> outsideThere(device, outside);
  const ResampledImage     from{ image.data,
                             MakeBlockGrid(image),
                             image.components,
                             image.components * image.rowStride,
                             image.components * image.planeStride };
  const ResampledOutput    to{ output.data, output.type,      outsideThere.Data(), output.components,
                            output.box,  output.rowStride, output.planeStride };
  if (output.box.IsEmpty())
  {
    return;
  }
  if (IsResampledInFloat(image, output, parameters))
  {
    const FloatPlan   plan = MakeFloatPlan(image, map, outside);
    const LaunchShape shape = PixelsOf(output.box, FirstOfBlock(output.box.first[0]), SamplerBlock, SamplerTileRows);
    const MapTerms    terms = MakeMapTerms(plan.sampler.map, true);
    Launch(device, shape, ResampleFloatsKernel, blockMap, terms, u, plan.sampler.image, plan.box, from, to);
    return;
  }
  const bool nearest = parameters.interpolation == Interpolation::Nearest;
  WithComponentType(image.type, [&](auto t) {
    const LaunchShape shape = PixelsOf(output.box, output.box.first[0], RowBlockWidth, 1);
    Launch(device, shape, ResampleKernel<decltype(t)>, blockMap, u, from, to, nearest);
  });
}

} // namespace

void
Resample(Device &                   device,
         const ConstPixelView &     image,
         const CompositeMap &       map,
         const WarpInput &          u,
         const PixelView &          output,
         const ResampleParameters & parameters)
{
  CheckFieldOfResample(u, output);
  ResampleBox(device, image, map, { u, nullptr, 0, {} }, output, parameters);
}

void
ResampleChain(Device &                   device,
              const ConstPixelView &     image,
              const CompositeMap &       map,
              const WarpChain &          chain,
              const PixelView &          output,
              const ResampleParameters & parameters)
{
  RequireChain(chain);
  const DeviceBuffer<WarpStep> steps(device, chain.steps);
  ResampleBox(device, image, map, { {}, steps.Data(), int(steps.Count()), chain.start }, output, parameters);
}

} // namespace cuda
} // namespace ffdp
