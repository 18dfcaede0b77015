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
#ifndef ffdpCudaInverse_h
#define ffdpCudaInverse_h

#include "ffdpCudaOldPlanes.h"
#include "ffdpInverse.h"

namespace ffdp
{
namespace cuda
{

/** The bits of the processor's IterateInverse(). No extra memory. */
float
IterateInverse(Device &                      device,
               const WarpView<const float> & u,
               const WarpView<float> &       w,
               const InverseStepParameters & parameters);

/** The bits of the processor's RefineInverse(). Extra memory: the residuals of a group of planes, of at most
 * `groupBytes` but at least a plane. */
float
RefineInverse(Device &                        device,
              const WarpView<const float> &   u,
              const WarpView<float> &         w,
              const VolumeView<const float> & error,
              const InverseRefinement &       refinement,
              std::size_t                     groupBytes = DefaultGroupBytes);

float
InverseError(Device &                      device,
             const WarpView<const float> & u,
             const WarpView<const float> & w,
             float                         boundAlongZ,
             int                           margin,
             const VolumeView<float> &     error,
             const BlockMarks *            marks);

/** Extra memory: the marks. */
void
MarkInverseErrors(Device &                        device,
                  const VolumeView<const float> & error,
                  const WarpView<const float> &   w,
                  float                           longest,
                  BlockMarks &                    own,
                  BlockMarks &                    reached);

} // namespace cuda
} // namespace ffdp

#endif
