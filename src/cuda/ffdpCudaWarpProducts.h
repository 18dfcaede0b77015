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
#ifndef ffdpCudaWarpProducts_h
#define ffdpCudaWarpProducts_h

#include "ffdpCudaDevice.h"
#include "ffdpWarpProducts.h"

namespace ffdp
{
namespace cuda
{

/** Backend::WarpProducts on a device: rows are summed voxel after voxel and planes row after row, as on the CPU, so the
 * result has its bytes. Views point to memory of the device. Extra memory: nine doubles per row. */
std::vector<std::array<double, 9>>
WarpProducts(Device & device, const WarpView<const float> & a, const WarpView<const float> & b);

} // namespace cuda
} // namespace ffdp

#endif
