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
#ifndef itkFusedImageToImageMetricv4_hxx
#define itkFusedImageToImageMetricv4_hxx

namespace itk
{

template <typename TItkMetric>
FusedImageToImageMetricv4<TItkMetric>::FusedImageToImageMetricv4()
{
  this->m_UseFixedImageGradientFilter = false;
  this->m_UseMovingImageGradientFilter = false;
}

template <typename TItkMetric>
void
FusedImageToImageMetricv4<TItkMetric>::Initialize()
{
  Superclass::Initialize();
  m_FallbackReason = "the fast path is not there yet";
}

template <typename TItkMetric>
auto
FusedImageToImageMetricv4<TItkMetric>::GetValue() const -> MeasureType
{
  return Superclass::GetValue();
}

template <typename TItkMetric>
void
FusedImageToImageMetricv4<TItkMetric>::GetDerivative(DerivativeType & derivative) const
{
  MeasureType value;
  this->GetValueAndDerivative(value, derivative);
}

template <typename TItkMetric>
void
FusedImageToImageMetricv4<TItkMetric>::GetValueAndDerivative(MeasureType & value, DerivativeType & derivative) const
{
  Superclass::GetValueAndDerivative(value, derivative);
}

template <typename TItkMetric>
void
FusedImageToImageMetricv4<TItkMetric>::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "UsedFastPath: " << this->GetUsedFastPath() << std::endl;
  os << indent << "FallbackReason: " << m_FallbackReason << std::endl;
}

} // end namespace itk

#endif
