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

#include "ffdpCudaMapGradient.h"
#include "ffdpCudaSamplerTile.h"
#include "ffdpCudaSamplerVectors.h"

/** Bytes per voxel, planar floats. SampleBackward reads 12 of the warp, 4 of g and 4 of the image (see
 * ffdpCudaSampler.cu) and writes 12; SampleDerivative the same without g; FinishSampleBackward reads 16 and writes 12.
 * The block shape is that of ffdpCudaSamplerTile.h, with a gradient for the map that of ffdpCudaMapGradient.h. */
namespace ffdp
{
namespace cuda
{
namespace
{

template <bool TEdge, typename T>
__global__ void
DerivativeKernel(SamplerBox        box,
                 ImagePlanes       image,
                 MapTerms          map,
                 WarpView<const T> u,
                 WarpView<float>   derivative,
                 bool              accumulate)
{
  ForEachPosition(box, map, u, [&](std::int64_t x, std::int64_t y, std::int64_t z, const CellPosition & p) {
    StoreComponents(derivative, x, y, z, DifferentiateAt<TEdge>(image, p), accumulate);
  });
}

template <bool TEdge, typename T>
__global__ void
WarpGradientKernel(SamplerBox              box,
                   ImagePlanes             image,
                   MapTerms                map,
                   WarpView<const T>       u,
                   VolumeView<const float> g,
                   Matrix3                 S,
                   WarpOutput              to,
                   bool                    accumulate)
{
  ForEachPosition(box, map, u, [&](std::int64_t x, std::int64_t y, std::int64_t z, const CellPosition & p) {
    const VoxelVector product = Multiply(DifferentiateAt<TEdge>(image, p), g.Row(y, z)[x]);
    StoreWarpGradient(to, S, x, y, z, product, accumulate);
  });
}

/** dI/dX of a voxel that was computed before. */
struct FieldSource
{
  WarpView<const float> derivative;

  struct Step
  {
    __device__ explicit Step(const FieldSource &) {}
  };
  __device__ AxisPosition
  Start(int, std::int64_t, std::int64_t, std::int64_t) const
  {
    return { 0, 0.0f };
  }
  __device__ VoxelVector
  At(const AxisPosition *, const Step &, std::int64_t x, std::int64_t y, std::int64_t z) const
  {
    return { ReadComponent(derivative, 0, x, y, z),
             ReadComponent(derivative, 1, x, y, z),
             ReadComponent(derivative, 2, x, y, z) };
  }
};

/** dI/dX of a voxel, computed from the image. */
template <bool TEdge, typename T>
struct ImageSource
{
  ImagePlanes       image;
  MapTerms          map;
  WarpView<const T> u;

  struct Step
  {
    BlockStep step;
    __device__ explicit Step(const ImageSource & source)
      : step(source.map)
    {}
  };
  __device__ AxisPosition
  Start(int c, std::int64_t x, std::int64_t y, std::int64_t z) const
  {
    return StartOfBlock(map.A + 3 * c, map.t[c], x, y, z);
  }
  __device__ VoxelVector
  At(const AxisPosition * start, const Step & step, std::int64_t x, std::int64_t y, std::int64_t z) const
  {
    return DifferentiateAt<TEdge>(image, Locate(map, u, start, step.step, x, y, z));
  }
};

__global__ void
FinishKernel(FieldSource source, VolumeView<const float> g, Matrix3 S, WarpOutput to)
{
  ForEachVoxel(to.floats, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    const VoxelVector product = Multiply(source.At(nullptr, FieldSource::Step(source), x, y, z), g.Row(y, z)[x]);
    StoreWarpGradient(to, S, x, y, z, product, false);
  });
}

} // namespace

std::vector<MapGradient>
SampleBackward(Device &                        device,
               const VolumeView<const float> & image,
               const CompositeMap &            map,
               const WarpInput &               u,
               const VolumeView<const float> & outputGradient,
               const WarpOutput &              warpGradient,
               bool                            mapGradient,
               const SamplerParameters &       parameters)
{
  CheckSampleBackward(u, outputGradient, warpGradient, parameters);
  const SamplerPlan plan = MakeSamplerPlan(image, "the image to sample", map, parameters);
  const MapTerms    terms = MakeMapTerms(plan.map, true);
  const Matrix3     S = SOf(plan.map);
  const SamplerBox  box = BoxOf(outputGradient);

  std::vector<MapGradient> planeSums;
  const auto               run = [&](const auto & view, auto edge) {
    constexpr bool Edge = decltype(edge)::value;
    using T = ElementOf<decltype(view)>;
    if (mapGradient)
    {
      const ImageSource<Edge, T> source{ plan.image, terms, view };
      planeSums = SumOverPlanes(device, source, outputGradient, box, S, warpGradient, plan.accumulate);
    }
    else
    {
      Launch(device,
             TilesOf(box),
             WarpGradientKernel<Edge, T>,
             box,
             plan.image,
             terms,
             view,
             outputGradient,
             S,
             warpGradient,
             plan.accumulate);
    }
  };
  if (outputGradient.planes > 0 && (mapGradient || warpGradient))
  {
    WithElementsOf(u, [&](const auto & view) {
      parameters.border == Border::Edge ? run(view, std::true_type()) : run(view, std::false_type());
    });
  }
  return planeSums;
}

void
SampleDerivative(Device &                        device,
                 const VolumeView<const float> & image,
                 const CompositeMap &            map,
                 const WarpInput &               u,
                 const WarpView<float> &         derivative,
                 const SamplerParameters &       parameters)
{
  CheckSampleDerivative(u, derivative, parameters);
  const SamplerPlan plan = MakeSamplerPlan(image, "the image to sample", map, parameters);
  const MapTerms    terms = MakeMapTerms(plan.map, true);
  const SamplerBox  box = BoxOf(derivative);
  if (derivative.planes > 0)
  {
    WithElementsOf(u, [&](const auto & view) {
      using T = ElementOf<decltype(view)>;
      const auto kernel = parameters.border == Border::Edge ? DerivativeKernel<true, T> : DerivativeKernel<false, T>;
      Launch(device, TilesOf(box), kernel, box, plan.image, terms, view, derivative, plan.accumulate);
    });
  }
}

std::vector<MapGradient>
FinishSampleBackward(Device &                        device,
                     const CompositeMap &            map,
                     const VolumeView<const float> & outputGradient,
                     const WarpView<float> &         derivative,
                     bool                            mapGradient)
{
  CheckFinishSampleBackward(outputGradient, derivative);
  const Matrix3     S = SOf(MakeSamplerMap(map));
  const FieldSource source{ derivative };
  if (derivative.planes == 0)
  {
    return {};
  }
  if (mapGradient)
  {
    return SumOverPlanes(device, source, outputGradient, BoxOf(derivative), S, WarpOutput(derivative), false);
  }
  Launch(device, RowsOf(derivative), FinishKernel, source, outputGradient, S, WarpOutput(derivative));
  return {};
}

} // namespace cuda
} // namespace ffdp
