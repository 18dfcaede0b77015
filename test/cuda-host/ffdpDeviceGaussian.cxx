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
#include "ffdpDeviceStaging.h"

namespace ffdp
{

void
SmoothGaussian(const VolumeView<float> &  volume,
               std::int64_t               firstOwned,
               std::int64_t               ownedPlanes,
               const GaussianParameters & parameters,
               unsigned)
{
  cuda::SmoothGaussian(test::TestDevice(), test::StagedVolume<float>(volume), firstOwned, ownedPlanes, parameters);
}

void
SmoothGaussian(const WarpView<float> &    warp,
               std::int64_t               firstOwned,
               std::int64_t               ownedPlanes,
               const GaussianParameters & parameters,
               unsigned)
{
  cuda::SmoothGaussian(test::TestDevice(), test::StagedWarp<float>(warp), firstOwned, ownedPlanes, parameters);
}

void
SmoothGaussian(const VolumeView<float> & volume, const GaussianParameters & parameters, unsigned threads)
{
  SmoothGaussian(volume, volume.firstPlane, volume.planes, parameters, threads);
}

void
SmoothGaussian(const WarpView<float> & warp, const GaussianParameters & parameters, unsigned threads)
{
  SmoothGaussian(warp, warp.firstPlane, warp.planes, parameters, threads);
}

void
SmoothGaussian(const WarpView<const float> & warp,
               const WarpView<float> &       smoothed,
               const GaussianParameters &    parameters,
               unsigned)
{
  cuda::SmoothGaussian(
    test::TestDevice(), test::StagedWarp<const float>(warp), test::StagedWarp<float>(smoothed), parameters);
}

} // namespace ffdp
