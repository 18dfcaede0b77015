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
#include "ffdpCudaImageGradient.h"

#include "ffdpCudaMapGradient.h"
#include "ffdpCudaSamplerTile.h"
#include "ffdpCudaSamplerVectors.h"
#include "ffdpImageGradientSetup.h"

/** Bytes per voxel, planar floats: 12 of the warp, 4 of the weights and 4 of the image are read (20 voxels around a
 * position, 48 for steps that are not along the axes, most of them from the caches), 12 or 24 are written. The block
 * shape is that of ffdpCudaSamplerTile.h, for moments that of ffdpCudaMapGradient.h. */
namespace ffdp
{
namespace cuda
{
namespace
{

/** The part of a GradientPlan that a voxel needs. */
struct DifferenceTerms
{
  int   dimension;
  float step[3][3];
  float M[9];
};

/** M times the differences of the image at a voxel; zero where it has no weight. */
template <bool TAlongAxes, typename T>
struct DifferenceSource
{
  WholeImage<float>       image;
  MapTerms                map;
  DifferenceTerms         terms;
  WarpView<const T>       u;
  VolumeView<const float> weights;

  struct Step
  {
    BlockStep step;
    __device__ explicit Step(const DifferenceSource & source)
      : step(source.map)
    {}
  };
  __device__ AxisPosition
  Start(int c, std::int64_t x, std::int64_t y, std::int64_t z) const
  {
    return StartOfBlock(map.A + 3 * c, map.t[c], x, y, z);
  }

  __device__ ImagePosition
  PositionAt(const AxisPosition * start, const Step & step, std::int64_t x, std::int64_t y, std::int64_t z) const
  {
    const CellPosition cell = Locate(map, u, start, step.step, x, y, z);
    ImagePosition      position;
    for (int c = 0; c < 3; ++c)
    {
      position.index[c] = cell.index[c];
      position.fraction[c] = cell.fraction[c];
    }
    return position;
  }

  /** I(X + sign h_c), X moved by where its block begins, as the processor does it; false if that is outside. */
  __device__ bool
  ReadMoved(const AxisPosition * start,
            const Step &         step,
            std::int64_t         x,
            std::int64_t         y,
            std::int64_t         z,
            int                  c,
            float                sign,
            float &              value) const
  {
    AxisPosition moved[3];
    for (int axis = 0; axis < 3; ++axis)
    {
      moved[axis] = LocateOnAxis(start[axis].index, start[axis].fraction + sign * terms.step[c][axis]);
    }
    const ImagePosition position = this->PositionAt(moved, step, x, y, z);
    const bool          inside = IsInsideImage(image, position);
    value = inside ? ReadValue(image, position) : 0.0f;
    return inside;
  }

  __device__ VoxelVector
  At(const AxisPosition * start, const Step & step, std::int64_t x, std::int64_t y, std::int64_t z) const
  {
    float d[3] = { 0.0f, 0.0f, 0.0f };
    if (!(weights.Row(y, z)[x] != 0.0f))
    {
      return { 0.0f, 0.0f, 0.0f };
    }
    if constexpr (TAlongAxes)
    {
      ReadDifferencesAlongAxes(image, this->PositionAt(start, step, x, y, z), d);
    }
    else
    {
      for (int c = 0; c < terms.dimension; ++c)
      {
        float      ahead, behind;
        const bool hasAhead = this->ReadMoved(start, step, x, y, z, c, 1.0f, ahead);
        const bool hasBehind = this->ReadMoved(start, step, x, y, z, c, -1.0f, behind);
        d[c] = hasAhead && hasBehind ? ahead - behind : 0.0f;
      }
    }
    const float * M = terms.M;
    return { (M[0] * d[0] + M[1] * d[1]) + M[2] * d[2],
             (M[3] * d[0] + M[4] * d[1]) + M[5] * d[2],
             (M[6] * d[0] + M[7] * d[1]) + M[8] * d[2] };
  }
};

template <typename TSource>
__global__ void
DifferenceKernel(TSource source, SamplerBox box, WarpOutput to)
{
  __shared__ AxisPosition start[SamplerTileRows][3];

  const int                    k = int(threadIdx.x);
  const std::int64_t           begin = std::int64_t(blockIdx.x) * SamplerBlock;
  const std::int64_t           tileStep = std::int64_t(gridDim.y) * SamplerTileRows;
  const typename TSource::Step step(source);
  for (std::int64_t z = box.firstPlane + blockIdx.z; z < box.endPlane; z += gridDim.z)
  {
    for (std::int64_t y = box.firstRow + std::int64_t(blockIdx.y) * SamplerTileRows; y < box.endRow; y += tileStep)
    {
      if (k < 3 * SamplerTileRows)
      {
        start[k / 3][k % 3] = source.Start(k % 3, begin, y + k / 3, z);
      }
      __syncthreads();
      for (int row = 0; row < SamplerTileRows && y + row < box.endRow && begin + k < box.width; ++row)
      {
        const VoxelVector d =
          Multiply(source.At(start[row], step, begin + k, y + row, z), source.weights.Row(y + row, z)[begin + k]);
        if (to.floats)
        {
          StoreComponents(to.floats, begin + k, y + row, z, d, false);
        }
        else
        {
          StoreComponents(to.doubles, begin + k, y + row, z, d, false);
        }
      }
      __syncthreads(); // the next tile has other starts
    }
  }
}

} // namespace

std::vector<MapGradient>
ImageGradient(Device &                        device,
              const VolumeView<const float> & image,
              const CompositeMap &            map,
              const WarpInput &               u,
              const ImageDifferences &        differences,
              const VolumeView<const float> & weights,
              const std::array<double, 9> &   C,
              const WarpOutput &              derivative,
              bool                            moments)
{
  CheckImageGradient(u, differences, weights, C, derivative);
  const GradientPlan plan = MakeGradientPlan(image, map, differences, C);
  DifferenceTerms    terms;
  terms.dimension = plan.dimension;
  std::copy_n(&plan.step[0][0], 9, &terms.step[0][0]);
  std::copy_n(plan.M, 9, terms.M);

  const std::int32_t * const size = plan.sampler.image.size;
  const WholeImage<float>    whole{ image.data, { size[0], size[1], size[2] }, image.rowStride, image.planeStride };
  const MapTerms             mapTerms = MakeMapTerms(plan.sampler.map, true);
  const SamplerBox           box = BoxOf(weights);
  std::vector<MapGradient>   planeSums;
  const auto                 run = [&](const auto & view, auto alongAxes) {
    using Source = DifferenceSource<decltype(alongAxes)::value, ElementOf<decltype(view)>>;
    const Source source{ whole, mapTerms, terms, view, weights };
    if (moments)
    {
      planeSums = SumOverPlanes(device, source, weights, box, Matrix3(), WarpOutput(), false);
    }
    if (derivative)
    {
      Launch(device, TilesOf(box), DifferenceKernel<Source>, source, box, derivative);
    }
  };
  if (weights.planes > 0 && (moments || derivative))
  {
    WithElementsOf(
      u, [&](const auto & view) { plan.alongAxes ? run(view, std::true_type()) : run(view, std::false_type()); });
  }
  return planeSums;
}

} // namespace cuda
} // namespace ffdp
