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
#include "ffdpCudaWarpGrid.h"
#include "ffdpDeviceStaging.h"

/** What the CPU's test bodies call, on the device. */
namespace ffdp
{

using test::StagedWarp;
using test::TestDevice;

void
UpsampleWarp(const WarpView<const float> & coarse, const WarpView<float> & fine, const GridMap & map, unsigned)
{
  cuda::UpsampleWarp(TestDevice(), StagedWarp<const float>(coarse), StagedWarp<float>(fine), map);
}

WarpSize
MeasureWarp(const WarpView<const float> & warp, const double (&axisScale)[3], unsigned)
{
  return cuda::MeasureWarp(TestDevice(), StagedWarp<const float>(warp), axisScale);
}

WarpSize
MeasureWarp(const WarpView<const float> & warp, unsigned threads)
{
  return MeasureWarp(warp, { 1, 1, 1 }, threads);
}

} // namespace ffdp
