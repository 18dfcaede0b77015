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
#include "ffdpCudaSampler.h"

#include "ffdpCudaSamplerTile.h"

/** Bytes per voxel, planar floats: Sample reads 12 of the warp and writes 4 (reads them, too, if it accumulates); of
 * the image each voxel is read from memory once, 4, and up to 7 times more from the caches. Without a warp 8.
 * FindReachedPlanes reads 12 and keeps two numbers per plane. The block shape is that of ffdpCudaSamplerTile.h. */
namespace ffdp
{
namespace cuda
{
namespace
{

template <bool TEdge, bool TNearest, typename T>
__global__ void
SampleKernel(SamplerBox        box,
             ImagePlanes       image,
             MapTerms          map,
             WarpView<const T> u,
             VolumeView<float> output,
             float             outside,
             bool              accumulate)
{
  ForEachPosition(box, map, u, [&](std::int64_t x, std::int64_t y, std::int64_t z, const CellPosition & p) {
    float value;
    if (TNearest)
    {
      std::int32_t voxel[3];
      for (int c = 0; c < 3; ++c)
      {
        voxel[c] = NearestVoxelOnAxis<TEdge>(p.index[c], p.fraction[c], image.size[c]);
      }
      value = ReadNearest(image, voxel[0], voxel[1], voxel[2], outside);
    }
    else
    {
      value = InterpolateAt<TEdge>(image, p, outside);
    }
    float * const to = output.Row(y, z) + x;
    *to = accumulate ? *to + value : value;
  });
}

/** reach[2 i], reach[2 i + 1]: the lowest and highest plane that plane i of the box may reach, before the border rule.
 * A minimum and a maximum of integers: the order of blocks does not matter. */
template <typename T>
__global__ void
FindReachKernel(SamplerBox box, std::int32_t imagePlanes, MapTerms map, WarpView<const T> u, std::int32_t * reach)
{
  std::int32_t lowest = imagePlanes;
  std::int32_t highest = -1;
  ForEachPosition(
    box,
    map,
    u,
    [&](std::int64_t, std::int64_t, std::int64_t, const CellPosition & p) {
      // a cell below or above the whole image reaches nothing
      const std::int32_t index = p.index[2];
      if (index >= -1 && index < imagePlanes)
      {
        lowest = index < lowest ? index : lowest;
        highest = index + 1 > highest ? index + 1 : highest;
      }
    },
    [&](std::int64_t z) {
      for (int distance = 16; distance > 0; distance /= 2)
      {
        const std::int32_t low = __shfl_xor_sync(0xffffffffu, lowest, distance);
        const std::int32_t high = __shfl_xor_sync(0xffffffffu, highest, distance);
        lowest = low < lowest ? low : lowest;
        highest = high > highest ? high : highest;
      }
      if (threadIdx.x % 32 == 0 && highest >= 0)
      {
        atomicMin(reach + 2 * (z - box.firstPlane), lowest);
        atomicMax(reach + 2 * (z - box.firstPlane) + 1, highest);
      }
      lowest = imagePlanes;
      highest = -1;
    });
}

template <typename T>
auto
SelectSampleKernel(const SamplerParameters & parameters)
{
  const bool edge = parameters.border == Border::Edge;
  return parameters.interpolation == Interpolation::Nearest
           ? (edge ? SampleKernel<true, true, T> : SampleKernel<false, true, T>)
           : (edge ? SampleKernel<true, false, T> : SampleKernel<false, false, T>);
}

} // namespace

void
Sample(Device &                        device,
       const VolumeView<const float> & image,
       const CompositeMap &            map,
       const WarpInput &               u,
       const VolumeView<float> &       output,
       const SamplerParameters &       parameters)
{
  CheckSample(u, output);
  const SamplerPlan plan = MakeSamplerPlan(image, "the image to sample", map, parameters);
  const MapTerms    terms = MakeMapTerms(plan.map, true);
  const SamplerBox  box = BoxOf(output);
  if (output.planes > 0)
  {
    WithElementsOf(u, [&](const auto & view) {
      using T = ElementOf<decltype(view)>;
      Launch(device,
             TilesOf(box),
             SelectSampleKernel<T>(parameters),
             box,
             plan.image,
             terms,
             view,
             output,
             plan.outside,
             plan.accumulate);
    });
  }
}

std::vector<PlaneRange>
FindReachedPlanes(Device &                  device,
                  const Extent &            imageSize,
                  const CompositeMap &      map,
                  const WarpInput &         u,
                  const Extent &            fixedSize,
                  std::int64_t              firstPlane,
                  std::int64_t              planes,
                  const SamplerParameters & parameters)
{
  CheckReach(u, fixedSize, firstPlane, planes);
  const float                   noVoxel = 0;
  const VolumeView<const float> image(&noVoxel, imageSize); // only its size is used
  const SamplerPlan             plan = MakeSamplerPlan(image, "the image", map, parameters);
  const MapTerms                terms = MakeMapTerms(plan.map, false); // where u is not a number, X is on all axes
  const SamplerBox              box{ fixedSize.x, 0, fixedSize.y, firstPlane, firstPlane + planes };

  std::vector<PlaneRange> ranges;
  if (planes > 0)
  {
    std::vector<std::int32_t> none;
    for (std::int64_t i = 0; i < planes; ++i)
    {
      none.insert(none.end(), { plan.image.size[2], -1 });
    }
    DeviceBuffer<std::int32_t> reach(device, none);
    WithElementsOf(u, [&](const auto & view) {
      using T = ElementOf<decltype(view)>;
      Launch(device, TilesOf(box), FindReachKernel<T>, box, plan.image.size[2], terms, view, reach.Data());
    });
    const std::vector<std::int32_t> found = reach.ToHost();
    for (std::size_t i = 0; i < found.size(); i += 2)
    {
      ranges.push_back(ReachedRange(found[i], found[i + 1], imageSize.z));
    }
  }
  return ranges;
}

} // namespace cuda
} // namespace ffdp
