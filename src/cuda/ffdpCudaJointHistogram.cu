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
#include "ffdpCudaWarpReductions.h"
#include "ffdpMutualInformationDetail.h"

#include <algorithm>
#include <vector>

/** The joint histogram. Bytes per voxel: 8 read, 9 with a mask, times the number of tiles (1 up to 78 bins, Approximate
 * up to 110; then the fixed bins are cut into tiles whose counts fit into 48 KiB, 11 of them for 256 bins).
 *
 * A block counts in shared memory and adds what it has to the 64-bit totals once, at its end. A weight is up to
 * 2^25, so a 32-bit count wraps after some hundred samples of the background: the thread whose addition wraps it
 * adds 1 to a second count, of carries. That is exact in any order, and needs one 32-bit atomic per weight,
 * which shared memory has; 64-bit ones it has not. Small histograms have several copies, taken by neighboring
 * threads: those mostly hit the same bins, and would wait for each other. The copies of a bin lie side by side, in
 * banks of their own. Approximate counts whole samples: no carries, but threads of a warp in the same bin count
 * together.
 *
 * 512 threads: with 48 KiB per block, one or two blocks fill the threads of a multiprocessor that has 64 to 100 KiB.
 * Two of them are promised to the compiler, which otherwise saves registers for more of them, and spills. */
namespace ffdp
{
namespace cuda
{
namespace
{

constexpr unsigned     HistogramThreads = 512;
constexpr std::int64_t HistogramPiece = 2048; ///< voxels
constexpr std::size_t  TileBytes = 48 * 1024;
constexpr std::size_t  CopiesBytes = 24 * 1024; ///< so much for more than one copy
constexpr int          MostCopies = 8;

using Total = unsigned long long; // the type of 64-bit atomics

/** Fixed bins whose counts a block keeps. */
struct HistogramTiles
{
  std::int32_t bins = 0;
  std::int32_t rows = 0; ///< fixed bins of a tile
  std::int32_t copies = 1;
  bool         carries = true;

  HistogramTiles(MutualInformationKind kind, int binCount)
    : bins(binCount)
    , carries(kind != MutualInformationKind::Approximate)
  {
    const std::size_t square = std::size_t(bins) * std::size_t(bins) * sizeof(std::uint32_t);
    while (copies < MostCopies && (2 * std::size_t(copies) + (carries ? 1 : 0)) * square <= CopiesBytes)
    {
      copies *= 2;
    }
    const auto most = std::int32_t(TileBytes / (Words() * std::size_t(bins) * sizeof(std::uint32_t)));
    rows = most < bins ? most : bins;
    rows = (bins + Count() - 1) / Count(); // tiles of about the same size
  }
  int
  Count() const
  {
    return (bins + rows - 1) / rows;
  }
  std::size_t
  Words() const ///< of a bin
  {
    return std::size_t(copies) + (carries ? 1 : 0);
  }
  std::size_t
  Bytes() const
  {
    return std::size_t(rows) * std::size_t(bins) * Words() * sizeof(std::uint32_t);
  }
};

/** The counts of a block. */
struct BlockCounts
{
  std::uint32_t * low;     ///< [bin of the tile * copies + copy]
  std::uint32_t * carries; ///< [bin of the tile], in units of 2^32
  std::int32_t    bins;
  std::int32_t    firstRow;
  std::int32_t    rows;
  std::int32_t    copies;
  std::int32_t    copy; ///< of this thread

  __device__ __forceinline__ bool
  HasRow(std::int32_t fixedBin) const
  {
    return fixedBin >= firstRow && fixedBin < firstRow + rows;
  }

  __device__ __forceinline__ void
  Add(std::int32_t fixedBin, std::int32_t movingBin, std::uint32_t weight) const
  {
    const std::int32_t  bin = (fixedBin - firstRow) * bins + movingBin;
    const std::uint32_t before = weight > 0 ? atomicAdd(&low[bin * copies + copy], weight) : 0;
    if (before + weight < before)
    {
      atomicAdd(&carries[bin], 1u);
    }
  }
};

constexpr float FixedPointOne = float(1 << JointHistogram::FractionBits);

__device__ __forceinline__ void
AddBSplineSample(const ParzenSetup & setup, const BlockCounts & counts, float f, float m)
{
  const float        fixedPosition = ParzenPosition(setup.fixed, f);
  const float        movingPosition = ParzenPosition(setup.moving, m);
  const std::int32_t fixedBase = ParzenBase(setup.fixed, fixedPosition);
  const std::int32_t movingBase = ParzenBase(setup.moving, movingPosition);
  float              w[4];
  float              v[4];
  CubicBSplineWeights(fixedPosition - float(fixedBase), w[0], w[1], w[2], w[3]);
  CubicBSplineWeights(movingPosition - float(movingBase), v[0], v[1], v[2], v[3]);
#pragma unroll
  for (int a = 0; a < 4; ++a)
  {
    if (counts.HasRow(fixedBase + a))
    {
      const float scaled = w[a] * FixedPointOne;
#pragma unroll
      for (int b = 0; b < 4; ++b)
      {
        counts.Add(fixedBase + a, movingBase + b, ToFixedPoint(scaled * v[b]));
      }
    }
  }
}

__device__ __forceinline__ void
AddGaussianSample(const ParzenSetup & setup, const BlockCounts & counts, float f, float m)
{
  const GaussianWindow & window = setup.window;
  const GaussianTaps     fixedTaps = MakeGaussianTaps(window, setup.fixed, f);
  const GaussianTaps     movingTaps = MakeGaussianTaps(window, setup.moving, m);
  const float            fixedNormalizer = GaussianNormalizer(window, fixedTaps);
  const float            movingNormalizer = GaussianNormalizer(window, movingTaps);
  const std::int32_t     radius = window.taps / 2;
  ForEachTap(window, fixedTaps, [&](std::int32_t a, float fixedWeight) {
    const std::int32_t row = fixedTaps.base + a - radius;
    if (counts.HasRow(row) && fixedWeight > 0)
    {
      const float scaled = FixedPointOne * (fixedWeight * fixedNormalizer);
      ForEachTap(window, movingTaps, [&](std::int32_t b, float movingWeight) {
        // A bin that does not exist has weight 0, which adds nothing.
        counts.Add(row, movingTaps.base + b - radius, ToFixedPoint(scaled * (movingWeight * movingNormalizer)));
      });
    }
  });
}

__device__ __forceinline__ void
AddMattesSample(const ParzenSetup & setup, const BlockCounts & counts, float f, float m)
{
  const std::int32_t fixedBin = MattesBin(setup.mattesFixed, MattesPosition(setup.mattesFixed, f));
  if (counts.HasRow(fixedBin))
  {
    const double       position = MattesPosition(setup.mattesMoving, m);
    const std::int32_t movingBin = MattesBin(setup.mattesMoving, position);
    float              w[4];
    CubicBSplineWeights(float(position - movingBin), w[0], w[1], w[2], w[3]);
#pragma unroll
    for (int b = 0; b < 4; ++b)
    {
      counts.Add(fixedBin, movingBin - 1 + b, ToFixedPoint(w[b] * FixedPointOne));
    }
  }
}

/** Where Approximate counts a sample, or -1 if that is not in the tile. */
__device__ __forceinline__ std::int32_t
                           HardSlot(const ParzenSetup & setup, const BlockCounts & counts, float f, float m)
{
  const std::int32_t fixedBin = ParzenBase(setup.fixed, ParzenPosition(setup.fixed, f));
  const std::int32_t movingBin = ParzenBase(setup.moving, ParzenPosition(setup.moving, m));
  return counts.HasRow(fixedBin)
           ? ((fixedBin - counts.firstRow) * counts.bins + movingBin) * counts.copies + counts.copy
           : -1;
}

template <MutualInformationKind VKind>
__device__ __forceinline__ bool
IsSample(const ParzenSetup & setup, float f, float m)
{
  return VKind == MutualInformationKind::Mattes
           ? f == f && double(m) >= setup.mattesMoving.low && double(m) <= setup.mattesMoving.high
           : f == f && m == m;
}

/** The voxels of this block into its tile; returns the samples that this thread saw. All threads of a warp go
 * through the loop together, as CountTogether() wants it. */
template <MutualInformationKind VKind>
__device__ __forceinline__ unsigned
CountVoxels(const ParzenSetup &                    setup,
            const BlockCounts &                    counts,
            const VolumeView<const float> &        fixed,
            const VolumeView<const float> &        moving,
            const VolumeView<const std::uint8_t> & mask,
            const VoxelRuns &                      runs)
{
  unsigned samples = 0;
  for (std::int64_t piece = blockIdx.x; piece < runs.Pieces(); piece += gridDim.x)
  {
    const float *        f = runs.Begin(fixed, piece);
    const float *        m = runs.Begin(moving, piece);
    const std::uint8_t * inside = runs.Begin(mask, piece);
    const auto           length = unsigned(runs.Length(piece));
    for (unsigned begin = 0; begin < length; begin += HistogramThreads)
    {
      const unsigned i = begin + threadIdx.x;
      const bool     counted = i < length && (!inside || inside[i] != 0) && IsSample<VKind>(setup, f[i], m[i]);
      samples += counted ? 1 : 0;
      if (VKind == MutualInformationKind::Approximate)
      {
        CountTogether(counts.low, counted ? HardSlot(setup, counts, f[i], m[i]) : -1);
      }
      else if (counted)
      {
        VKind == MutualInformationKind::BSpline    ? AddBSplineSample(setup, counts, f[i], m[i])
        : VKind == MutualInformationKind::Gaussian ? AddGaussianSample(setup, counts, f[i], m[i])
                                                   : AddMattesSample(setup, counts, f[i], m[i]);
      }
    }
  }
  return samples;
}

/** totals: bins^2 counts, then the samples. blockIdx.y is the tile. */
template <MutualInformationKind VKind>
__global__ void
__launch_bounds__(HistogramThreads, 2) JointHistogramKernel(ParzenSetup                    setup,
                                                            HistogramTiles                 tiles,
                                                            VolumeView<const float>        fixed,
                                                            VolumeView<const float>        moving,
                                                            VolumeView<const std::uint8_t> mask,
                                                            VoxelRuns                      runs,
                                                            Total *                        totals)
{
  constexpr bool hard = VKind == MutualInformationKind::Approximate;
  const auto     thread = std::int32_t(threadIdx.x);
  BlockCounts    counts;
  counts.bins = tiles.bins;
  counts.firstRow = std::int32_t(blockIdx.y) * tiles.rows;
  counts.rows = tiles.bins - counts.firstRow < tiles.rows ? tiles.bins - counts.firstRow : tiles.rows;
  counts.copies = tiles.copies;
  counts.copy = (hard ? thread / 32 : thread) % tiles.copies; // of a warp, where its threads count together
  const std::int32_t held = counts.rows * tiles.bins;
  counts.low = DynamicShared<std::uint32_t>();
  counts.carries = counts.low + held * tiles.copies;
  for (std::int32_t k = thread; k < held * (tiles.copies + (hard ? 0 : 1)); k += HistogramThreads)
  {
    counts.low[k] = 0;
  }
  __syncthreads();

  const unsigned samples = CountVoxels<VKind>(setup, counts, fixed, moving, mask, runs);
  __syncthreads();

  for (std::int32_t bin = thread; bin < held; bin += HistogramThreads)
  {
    Total sum = hard ? 0 : Total(counts.carries[bin]) << 32;
    for (std::int32_t copy = 0; copy < tiles.copies; ++copy)
    {
      sum += counts.low[bin * tiles.copies + copy];
    }
    if (sum > 0)
    {
      atomicAdd(&totals[counts.firstRow * tiles.bins + bin], hard ? sum << JointHistogram::FractionBits : sum);
    }
  }
  const Total warpSamples = WarpSum(Total(samples));
  if (blockIdx.y == 0 && thread % 32 == 0 && warpSamples > 0)
  {
    atomicAdd(&totals[tiles.bins * tiles.bins], warpSamples);
  }
}

auto
SelectHistogramKernel(MutualInformationKind kind)
{
  switch (kind)
  {
    case MutualInformationKind::Gaussian:
      return JointHistogramKernel<MutualInformationKind::Gaussian>;
    case MutualInformationKind::Approximate:
      return JointHistogramKernel<MutualInformationKind::Approximate>;
    case MutualInformationKind::Mattes:
      return JointHistogramKernel<MutualInformationKind::Mattes>;
    case MutualInformationKind::BSpline:
      break;
  }
  return JointHistogramKernel<MutualInformationKind::BSpline>;
}

} // namespace

JointHistogram
ComputeJointHistogram(Device &                               device,
                      const MutualInformationParameters &    parameters,
                      const VolumeView<const float> &        fixed,
                      const VolumeView<const float> &        moving,
                      const VolumeView<const std::uint8_t> & mask)
{
  JointHistogram histogram(parameters);
  RequireHistogramImages(fixed, moving, mask);
  if (moving.planes == 0)
  {
    return histogram;
  }
  const bool           dense = IsDense(fixed) && IsDense(moving) && IsDense(mask);
  const VoxelRuns      runs(moving.domain, moving.firstPlane, moving.planes, dense, HistogramPiece);
  const HistogramTiles tiles(parameters.kind, parameters.bins);
  // Few blocks, as each has counts to add at its end; but a block counts no more than 2^31 samples.
  const std::int64_t wanted = std::max(1, 4 * device.Multiprocessors() / tiles.Count());
  const std::int64_t needed = runs.Pieces() / ((std::int64_t(1) << 31) / HistogramPiece) + 1;
  LaunchShape        shape;
  shape.block = dim3(HistogramThreads);
  shape.grid = dim3(unsigned(std::min(runs.Pieces(), std::max(wanted, needed))), unsigned(tiles.Count()));
  shape.sharedBytes = tiles.Bytes();

  DeviceBuffer<Total> totals(device, std::int64_t(histogram.counts.size()) + 1);
  totals.FillZero();
  Launch(device,
         shape,
         SelectHistogramKernel(parameters.kind),
         MakeParzenSetup(parameters),
         tiles,
         fixed,
         moving,
         mask,
         runs,
         totals.Data());
  const std::vector<Total> host = totals.ToHost();
  histogram.counts.assign(host.begin(), host.end() - 1);
  histogram.samples = std::int64_t(host.back());
  return histogram;
}

} // namespace cuda
} // namespace ffdp
