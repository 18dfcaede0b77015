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
#ifndef itkFusedMattesMutualInformationImageToImageMetricv4_hxx
#define itkFusedMattesMutualInformationImageToImageMetricv4_hxx

#include "itkFFDPMetricProblem.h"

#include <stdexcept>

namespace itk
{

template <typename TFixedImage, typename TMovingImage, typename TVirtualImage, typename TInternalComputationValueType>
void
FusedMattesMutualInformationImageToImageMetricv4<TFixedImage,
                                                 TMovingImage,
                                                 TVirtualImage,
                                                 TInternalComputationValueType>::InitializeSuperclass()
{
  if (!this->InitializeRanges())
  {
    ItkMetricType::Initialize();
  }
}

template <typename TFixedImage, typename TMovingImage, typename TVirtualImage, typename TInternalComputationValueType>
bool
FusedMattesMutualInformationImageToImageMetricv4<TFixedImage,
                                                 TMovingImage,
                                                 TVirtualImage,
                                                 TInternalComputationValueType>::InitializeRanges()
{
  if constexpr (FFDPMetricDetail::IsReadable<TFixedImage>() && FFDPMetricDetail::IsReadable<TMovingImage>())
  {
    // The same range as ITK's Initialize() finds, but that one visits all voxels one after the other.
    ffdp::MetricImage fixed;
    ffdp::MetricImage moving;
    std::string       whyNot;
    const bool        moved = this->GetGradientSourceIncludesMoving() && !this->GetGradientSourceIncludesFixed();
    if (!moved || this->m_UseSampledPointSet)
    {
      return false;
    }
    ItkMetricType::Superclass::Initialize(); // updates the pipelines of the images, too
    const ImageBase<TFixedImage::ImageDimension> * const  fixedBase = this->m_FixedImage;
    const ImageBase<TMovingImage::ImageDimension> * const movingBase = this->m_MovingImage;
    if (!FFDPMetricDetail::ReadMask(this->m_FixedImageMask.GetPointer(), fixedBase, fixed, whyNot) ||
        !FFDPMetricDetail::ReadMask(this->m_MovingImageMask.GetPointer(), movingBase, moving, whyNot))
    {
      return false;
    }
    fixed.image = FFDPMetricDetail::ViewPixels(this->m_FixedImage.GetPointer());
    moving.image = FFDPMetricDetail::ViewPixels(this->m_MovingImage.GetPointer());
    const unsigned int         threads = this->GetThreads();
    const ffdp::IntensityRange fixedRange = ffdp::MeasureIntensityRange(fixed, threads);
    const ffdp::IntensityRange movingRange = ffdp::MeasureIntensityRange(moving, threads);
    this->VerifyRange(fixedRange, bool(fixed.mask), "fixed");
    this->VerifyRange(movingRange, bool(moving.mask), "moving");

    // What the superclass keeps of the ranges, with its two bins of padding on both sides.
    using ValueType = TInternalComputationValueType;
    const auto intervals = static_cast<ValueType>(this->m_NumberOfHistogramBins - 4);
    this->m_FixedImageTrueMin = static_cast<ValueType>(fixedRange.low);
    this->m_FixedImageTrueMax = static_cast<ValueType>(fixedRange.high);
    this->m_MovingImageTrueMin = static_cast<ValueType>(movingRange.low);
    this->m_MovingImageTrueMax = static_cast<ValueType>(movingRange.high);
    this->m_FixedImageBinSize = (this->m_FixedImageTrueMax - this->m_FixedImageTrueMin) / intervals;
    this->m_MovingImageBinSize = (this->m_MovingImageTrueMax - this->m_MovingImageTrueMin) / intervals;
    this->m_FixedImageNormalizedMin = this->m_FixedImageTrueMin / this->m_FixedImageBinSize - ValueType(2);
    this->m_MovingImageNormalizedMin = this->m_MovingImageTrueMin / this->m_MovingImageBinSize - ValueType(2);
    return true;
  }
  else
  {
    return false;
  }
}

template <typename TFixedImage, typename TMovingImage, typename TVirtualImage, typename TInternalComputationValueType>
void
FusedMattesMutualInformationImageToImageMetricv4<
  TFixedImage,
  TMovingImage,
  TVirtualImage,
  TInternalComputationValueType>::VerifyRange(const ffdp::IntensityRange & range, bool masked, const char * name) const
{
  const char * const where = masked ? " image inside its mask" : " image";
  if (range.low > range.high)
  {
    itkExceptionMacro("No voxel of the " << name << where
                                         << " has a finite intensity. Check that the mask is not "
                                            "empty and lies where the image is, and that the image is not NaN.");
  }
  if (!(range.low < range.high))
  {
    itkExceptionMacro("The " << name << where << " is constant (" << range.low
                             << "), so it has no mutual information with any image. Use another image, "
                                "or a mask or region that is not uniform.");
  }
}

template <typename TFixedImage, typename TMovingImage, typename TVirtualImage, typename TInternalComputationValueType>
ffdp::MetricResult
FusedMattesMutualInformationImageToImageMetricv4<
  TFixedImage,
  TMovingImage,
  TVirtualImage,
  TInternalComputationValueType>::EvaluateProblem(const ffdp::MetricProblem &    problem,
                                                  const ffdp::MetricDerivative & derivative) const
{
  ffdp::MutualInformationParameters parameters;
  parameters.kind = m_HistogramKernel == HistogramKernelEnum::Mattes     ? ffdp::MutualInformationKind::Mattes
                    : m_HistogramKernel == HistogramKernelEnum::Gaussian ? ffdp::MutualInformationKind::Gaussian
                                                                         : ffdp::MutualInformationKind::Approximate;
  parameters.bins = static_cast<int>(this->m_NumberOfHistogramBins);
  parameters.fixedRange.low = this->m_FixedImageTrueMin;
  parameters.fixedRange.high = this->m_FixedImageTrueMax;
  parameters.movingRange.low = this->m_MovingImageTrueMin;
  parameters.movingRange.high = this->m_MovingImageTrueMax;
  ffdp::DeviceMetric * const device = this->DeviceFor(problem);
  return device ? device->EvaluateMutualInformation(problem, parameters, derivative)
                : ffdp::EvaluateMutualInformation(problem, parameters, derivative);
}

template <typename TFixedImage, typename TMovingImage, typename TVirtualImage, typename TInternalComputationValueType>
bool
FusedMattesMutualInformationImageToImageMetricv4<TFixedImage,
                                                 TMovingImage,
                                                 TVirtualImage,
                                                 TInternalComputationValueType>::HasFastSettings(std::string & whyNot)
  const
{
  if (this->m_NumberOfHistogramBins > 256)
  {
    whyNot = "there are more than 256 bins";
    return false;
  }
  return true;
}

template <typename TFixedImage, typename TMovingImage, typename TVirtualImage, typename TInternalComputationValueType>
void
FusedMattesMutualInformationImageToImageMetricv4<TFixedImage,
                                                 TMovingImage,
                                                 TVirtualImage,
                                                 TInternalComputationValueType>::HandleNoValidPoints(MeasureType &,
                                                                                                     DerivativeType &)
  const
{
  itkExceptionMacro("No point of the virtual domain is inside both images and masks: they do not overlap. Start from "
                    "transforms that bring them together, for instance by aligning their centers with a "
                    "translation (CenteredTransformInitializer).");
}

template <typename TFixedImage, typename TMovingImage, typename TVirtualImage, typename TInternalComputationValueType>
void
FusedMattesMutualInformationImageToImageMetricv4<TFixedImage,
                                                 TMovingImage,
                                                 TVirtualImage,
                                                 TInternalComputationValueType>::VerifySuperclassCanEvaluate(bool) const
{
  if (m_HistogramKernel != HistogramKernelEnum::Mattes)
  {
    itkExceptionMacro("The histogram kernel " << m_HistogramKernel << " is not available, because "
                                              << this->GetFallbackReason()
                                              << ", and ITK's metric has no such kernel. Change that, or set "
                                                 "HistogramKernel to Mattes.");
  }
}

template <typename TFixedImage, typename TMovingImage, typename TVirtualImage, typename TInternalComputationValueType>
void
FusedMattesMutualInformationImageToImageMetricv4<TFixedImage,
                                                 TMovingImage,
                                                 TVirtualImage,
                                                 TInternalComputationValueType>::PrintSelf(std::ostream & os,
                                                                                           Indent         indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "HistogramKernel: " << m_HistogramKernel << std::endl;
}

} // end namespace itk

#endif
