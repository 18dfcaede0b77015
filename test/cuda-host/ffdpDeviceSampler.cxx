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

#include "ffdpDeviceStaging.h"

/** The functions of ffdpSampler.h on the device of the tests. */
namespace ffdp
{

void
Sample(const VolumeView<const float> & image,
       const CompositeMap &            map,
       const WarpInput &               u,
       const VolumeView<float> &       output,
       const SamplerParameters &       parameters,
       unsigned)
{
  const test::StagedVolume<const float> imageThere(image);
  const test::StagedWarpInput           uThere(u);
  const test::StagedVolume<float>       outputThere(output);
  cuda::Sample(test::TestDevice(), imageThere, map, uThere, outputThere, parameters);
}

std::vector<PlaneRange>
FindReachedPlanes(const Extent &            imageSize,
                  const CompositeMap &      map,
                  const WarpInput &         u,
                  const Extent &            fixedSize,
                  std::int64_t              firstPlane,
                  std::int64_t              planes,
                  const SamplerParameters & parameters,
                  unsigned)
{
  const test::StagedWarpInput uThere(u);
  return cuda::FindReachedPlanes(test::TestDevice(), imageSize, map, uThere, fixedSize, firstPlane, planes, parameters);
}

std::vector<MapGradient>
SampleBackward(const VolumeView<const float> & image,
               const CompositeMap &            map,
               const WarpInput &               u,
               const VolumeView<const float> & outputGradient,
               const WarpOutput &              warpGradient,
               bool                            mapGradient,
               const SamplerParameters &       parameters,
               unsigned)
{
  const test::StagedVolume<const float> imageThere(image);
  const test::StagedWarpInput           uThere(u);
  const test::StagedVolume<const float> gThere(outputGradient);
  const test::StagedWarpOutput          gradientThere(warpGradient);
  return cuda::SampleBackward(
    test::TestDevice(), imageThere, map, uThere, gThere, gradientThere, mapGradient, parameters);
}

void
SampleDerivative(const VolumeView<const float> & image,
                 const CompositeMap &            map,
                 const WarpInput &               u,
                 const WarpView<float> &         derivative,
                 const SamplerParameters &       parameters,
                 unsigned)
{
  const test::StagedVolume<const float> imageThere(image);
  const test::StagedWarpInput           uThere(u);
  const test::StagedWarp<float>         derivativeThere(derivative);
  cuda::SampleDerivative(test::TestDevice(), imageThere, map, uThere, derivativeThere, parameters);
}

std::vector<MapGradient>
FinishSampleBackward(const CompositeMap &            map,
                     const VolumeView<const float> & outputGradient,
                     const WarpView<float> &         derivative,
                     bool                            mapGradient,
                     unsigned)
{
  const test::StagedVolume<const float> gThere(outputGradient);
  const test::StagedWarp<float>         derivativeThere(derivative);
  return cuda::FinishSampleBackward(test::TestDevice(), map, gThere, derivativeThere, mapGradient);
}

void
SampleAdjoint(const VolumeView<const float> & outputGradient,
              const CompositeMap &            map,
              const WarpInput &               u,
              const VolumeView<float> &       imageGradient,
              const SamplerParameters &       parameters,
              unsigned)
{
  const test::StagedVolume<const float> gThere(outputGradient);
  const test::StagedWarpInput           uThere(u);
  const test::StagedVolume<float>       gradientThere(imageGradient);
  cuda::SampleAdjoint(test::TestDevice(), gThere, map, uThere, gradientThere, parameters);
}

} // namespace ffdp
