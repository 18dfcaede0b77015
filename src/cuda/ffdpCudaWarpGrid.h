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
#ifndef ffdpCudaWarpGrid_h
#define ffdpCudaWarpGrid_h

#include "ffdpCudaDevice.h"
#include "ffdpWarpGrid.h"

/** A warp between grids, and its size, on a device; see Backend for what each computes. Views point to memory of the
 * device. Both have the bytes of the CPU backend: the same operations for each voxel, and maxima. */
namespace ffdp
{
namespace cuda
{

void
UpsampleWarp(Device & device, const WarpView<const float> & coarse, const WarpView<float> & fine, const GridMap & map);

WarpSize
MeasureWarp(Device & device, const WarpView<const float> & warp, const double (&axisScale)[3]);

} // namespace cuda
} // namespace ffdp

#endif
