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
#include "ffdpCudaAdam.h"

#include "ffdpAdamArguments.h"
#include "ffdpCudaWarpSweep.h"
#include "ffdpNotANumber.h"

#include <cmath>

/** AdamStep: 44 bytes per voxel (gradient and moments read, moments written), 32 in 2-D. Nothing is reused: rows, as in
 * ffdpCudaRows.h, and seven reads of a thread are under way at a time.
 *
 * ComposeAdamStep: 64 bytes per voxel (see ffdpCudaWarpSweep.h, and 16 for the moments). */
namespace ffdp
{
namespace cuda
{
namespace
{

constexpr unsigned FewestBlocks = 8; // on a multiprocessor: 64 registers per thread, so that none has to be spilled

template <int VComponents>
__global__ void
__launch_bounds__(RowBlockWidth, FewestBlocks) AdamKernel(WarpView<const float> gradient,
                                                          WarpView<float>       firstMoment,
                                                          VolumeView<float>     secondMoment,
                                                          AdamFactors           factors,
                                                          unsigned *            largest)
{
  float found = 0;
  ForEachVoxel(gradient, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    float square = 0;
    float squaredNorm = 0;
#pragma unroll
    for (int c = 0; c < VComponents; ++c)
    {
      float * const first = firstMoment.Row(c, y, z) + x;
      const float   g = factors.gradientScale[c] * gradient.Row(c, y, z)[x];
      const float   m = AdamFirstMoment(factors, *first, g);
      *first = m;
      square += g * g;
      squaredNorm += m * m;
    }
    float * const second = secondMoment.Row(y, z) + x;
    const float   v = AdamSecondMoment(factors, *second, square);
    const float   gain = AdamGain(factors, v);
    *second = v;
    const float norm = NotANumberIsInfinite(gain * gain * squaredNorm);
    found = norm > found ? norm : found;
  });
  RaiseToLargest(found, largest);
}

/** v of the composition, made from the moments. */
struct AdamVectors
{
  WarpView<const float>   firstMoment;
  VolumeView<const float> secondMoment;
  AdamFactors             factors;
  float                   downhill[3];

  __device__ void
  At(std::int64_t x, std::int64_t y, std::int64_t z, float (&vector)[3]) const
  {
    const float gain = AdamGain(factors, secondMoment.Row(y, z)[x]);
    for (int c = 0; c < 3; ++c)
    {
      vector[c] = downhill[c] * (gain * firstMoment.Row(c, y, z)[x]);
    }
  }
};

} // namespace

double
AdamStep(Device &                      device,
         const WarpView<const float> & gradient,
         const WarpView<float> &       firstMoment,
         const VolumeView<float> &     secondMoment,
         const AdamParameters &        parameters)
{
  CheckAdamStep(gradient, firstMoment, secondMoment);
  const AdamFactors factors = MakeAdamFactors(parameters);
  const FloatMaxima largest(device, 1);
  if (gradient.planes > 0)
  {
    Launch(device,
           FewRowsOf(device, gradient),
           gradient.component[2] ? AdamKernel<3> : AdamKernel<2>,
           gradient,
           firstMoment,
           secondMoment,
           factors,
           largest.Bits());
  }
  return std::sqrt(double(largest.ToHost()[0]));
}

void
ComposeAdamStep(Device &                          device,
                const WarpView<float> &           u,
                std::int64_t                      firstOwned,
                std::int64_t                      ownedPlanes,
                const WarpView<const float> &     firstMoment,
                const VolumeView<const float> &   secondMoment,
                const AdamParameters &            adam,
                const AdamCompositionParameters & parameters,
                std::size_t                       groupBytes)
{
  CheckAdamComposition(u, firstOwned, ownedPlanes, firstMoment, secondMoment, parameters);
  AdamVectors vectors;
  vectors.firstMoment = firstMoment;
  vectors.secondMoment = secondMoment;
  vectors.factors = MakeAdamFactors(adam);
  for (int c = 0; c < 3; ++c)
  {
    vectors.downhill[c] = float(-parameters.stepScale[c]);
  }
  if (ownedPlanes > 0)
  {
    RunWarpSweep<false>(device, DescribeAdamComposition(u, firstOwned, ownedPlanes, parameters), vectors, groupBytes);
  }
}

} // namespace cuda
} // namespace ffdp
