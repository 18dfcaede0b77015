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
#ifndef ffdpCudaCorrelationLaunch_h
#define ffdpCudaCorrelationLaunch_h

#include "ffdpCudaLaunch.h"
#include "ffdpLocalCorrelationTask.h"

#include <cstdint>

/** Local correlation on a device, some planes at a time. Two families of kernels do it: those of
 * ffdpCudaCorrelationMarch.cu for box windows of radius 1 to 4, and those of ffdpCudaCorrelationTile.cu for all others.
 * Both have two stages:
 *
 *   terms      images -> window sums -> terms of each window: value, map, ANTs gradient; fields for the exact gradient
 *   gradient   fields -> window sums -> exact gradient
 *
 * Two kernels and not one that marches both stages with a lag: that one would have to compute the terms of its tile
 * widened by the radius, from images widened by twice the radius (for a window of seven voxels and all that fits into
 * a block's shared memory, twice the work of the terms), and two rings of planes would leave room for one block. The
 * fields go through a ring of planes in the device's memory instead, a batch of planes and a window long, which a
 * second level cache of today holds for planes of 256 x 256. */
namespace ffdp
{
namespace cuda
{

/** Subtracted from intensities before they are multiplied and summed: the mean of a tile in the window's plane. */
struct CorrelationShift
{
  float fixed;
  float moving;
};

/** What kernels are told. Tiles lie on a grid of the whole volume, and sums over planes never slide, so neither batches
 * nor slabs show in a result. */
struct CorrelationLaunch
{
  CorrelationTask task; ///< its pointers are to memory of the device
  bool            maskedWindows;
  std::int64_t    firstOwned, endOwned; ///< planes that are asked for; terms are computed for some more
  std::int64_t    firstPlane, endPlane; ///< of the batch
  std::int64_t    planesPerBlock;       ///< that a block marches through

  int                tileWidth, tileHeight; ///< voxels that a block finishes in a plane
  unsigned           tilesX, tiles;
  CorrelationShift * shifts; ///< of tile t in plane z at [(z - firstPlane) * tiles + t]

  int      partialsPerTile; ///< warps that finish voxels
  double * partials;        ///< of tile t in plane z from [((z - firstPlane) * tiles + t) * partialsPerTile]

  float *  fields; ///< gamma; then two of the moving image if its gradient is asked for, and two of the fixed image
  unsigned ringPlanes;

  /** The first voxel that a tile finishes. */
  __device__ std::int64_t
             TileX(unsigned tile) const
  {
    return std::int64_t(tile % tilesX) * tileWidth;
  }
  __device__ std::int64_t
             TileY(unsigned tile) const
  {
    return std::int64_t(tile / tilesX) * tileHeight;
  }
  __device__ std::int64_t
             TilePlane(unsigned tile, std::int64_t z) const
  {
    return (z - firstPlane) * tiles + tile;
  }

  __device__ bool
  Contains(int x, int y) const
  {
    return x >= 0 && x < task.fixed.domain.x && y >= 0 && y < task.fixed.domain.y;
  }
  __device__ bool
  ContainsPlane(std::int64_t z) const
  {
    return z >= 0 && z < task.fixed.domain.z;
  }

  /** Field f in the ring of planes. */
  __device__ float &
  Field(int f, int x, int y, std::int64_t z) const
  {
    const int          width = int(task.fixed.domain.x);
    const std::int64_t slot = std::int64_t(f) * ringPlanes + unsigned(z) % ringPlanes;
    return (fields + slot * width * task.fixed.domain.y)[y * width + x];
  }
};

/** A voxel of a view whose planes are not longer than an int: its place in the plane, which a kernel that marches keeps
 * for each view and voxel, takes one register and not two. */
template <typename T>
__device__ T
VoxelOf(const VolumeView<T> & view, int x, int y, std::int64_t z)
{
  return (view.data + (z - view.firstPlane) * view.planeStride)[y * int(view.rowStride) + x];
}

/** The exact gradient for one image. */
struct CorrelationGradient
{
  VolumeView<const float> own;
  VolumeView<const float> other;
  VolumeView<float>       output;
  int                     ownField; ///< the first of its two
};

#if defined(__CUDACC__) || defined(FFDP_CUDA_ON_HOST)

__device__ inline void
WriteCorrelationFields(const CorrelationLaunch &       launch,
                       const CorrelationTerms<float> & terms,
                       const CorrelationShift &        shift,
                       int                             x,
                       int                             y,
                       std::int64_t                    z)
{
  const float fixedMean = shift.fixed - terms.fixedMean;
  const float movingMean = shift.moving - terms.movingMean;
  int         next = 0;
  const auto  write = [&](float value) { launch.Field(next++, x, y, z) = value; };
  const auto  writeOwn = [&](float perOwn, float meanOwn, float meanOther) {
    const CorrelationFields<float> own = ComputeCorrelationFields<float>(terms.gamma, perOwn, meanOwn, meanOther);
    write(own.gammaOwn);
    write(own.constant);
  };
  write(terms.gamma);
  if (launch.task.outputs.movingGradient)
  {
    writeOwn(terms.perMoving, movingMean, fixedMean);
  }
  if (launch.task.outputs.fixedGradient)
  {
    writeOwn(terms.perFixed, fixedMean, movingMean);
  }
}

__device__ inline void
WriteAntsGradients(const CorrelationTask &         task,
                   const CorrelationTerms<float> & terms,
                   const CorrelationShift &        shift,
                   bool                            counts,
                   int                             x,
                   int                             y,
                   std::int64_t                    z)
{
  // An intensity that is not a number must not show outside the mask.
  const float f = counts ? (shift.fixed - task.fixed.Row(y, z)[x]) - terms.fixedMean : 0.0f;
  const float m = counts ? (shift.moving - task.moving.Row(y, z)[x]) - terms.movingMean : 0.0f;
  float       gradient;
  if (task.outputs.movingGradient)
  {
    AntsCorrelationGradient<float>(terms.gamma, terms.perMoving, m, f, gradient);
    task.outputs.movingGradient.Row(y, z)[x] = gradient * task.gradientScale;
  }
  if (task.outputs.fixedGradient)
  {
    AntsCorrelationGradient<float>(terms.gamma, terms.perFixed, f, m, gradient);
    task.outputs.fixedGradient.Row(y, z)[x] = gradient * task.gradientScale;
  }
}

/** What the sums over the window of a voxel give; `weight` is the sum of the window's weights inside the mask, and not
 * looked at unless windows are masked. Returns n_i to the power asked for, 0 outside the mask. */
__device__ inline float
FinishWindow(const CorrelationLaunch &      launch,
             const CorrelationSums<float> & sums,
             float                          weight,
             const CorrelationShift &       shift,
             int                            x,
             int                            y,
             std::int64_t                   z)
{
  const CorrelationTask & task = launch.task;
  const float             inverseWeight = launch.maskedWindows
                                            ? (weight > 0.0f ? 1.0f / weight : 0.0f)
                                            : task.inverseWeight[0][x] * (task.inverseWeight[1][y] * task.inverseWeight[2][z]);
  CorrelationTerms<float> terms = ComputeCorrelationTerms(sums, inverseWeight, task.constants);
  const bool              counts = !task.mask || task.mask.Row(y, z)[x] != 0;
  terms.correlation = counts ? terms.correlation : 0.0f;
  terms.gamma = counts ? terms.gamma : 0.0f;
  if (task.exact)
  {
    WriteCorrelationFields(launch, terms, shift, x, y, z);
  }
  else if (task.outputs.movingGradient || task.outputs.fixedGradient)
  {
    WriteAntsGradients(task, terms, shift, counts, x, y, z);
  }
  if (task.outputs.map && z >= launch.firstOwned && z < launch.endOwned)
  {
    task.outputs.map.Row(y, z)[x] = terms.correlation;
  }
  return terms.correlation;
}

/** Writes the gradient of a voxel, from the sums of gamma and of the fields of its own image over its windows. */
__device__ inline void
FinishGradient(const CorrelationLaunch &        launch,
               const CorrelationGradient &      gradient,
               float                            gamma,
               const CorrelationFields<float> & own,
               int                              x,
               int                              y,
               std::int64_t                     z)
{
  const bool counts = !launch.maskedWindows || launch.task.mask.Row(y, z)[x] != 0;
  float      value;
  ExactCorrelationGradient<float>(
    gradient.other.Row(y, z)[x], gradient.own.Row(y, z)[x], gamma, own, launch.task.gradientScale, value);
  gradient.output.Row(y, z)[x] = counts ? value : 0.0f;
}

#endif

/** Sets the shifts of the batch. */
void
ComputeCorrelationShifts(Device & device, const CorrelationLaunch & launch);

/** Adds up the partial sums of the owned planes of the batch: that of plane z at planeSums[z - firstOwned]. */
void
SumCorrelationPlanes(Device & device, const CorrelationLaunch & launch, double * planeSums);

} // namespace cuda
} // namespace ffdp

#endif
