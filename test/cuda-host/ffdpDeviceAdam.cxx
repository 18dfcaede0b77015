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
#include "ffdpDeviceStaging.h"

namespace ffdp
{

double
AdamStep(const WarpView<const float> & gradient,
         const WarpView<float> &       firstMoment,
         const VolumeView<float> &     secondMoment,
         const AdamParameters &        parameters,
         unsigned)
{
  return cuda::AdamStep(test::TestDevice(),
                        test::StagedWarp<const float>(gradient),
                        test::StagedWarp<float>(firstMoment),
                        test::StagedVolume<float>(secondMoment),
                        parameters);
}

void
ComposeAdamStep(const WarpView<float> &           u,
                std::int64_t                      firstOwned,
                std::int64_t                      ownedPlanes,
                const WarpView<const float> &     firstMoment,
                const VolumeView<const float> &   secondMoment,
                const AdamParameters &            adam,
                const AdamCompositionParameters & parameters,
                unsigned)
{
  cuda::ComposeAdamStep(test::TestDevice(),
                        test::StagedWarp<float>(u),
                        firstOwned,
                        ownedPlanes,
                        test::StagedWarp<const float>(firstMoment),
                        test::StagedVolume<const float>(secondMoment),
                        adam,
                        parameters);
}

} // namespace ffdp
