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
#ifndef ffdpImageIntensities_h
#define ffdpImageIntensities_h

#include "ffdpBackend.h"
#include "ffdpCommunicator.h"

/** What is known of the intensities of an image that is spread over the ranks. All ranks ask, with their planes. */
namespace ffdp
{

/** Throws std::invalid_argument if the image is constant. */
Statistics
MeasureImage(Backend & backend, Communicator & communicator, const VolumeView<const float> & image);

/** Of all ranks, from the smallest value to the largest. */
IntensityHistogram
MeasureHistogram(Backend &                       backend,
                 Communicator &                  communicator,
                 const VolumeView<const float> & image,
                 const Statistics &              statistics);

/** Without the darkest and the brightest thousandth, unless that leaves nothing. */
IntensityRange
RangeOf(const IntensityHistogram & histogram);

/** The same of an image. */
IntensityRange
MeasureRange(Backend &                       backend,
             Communicator &                  communicator,
             const VolumeView<const float> & image,
             const Statistics &              statistics);

} // namespace ffdp

#endif
