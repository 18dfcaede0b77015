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
#include "ffdpDeviceStaging.h"

namespace ffdp
{

void
ComposeWarps(const WarpView<float> &       u,
             std::int64_t                  firstOwned,
             std::int64_t                  ownedPlanes,
             const WarpView<const float> & v,
             const CompositionParameters & parameters,
             unsigned)
{
  const test::StagedWarp<float>       stagedU(u);
  const test::StagedWarp<const float> stagedV(v);
  const bool                          same = u.component[0] == v.component[0]; // to be refused, so it has to stay
  cuda::ComposeWarps(test::TestDevice(),
                     stagedU,
                     firstOwned,
                     ownedPlanes,
                     same ? WarpView<const float>(stagedU.View()) : stagedV.View(),
                     parameters);
}

void
ComposeWarps(const WarpView<float> &       u,
             const WarpView<const float> & v,
             const CompositionParameters & parameters,
             unsigned                      threads)
{
  ComposeWarps(u, u.firstPlane, u.planes, v, parameters, threads);
}

} // namespace ffdp
