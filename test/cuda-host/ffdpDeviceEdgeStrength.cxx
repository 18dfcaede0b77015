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
#include "ffdpCudaEdgeStrength.h"
#include "ffdpDeviceStaging.h"
#include "ffdpEdgeStrength.h"

namespace ffdp
{

void
EdgeStrength(const VolumeView<const float> & image, float noise, const VolumeView<float> & edges, unsigned)
{
  cuda::EdgeStrength(
    test::TestDevice(), test::StagedVolume<const float>(image), noise, test::StagedVolume<float>(edges));
}

} // namespace ffdp
