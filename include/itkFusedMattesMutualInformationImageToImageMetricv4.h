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
 * \brief Mutual information of two images, in two fused passes: a drop-in for
 * MattesMutualInformationImageToImageMetricv4.
 *
 *   value = -sum over bins (a, b) of p(a, b) log(p(a, b) / (p_F(a) p_M(b)))
 *
 * p is the joint histogram of fixed and moving intensities at the virtual points that are inside both images and masks,
 * divided by its sum. Smaller is more similar; in nats. The bins of an image span its range, inside its mask if it has
 * one, as in ITK. The derivative is minus the one of the value (divided by N, for local support too, as in ITK): it
 * points to smaller values, optimizers add it.
 *
 * HistogramKernel says how a sample is spread over bins. Mattes (the default, and all that ITK has): one bin of the
 * fixed image, a cubic B-spline over bins of the moving image, two bins of padding at each end; points with moving
 * intensities outside the range do not count. Gaussian: windows of sigma half a bin for both images, all derivatives
 * exact. Approximate: bins are counted and the histogram is smoothed by the same Gaussian; the derivative is the
 * formula of Gaussian at the centers of the bins. The latter two are not available where the superclass does the work
 * (an exception says so). The fast path takes at most 256 bins.
 *
 * Initialize() finds the ranges, in parallel. It throws if an image is constant or its mask empty, an evaluation throws
 * if the images do not overlap. GetJointPDF() and GetJointPDFDerivatives() are filled by the superclass only.
 *
 * When it takes the fast path, and what else is shared by the fused metrics, is said in FusedImageToImageMetricv4.
 * Memory of an evaluation: 13 bytes per voxel of one plane (at least 2^15 voxels) and 72 bytes per pair of bins per
 * thread.
 *
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

  using MeasureType = typename Superclass::MeasureType;
  using DerivativeType = typename Superclass::DerivativeType;

  /** How a sample is spread over bins. */
  using HistogramKernelEnum = FusedImageToImageMetricv4Enums::HistogramKernel;
  itkSetMacro(HistogramKernel, HistogramKernelEnum);
  itkGetConstMacro(HistogramKernel, HistogramKernelEnum);

protected:
  FusedMattesMutualInformationImageToImageMetricv4() = default;
  ~FusedMattesMutualInformationImageToImageMetricv4() override = default;

  ffdp::MetricResult
  EvaluateProblem(const ffdp::MetricProblem & problem, const ffdp::MetricDerivative & derivative) const override;

  bool
  HasFastSettings(std::string & whyNot) const override;

  bool
  IsGlobalDerivativeSum() const override
  {
    return false;
  }

  void
  InitializeSuperclass() override;

  void
  VerifySuperclassCanEvaluate(bool withDerivative) const override;

  void
  HandleNoValidPoints(MeasureType & value, DerivativeType & derivative) const override;

  void
  PrintSelf(std::ostream & os, Indent indent) const override;

private:
  using ItkMetricType = typename Superclass::Superclass;

  bool
  InitializeRanges();
  void
  VerifyRange(const ffdp::IntensityRange & range, bool masked, const char * name) const;

  HistogramKernelEnum m_HistogramKernel = HistogramKernelEnum::Mattes;
};

} // end namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkFusedMattesMutualInformationImageToImageMetricv4.hxx"
#endif

#endif
