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
#include "ffdpCudaMeanSquares.h"

#include "ffdpCudaMaskCount.h"
#include "ffdpCudaWarpSum.h"
#include "ffdpMeanSquaresJob.h"
#include "ffdpMeanSquaresTerms.h"
#include "ffdpRowSum.h"

/** Bytes per voxel: 8 read, 1 more with a mask, 4 written for each gradient; a mask is read once more if a gradient
 * must know first how many voxels count.
 *
 * The processor adds the squares of a piece of 32 rows in 16 lanes, voxel x in lane x mod 16. Here 16 threads are these
 * lanes, each adding its columns row after row, so sums are the same to the bit: 64 neighboring bytes are read at a
 * time, two whole sectors. A block has 8 pieces, 128 threads; of a volume of 256^3 there are 256 such blocks. Four
 * columns are read before the first is added, so that reads do not wait for additions. */
namespace ffdp
{
namespace cuda
{
namespace
{

constexpr unsigned PiecesPerBlock = 8;
constexpr int      ColumnsAtOnce = 4;

/** The voxels at x, x + 16, ... of a row: their differences, their squares to the sum, their gradients. They are read
 * before anything is written: a gradient may be where its image is, so the compiler cannot bring reads forward. */
template <int VColumns>
__device__ void
VisitColumns(const MeanSquaresJob & job,
             std::int64_t           x,
             std::int64_t           y,
             std::int64_t           z,
             double &               sum,
             std::int64_t &         count)
{
  float difference[VColumns];
#pragma unroll
  for (int k = 0; k < VColumns; ++k)
  {
    const std::int64_t at = x + k * RowSum::Lanes;
    const bool         inside = !job.mask || job.mask.Row(y, z)[at] != 0;
    difference[k] = MeanSquaresDifference(job.moving.Row(y, z)[at], job.fixed.Row(y, z)[at], inside);
    count += inside ? 1 : 0;
  }
#pragma unroll
  for (int k = 0; k < VColumns; ++k)
  {
    const std::int64_t at = x + k * RowSum::Lanes;
    const double       value = difference[k];
    sum += value * value;
    if (job.movingGradient)
    {
      job.movingGradient.Row(y, z)[at] = MeanSquaresGradient(difference[k], job.gradientScale);
    }
    if (job.fixedGradient)
    {
      job.fixedGradient.Row(y, z)[at] = MeanSquaresGradient(difference[k], -job.gradientScale);
    }
  }
}

__global__ void
__launch_bounds__(PiecesPerBlock * RowSum::Lanes)
  MeanSquaresKernel(MeanSquaresJob job, std::int64_t piecesPerPlane, std::int64_t pieces, MeanSquaresPartial * partials)
{
  constexpr std::int64_t Step = RowSum::Lanes;
  const std::int64_t     piece = std::int64_t(blockIdx.x) * PiecesPerBlock + threadIdx.y;
  const std::int64_t     z = job.moving.firstPlane + piece / piecesPerPlane;
  const std::int64_t     firstRow = piece % piecesPerPlane * RowPieces::RowsPerPiece;
  const std::int64_t     lastRow = firstRow + RowPieces::RowsPerPiece;
  const std::int64_t     endRow = piece < pieces ? (lastRow < job.moving.domain.y ? lastRow : job.moving.domain.y) : 0;
  const std::int64_t     width = job.moving.domain.x;
  double                 sum = 0;
  std::int64_t           count = 0;
  for (std::int64_t y = firstRow; y < endRow; ++y)
  {
    std::int64_t x = threadIdx.x;
    for (; x + (ColumnsAtOnce - 1) * Step < width; x += ColumnsAtOnce * Step)
    {
      VisitColumns<ColumnsAtOnce>(job, x, y, z, sum, count);
    }
    for (; x < width; x += Step)
    {
      VisitColumns<1>(job, x, y, z, sum, count);
    }
  }
  sum = SumOfLanes<RowSum::Lanes>(sum);
  count = SumOfLanes<RowSum::Lanes>(count);
  if (threadIdx.x == 0 && piece < pieces)
  {
    partials[piece].sum = sum;
    partials[piece].count = count;
  }
}

} // namespace

MeanSquaresResult
MeanSquares(Device &                               device,
            const VolumeView<const float> &        moving,
            const VolumeView<const float> &        fixed,
            const VolumeView<const std::uint8_t> & mask,
            const VolumeView<float> &              movingGradient,
            const VolumeView<float> &              fixedGradient,
            std::int64_t                           normalizer)
{
  MeanSquaresJob job{ moving, fixed, mask, movingGradient, fixedGradient, 0 };
  CheckMeanSquares(job, normalizer);
  const RowPieces pieces{ moving.domain.y, moving.firstPlane, moving.planes };
  if (movingGradient || fixedGradient)
  {
    const std::int64_t voxels =
      normalizer > 0 ? normalizer : PlaneCounts(device, mask, moving.domain, moving.firstPlane, moving.planes).Total();
    job.gradientScale = MeanSquaresGradientScale(voxels);
  }
  const DeviceBuffer<MeanSquaresPartial> partials(device, pieces.Count());
  if (pieces.Count() > 0)
  {
    LaunchShape shape;
    shape.block = dim3(RowSum::Lanes, PiecesPerBlock);
    shape.grid = dim3(BlocksFor(pieces.Count(), PiecesPerBlock));
    Launch(device, shape, MeanSquaresKernel, job, pieces.PerPlane(), pieces.Count(), partials.Data());
  }
  return AddPieces(partials.ToHost(), pieces);
}

} // namespace cuda
} // namespace ffdp
