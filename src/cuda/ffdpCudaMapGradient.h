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
#ifndef ffdpCudaMapGradient_h
#define ffdpCudaMapGradient_h

#include "ffdpCudaRows.h"
#include "ffdpCudaSamplerTile.h"
#include "ffdpCudaSamplerVectors.h"

#include <algorithm>
#include <vector>

/** The gradient for A and t: sums over planes of g dI/dX x^T and g dI/dX, in the order of the processor.
 *
 * A block has a strip of 16 rows to itself, from end to end, because the processor adds a row up in 16 lanes (voxel x
 * goes to lane x mod 16) and its order is kept: four rows at a time, a SamplerBlock of each, so that of 512 threads 384
 * have one of the 6 x 16 sums of their row in a register. What they add comes through shared memory, which is
 * written for one part of the rows while another is read. Bytes: 96 per strip on top of what the source reads. */
namespace ffdp
{
namespace cuda
{

constexpr int RowsAtOnce = 4;
constexpr int SumsOfRow = 6;   ///< for each axis r: of g dI/dX_r, and of g dI/dX_r x
constexpr int LanesOfSum = 16; ///< as in AddMapSums() of src/cpu
constexpr int MapEntries = 12; ///< of a MapGradient

/** What row (y, z) adds to an entry of a MapGradient; `sums` are those of the row. */
__device__ inline double
TermOfEntry(const double * sums, int entry, std::int64_t y, std::int64_t z)
{
  const int    r = entry < 9 ? entry / 3 : entry - 9;
  const int    column = entry < 9 ? entry % 3 : 3;
  const double plain = sums[2 * r];
  return column == 0 ? sums[2 * r + 1] : (column == 1 ? plain * double(y) : (column == 2 ? plain * double(z) : plain));
}

/** Gradients for the map, a strip per block, and for the warp on the way if that is asked for. */
template <typename TSource>
__global__ void
StripKernel(TSource                 source,
            SamplerBox              box,
            VolumeView<const float> g,
            Matrix3                 S,
            WarpOutput              to,
            bool                    accumulate,
            std::int64_t            strips,
            double *                stripSums)
{
  __shared__ float        products[2][RowsAtOnce][3][SamplerBlock];
  __shared__ AxisPosition start[2][RowsAtOnce][3];
  __shared__ double       laneSums[RowsAtOnce][SumsOfRow * LanesOfSum];
  __shared__ double       rowSums[SamplerStrip][SumsOfRow];

  const int                    k = int(threadIdx.x);
  const int                    slot = int(threadIdx.y);
  const int                    axis = k / (2 * LanesOfSum); // of the sum that this thread adds up, if k < 96
  const int                    lane = k % LanesOfSum;
  const bool                   timesX = k / LanesOfSum % 2 == 1;
  const std::int64_t           perPlane = strips / (box.endPlane - box.firstPlane);
  const typename TSource::Step step(source);
  for (std::int64_t strip = blockIdx.x; strip < strips; strip += gridDim.x)
  {
    const std::int64_t z = box.firstPlane + strip / perPlane;
    const std::int64_t firstRow = strip % perPlane * SamplerStrip;
    const std::int64_t endRow = firstRow + SamplerStrip < box.endRow ? firstRow + SamplerStrip : box.endRow;
    for (std::int64_t y = firstRow + slot; y - slot < endRow; y += RowsAtOnce)
    {
      double sum = 0;
      if (k < 3)
      {
        start[0][slot][k] = source.Start(k, 0, y, z);
      }
      __syncthreads();
      for (std::int64_t begin = 0, part = 0; begin < box.width; begin += SamplerBlock, part ^= 1)
      {
        const std::int64_t x = begin + k;
        if (x < box.width && y < endRow)
        {
          const VoxelVector product = Multiply(source.At(start[part][slot], step, x, y, z), g.Row(y, z)[x]);
          products[part][slot][0][k] = product.x;
          products[part][slot][1][k] = product.y;
          products[part][slot][2][k] = product.z;
          StoreWarpGradient(to, S, x, y, z, product, accumulate);
        }
        if (k < 3)
        {
          start[part ^ 1][slot][k] = source.Start(k, begin + SamplerBlock, y, z);
        }
        __syncthreads();
        for (int i = lane; k < SumsOfRow * LanesOfSum && i < SamplerBlock && begin + i < box.width; i += LanesOfSum)
        {
          const double value = y < endRow ? double(products[part][slot][axis][i]) : 0.0;
          sum += timesX ? value * double(std::int32_t(begin) + i) : value;
        }
      }
      if (k < SumsOfRow * LanesOfSum)
      {
        laneSums[slot][k] = sum;
      }
      __syncthreads();
      if (k < SumsOfRow)
      {
        double sumOfRow = 0;
        for (int i = 0; i < LanesOfSum; ++i)
        {
          sumOfRow += laneSums[slot][k * LanesOfSum + i];
        }
        rowSums[y - firstRow][k] = sumOfRow;
      }
    }
    __syncthreads();
    if (slot == 0 && k < MapEntries)
    {
      double sumOfStrip = 0;
      for (std::int64_t y = firstRow; y < endRow; ++y)
      {
        sumOfStrip += TermOfEntry(rowSums[y - firstRow], k, y, z);
      }
      stripSums[strip * MapEntries + k] = sumOfStrip;
    }
  }
}

/** One thread for an entry of a plane: its strips in order. */
template <int TEntries>
__global__ void
AddStripsKernel(const double * stripSums, std::int64_t perPlane, std::int64_t entries, double * planeSums)
{
  const std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < entries)
  {
    const double * from = stripSums + i / TEntries * perPlane * TEntries + i % TEntries;
    double         sum = 0;
    for (std::int64_t strip = 0; strip < perPlane; ++strip)
    {
      sum += from[strip * TEntries];
    }
    planeSums[i] = sum;
  }
}

template <typename TSource>
std::vector<MapGradient>
SumOverPlanes(Device &                        device,
              const TSource &                 source,
              const VolumeView<const float> & g,
              const SamplerBox &              box,
              const Matrix3 &                 S,
              const WarpOutput &              to,
              bool                            accumulate)
{
  const std::int64_t  planes = box.endPlane - box.firstPlane;
  const SamplerStrips strips{ box.endRow, box.firstPlane, planes };
  const std::int64_t  entries = planes * MapEntries;
  LaunchShape         shape;
  shape.block = dim3(SamplerBlock, RowsAtOnce);
  shape.grid = dim3(unsigned(std::min<std::int64_t>(strips.Count(), std::int64_t(1) << 30)));
  DeviceBuffer<double> stripSums(device, strips.Count() * MapEntries);
  DeviceBuffer<double> planeSums(device, entries);
  Launch(device, shape, StripKernel<TSource>, source, box, g, S, to, accumulate, strips.Count(), stripSums.Data());
  LaunchShape entriesShape;
  entriesShape.block = dim3(RowBlockWidth);
  entriesShape.grid = dim3(BlocksFor(entries, RowBlockWidth));
  Launch(
    device, entriesShape, AddStripsKernel<MapEntries>, stripSums.Data(), strips.PerPlane(), entries, planeSums.Data());

  const std::vector<double> sums = planeSums.ToHost();
  std::vector<MapGradient>  result(static_cast<std::size_t>(planes));
  for (std::size_t i = 0; i < sums.size(); ++i)
  {
    result[i / MapEntries][i % MapEntries] = sums[i];
  }
  return result;
}

} // namespace cuda
} // namespace ffdp

#endif
