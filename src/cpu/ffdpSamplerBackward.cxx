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
#include "ffdpSampler.h"

#include "ffdpCheck.h"
#include "ffdpParallel.h"
#include "ffdpSamplerPlan.h"

#include <algorithm>

#define FFDP_KERNEL_FILE "ffdpSamplerBlockKernel.h"
#include "ffdpForEachInstructionSet.h"
#define FFDP_KERNEL_FILE "ffdpSamplerVectorsKernel.h"
#include "ffdpForEachInstructionSet.h"
#define FFDP_KERNEL_FILE "ffdpSamplerBackwardKernel.h"
#include "ffdpForEachInstructionSet.h"
#define FFDP_KERNEL_FILE "ffdpSamplerAdjointKernel.h"
#include "ffdpForEachInstructionSet.h"

namespace ffdp
{

MapGradient
AddPlanes(const std::vector<MapGradient> & planeSums)
{
  MapGradient total{};
  for (const MapGradient & sums : planeSums)
  {
    for (std::size_t i = 0; i < total.size(); ++i)
    {
      total[i] += sums[i];
    }
  }
  return total;
}

std::vector<MapGradient>
SampleBackward(const VolumeView<const float> & image,
               const CompositeMap &            map,
               const WarpInput &               u,
               const VolumeView<const float> & outputGradient,
               const WarpOutput &              warpGradient,
               bool                            mapGradient,
               const SamplerParameters &       parameters,
               unsigned                        threads)
{
  CheckSampleBackward(u, outputGradient, warpGradient, parameters);
  const Extent &    domain = outputGradient.domain;
  const SamplerPlan plan = MakeSamplerPlan(image, "the image to sample", map, parameters);

  const auto               backwardRow = parameters.border == Border::Edge ? FFDP_SELECT_KERNEL(SampleBackwardRow<true>)
                                                                           : FFDP_SELECT_KERNEL(SampleBackwardRow<false>);
  const SamplerStrips      strips{ domain.y, outputGradient.firstPlane, outputGradient.planes };
  std::vector<MapGradient> stripSums(mapGradient ? std::size_t(strips.Count()) : 0, MapGradient{});
  ParallelFor(strips.Pieces(), threads, [&](std::int64_t piece, unsigned) {
    strips.ForEachRow(piece, [&](std::int64_t y, std::int64_t z, std::int64_t strip) {
      double * const        sums = mapGradient ? stripSums[std::size_t(strip)].data() : nullptr;
      const WarpGradientRow to = warpGradient ? RowOf(warpGradient, y, z) : WarpGradientRow{};
      backwardRow(plan, RowOf(u, y, z), domain.x, y, z, outputGradient.Row(y, z), to, sums);
    });
  });
  return AddStrips(stripSums, strips);
}

void
SampleDerivative(const VolumeView<const float> & image,
                 const CompositeMap &            map,
                 const WarpInput &               u,
                 const WarpView<float> &         derivative,
                 const SamplerParameters &       parameters,
                 unsigned                        threads)
{
  CheckSampleDerivative(u, derivative, parameters);
  const SamplerPlan plan = MakeSamplerPlan(image, "the image to sample", map, parameters);

  const auto          derivativeRow = parameters.border == Border::Edge ? FFDP_SELECT_KERNEL(SampleDerivativeRow<true>)
                                                                        : FFDP_SELECT_KERNEL(SampleDerivativeRow<false>);
  const SamplerStrips strips{ derivative.domain.y, derivative.firstPlane, derivative.planes };
  ParallelFor(strips.Pieces(), threads, [&](std::int64_t piece, unsigned) {
    strips.ForEachRow(piece, [&](std::int64_t y, std::int64_t z, std::int64_t) {
      derivativeRow(plan, RowOf(u, y, z), derivative.domain.x, y, z, RowOf(WarpOutput(derivative), y, z));
    });
  });
}

std::vector<MapGradient>
FinishSampleBackward(const CompositeMap &            map,
                     const VolumeView<const float> & outputGradient,
                     const WarpView<float> &         derivative,
                     bool                            mapGradient,
                     unsigned                        threads)
{
  CheckFinishSampleBackward(outputGradient, derivative);
  const SamplerMap plan = MakeSamplerMap(map);

  const auto               finishRow = FFDP_SELECT_KERNEL(FinishBackwardRow);
  const SamplerStrips      strips{ derivative.domain.y, derivative.firstPlane, derivative.planes };
  std::vector<MapGradient> stripSums(mapGradient ? std::size_t(strips.Count()) : 0, MapGradient{});
  ParallelFor(strips.Pieces(), threads, [&](std::int64_t piece, unsigned) {
    strips.ForEachRow(piece, [&](std::int64_t y, std::int64_t z, std::int64_t strip) {
      double * const        sums = mapGradient ? stripSums[std::size_t(strip)].data() : nullptr;
      const WarpGradientRow row = RowOf(WarpOutput(derivative), y, z);
      finishRow(plan.S, derivative.domain.x, y, z, outputGradient.Row(y, z), row, sums);
    });
  });
  return AddStrips(stripSums, strips);
}

void
SampleAdjoint(const VolumeView<const float> & outputGradient,
              const CompositeMap &            map,
              const WarpInput &               u,
              const VolumeView<float> &       imageGradient,
              const SamplerParameters &       parameters,
              unsigned                        threads)
{
  CheckSampleAdjoint(u, outputGradient);
  const Extent & domain = outputGradient.domain;
  const auto     reached = FindReachedPlanes(
    imageGradient.domain, map, u, domain, outputGradient.firstPlane, outputGradient.planes, parameters, threads);
  SamplerPlan whole = MakeSamplerPlan(imageGradient, "the gradient of the image", map, parameters);

  const bool edge = parameters.border == Border::Edge;
  const auto scatterRow =
    parameters.interpolation == Interpolation::Nearest
      ? (edge ? FFDP_SELECT_KERNEL(ScatterRow<true, true>) : FFDP_SELECT_KERNEL(ScatterRow<false, true>))
      : (edge ? FFDP_SELECT_KERNEL(ScatterRow<true, false>) : FFDP_SELECT_KERNEL(ScatterRow<false, false>));

  // Where the image planes are cut does not matter for the result: a voxel's terms come in raster order anyway.
  // Thick pieces locate fewer voxels twice, more pieces than threads keep all threads busy.
  const std::int64_t pieces = std::min<std::int64_t>(imageGradient.planes, 3 * std::int64_t(ResolveThreads(threads)));
  ParallelFor(pieces, threads, [&](std::int64_t piece, unsigned) {
    const std::int64_t      first = imageGradient.firstPlane + imageGradient.planes * piece / pieces;
    const std::int64_t      end = imageGradient.firstPlane + imageGradient.planes * (piece + 1) / pieces;
    const VolumeView<float> owned = imageGradient.Planes(first, end - first);
    SamplerPlan             plan = whole;
    plan.image = MakeImagePlanes(owned, "the gradient of the image");
    for (std::int64_t z = first; z < end && !parameters.accumulate; ++z)
    {
      for (std::int64_t y = 0; y < owned.domain.y; ++y)
      {
        std::fill_n(owned.Row(y, z), owned.domain.x, 0.0f);
      }
    }
    for (std::int64_t i = 0; i < outputGradient.planes; ++i)
    {
      const PlaneRange & range = reached[std::size_t(i)];
      for (std::int64_t y = 0; range.first < end && range.end > first && y < domain.y; ++y)
      {
        const std::int64_t z = outputGradient.firstPlane + i;
        scatterRow(plan, RowOf(u, y, z), domain.x, y, z, outputGradient.Row(y, z), owned.data);
      }
    }
  });
}

} // namespace ffdp
