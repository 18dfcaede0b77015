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
#ifndef ffdpCudaLocalCorrelation_h
#define ffdpCudaLocalCorrelation_h

#include "ffdpCudaDevice.h"
#include "ffdpLocalCorrelation.h"

namespace ffdp
{
namespace cuda
{

/** See ffdp::LocalCorrelation. Views point to memory of the device.
 *
 * The bytes of a result do not depend on how a volume is cut into slabs, nor on the device. They are not those of the
 * processor, which shares partial sums between windows in another way and subtracts the means of larger tiles. Either
 * is off the true n_i by at most 2e-6 (some thirty roundings) times the condition of a window, which is the mean square
 * of intensities, minus the mean that is subtracted, over their variance, of both images; so the two differ by twice
 * that, and gradients, which multiply three such numbers, by four times as much of the largest one. Whether a
 * window counts as flat can differ where its variance is at the limit, 2e-6 of that mean square.
 *
 * Memory: for the exact gradient some planes of fields (three for one gradient, five for both), a window and a batch of
 * planes long; a batch is two windows, or as many planes as give all multiprocessors something to do. Windows that do
 * not fit into shared memory: their tile, for each multiprocessor. */
LocalCorrelationResult
LocalCorrelation(Device &                               device,
                 const VolumeView<const float> &        fixed,
                 const VolumeView<const float> &        moving,
                 const VolumeView<const std::uint8_t> & mask,
                 std::int64_t                           firstPlane,
                 std::int64_t                           planes,
                 const LocalCorrelationParameters &     parameters,
                 const LocalCorrelationOutputs &        outputs);

} // namespace cuda
} // namespace ffdp

#endif
