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
#ifndef itkFusedNeighborhoodCorrelationImageToImageMetricv4_h
#define itkFusedNeighborhoodCorrelationImageToImageMetricv4_h

#include "itkFusedImageToImageMetricv4.h"
#include "itkFusedImageToImageMetricv4Enums.h"
#include "itkANTSNeighborhoodCorrelationImageToImageMetricv4.h"

namespace itk
{

/** \class FusedNeighborhoodCorrelationImageToImageMetricv4
 * \brief ANTSNeighborhoodCorrelationImageToImageMetricv4 in one fused pass.
 * \ingroup FFDP
 */
template <typename TFixedImage,
          typename TMovingImage = TFixedImage,
          typename TVirtualImage = TFixedImage,
          typename TInternalComputationValueType = double>
class ITK_TEMPLATE_EXPORT FusedNeighborhoodCorrelationImageToImageMetricv4
  : public FusedImageToImageMetricv4<ANTSNeighborhoodCorrelationImageToImageMetricv4<TFixedImage,
                                                                                     TMovingImage,
                                                                                     TVirtualImage,
                                                                                     TInternalComputationValueType>>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(FusedNeighborhoodCorrelationImageToImageMetricv4);

  using Self = FusedNeighborhoodCorrelationImageToImageMetricv4;
  using Superclass =
    FusedImageToImageMetricv4<ANTSNeighborhoodCorrelationImageToImageMetricv4<TFixedImage,
                                                                              TMovingImage,
                                                                              TVirtualImage,
                                                                              TInternalComputationValueType>>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkNewMacro(Self);
  itkOverrideGetNameOfClassMacro(FusedNeighborhoodCorrelationImageToImageMetricv4);

  using DerivativeModeEnum = FusedImageToImageMetricv4Enums::DerivativeMode;
  itkSetMacro(DerivativeMode, DerivativeModeEnum);
  itkGetConstMacro(DerivativeMode, DerivativeModeEnum);

private:
  DerivativeModeEnum m_DerivativeMode = DerivativeModeEnum::ANTSApproximate;

protected:
  FusedNeighborhoodCorrelationImageToImageMetricv4() = default;
  ~FusedNeighborhoodCorrelationImageToImageMetricv4() override = default;
};

} // end namespace itk

#endif
