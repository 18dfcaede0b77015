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
#ifndef itkFusedNeighborhoodCorrelationImageToImageMetricv4_hxx
#define itkFusedNeighborhoodCorrelationImageToImageMetricv4_hxx

#include <algorithm>

namespace itk
{

template <typename TFixedImage, typename TMovingImage, typename TVirtualImage, typename TInternalComputationValueType>
ffdp::MetricResult
FusedNeighborhoodCorrelationImageToImageMetricv4<
  TFixedImage,
  TMovingImage,
  TVirtualImage,
  TInternalComputationValueType>::EvaluateProblem(const ffdp::MetricProblem &    problem,
                                                  const ffdp::MetricDerivative & derivative) const
{
  ffdp::LocalCorrelationParameters parameters;
  parameters.radius = { { 0, 0, 0 } };
  for (unsigned int c = 0; c < TVirtualImage::ImageDimension; ++c)
  {
    parameters.radius[c] = static_cast<int>(std::min<SizeValueType>(this->GetRadius()[c], 1 << 20));
  }
  parameters.flatValue = 1;
  parameters.gradient = m_DerivativeMode == DerivativeModeEnum::Exact
                          ? ffdp::LocalCorrelationParameters::Gradient::Exact
                          : ffdp::LocalCorrelationParameters::Gradient::ANTs;
  ffdp::DeviceMetric * const device = this->DeviceFor(problem);
  return device ? device->EvaluateLocalCorrelation(problem, parameters, derivative)
                : ffdp::EvaluateLocalCorrelation(problem, parameters, derivative);
}

template <typename TFixedImage, typename TMovingImage, typename TVirtualImage, typename TInternalComputationValueType>
void
FusedNeighborhoodCorrelationImageToImageMetricv4<
  TFixedImage,
  TMovingImage,
  TVirtualImage,
  TInternalComputationValueType>::VerifySuperclassCanEvaluate(bool withDerivative) const
{
  if (withDerivative && m_DerivativeMode == DerivativeModeEnum::Exact)
  {
    itkExceptionMacro("The exact derivative of the local correlation is not available, because "
                      << this->GetFallbackReason()
                      << ", and ITK's metric has no such derivative. Change that, or set DerivativeMode to "
                         "ANTSApproximate.");
  }
}

template <typename TFixedImage, typename TMovingImage, typename TVirtualImage, typename TInternalComputationValueType>
void
FusedNeighborhoodCorrelationImageToImageMetricv4<TFixedImage,
                                                 TMovingImage,
                                                 TVirtualImage,
                                                 TInternalComputationValueType>::PrintSelf(std::ostream & os,
                                                                                           Indent         indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "DerivativeMode: " << m_DerivativeMode << std::endl;
}

} // end namespace itk

#endif
