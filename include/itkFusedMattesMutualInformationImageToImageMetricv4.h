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
#ifndef itkFusedMattesMutualInformationImageToImageMetricv4_h
#define itkFusedMattesMutualInformationImageToImageMetricv4_h

#include "itkFusedImageToImageMetricv4.h"
#include "itkFusedImageToImageMetricv4Enums.h"
#include "itkMattesMutualInformationImageToImageMetricv4.h"

namespace itk
{

/** \class FusedMattesMutualInformationImageToImageMetricv4
 * \brief MattesMutualInformationImageToImageMetricv4 in one fused pass.
 * \ingroup FFDP
 */
template <typename TFixedImage,
          typename TMovingImage = TFixedImage,
          typename TVirtualImage = TFixedImage,
          typename TInternalComputationValueType = double>
class ITK_TEMPLATE_EXPORT FusedMattesMutualInformationImageToImageMetricv4
  : public FusedImageToImageMetricv4<MattesMutualInformationImageToImageMetricv4<TFixedImage,
                                                                                 TMovingImage,
                                                                                 TVirtualImage,
                                                                                 TInternalComputationValueType>>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(FusedMattesMutualInformationImageToImageMetricv4);

  using Self = FusedMattesMutualInformationImageToImageMetricv4;
  using Superclass =
    FusedImageToImageMetricv4<MattesMutualInformationImageToImageMetricv4<TFixedImage,
                                                                          TMovingImage,
                                                                          TVirtualImage,
                                                                          TInternalComputationValueType>>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkNewMacro(Self);
  itkOverrideGetNameOfClassMacro(FusedMattesMutualInformationImageToImageMetricv4);

  using HistogramKernelEnum = FusedImageToImageMetricv4Enums::HistogramKernel;
  itkSetMacro(HistogramKernel, HistogramKernelEnum);
  itkGetConstMacro(HistogramKernel, HistogramKernelEnum);

private:
  HistogramKernelEnum m_HistogramKernel = HistogramKernelEnum::Mattes;

protected:
  FusedMattesMutualInformationImageToImageMetricv4() = default;
  ~FusedMattesMutualInformationImageToImageMetricv4() override = default;
};

} // end namespace itk

#endif
