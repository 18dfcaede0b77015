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
#ifndef ffdpCudaWarpSum_h
#define ffdpCudaWarpSum_h

#include "ffdpCudaLaunch.h"

namespace ffdp
{
namespace cuda
{

/** The sum over groups of VWidth neighboring lanes, for the first lane of each: value k + VWidth / 2 is added to value
 * k, and so on with half as many, which is the order of RowSum::Total(). All lanes of the warp must call it. */
template <int VWidth, typename T>
__device__ T
SumOfLanes(T value)
{
  for (int half = VWidth / 2; half > 0; half /= 2)
  {
    value += __shfl_down_sync(0xffffffffu, value, unsigned(half), VWidth);
  }
  return value;
}

} // namespace cuda
} // namespace ffdp

#endif
