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
#ifndef itkFFDPMetricOverrides_h
#define itkFFDPMetricOverrides_h

#include "itkFFDPOverrides.h"

#include "itkFusedMattesMutualInformationImageToImageMetricv4.h"
#include "itkFusedMeanSquaresImageToImageMetricv4.h"
#include "itkFusedNeighborhoodCorrelationImageToImageMetricv4.h"
#include "itkImage.h"

namespace itk
{
namespace ffdpFactories
{

template <typename TImage, typename TReal>
void
OverrideMetricsOf(const AddOverride & add)
{
  Override<MattesMutualInformationImageToImageMetricv4<TImage, TImage, TImage, TReal>,
           FusedMattesMutualInformationImageToImageMetricv4<TImage, TImage, TImage, TReal>>(add);
  Override<ANTSNeighborhoodCorrelationImageToImageMetricv4<TImage, TImage, TImage, TReal>,
           FusedNeighborhoodCorrelationImageToImageMetricv4<TImage, TImage, TImage, TReal>>(add);
  Override<MeanSquaresImageToImageMetricv4<TImage, TImage, TImage, TReal>,
           FusedMeanSquaresImageToImageMetricv4<TImage, TImage, TImage, TReal>>(add);
}

template <unsigned int VDimension>
void
OverrideMetrics(const AddOverride & add)
{
  OverrideMetricsOf<Image<float, VDimension>, float>(add);
  OverrideMetricsOf<Image<float, VDimension>, double>(add);
  OverrideMetricsOf<Image<double, VDimension>, float>(add);
  OverrideMetricsOf<Image<double, VDimension>, double>(add);
}

} // namespace ffdpFactories
} // end namespace itk

#endif
