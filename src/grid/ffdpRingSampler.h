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
#ifndef ffdpRingSampler_h
#define ffdpRingSampler_h

#include "FFDPExport.h"
#include "ffdpBackend.h"
#include "ffdpCommunicator.h"

/** The sampler for an image that is spread over the ranks: each has the planes of the image that it owns (Partition)
 * and computes its own planes of the fixed grid. Results have the bytes that Sample(), SampleDerivative() and
 * SampleAdjoint() give for the whole image on one rank.
 *
 * The planes that a rank's part of the map reaches are known before anything is sent: one pass over u, and one small
 * Gather(). Only these planes travel, from their owner, in chunks of half a slab, the next one on its way while this
 * one is sampled; a rank's own planes are sampled where they are, while the first chunk is on its way. Extra memory:
 * two chunks, one slab. If the map moves by at most k planes, a rank sends at most 2 (k + 1) planes, for any number of
 * ranks.
 *
 * Views are densely packed. A rank without planes passes a view of zero planes, with the size of the volume.
 * All ranks make each call. */
namespace ffdp
{

struct RingParameters
{
  SamplerParameters sampler;
  bool              full = false; ///< the paper's ring, for comparison: every plane goes to every rank, wanted or not
  std::int64_t      chunkPlanes = 0; ///< at most, where this is less than what one slab of extra memory allows
};

/** output(x) = I(A x + t + S u(x)) for the own planes of the fixed grid. Does not accumulate. */
FFDP_EXPORT void
RingSample(Backend &                       backend,
           Communicator &                  communicator,
           const VolumeView<const float> & ownImage,
           const CompositeMap &            map,
           const WarpInput &               u,
           const VolumeView<float> &       output,
           const RingParameters &          parameters = {});

/** derivative = dI/dX for the own planes; FinishSampleBackward() makes gradients of it. Does not accumulate. */
void
RingSampleDerivative(Backend &                       backend,
                     Communicator &                  communicator,
                     const VolumeView<const float> & ownImage,
                     const CompositeMap &            map,
                     const WarpInput &               u,
                     const WarpView<float> &         derivative,
                     const RingParameters &          parameters = {});

/** Both at once, or one where the other view is not given: planes travel once. Derivatives may be wanted of some of the
 * output's planes only. */
void
RingSampleBoth(Backend &                       backend,
               Communicator &                  communicator,
               const VolumeView<const float> & ownImage,
               const CompositeMap &            map,
               const WarpInput &               u,
               const VolumeView<float> &       output,
               const WarpView<float> &         derivative,
               const RingParameters &          parameters = {});

/** Gradient for the own planes of the image, from the gradient of the own planes of the output; with
 * parameters.sampler.accumulate it is added. A plane of the image goes through the ranks that reach it, in the order of
 * the ranks, each of which adds its terms, and then home: partial sums of ranks would round otherwise. Ranks work on
 * different planes meanwhile. Extra memory: three chunks of a third of a slab. If the map moves by at most k planes, a
 * rank sends at most 3 (k + 1) planes, and k + 1 more to accumulate. */
void
RingSampleAdjoint(Backend &                       backend,
                  Communicator &                  communicator,
                  const VolumeView<const float> & outputGradient,
                  const CompositeMap &            map,
                  const WarpInput &               u,
                  const VolumeView<float> &       imageGradient,
                  const RingParameters &          parameters = {});

} // namespace ffdp

#endif
