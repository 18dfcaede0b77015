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
 * \brief Local correlation of two images, in one fused pass: a drop-in for
 * ANTSNeighborhoodCorrelationImageToImageMetricv4.
 *
 *   value = -1/N sum over x of A(x)^2 / (B(x) C(x))
 *
 * A, B and C are the covariance and the variances of the fixed and the moving image in the box of radius GetRadius()
 * around the virtual point x, taken over the points in it that are inside both images and masks; N is the number of
 * virtual points that are. Smaller is more similar, -1 is best. A window in which an image is flat counts as if the
 * images were alike (1) and has no derivative, as in ITK; flat is what is not distinguishable from rounding here, and
 * what is below an absolute 2e-16 in ITK.
 *
 * DerivativeMode says what is differentiated. ANTSApproximate (the default, and all that ITK has) keeps the window
 * centered at the point only, so it is not the derivative of the value; Exact sums over all windows that hold the
 * point. Exact is the larger one, by about the number of points in a window, which matters for fixed learning rates.
 * Both are per point and not divided by N for local support (as in ITK), summed and divided by N for global support.
 * They point to smaller values: optimizers add them. Exact is not available where the superclass does the work (an
 * exception says so).
 *
 * When it takes the fast path, and what else is shared by the fused metrics, is said in FusedImageToImageMetricv4.
 * Memory of an evaluation: 13 bytes per voxel of 2^18 voxels or four planes, and 9 bytes per voxel of 2 radius
 * planes (Exact: 4 radius).
 *
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

  /** Which derivative is computed. */
  using DerivativeModeEnum = FusedImageToImageMetricv4Enums::DerivativeMode;
  itkSetMacro(DerivativeMode, DerivativeModeEnum);
  itkGetConstMacro(DerivativeMode, DerivativeModeEnum);

protected:
  FusedNeighborhoodCorrelationImageToImageMetricv4() = default;
  ~FusedNeighborhoodCorrelationImageToImageMetricv4() override = default;

  ffdp::MetricResult
  EvaluateProblem(const ffdp::MetricProblem & problem, const ffdp::MetricDerivative & derivative) const override;

  void
  VerifySuperclassCanEvaluate(bool withDerivative) const override;

  void
  PrintSelf(std::ostream & os, Indent indent) const override;

private:
  DerivativeModeEnum m_DerivativeMode = DerivativeModeEnum::ANTSApproximate;
};

} // end namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkFusedNeighborhoodCorrelationImageToImageMetricv4.hxx"
#endif

#endif
