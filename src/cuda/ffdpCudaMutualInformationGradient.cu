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
#include "ffdpCudaGaussianTaps.h"
#include "ffdpCudaMutualInformation.h"
#include "ffdpMutualInformationDetail.h"

#include <algorithm>
#include <vector>

/** The gradient of mutual information. Bytes per voxel: 8 read (9 with a mask) and 4 written for each gradient asked
 * for; both are written in one pass. Look-ups per voxel and gradient: BSpline 12, Approximate 1, Mattes 3, Gaussian
 * taps^2. The tables are copied to shared memory where they fit into 48 KiB (both tables up to 78 bins, one up to
 * 110), else they are read through the first-level cache. So that a table serves many voxels, there are only some
 * blocks for each multiprocessor, which go through the image together: 256 threads, because four blocks with 16 KiB of
 * tables (64 bins) then fill a multiprocessor of 64 KiB. Gaussian: 128, as each thread keeps the weights of both
 * windows in shared memory, 8 bytes for each of up to 48 taps. */
namespace ffdp
{
namespace cuda
{
namespace
{

constexpr std::int64_t GradientPiece = 2048; ///< voxels
constexpr std::size_t  TableBytes = 48 * 1024;

template <MutualInformationKind VKind>
constexpr unsigned GradientThreads = VKind == MutualInformationKind::Gaussian ? 128 : 256;

struct GradientInputs
{
  VolumeView<const float>        fixed;
  VolumeView<const float>        moving;
  VolumeView<const std::uint8_t> mask;
};

struct GradientOutputs
{
  VolumeView<float> moving;
  VolumeView<float> fixed;
};

/** Where a value lies among the bins. */
struct ParzenPlace
{
  std::int32_t base;
  float        fraction;
};

__device__ __forceinline__ ParzenPlace
PlaceAmongBins(const ParzenBinning & binning, float value)
{
  const float        position = ParzenPosition(binning, value);
  const std::int32_t base = ParzenBase(binning, position);
  return ParzenPlace{ base, position - float(base) };
}

/** There is a gradient: the active value is inside its range, and there is another one. */
__device__ __forceinline__ bool
HasGradient(const GradientTask & task, float active, float other)
{
  return active >= task.active.low && active <= task.active.high && other == other;
}

/** BSpline and Approximate. */
template <MutualInformationKind VKind>
__device__ __forceinline__ float
TableGradient(const GradientTask & task, const float * table, const ParzenPlace & active, const ParzenPlace & other)
{
  const float * corner = table + active.base * task.activeStride + other.base * task.otherStride;
  return VKind == MutualInformationKind::BSpline
           ? BSplineTableGradient(corner, task.stride, active.fraction, other.fraction)
           : *corner;
}

/** The normalized weights of one image, tap by tap; those of the threads of a block lie side by side. */
struct GaussianWeights
{
  static constexpr unsigned Stride = GradientThreads<MutualInformationKind::Gaussian>;
  float *                   first; ///< of this thread
  std::int32_t              base;

  __device__ __forceinline__
  GaussianWeights(float * shared, const GaussianWindow & window, const ParzenBinning & binning, float value)
    : first(shared + threadIdx.x)
  {
    const GaussianTaps taps = MakeGaussianTaps(window, binning, value);
    const float        normalizer = GaussianNormalizer(window, taps);
    base = taps.base;
    ForEachTap(window, taps, [&](std::int32_t tap, float weight) { first[tap * Stride] = weight * normalizer; });
  }
  __device__ __forceinline__ float
  operator[](std::int32_t tap) const
  {
    return first[tap * Stride];
  }
};

__device__ __forceinline__ float
GaussianTableGradient(const GradientTask &    task,
                      const float *           table,
                      const GaussianWeights & active,
                      const GaussianWeights & other)
{
  const GaussianWindow & window = task.setup.window;
  const float *          corner = table + active.base * task.activeStride + other.base * task.otherStride;
  float                  mean = 0.0f;
  for (std::int32_t c = 0; c < window.taps; ++c)
  {
    mean += float(c) * active[c];
  }
  float sum = 0.0f;
  for (std::int32_t c = 0; c < window.taps; ++c)
  {
    float column = 0.0f;
    for (std::int32_t r = 0; r < window.taps; ++r)
    {
      column += other[r] * corner[r * task.stride + c];
    }
    sum += GaussianTapDerivative(window, c, active[c], mean) * column;
  }
  return sum;
}

__device__ __forceinline__ float
MattesGradient(const GradientTask & task, const float * table, float f, float m)
{
  const MattesBinning & fixedBins = task.setup.mattesFixed;
  const MattesBinning & movingBins = task.setup.mattesMoving;
  if (!(double(m) >= movingBins.low && double(m) <= movingBins.high && f == f))
  {
    return 0.0f;
  }
  const double       position = MattesPosition(movingBins, m);
  const std::int32_t bin = MattesBin(movingBins, position);
  const std::int32_t row = MattesBin(fixedBins, MattesPosition(fixedBins, f));
  return MattesTableGradient(table + row * task.setup.bins + bin - 1, float(position - bin));
}

/** Writes the gradients of one voxel; a null pointer stands for one that is not asked for. */
template <MutualInformationKind VKind>
__device__ __forceinline__ void
WriteGradients(const GradientTask & forMoving,
               const GradientTask & forFixed,
               const float *        movingTable,
               const float *        fixedTable,
               float *              weights,
               bool                 inside,
               float                f,
               float                m,
               float *              toMoving,
               float *              toFixed)
{
  float moving = 0.0f;
  float fixed = 0.0f;
  if (VKind == MutualInformationKind::Mattes)
  {
    moving = inside ? MattesGradient(forMoving, movingTable, f, m) : 0.0f;
  }
  else
  {
    const bool movingCounts = inside && toMoving && HasGradient(forMoving, m, f);
    const bool fixedCounts = inside && toFixed && HasGradient(forFixed, f, m);
    if (movingCounts || fixedCounts)
    {
      if (VKind == MutualInformationKind::Gaussian)
      {
        const GaussianWindow & window = forMoving.setup.window;
        const GaussianWeights  ofMoving(weights, window, forMoving.active, m);
        const GaussianWeights  ofFixed(weights + window.taps * GaussianWeights::Stride, window, forMoving.other, f);
        moving = movingCounts ? GaussianTableGradient(forMoving, movingTable, ofMoving, ofFixed) : 0.0f;
        fixed = fixedCounts ? GaussianTableGradient(forFixed, fixedTable, ofFixed, ofMoving) : 0.0f;
      }
      else
      {
        const ParzenPlace ofMoving = PlaceAmongBins(forMoving.active, m);
        const ParzenPlace ofFixed = PlaceAmongBins(forMoving.other, f);
        moving = movingCounts ? TableGradient<VKind>(forMoving, movingTable, ofMoving, ofFixed) : 0.0f;
        fixed = fixedCounts ? TableGradient<VKind>(forFixed, fixedTable, ofFixed, ofMoving) : 0.0f;
      }
    }
  }
  if (toMoving)
  {
    *toMoving = moving;
  }
  if (toFixed)
  {
    *toFixed = fixed;
  }
}

/** The tables of the tasks are in device memory, `entries` floats each, or null. Shared memory: the tables, then the
 * weights of Gaussian. */
template <MutualInformationKind VKind, bool VSharedTables>
__global__ void
__launch_bounds__(GradientThreads<VKind>) GradientKernel(GradientTask    forMoving,
                                                         GradientTask    forFixed,
                                                         std::int32_t    entries,
                                                         GradientInputs  inputs,
                                                         GradientOutputs outputs,
                                                         VoxelRuns       runs)
{
  float *       shared = DynamicShared<float>();
  const float * movingTable = forMoving.table;
  const float * fixedTable = forFixed.table;
  if (VSharedTables)
  {
    const std::int32_t movingEntries = forMoving.table ? entries : 0;
    const std::int32_t fixedEntries = forFixed.table ? entries : 0;
    for (auto k = std::int32_t(threadIdx.x); k < movingEntries; k += GradientThreads<VKind>)
    {
      shared[k] = forMoving.table[k];
    }
    for (auto k = std::int32_t(threadIdx.x); k < fixedEntries; k += GradientThreads<VKind>)
    {
      shared[movingEntries + k] = forFixed.table[k];
    }
    movingTable = shared;
    fixedTable = shared + movingEntries;
    shared += movingEntries + fixedEntries;
    __syncthreads();
  }
  for (std::int64_t piece = blockIdx.x; piece < runs.Pieces(); piece += gridDim.x)
  {
    const float *        f = runs.Begin(inputs.fixed, piece);
    const float *        m = runs.Begin(inputs.moving, piece);
    const std::uint8_t * mask = runs.Begin(inputs.mask, piece);
    float *              toMoving = runs.Begin(outputs.moving, piece);
    float *              toFixed = runs.Begin(outputs.fixed, piece);
    const auto           length = unsigned(runs.Length(piece));
    for (unsigned i = threadIdx.x; i < length; i += GradientThreads<VKind>)
    {
      WriteGradients<VKind>(forMoving,
                            forFixed,
                            movingTable,
                            fixedTable,
                            shared,
                            !mask || mask[i] != 0,
                            f[i],
                            m[i],
                            toMoving ? toMoving + i : nullptr,
                            toFixed ? toFixed + i : nullptr);
    }
  }
}

/** The tables on the device, for as long as the kernel needs them. */
struct DeviceTables
{
  DeviceBuffer<float> moving;
  DeviceBuffer<float> fixed;
};

template <MutualInformationKind VKind>
void
LaunchGradient(Device &                device,
               const GradientTask &    forMoving,
               const GradientTask &    forFixed,
               const DeviceTables &    tables,
               const GradientInputs &  inputs,
               const GradientOutputs & outputs,
               const VoxelRuns &       runs)
{
  const std::size_t tableBytes = std::size_t(tables.moving.Count() + tables.fixed.Count()) * sizeof(float);
  const std::size_t weightBytes =
    VKind == MutualInformationKind::Gaussian
      ? 2 * std::size_t(forMoving.setup.window.taps) * GradientThreads<VKind> * sizeof(float)
      : 0;
  const bool  inShared = tableBytes + weightBytes <= TableBytes;
  LaunchShape shape;
  shape.block = dim3(GradientThreads<VKind>);
  shape.grid = dim3(unsigned(std::min<std::int64_t>(runs.Pieces(), 8 * device.Multiprocessors())));
  shape.sharedBytes = weightBytes + (inShared ? tableBytes : 0);
  Launch(device,
         shape,
         inShared ? GradientKernel<VKind, true> : GradientKernel<VKind, false>,
         forMoving,
         forFixed,
         std::int32_t(std::max(tables.moving.Count(), tables.fixed.Count())),
         inputs,
         outputs,
         runs);
}

auto
SelectGradientLaunch(MutualInformationKind kind)
{
  switch (kind)
  {
    case MutualInformationKind::Gaussian:
      return LaunchGradient<MutualInformationKind::Gaussian>;
    case MutualInformationKind::Approximate:
      return LaunchGradient<MutualInformationKind::Approximate>;
    case MutualInformationKind::Mattes:
      return LaunchGradient<MutualInformationKind::Mattes>;
    case MutualInformationKind::BSpline:
      break;
  }
  return LaunchGradient<MutualInformationKind::BSpline>;
}

} // namespace

void
MutualInformationGradient(Device &                               device,
                          const MutualInformation &              information,
                          const VolumeView<const float> &        fixed,
                          const VolumeView<const float> &        moving,
                          const VolumeView<const std::uint8_t> & mask,
                          const VolumeView<float> &              gradientMoving,
                          const VolumeView<float> &              gradientFixed)
{
  const ParzenSetup setup = MakeParzenSetup(information.parameters);
  RequireGradientImages(information, fixed, moving, mask, gradientMoving, gradientFixed);
  const VolumeView<float> & output = gradientMoving ? gradientMoving : gradientFixed;
  if (output.planes == 0)
  {
    return;
  }
  const std::vector<float> none;
  const DeviceTables       tables{ DeviceBuffer<float>(device, gradientMoving ? information.movingTable : none),
                             DeviceBuffer<float>(device, gradientFixed ? information.fixedTable : none) };
  GradientTask             forMoving = MakeGradientTask(information, setup, false);
  GradientTask             forFixed = MakeGradientTask(information, setup, true);
  forMoving.table = tables.moving.Data();
  forFixed.table = tables.fixed.Data();
  const bool dense =
    IsDense(fixed) && IsDense(moving) && IsDense(mask) && IsDense(gradientMoving) && IsDense(gradientFixed);
  const VoxelRuns runs(output.domain, output.firstPlane, output.planes, dense, GradientPiece);
  SelectGradientLaunch(information.parameters.kind)(device,
                                                    forMoving,
                                                    forFixed,
                                                    tables,
                                                    GradientInputs{ fixed, moving, mask },
                                                    GradientOutputs{ gradientMoving, gradientFixed },
                                                    runs);
}

} // namespace cuda
} // namespace ffdp
