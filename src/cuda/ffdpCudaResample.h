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
#ifndef ffdpCudaResample_h
#define ffdpCudaResample_h

#include "ffdpCudaDevice.h"
#include "ffdpResample.h"

/** The resampler for pixels of any type; see ffdpResample.h. Views point to memory of the device, the pixel outside to
 * memory of the host. Results have the bits of the processor's: positions, cells, interpolation and casts are the same
 * inline code, and each pixel is computed by itself. */
namespace ffdp
{
namespace cuda
{

void
Resample(Device &                   device,
         const ConstPixelView &     image,
         const CompositeMap &       map,
         const WarpInput &          u,
         const PixelView &          output,
         const ResampleParameters & parameters);

/** The fields of the chain are on the device, its list of steps on the host. */
void
ResampleChain(Device &                   device,
              const ConstPixelView &     image,
              const CompositeMap &       map,
              const WarpChain &          chain,
              const PixelView &          output,
              const ResampleParameters & parameters);

} // namespace cuda
} // namespace ffdp

#endif
