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
#ifndef ffdpCudaWarpSweep_h
#define ffdpCudaWarpSweep_h

#include "ffdpCudaLargest.h"
#include "ffdpCudaOldPlanes.h"
#include "ffdpWarpSweepArguments.h"
#include "ffdpWarpSweepTerms.h"

/** What composition and inversion have in common, see src/cpu/ffdpWarpSweep.h:
 *
 *   output(x) = keep v(x) + gain u(x + step v(x)),
 *
 * where v is read or is made from something else: a TVectors has At(x, y, z, v) for kernels. output may be u itself;
 * then u is done in groups of planes, each copied before it is overwritten, and the copies of the planes below it that
 * are still in reach are kept.
 *
 * Bytes per voxel: 24 for u (12 in reads, 12 in writes) and what v takes; in place another 24, to copy u. u is read
 * eight times, but neighbors move alike, so seven of these hit a cache: planar fields, because a warp's reads of one
 * corner of one component are then side by side. Blocks are 32 x 8 voxels, the width of a cache line's reads along x,
 * and rows enough to share what is read along y. */
namespace ffdp
{
namespace cuda
{

constexpr unsigned SweepBlockWidth = 32;
constexpr unsigned SweepBlockHeight = 8;

/** A WarpSweep as its kernel sees it; the planes of `output` are done. */
struct SweepPlanes
{
  OldPlanes       u;
  WarpView<float> output;
  float           step;
  float           keep;
  float           gain;
  float           boundAlongZ;
  bool            edge;
};

/** v, read. */
struct GivenVectors
{
  WarpView<const float> v;

  __device__ void
  At(std::int64_t x, std::int64_t y, std::int64_t z, float (&vector)[3]) const
  {
    const std::int64_t offset = (z - v.firstPlane) * v.planeStride + y * v.rowStride + x;
    for (int c = 0; c < 3; ++c)
    {
      vector[c] = v.component[c][offset];
    }
  }
};

/** u where the cell of voxel (x, y, z) is. Along x and y a corner outside counts as 0; along z it has no weight, and
 * the nearest plane stands in for it. */
__device__ inline void
SampleCell(const OldPlanes & u,
           std::int64_t      x,
           std::int64_t      y,
           std::int64_t      z,
           const WarpCell &  cell,
           float (&sample)[3])
{
  const Extent &     domain = u.field.domain;
  const std::int64_t firstX = x + cell.x;
  const std::int64_t firstY = y + cell.y;
  const bool         insideX[2] = { firstX >= 0, firstX + 1 < domain.x };
  const bool         insideY[2] = { firstY >= 0, firstY + 1 < domain.y };
  std::int64_t       rows[2][2]; // offsets, along z and y
  bool               copied[2];
  for (int k = 0; k < 2; ++k)
  {
    std::int64_t plane = z + cell.z + k;
    plane = plane < 0 ? 0 : (plane < domain.z ? plane : domain.z - 1);
    copied[k] = u.IsCopied(plane);
    const std::int64_t offset = copied[k] ? u.OffsetOfCopy(plane) : (plane - u.field.firstPlane) * u.field.planeStride;
    const std::int64_t stride = copied[k] ? domain.x : u.field.rowStride;
    rows[k][0] = offset + firstY * stride + firstX;
    rows[k][1] = rows[k][0] + stride;
  }
  for (int c = 0; c < 3; ++c)
  {
    const float * const lower = copied[0] ? u.copies[c] : u.field.component[c];
    const float * const upper = copied[1] ? u.copies[c] : u.field.component[c];
    float               ends[2];
    for (int end = 0; end < 2; ++end)
    {
      const bool inside[2] = { insideX[end] && insideY[0], insideX[end] && insideY[1] };
      ends[end] = WeighRows(cell,
                            inside[0] ? lower[rows[0][0] + end] : 0.0f,
                            inside[1] ? lower[rows[0][1] + end] : 0.0f,
                            inside[0] ? upper[rows[1][0] + end] : 0.0f,
                            inside[1] ? upper[rows[1][1] + end] : 0.0f);
    }
    sample[c] = WeighEnds(cell, ends[0], ends[1]);
  }
}

/** The column of voxels along z that a thread does; false where there is none. */
__device__ inline bool
ColumnOfSweep(const Extent & domain, std::int64_t & x, std::int64_t & y)
{
  const unsigned blocksAlongX = unsigned((domain.x + SweepBlockWidth - 1) / SweepBlockWidth);
  x = std::int64_t(blockIdx.x % blocksAlongX) * SweepBlockWidth + threadIdx.x;
  y = std::int64_t(blockIdx.x / blocksAlongX) * SweepBlockHeight + threadIdx.y;
  return x < domain.x && y < domain.y;
}

/** Raises largest[0] to the largest finite |step v_z| and, with VResidual, largest[1] to the largest finite
 * |v(x) + u(x + step v(x))|^2. */
template <bool VResidual, typename TVectors>
__global__ void
__launch_bounds__(SweepBlockWidth * SweepBlockHeight)
  WarpSweepKernel(SweepPlanes sweep, TVectors vectors, unsigned * largest)
{
  const WarpView<float> & output = sweep.output;
  const Extent &          domain = output.domain;
  float                   largestAlongZ = 0;
  float                   largestResidual = 0;
  std::int64_t            x, y;
  if (ColumnOfSweep(domain, x, y))
  {
    const int       margin = sweep.edge ? 0 : 1;
    const AxisRange xs = RangeAround(int(x), int(domain.x), margin);
    const AxisRange ys = RangeAround(int(y), int(domain.y), margin);
    for (std::int64_t z = output.firstPlane + blockIdx.y; z < output.EndPlane(); z += gridDim.y)
    {
      float v[3];
      vectors.At(x, y, z, v);
      const float     dz = sweep.step * v[2];
      const float     alongZ = FiniteOrZero(MagnitudeOf(dz));
      const AxisRange zs = RangeAround(int(z), int(domain.z), margin);
      const WarpCell  cell = LocateInWarp(sweep.step * v[0], sweep.step * v[1], dz, sweep.boundAlongZ, xs, ys, zs);
      float           sample[3];
      SampleCell(sweep.u, x, y, z, cell, sample);
      const std::int64_t offset = (z - output.firstPlane) * output.planeStride + y * output.rowStride + x;
      for (int c = 0; c < 3; ++c)
      {
        output.component[c][offset] = sweep.keep * v[c] + sweep.gain * sample[c];
      }
      largestAlongZ = alongZ > largestAlongZ ? alongZ : largestAlongZ;
      if (VResidual)
      {
        const float residual = FiniteOrZero(SquaredResidual(v[0], v[1], v[2], sample[0], sample[1], sample[2]));
        largestResidual = residual > largestResidual ? residual : largestResidual;
      }
    }
  }
  RaiseToLargest(largestAlongZ, largest);
  if (VResidual)
  {
    RaiseToLargest(largestResidual, largest + 1);
  }
}

/** Blocks for these planes; few enough, as each ends in an atomic. */
inline LaunchShape
ShapeOfSweep(Device & device, const Extent & domain, std::int64_t planes)
{
  const unsigned     tiles = BlocksFor(domain.x, SweepBlockWidth) * BlocksFor(domain.y, SweepBlockHeight);
  const std::int64_t enough = 32 * std::int64_t(device.Multiprocessors());
  const std::int64_t layers = std::max<std::int64_t>(1, std::min<std::int64_t>(MostBlocks, enough / tiles));
  LaunchShape        shape;
  shape.block = dim3(SweepBlockWidth, SweepBlockHeight);
  shape.grid = dim3(tiles, unsigned(std::min(layers, planes)));
  return shape;
}

template <bool VResidual, typename TVectors>
void
LaunchWarpSweep(Device & device, const SweepPlanes & sweep, const TVectors & vectors, const FloatMaxima & largest)
{
  Launch(device,
         ShapeOfSweep(device, sweep.output.domain, sweep.output.planes),
         WarpSweepKernel<VResidual, TVectors>,
         sweep,
         vectors,
         largest.Bits());
}

/** As RunWarpSweep() of the processor: the largest residual if it is wanted, or else 0. `sweep` describes all but v. */
template <bool VResidual, typename TVectors>
float
RunWarpSweep(Device & device, const WarpSweep & sweep, const TVectors & vectors, std::size_t groupBytes)
{
  CheckSweep(sweep);
  const Extent &     domain = sweep.u.domain;
  const std::int64_t planes = sweep.end - sweep.first;
  const std::int64_t reach = std::min(CompositionHalo(sweep.boundAlongZ), domain.z);
  const std::int64_t bytesPerPlane = 3 * domain.x * domain.y * std::int64_t(sizeof(float));
  const bool         inPlace = sweep.output.component[0] == sweep.u.component[0];
  const std::int64_t group = inPlace ? PlanesPerGroup(planes, bytesPerPlane, groupBytes) : planes;
  PlaneCopies        copies(device, sweep.output, inPlace ? std::min(planes, group + reach) : 0);
  const FloatMaxima  largest(device, 2);
  for (std::int64_t first = sweep.first; first < sweep.end; first += group)
  {
    const std::int64_t end = std::min(first + group, sweep.end);
    SweepPlanes        part;
    part.output = sweep.output.Planes(first, end - first);
    if (inPlace)
    {
      copies.Copy(first, end);
      part.u = copies.Describe(std::max(sweep.first, first - reach), end);
    }
    part.u.field = sweep.u;
    part.step = sweep.step;
    part.keep = sweep.keep;
    part.gain = sweep.gain;
    part.boundAlongZ = sweep.boundAlongZ;
    part.edge = sweep.border == WarpBorder::Edge;
    LaunchWarpSweep<VResidual>(device, part, vectors, largest);
  }
  const std::vector<float> found = largest.ToHost();
  CheckBound(found[0], sweep.boundAlongZ);
  return found[1];
}

} // namespace cuda
} // namespace ffdp

#endif
