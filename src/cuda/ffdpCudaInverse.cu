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
#include "ffdpCudaInverse.h"

#include "ffdpCudaComposition.h"
#include "ffdpCudaMarks.h"
#include "ffdpCudaWarpSweep.h"
#include "ffdpInverseArguments.h"

#include <climits>
#include <cmath>

/** IterateInverse: 48 bytes per voxel, see ffdpCudaWarpSweep.h.
 *
 * RefineInverse: 41 bytes per voxel (u, w read and written, an error, a mark), and arithmetic in double that outweighs
 * them by far; reads of u are as scattered as the steps. Rows of 128 voxels: neighbors have similar ways to
 * go, and 128 leaves each thread the registers that a matrix and two vectors of doubles need.
 *
 * InverseError: 28 bytes per voxel of marked blocks (u, w, the error), 4 of others. MarkInverseErrors: 4 bytes per
 * voxel, and w where an error is large; threads that mark the same block write the same byte.
 *
 * On the processor a voxel that fails may start again from the neighbors on its left and above, as they are when they
 * are done. All first attempts are independent of each other, and so are the second ones of voxels on one diagonal
 * x + y of a plane: a block does the diagonals of its plane in order, between the first and the last that has failures.
 */
namespace ffdp
{
namespace cuda
{
namespace
{

constexpr unsigned DiagonalBlock = 128;
constexpr unsigned FewestBlocks = 3; // on a multiprocessor: 168 registers per thread, so that none has to be spilled
constexpr unsigned FewestDiagonalBlocks = 2; // likewise: it holds two attempts of a voxel at a time

struct Refinement
{
  WarpPlanes       u;
  WarpView<float>  w; ///< its planes are done
  double           bound;
  double           tolerance; ///< squared
  int              iterations;
  RefinementLimits limits;
  const float *    error; ///< at the first voxel of w; nullptr: all voxels are refined, all the way
  std::int64_t     errorRowStride;
  std::int64_t     errorPlaneStride;
};

/** The diagonals of a plane on which voxels failed. */
struct FailedDiagonals
{
  int first = INT_MAX;
  int last = -1;
};

/** The three components at `offset` from the first voxel. */
__device__ inline void
LoadVector(const WarpView<float> & w, std::int64_t offset, double (&vector)[3])
{
  for (int c = 0; c < 3; ++c)
  {
    vector[c] = w.component[c][offset];
  }
}

__device__ inline float
ErrorAt(const Refinement & refinement, std::int64_t x, std::int64_t y, std::int64_t plane)
{
  return refinement.error[plane * refinement.errorPlaneStride + y * refinement.errorRowStride + x];
}

__device__ inline void
StorePartOfWay(const Refinement & refinement,
               std::int64_t       x,
               std::int64_t       y,
               std::int64_t       plane,
               const double (&start)[3],
               const double (&found)[3])
{
  const WarpView<float> & w = refinement.w;
  const double            part =
    refinement.error ? PartOfWay(ErrorAt(refinement, x, y, plane), Distance(start, found), refinement.limits) : 1.0;
  for (int c = 0; c < 3; ++c)
  {
    w.component[c][plane * w.planeStride + y * w.rowStride + x] = GoPartOfWay(start[c], found[c], part);
  }
}

/** The voxels that fail are marked and stay as they are. */
__global__ void
__launch_bounds__(RowBlockWidth, FewestBlocks)
  RefineKernel(Refinement refinement, std::uint8_t * marks, FailedDiagonals * failed, unsigned long long * largest)
{
  const WarpView<float> & w = refinement.w;
  double                  worst = 0;
  ForEachVoxel(w, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    const std::int64_t plane = z - w.firstPlane;
    const std::int64_t offset = plane * w.planeStride + y * w.rowStride + x;
    const double       at[3] = { double(x), double(y), double(z) };
    double             start[3];
    double             squared = 0;
    LoadVector(w, offset, start);
    const float error = refinement.error ? ErrorAt(refinement, x, y, plane) : 0.0f;
    if (CanRefine(start, refinement.bound) && (!refinement.error || MayNeedRefinement(error, refinement.limits)))
    {
      NewtonState state = StartNewton(refinement.u, at, start);
      double      step[3];
      NewtonStep(state.D, state.residual, step);
      if (!refinement.error || NeedsRefinement(step, error, refinement.limits))
      {
        squared =
          RefineInverseVoxel(refinement.u, at, refinement.bound, refinement.tolerance, refinement.iterations, state);
        if (!(squared > refinement.tolerance))
        {
          StorePartOfWay(refinement, x, y, plane, start, state.w);
        }
      }
    }
    const bool fails = squared > refinement.tolerance;
    marks[(plane * w.domain.y + y) * w.domain.x + x] = fails ? 1 : 0;
    if (fails)
    {
      atomicMin(&failed[plane].first, int(x + y));
      atomicMax(&failed[plane].last, int(x + y));
    }
    else
    {
      worst = squared > worst ? squared : worst;
    }
  });
  RaiseToLargest(worst, largest);
}

/** A voxel that failed once more, and from its neighbors; returns the squared residual that is left. */
__device__ inline double
RefineFromAllSides(const Refinement & refinement, std::int64_t x, std::int64_t y, std::int64_t plane)
{
  const WarpView<float> & w = refinement.w;
  const std::int64_t      offset = plane * w.planeStride + y * w.rowStride + x;
  const double            at[3] = { double(x), double(y), double(w.firstPlane + plane) };
  double                  start[3];
  LoadVector(w, offset, start);
  NewtonState state = StartNewton(refinement.u, at, start);
  double      squared =
    RefineInverseVoxel(refinement.u, at, refinement.bound, refinement.tolerance, refinement.iterations, state);
#pragma unroll 1
  for (int other = 0; other < 2 && squared > refinement.tolerance; ++other)
  {
    const std::int64_t shift = other == 0 ? (x > 0 ? 1 : 0) : (y > 0 ? w.rowStride : 0);
    double             from[3];
    LoadVector(w, offset - shift, from);
    if (shift > 0)
    {
      RefineFromNeighbor(
        refinement.u, at, refinement.bound, refinement.tolerance, refinement.iterations, from, state.w, squared);
    }
  }
  StorePartOfWay(refinement, x, y, plane, start, state.w);
  return squared;
}

/** One block per plane: what the voxels that failed reach from their neighbors. */
__global__ void
__launch_bounds__(DiagonalBlock, FewestDiagonalBlocks) RefineFromNeighborsKernel(Refinement              refinement,
                                                                                 const std::uint8_t *    marks,
                                                                                 const FailedDiagonals * failed,
                                                                                 unsigned long long *    largest)
{
  const WarpView<float> & w = refinement.w;
  double                  worst = 0;
  for (std::int64_t plane = blockIdx.x; plane < w.planes; plane += gridDim.x)
  {
    for (std::int64_t diagonal = failed[plane].first; diagonal <= failed[plane].last; ++diagonal)
    {
      const std::int64_t firstX = diagonal < w.domain.y ? 0 : diagonal - w.domain.y + 1;
      const std::int64_t endX = diagonal < w.domain.x ? diagonal + 1 : w.domain.x;
      for (std::int64_t x = firstX + threadIdx.x; x < endX; x += DiagonalBlock)
      {
        const std::int64_t y = diagonal - x;
        if (marks[(plane * w.domain.y + y) * w.domain.x + x] != 0)
        {
          const double squared = RefineFromAllSides(refinement, x, y, plane);
          worst = squared > worst ? squared : worst;
        }
      }
      __syncthreads(); // the next diagonal starts from this one
    }
  }
  RaiseToLargest(worst, largest);
}

__global__ void
__launch_bounds__(RowBlockWidth) MarkErrorsKernel(VolumeView<const float> error,
                                                  WarpView<const float>   w,
                                                  float                   longest,
                                                  Extent                  blocks,
                                                  std::uint8_t *          own,
                                                  std::uint8_t *          reached)
{
  ForEachVoxel(w, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    if (error.Row(y, z)[x] < -longest)
    {
      const std::int64_t offset = (z - w.firstPlane) * w.planeStride + y * w.rowStride + x;
      MarkAround(float(x), float(y), float(z), w.domain, blocks, own);
      MarkAround(float(x) + w.component[0][offset],
                 float(y) + w.component[1][offset],
                 float(z) + w.component[2][offset],
                 w.domain,
                 blocks,
                 reached);
    }
  });
}

/** A WarpSweep that leaves only the length of its residuals. Raises largest[0] to the largest finite |w_z|, and
 * largest[1] to the largest squared residual that counts. */
__global__ void
__launch_bounds__(SweepBlockWidth * SweepBlockHeight) InverseErrorKernel(OldPlanes         u,
                                                                         GivenVectors      w,
                                                                         float             boundAlongZ,
                                                                         int               margin,
                                                                         DeviceMarks       marks,
                                                                         VolumeView<float> error,
                                                                         unsigned *        largest)
{
  const Extent & domain = error.domain;
  float          largestAlongZ = 0;
  float          largestResidual = 0;
  std::int64_t   x, y;
  if (ColumnOfSweep(domain, x, y))
  {
    const AxisRange xs = RangeAround(int(x), int(domain.x), 0), xsInside = RangeInside(int(x), int(domain.x), margin);
    const AxisRange ys = RangeAround(int(y), int(domain.y), 0), ysInside = RangeInside(int(y), int(domain.y), margin);
    for (std::int64_t z = w.v.firstPlane + blockIdx.y; z < w.v.EndPlane(); z += gridDim.y)
    {
      if (!marks.At(x, y, z))
      {
        error.Row(y, z)[x] = 0.0f;
        continue;
      }
      float v[3];
      w.At(x, y, z, v);
      const AxisRange zs = RangeAround(int(z), int(domain.z), 0);
      const AxisRange zsInside = RangeInside(int(z), int(domain.z), margin);
      float           sample[3];
      SampleCell(u, x, y, z, LocateInWarp(v[0], v[1], v[2], boundAlongZ, xs, ys, zs), sample);
      const bool  counts = StaysInside(v[0], xsInside) && StaysInside(v[1], ysInside) && StaysInside(v[2], zsInside);
      const float residual = FiniteOrZero(SquaredResidual(v[0], v[1], v[2], sample[0], sample[1], sample[2]));
      const float squared = counts ? residual : 0.0f;
      const float alongZ = FiniteOrZero(MagnitudeOf(v[2]));
      error.Row(y, z)[x] = -std::sqrt(squared);
      largestResidual = squared > largestResidual ? squared : largestResidual;
      largestAlongZ = alongZ > largestAlongZ ? alongZ : largestAlongZ;
    }
  }
  RaiseToLargest(largestAlongZ, largest);
  RaiseToLargest(largestResidual, largest + 1);
}

} // namespace

float
IterateInverse(Device &                      device,
               const WarpView<const float> & u,
               const WarpView<float> &       w,
               const InverseStepParameters & parameters)
{
  CheckInverseStep(u, w, parameters);
  if (w.planes == 0)
  {
    return 0;
  }
  WarpSweep sweep = DescribeInverseStep(u, w, parameters);
  if (parameters.boundAlongZ < 0)
  {
    sweep.boundAlongZ = LargestMagnitude(device, w.Component(2));
  }
  return std::sqrt(RunWarpSweep<true>(device, sweep, GivenVectors{ w }, DefaultGroupBytes));
}

float
RefineInverse(Device &                        device,
              const WarpView<const float> &   u,
              const WarpView<float> &         w,
              const VolumeView<const float> & error,
              const InverseRefinement &       parameters,
              std::size_t                     groupBytes)
{
  CheckRefinement(u, w, error, parameters);
  const double bound = parameters.boundAlongZ >= 0 ? double(parameters.boundAlongZ)
                                                   : double(LargestMagnitude(device, u.Component(2))) * RoundingRoom;
  CheckRefinementBound(u, w, bound);
  if (w.planes == 0)
  {
    return 0;
  }
  Refinement refinement;
  refinement.u = DescribePlanes(u);
  refinement.bound = bound;
  refinement.tolerance = double(parameters.tolerance) * double(parameters.tolerance);
  refinement.iterations = parameters.iterations;
  refinement.limits = DescribeLimits(parameters);
  refinement.errorRowStride = error.rowStride;
  refinement.errorPlaneStride = error.planeStride;

  const std::int64_t               planeVoxels = w.domain.x * w.domain.y;
  const std::int64_t               group = PlanesPerGroup(w.planes, planeVoxels, groupBytes);
  const DeviceBuffer<std::uint8_t> marks(device, group * planeVoxels);
  const DoubleMaxima               largest(device, 1);
  for (std::int64_t first = w.firstPlane; first < w.EndPlane(); first += group)
  {
    refinement.w = w.Planes(first, std::min(group, w.EndPlane() - first));
    refinement.error = error ? error.Row(0, first) : nullptr;
    const DeviceBuffer<FailedDiagonals> failed(device, std::vector<FailedDiagonals>(std::size_t(refinement.w.planes)));
    Launch(
      device, FewRowsOf(device, refinement.w), RefineKernel, refinement, marks.Data(), failed.Data(), largest.Bits());
    LaunchShape planes;
    planes.block = dim3(DiagonalBlock);
    planes.grid = dim3(unsigned(std::min<std::int64_t>(refinement.w.planes, MostBlocks)));
    Launch(device, planes, RefineFromNeighborsKernel, refinement, marks.Data(), failed.Data(), largest.Bits());
  }
  return float(std::sqrt(largest.ToHost()[0]));
}

float
InverseError(Device &                      device,
             const WarpView<const float> & u,
             const WarpView<const float> & w,
             float                         boundAlongZ,
             int                           margin,
             const VolumeView<float> &     error,
             const BlockMarks *            marks)
{
  CheckInverseError(u, w, error);
  if (w.planes == 0)
  {
    return 0;
  }
  WarpSweep sweep = DescribeInverseError(u, w, margin, error, marks);
  sweep.boundAlongZ = boundAlongZ >= 0 ? boundAlongZ : LargestMagnitude(device, w.Component(2));
  CheckSweep(sweep);
  OldPlanes planes;
  planes.field = u;
  const StagedMarks onDevice(device, marks);
  const FloatMaxima largest(device, 2);
  Launch(device,
         ShapeOfSweep(device, w.domain, w.planes),
         InverseErrorKernel,
         planes,
         GivenVectors{ w },
         sweep.boundAlongZ,
         margin,
         onDevice.View(),
         error,
         largest.Bits());
  const std::vector<float> found = largest.ToHost();
  CheckBound(found[0], sweep.boundAlongZ);
  return std::sqrt(found[1]);
}

void
MarkInverseErrors(Device &                        device,
                  const VolumeView<const float> & error,
                  const WarpView<const float> &   w,
                  float                           longest,
                  BlockMarks &                    own,
                  BlockMarks &                    reached)
{
  CheckMarks(error, w, own, reached);
  if (w.planes == 0)
  {
    return;
  }
  const DeviceBuffer<std::uint8_t> ownBytes(device, own.marks), reachedBytes(device, reached.marks);
  Launch(device,
         FewRowsOf(device, w),
         MarkErrorsKernel,
         error,
         w,
         longest,
         own.blocks,
         ownBytes.Data(),
         reachedBytes.Data());
  own.marks = ownBytes.ToHost();
  reached.marks = reachedBytes.ToHost();
}

} // namespace cuda
} // namespace ffdp
