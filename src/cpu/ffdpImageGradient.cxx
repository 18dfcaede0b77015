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
#include "ffdpImageGradient.h"

#include "ffdpImageGradientSetup.h"
#include "ffdpParallel.h"

#include <type_traits>

#define FFDP_KERNEL_FILE "ffdpSamplerBlockKernel.h"
#include "ffdpForEachInstructionSet.h"
#define FFDP_KERNEL_FILE "ffdpSamplerVectorsKernel.h"
#include "ffdpForEachInstructionSet.h"
#define FFDP_KERNEL_FILE "ffdpImageGradientBlockKernel.h"
#include "ffdpForEachInstructionSet.h"
#define FFDP_KERNEL_FILE "ffdpImageGradientKernel.h"
#include "ffdpForEachInstructionSet.h"

namespace ffdp
{
namespace
{

template <typename T, typename TKernel>
std::vector<MapGradient>
ForEachRow(const GradientPlan &            plan,
           TKernel *                       gradientRow,
           const VolumeView<const T> &     view,
           const WarpInput &               u,
           const VolumeView<const float> & weights,
           const WarpOutput &              derivative,
           bool                            moments,
           unsigned                        threads)
{
  const std::int32_t * const size = plan.sampler.image.size;
  const WholeImage<T>        image{ view.data, { size[0], size[1], size[2] }, view.rowStride, view.planeStride };

  const Extent &           domain = weights.domain;
  const SamplerStrips      strips{ domain.y, weights.firstPlane, weights.planes };
  std::vector<MapGradient> stripSums(moments ? std::size_t(strips.Count()) : 0, MapGradient{});
  ParallelFor(strips.Pieces(), threads, [&](std::int64_t piece, unsigned) {
    strips.ForEachRow(piece, [&](std::int64_t y, std::int64_t z, std::int64_t strip) {
      double * const        sums = moments ? stripSums[std::size_t(strip)].data() : nullptr;
      const WarpGradientRow to = derivative ? RowOf(derivative, y, z) : WarpGradientRow{};
      gradientRow(plan, image, RowOf(u, y, z), domain.x, y, z, weights.Row(y, z), to, sums);
    });
  });
  return AddStrips(stripSums, strips);
}

} // namespace

std::vector<MapGradient>
ImageGradient(const ImageInput &              image,
              const CompositeMap &            map,
              const WarpInput &               u,
              const ImageDifferences &        differences,
              const VolumeView<const float> & weights,
              const std::array<double, 9> &   C,
              const WarpOutput &              derivative,
              bool                            moments,
              unsigned                        threads)
{
  CheckImageGradient(u, differences, weights, C, derivative);
  const GradientPlan plan = MakeGradientPlan(image, map, differences, C);
  if (image.floats)
  {
    const auto row = plan.alongAxes ? FFDP_SELECT_KERNEL(ImageGradientRow<float, true>)
                                    : FFDP_SELECT_KERNEL(ImageGradientRow<float, false>);
    return ForEachRow(plan, row, image.floats, u, weights, derivative, moments, threads);
  }
  const auto row = plan.alongAxes ? FFDP_SELECT_KERNEL(ImageGradientRow<double, true>)
                                  : FFDP_SELECT_KERNEL(ImageGradientRow<double, false>);
  return ForEachRow(plan, row, image.doubles, u, weights, derivative, moments, threads);
}

} // namespace ffdp
