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
#ifndef itkFusedMeanSquaresImageToImageMetricv4_h
#define itkFusedMeanSquaresImageToImageMetricv4_h

#include "itkFusedImageToImageMetricv4.h"
#include "itkFusedImageToImageMetricv4Enums.h"
#include "itkMeanSquaresImageToImageMetricv4.h"

namespace itk
{

/** \class FusedMeanSquaresImageToImageMetricv4
 * \brief MeanSquaresImageToImageMetricv4 in one fused pass.
 * \ingroup FFDP
 */
template <typename TFixedImage,
          typename TMovingImage = TFixedImage,
          typename TVirtualImage = TFixedImage,
          typename TInternalComputationValueType = double>
class ITK_TEMPLATE_EXPORT FusedMeanSquaresImageToImageMetricv4
  : public FusedImageToImageMetricv4<
      MeanSquaresImageToImageMetricv4<TFixedImage, TMovingImage, TVirtualImage, TInternalComputationValueType>>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(FusedMeanSquaresImageToImageMetricv4);

  using Self = FusedMeanSquaresImageToImageMetricv4;
  using Superclass = FusedImageToImageMetricv4<
    MeanSquaresImageToImageMetricv4<TFixedImage, TMovingImage, TVirtualImage, TInternalComputationValueType>>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkNewMacro(Self);
  itkOverrideGetNameOfClassMacro(FusedMeanSquaresImageToImageMetricv4);


protected:
  FusedMeanSquaresImageToImageMetricv4() = default;
  ~FusedMeanSquaresImageToImageMetricv4() override = default;
};

} // end namespace itk

#endif
