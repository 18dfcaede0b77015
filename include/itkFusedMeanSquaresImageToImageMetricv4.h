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

#include "itkMeanSquaresImageToImageMetricv4.h"

namespace itk
{

/** \class FusedMeanSquaresImageToImageMetricv4
 * \brief Mean squared difference of two images, in one fused pass: a drop-in for MeanSquaresImageToImageMetricv4.
 *
 *   value = 1/N sum over x of (F(x) - M(x))^2
 *
 * F and M are the fixed and the moving image at the virtual point x mapped by their transforms, N is the number of
 * virtual points that are inside both images and masks. Smaller is more similar. With g the gradient of the moving
 * image in physical space and J the Jacobian of the moving transform,
 *
 *   derivative = 2 (F - M) J^T g
 *
 * per point for local support (not divided by N, as in ITK), summed over the points and divided by N for global
 * support. It points to smaller values: optimizers add it. In units of intensity^2 per mm for a displacement field in
 * mm.
 *
 * When it takes the fast path, what its memory is and what else is shared by the fused metrics is said in
 * FusedImageToImageMetricv4. Memory of an evaluation: 9 bytes per voxel of one plane (at least 2^15 voxels) per thread.
 *
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

  ffdp::MetricResult
  EvaluateProblem(const ffdp::MetricProblem & problem, const ffdp::MetricDerivative & derivative) const override
  {
    ffdp::DeviceMetric * const device = this->DeviceFor(problem);
    return device ? device->EvaluateMeanSquares(problem, derivative) : ffdp::EvaluateMeanSquares(problem, derivative);
  }
};

} // end namespace itk

#endif
