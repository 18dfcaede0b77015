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
#ifndef ffdpCudaSampler_h
#define ffdpCudaSampler_h

#include "ffdpCudaDevice.h"
#include "ffdpSampler.h"

#include <cstdint>
#include <vector>

/** The composite implicit sampler and its gradients; see ffdpSampler.h for what each computes. Views point to memory of
 * the device.
 *
 * All results have the bits of the processor's: positions are split and rounded alike, the sums for the map are added
 * in the same order (16 lanes of a row, rows of a strip, strips of a plane), and SampleAdjoint() adds the terms of a
 * voxel in raster order of x. */
namespace ffdp
{
namespace cuda
{

void
Sample(Device &                        device,
       const VolumeView<const float> & image,
       const CompositeMap &            map,
       const WarpInput &               u,
       const VolumeView<float> &       output,
       const SamplerParameters &       parameters);

std::vector<PlaneRange>
FindReachedPlanes(Device &                  device,
                  const Extent &            imageSize,
                  const CompositeMap &      map,
                  const WarpInput &         u,
                  const Extent &            fixedSize,
                  std::int64_t              firstPlane,
                  std::int64_t              planes,
                  const SamplerParameters & parameters);

std::vector<MapGradient>
SampleBackward(Device &                        device,
               const VolumeView<const float> & image,
               const CompositeMap &            map,
               const WarpInput &               u,
               const VolumeView<const float> & outputGradient,
               const WarpOutput &              warpGradient,
               bool                            mapGradient,
               const SamplerParameters &       parameters);

void
SampleDerivative(Device &                        device,
                 const VolumeView<const float> & image,
                 const CompositeMap &            map,
                 const WarpInput &               u,
                 const WarpView<float> &         derivative,
                 const SamplerParameters &       parameters);

std::vector<MapGradient>
FinishSampleBackward(Device &                        device,
                     const CompositeMap &            map,
                     const VolumeView<const float> & outputGradient,
                     const WarpView<float> &         derivative,
                     bool                            mapGradient);

/** How many voxels of the output SampleAdjoint() sorts at a time, or one row if that is longer: 40 bytes for each. */
constexpr std::int64_t AdjointPoints = std::int64_t(1) << 21;

void
SampleAdjoint(Device &                        device,
              const VolumeView<const float> & outputGradient,
              const CompositeMap &            map,
              const WarpInput &               u,
              const VolumeView<float> &       imageGradient,
              const SamplerParameters &       parameters,
              std::int64_t                    pointsAtOnce = AdjointPoints);

} // namespace cuda
} // namespace ffdp

#endif
