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
#include "ffdpCudaGaussian.h"

#include "ffdpGaussianPlan.h"
#include "ffdpGaussianTerms.h"

/** In place, so a first pass has to set its results aside: it sums along z. The second pass sums along y and x and
 * brings them back.
 *
 * Bytes per voxel and component: 16 (each pass reads and writes once), and what tiles and marches read twice: along z
 * 2 r / 16 of the reads, in the plane (64 + 2 r) (16 + 2 r) / (64 * 16) of them, from cache.
 *
 * Along z: 128 threads side by side, on rows that follow each other, so that narrow volumes fill a block; each
 * marches over 16 planes with its window in registers, where the radius is at most 4 (sigma 2). In the plane: 256
 * threads on tiles of 64 x 16, which with their margins take 10 to 12 KiB of shared memory for radii of 2 to 4: several
 * blocks share a multiprocessor, and the margin along x is small against the width. */
namespace ffdp
{
namespace cuda
{
namespace
{

constexpr unsigned ColumnBlock = 128;
constexpr unsigned PlanesPerMarch = 16;
constexpr int      MostRadiusInRegisters = 4;
constexpr int      TileWidth = 64;
constexpr int      TileHeight = 16;
constexpr int      TileThreadsX = 32;
constexpr int      TileThreadsY = 8;

/** The planes that `output` holds. VRadius: that along z, or -1 where the window is read anew for each plane. */
template <int VRadius>
__global__ void
__launch_bounds__(ColumnBlock) SmoothAlongZKernel(OldPlanes old, GaussianAxis axis, WarpView<float> output)
{
  const std::int64_t column = std::int64_t(blockIdx.x) * ColumnBlock + threadIdx.x;
  if (column >= old.planeVoxels)
  {
    return;
  }
  const std::int64_t  y = column / output.domain.x;
  const std::int64_t  x = column - y * output.domain.x;
  const std::int64_t  first = output.firstPlane + std::int64_t(blockIdx.y) * PlanesPerMarch;
  const std::int64_t  end = first + PlanesPerMarch < output.EndPlane() ? first + PlanesPerMarch : output.EndPlane();
  const float * const copies = PointerOf(old.copies, blockIdx.z); // null where there are none
  const float * const field = PointerOf(old.field.component, blockIdx.z) + y * old.field.rowStride + x;
  float * const       results = PointerOf(output.component, blockIdx.z) + column; // a packed group of planes
  const auto          at = [&](std::int64_t z) {
    return z < 0 || z >= axis.size ? 0.0f
                                            : (old.IsCopied(z) ? copies[old.OffsetOfCopy(z) + column]
                                                               : field[(z - old.field.firstPlane) * old.field.planeStride]);
  };
  if constexpr (VRadius < 0)
  {
    for (std::int64_t z = first; z < end; ++z)
    {
      results[(z - output.firstPlane) * output.planeStride] =
        WeighWindow(axis.At(z), axis.radius, [&](std::int64_t i) { return at(z + i); });
    }
  }
  else
  {
    float window[2 * VRadius + 1];
#pragma unroll
    for (int i = 1; i <= 2 * VRadius; ++i)
    {
      window[i] = at(first - VRadius + i - 1);
    }
    for (std::int64_t z = first; z < end; ++z)
    {
#pragma unroll
      for (int i = 0; i < 2 * VRadius; ++i)
      {
        window[i] = window[i + 1];
      }
      window[2 * VRadius] = at(z + VRadius);
      const float * const taps = axis.At(z);
      float               sum = taps[0] * window[VRadius];
#pragma unroll
      for (int i = 1; i <= VRadius; ++i)
      {
        sum += taps[i] * (window[VRadius - i] + window[VRadius + i]);
      }
      results[(z - output.firstPlane) * output.planeStride] = sum;
    }
  }
}

/** Along y, then along x, in shared memory: the tile with its margins, and after it the tile's rows summed along y. The
 * planes of `input` are those of `output`. */
__global__ void
__launch_bounds__(TileThreadsX * TileThreadsY)
  SmoothTileKernel(WarpView<const float> input, GaussianAxis xs, GaussianAxis ys, WarpView<float> output)
{
  const int           rx = int(xs.radius);
  const int           ry = int(ys.radius);
  const int           rowFloats = TileWidth + 2 * rx;
  float * const       entered = DynamicShared<float>();
  float * const       summed = entered + (TileHeight + 2 * ry) * rowFloats;
  const unsigned      tilesAlongX = unsigned((xs.size + TileWidth - 1) / TileWidth);
  const std::int64_t  firstX = std::int64_t(blockIdx.x % tilesAlongX) * TileWidth;
  const std::int64_t  firstY = std::int64_t(blockIdx.x / tilesAlongX) * TileHeight;
  const float * const from = PointerOf(input.component, blockIdx.z) + blockIdx.y * input.planeStride;
  float * const       to = PointerOf(output.component, blockIdx.z) + blockIdx.y * output.planeStride;
  for (int row = int(threadIdx.y); row < TileHeight + 2 * ry; row += TileThreadsY)
  {
    const std::int64_t y = firstY - ry + row;
    const bool         inside = y >= 0 && y < ys.size;
    for (int column = int(threadIdx.x); column < rowFloats; column += TileThreadsX)
    {
      const std::int64_t x = firstX - rx + column;
      entered[row * rowFloats + column] = inside && x >= 0 && x < xs.size ? from[y * input.rowStride + x] : 0.0f;
    }
  }
  __syncthreads();
  for (int row = int(threadIdx.y); row < TileHeight && firstY + row < ys.size; row += TileThreadsY)
  {
    const float * const taps = ys.At(firstY + row);
    for (int column = int(threadIdx.x); column < rowFloats; column += TileThreadsX)
    {
      const float * const center = entered + (row + ry) * rowFloats + column;
      summed[row * rowFloats + column] =
        WeighWindow(taps, ry, [=](std::int64_t i) { return center[int(i) * rowFloats]; });
    }
  }
  __syncthreads();
  for (int row = int(threadIdx.y); row < TileHeight && firstY + row < ys.size; row += TileThreadsY)
  {
    float * const toRow = to + (firstY + row) * output.rowStride + firstX;
    for (int column = int(threadIdx.x); column < TileWidth && firstX + column < xs.size; column += TileThreadsX)
    {
      const float * const center = summed + row * rowFloats + rx + column;
      toRow[column] = WeighWindow(xs.At(firstX + column), rx, [=](std::int64_t i) { return center[i]; });
    }
  }
}

/** Along x or y alone, for radii whose tiles do not fit into shared memory. */
template <bool VAlongX>
__global__ void
__launch_bounds__(RowBlockWidth)
  SmoothRowsKernel(WarpView<const float> input, GaussianAxis axis, WarpView<float> output, int components)
{
  ForEachVoxel(output, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    const std::int64_t  position = VAlongX ? x : y;
    const std::int64_t  stride = VAlongX ? 1 : input.rowStride;
    const float * const taps = axis.At(position);
#pragma unroll
    for (int c = 0; c < 3; ++c)
    {
      if (c < components)
      {
        const float * const center = input.Row(c, y, z) + x;
        output.Row(c, y, z)[x] = WeighWindow(taps, axis.radius, [&](std::int64_t i) {
          return position + i >= 0 && position + i < axis.size ? center[i * stride] : 0.0f;
        });
      }
    }
  });
}

/** Planes of up to three components, packed, that a pass leaves for the next. */
class GroupOfPlanes
{
public:
  GroupOfPlanes(Device & device, const Extent & domain, int components, std::int64_t planes)
    : m_Domain(domain)
    , m_ComponentVoxels(planes * domain.x * domain.y)
    , m_Components(components)
    , m_Values(device, components * m_ComponentVoxels)
  {}
  WarpView<float>
  View(std::int64_t first, std::int64_t planes) const
  {
    float * const x = m_Values.Data();
    return m_Components == 1
             ? WarpView<float>::Planar(x, nullptr, nullptr, m_Domain, first, planes)
             : WarpView<float>::Planar(x, x + m_ComponentVoxels, x + 2 * m_ComponentVoxels, m_Domain, first, planes);
  }

private:
  Extent              m_Domain;
  std::int64_t        m_ComponentVoxels;
  int                 m_Components;
  DeviceBuffer<float> m_Values;
};

/** The kernel along each axis, with its taps on the device. */
struct DeviceAxes
{
  std::vector<float>  hostTaps[3];
  GaussianAxis        axis[3];
  DeviceBuffer<float> taps;

  DeviceAxes(Device & device, const GaussianParameters & parameters, const Extent & domain)
    : axis{ MakeGaussianAxis(parameters, 0, domain.x, hostTaps[0]),
            MakeGaussianAxis(parameters, 1, domain.y, hostTaps[1]),
            MakeGaussianAxis(parameters, 2, domain.z, hostTaps[2]) }
    , taps(device, this->AllTaps())
  {
    axis[0].taps = taps.Data();
    axis[1].taps = axis[0].taps + hostTaps[0].size();
    axis[2].taps = axis[1].taps + hostTaps[1].size();
  }

private:
  std::vector<float>
  AllTaps() const
  {
    std::vector<float> all;
    for (const std::vector<float> & some : hostTaps)
    {
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }
};

void
SmoothAlongZ(Device & device, const OldPlanes & old, const GaussianAxis & axis, int components, WarpView<float> output)
{
  LaunchShape shape;
  shape.block = dim3(ColumnBlock);
  shape.grid =
    dim3(BlocksFor(old.planeVoxels, ColumnBlock), BlocksFor(output.planes, PlanesPerMarch), unsigned(components));
  static_assert(MostRadiusInRegisters == 4, "one kernel for each of these radii");
  constexpr decltype(&SmoothAlongZKernel<0>) kernels[] = {
    SmoothAlongZKernel<0>, SmoothAlongZKernel<1>, SmoothAlongZKernel<2>, SmoothAlongZKernel<3>, SmoothAlongZKernel<4>
  };
  Launch(device,
         shape,
         axis.radius <= MostRadiusInRegisters ? kernels[axis.radius] : SmoothAlongZKernel<-1>,
         old,
         axis,
         output);
}

std::size_t
TileBytes(const GaussianAxis & xs, const GaussianAxis & ys)
{
  return std::size_t((TileWidth + 2 * xs.radius) * (2 * TileHeight + 2 * ys.radius)) * sizeof(float);
}

void
SmoothTiles(Device &                      device,
            const WarpView<const float> & input,
            const GaussianAxis &          xs,
            const GaussianAxis &          ys,
            int                           components,
            const WarpView<float> &       output)
{
  LaunchShape shape;
  shape.block = dim3(TileThreadsX, TileThreadsY);
  shape.grid =
    dim3(BlocksFor(xs.size, TileWidth) * BlocksFor(ys.size, TileHeight), unsigned(output.planes), unsigned(components));
  shape.sharedBytes = TileBytes(xs, ys);
  Launch(device, shape, SmoothTileKernel, input, xs, ys, output);
}

/** Along y and x, from planes that are summed along z. */
class PlanePasses
{
public:
  PlanePasses(Device & device, const DeviceAxes & axes, const Extent & domain, int components, std::int64_t group)
    : m_Device(device)
    , m_Axes(axes)
    , m_Components(components)
    , m_Tiled(TileBytes(axes.axis[0], axes.axis[1]) <= MostTileBytes)
    , m_AlongY(device, domain, components, m_Tiled ? 0 : group)
  {}

  void
  operator()(const WarpView<float> & summed, const WarpView<float> & output) const
  {
    if (m_Tiled)
    {
      SmoothTiles(m_Device, summed, m_Axes.axis[0], m_Axes.axis[1], m_Components, output);
      return;
    }
    const auto rows = m_AlongY.View(summed.firstPlane, summed.planes);
    Launch(m_Device, RowsOf(rows), SmoothRowsKernel<false>, summed, m_Axes.axis[1], rows, m_Components);
    Launch(m_Device, RowsOf(output), SmoothRowsKernel<true>, rows, m_Axes.axis[0], output, m_Components);
  }

private:
  static constexpr std::size_t MostTileBytes = 48 * 1024;

  Device &            m_Device;
  const DeviceAxes &  m_Axes;
  int                 m_Components;
  bool                m_Tiled;
  const GroupOfPlanes m_AlongY;
};

std::int64_t
GroupFor(const Extent & domain, int components, std::int64_t planes, std::size_t groupBytes)
{
  const std::int64_t bytesPerPlane = components * domain.x * domain.y * std::int64_t(sizeof(float));
  return std::min<std::int64_t>(MostBlocks, PlanesPerGroup(planes, bytesPerPlane, groupBytes));
}

void
Smooth(Device &                   device,
       const WarpView<float> &    field,
       int                        components,
       const PlaneRange &         owned,
       const GaussianParameters & parameters,
       std::size_t                groupBytes)
{
  const DeviceAxes    axes(device, parameters, field.domain);
  const std::int64_t  reach = axes.axis[2].radius;
  const std::int64_t  ownedPlanes = owned.end - owned.first;
  const std::int64_t  group = GroupFor(field.domain, components, ownedPlanes, groupBytes);
  const GroupOfPlanes alongZ(device, field.domain, components, group);
  const PlanePasses   alongRows(device, axes, field.domain, components, group);
  PlaneCopies         below(device, field, group < ownedPlanes ? std::min(reach, ownedPlanes) : 0);
  for (std::int64_t first = owned.first; first < owned.end; first += group)
  {
    const std::int64_t end = std::min(first + group, owned.end);
    const auto         summed = alongZ.View(first, end - first);
    SmoothAlongZ(device, below.Describe(std::max(owned.first, first - reach), first), axes.axis[2], components, summed);
    if (end < owned.end)
    {
      below.Copy(std::max(first, end - reach), end);
    }
    alongRows(summed, field.Planes(first, end - first));
  }
}

} // namespace

void
SmoothGaussian(Device &                   device,
               const WarpView<float> &    warp,
               std::int64_t               firstOwned,
               std::int64_t               ownedPlanes,
               const GaussianParameters & parameters,
               std::size_t                groupBytes)
{
  CheckGaussian(warp, firstOwned, ownedPlanes, parameters);
  if (ownedPlanes > 0)
  {
    Smooth(device, warp, 3, { firstOwned, firstOwned + ownedPlanes }, parameters, groupBytes);
  }
}

void
SmoothGaussian(Device &                   device,
               const VolumeView<float> &  volume,
               std::int64_t               firstOwned,
               std::int64_t               ownedPlanes,
               const GaussianParameters & parameters,
               std::size_t                groupBytes)
{
  CheckGaussian(volume, firstOwned, ownedPlanes, parameters);
  auto field = WarpView<float>::Planar(volume.data, nullptr, nullptr, volume.domain, volume.firstPlane, volume.planes);
  field.rowStride = volume.rowStride;
  field.planeStride = volume.planeStride;
  if (ownedPlanes > 0)
  {
    Smooth(device, field, 1, { firstOwned, firstOwned + ownedPlanes }, parameters, groupBytes);
  }
}

void
SmoothGaussian(Device &                      device,
               const WarpView<const float> & warp,
               const WarpView<float> &       smoothed,
               const GaussianParameters &    parameters,
               std::size_t                   groupBytes)
{
  CheckGaussian(warp, smoothed, parameters);
  constexpr int       Components = 3;
  const DeviceAxes    axes(device, parameters, warp.domain);
  const std::int64_t  group = GroupFor(warp.domain, Components, smoothed.planes, groupBytes);
  const GroupOfPlanes alongZ(device, warp.domain, Components, group);
  const PlanePasses   alongRows(device, axes, warp.domain, Components, group);
  OldPlanes           old; // none is overwritten
  old.field = warp;
  old.planeVoxels = warp.domain.x * warp.domain.y;
  for (std::int64_t first = smoothed.firstPlane; first < smoothed.EndPlane(); first += group)
  {
    const std::int64_t count = std::min(group, smoothed.EndPlane() - first);
    const auto         summed = alongZ.View(first, count);
    SmoothAlongZ(device, old, axes.axis[2], Components, summed);
    alongRows(summed, smoothed.Planes(first, count));
  }
}

} // namespace cuda
} // namespace ffdp
