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
#include "ffdpCudaWarpProducts.h"

#include "ffdpCudaLaunch.h"
#include "ffdpWarpProductsInputs.h"

#include <algorithm>

/** Sums of products of two fields. Bytes per voxel: 24 read, and 72 per row written and read again.
 *
 * The order of the sums is that of the CPU, so a row is a chain of additions, and threads are rows and products: a warp
 * for each of the nine products, a thread of it for each of 32 rows. 32 x 32 voxels of the six components are brought
 * to shared memory first, so that they are read along x and each is read once for three products. */
namespace ffdp
{
namespace cuda
{
namespace
{

constexpr int TileSize = 32;
constexpr int Products = 9;
constexpr int ProductThreads = Products * TileSize;
constexpr int TileStride = TileSize + 1; // rows of a column are in banks of their own

/** rows: the rows of all planes, one after the other; sums: nine for each. */
__global__ void
__launch_bounds__(ProductThreads)
  RowProductsKernel(WarpView<const float> a, WarpView<const float> b, std::int64_t rows, double * sums)
{
  __shared__ float   tile[6][TileSize * TileStride];
  const auto         warp = int(threadIdx.x) / TileSize;
  const auto         lane = int(threadIdx.x) % TileSize;
  const std::int64_t width = a.domain.x;
  for (std::int64_t firstRow = std::int64_t(blockIdx.x) * TileSize; firstRow < rows;
       firstRow += std::int64_t(gridDim.x) * TileSize)
  {
    const int rowsHere = rows - firstRow < TileSize ? int(rows - firstRow) : TileSize;
    double    sum = 0;
    for (std::int64_t x = 0; x < width; x += TileSize)
    {
      const int columns = width - x < TileSize ? int(width - x) : TileSize;
      for (int row = warp; row < rowsHere; row += Products) // a warp brings a row of all components
      {
        const std::int64_t y = (firstRow + row) % a.domain.y;
        const std::int64_t z = a.firstPlane + (firstRow + row) / a.domain.y;
#pragma unroll
        for (int c = 0; c < 3; ++c)
        {
          if (lane < columns)
          {
            tile[c][row * TileStride + lane] = a.Row(c, y, z)[x + lane];
            tile[3 + c][row * TileStride + lane] = b.Row(c, y, z)[x + lane];
          }
        }
      }
      __syncthreads();
      if (lane < rowsHere)
      {
        const float * left = tile[warp / 3] + lane * TileStride;
        const float * right = tile[3 + warp % 3] + lane * TileStride;
        for (int column = 0; column < columns; ++column)
        {
          sum += double(left[column]) * double(right[column]);
        }
      }
      __syncthreads();
    }
    if (lane < rowsHere)
    {
      sums[(firstRow + lane) * Products + warp] = sum;
    }
  }
}

constexpr unsigned PlaneThreads = 288; ///< 32 planes

/** A thread for each product of each plane. */
__global__ void
PlaneProductsKernel(const double * rowSums, std::int64_t planes, std::int64_t rowsPerPlane, double * planeSums)
{
  const std::int64_t k = std::int64_t(blockIdx.x) * PlaneThreads + threadIdx.x;
  if (k < planes * Products)
  {
    const double * row = rowSums + k / Products * rowsPerPlane * Products + k % Products;
    double         sum = 0;
    for (std::int64_t y = 0; y < rowsPerPlane; ++y)
    {
      sum += row[y * Products];
    }
    planeSums[k] = sum;
  }
}

} // namespace

std::vector<std::array<double, 9>>
WarpProducts(Device & device, const WarpView<const float> & a, const WarpView<const float> & b)
{
  RequireWarpProductsInputs(a, b);
  std::vector<std::array<double, 9>> sums(std::size_t(a.planes), std::array<double, 9>{});
  if (a.planes == 0)
  {
    return sums;
  }
  constexpr std::int64_t mostBlocks = 1 << 20;
  const std::int64_t     rows = a.domain.y * a.planes;
  DeviceBuffer<double>   rowSums(device, rows * Products);
  DeviceBuffer<double>   planeSums(device, a.planes * Products);
  LaunchShape            shape;
  shape.block = dim3(ProductThreads);
  shape.grid = dim3(unsigned(std::min(mostBlocks, (rows + TileSize - 1) / TileSize)));
  Launch(device, shape, RowProductsKernel, a, b, rows, rowSums.Data());
  shape.block = dim3(PlaneThreads);
  shape.grid = dim3(BlocksFor(a.planes * Products, PlaneThreads));
  Launch(device, shape, PlaneProductsKernel, rowSums.Data(), a.planes, a.domain.y, planeSums.Data());
  device.CopyToHost(sums.data(), planeSums.Data(), sums.size() * sizeof(sums[0]));
  return sums;
}

} // namespace cuda
} // namespace ffdp
