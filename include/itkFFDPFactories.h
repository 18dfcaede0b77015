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
#ifndef itkFFDPFactories_h
#define itkFFDPFactories_h

#include "FFDPExport.h"

namespace itk
{

/** \class FFDPFactories
 * \brief Lets code that creates ITK's metrics and ResampleImageFilter with New() get the fused ones, unchanged.
 *
 * After Register(), New() of these classes returns the class beside it, which derives from it:
 *
 * | created | got |
 * |---|---|
 * | MattesMutualInformationImageToImageMetricv4 | FusedMattesMutualInformationImageToImageMetricv4 |
 * | ANTSNeighborhoodCorrelationImageToImageMetricv4 | FusedNeighborhoodCorrelationImageToImageMetricv4 |
 * | MeanSquaresImageToImageMetricv4 | FusedMeanSquaresImageToImageMetricv4 |
 * | ResampleImageFilter | FusedResampleImageFilter |
 *
 * - Metrics: images of float and of double in 2-D and 3-D; fixed, moving and virtual image of one type; computing in
 *   float or in double. The fused metrics differ from ITK's in one default: Use{Fixed,Moving}ImageGradientFilter is
 * off.
 * - ResampleImageFilter: input and output of one type, images of 8, 16 and 32 bit integers, float, double,
 *   Vector<float, D> and Vector<double, D> in 2-D and 3-D; both precisions float or both double.
 *
 * Objects of other template arguments are ITK's, as before.
 *
 * Objects that exist keep their class. Register() and UnRegister() may be called any number of times, from any thread;
 * but ITK itself reads its list of factories without a lock, so call them while no other thread calls New() of an ITK
 * class, as with all of ITK's factories.
 *
 * \ingroup FFDP
 */
class FFDP_EXPORT FFDPFactories
{
public:
  FFDPFactories() = delete;

  /** From now on New() creates the fused classes; they go before what other factories offer. */
  static void
  Register();

  /** Undoes Register(). */
  static void
  UnRegister();

  static bool
  IsRegistered();
};

} // end namespace itk

#endif
