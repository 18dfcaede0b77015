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
#include "ffdpCudaComposition.h"

#include "ffdpCudaWarpSweep.h"

/** Bytes per voxel: 60 (see ffdpCudaWarpSweep.h, and 12 for v); 4 for LargestMagnitude, which reuses nothing and reads
 * rows as in ffdpCudaRows.h. */
namespace ffdp
{
namespace cuda
{
namespace
{

__global__ void
__launch_bounds__(RowBlockWidth) LargestMagnitudeKernel(VolumeView<const float> volume, unsigned * largest)
{
  float found = 0;
  ForEachVoxel(volume, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    const float magnitude = FiniteOrZero(MagnitudeOf(volume.Row(y, z)[x]));
    found = magnitude > found ? magnitude : found;
  });
  RaiseToLargest(found, largest);
}

} // namespace

float
LargestMagnitude(Device & device, const VolumeView<const float> & volume)
{
  const FloatMaxima largest(device, 1);
  if (volume.planes > 0)
  {
    Launch(device, FewRowsOf(device, volume), LargestMagnitudeKernel, volume, largest.Bits());
  }
  return largest.ToHost()[0];
}

void
ComposeWarps(Device &                      device,
             const WarpView<float> &       u,
             std::int64_t                  firstOwned,
             std::int64_t                  ownedPlanes,
             const WarpView<const float> & v,
             const CompositionParameters & parameters,
             std::size_t                   groupBytes)
{
  CheckComposition(u, firstOwned, ownedPlanes, v, parameters);
  if (ownedPlanes == 0)
  {
    return;
  }
  WarpSweep sweep;
  sweep.u = u;
  sweep.output = u;
  sweep.first = firstOwned;
  sweep.end = firstOwned + ownedPlanes;
  sweep.step = parameters.stepScale;
  sweep.keep = parameters.stepScale;
  sweep.border = parameters.border;
  sweep.boundAlongZ =
    parameters.boundAlongZ >= 0
      ? parameters.boundAlongZ
      : std::abs(parameters.stepScale) * LargestMagnitude(device, v.Component(2).Planes(firstOwned, ownedPlanes));
  RunWarpSweep<false>(device, sweep, GivenVectors{ v }, groupBytes);
}

} // namespace cuda
} // namespace ffdp
