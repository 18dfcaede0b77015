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
#include "ffdpCudaFoldRepair.h"
#include "ffdpDeviceStaging.h"

namespace ffdp
{

std::int64_t
IronFolds(const WarpView<float> &         u,
          std::int64_t                    firstOwned,
          std::int64_t                    ownedPlanes,
          const VolumeView<const float> & determinant,
          float                           least,
          unsigned)
{
  return cuda::IronFolds(test::TestDevice(),
                         test::StagedWarp<float>(u),
                         firstOwned,
                         ownedPlanes,
                         test::StagedVolume<const float>(determinant),
                         least);
}

} // namespace ffdp
