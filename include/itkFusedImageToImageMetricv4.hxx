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

#include "itkFFDPMetricProblem.h"

#include "itkCentralDifferenceImageFunction.h"
#include "itkLinearInterpolateImageFunction.h"
#include "itkMultiThreaderBase.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>
#include <stdexcept>
#include <typeinfo>

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
FusedImageToImageMetricv4<TItkMetric>::VerifyInputs() const
{
  if (this->m_FixedImage.IsNull())
  {
    itkExceptionMacro("There is no fixed image. Call SetFixedImage() before Initialize().");
  }
  if (this->m_MovingImage.IsNull())
  {
    itkExceptionMacro("There is no moving image. Call SetMovingImage() before Initialize().");
  }
  if (this->m_FixedTransform.IsNull() || this->m_MovingTransform.IsNull())
  {
    itkExceptionMacro("There is no fixed or no moving transform. Call SetFixedTransform() and SetMovingTransform(), "
                      "or leave both at their default, the identity.");
  }
  using NumberOfParametersType = typename Superclass::NumberOfParametersType;
  const auto count = this->m_MovingTransform->GetNumberOfParameters();
  if (count > std::numeric_limits<NumberOfParametersType>::max())
  {
    itkExceptionMacro("The moving transform has " << count << " parameters, but ITK's metrics count them in "
                                                  << 8 * sizeof(NumberOfParametersType)
                                                  << " bits. Use a coarser displacement field, or register in parts.");
  }
}

template <typename TItkMetric>
void
FusedImageToImageMetricv4<TItkMetric>::VerifyMask(const SpatialObject<Dimension> * mask, const char * name) const
{
  const auto * const imageMask = dynamic_cast<const ImageMaskSpatialObject<Dimension> *>(mask);
  const auto * const image = imageMask ? imageMask->GetImage() : nullptr;
  if (image && image->GetBufferPointer())
  {
    const auto * const first = image->GetBufferPointer();
    const auto * const end = first + image->GetBufferedRegion().GetNumberOfPixels();
    if (std::all_of(first, end, [](unsigned char value) { return value == 0; }))
    {
      itkExceptionMacro("The mask of the " << name << " image is empty: all its pixels are 0, so no point is inside. "
                                           << "Set another mask, or none.");
    }
  }
}

template <typename TItkMetric>
void
FusedImageToImageMetricv4<TItkMetric>::Initialize()
{
  this->VerifyInputs();
  this->VerifyMask(this->m_FixedImageMask, "fixed");
  this->VerifyMask(this->m_MovingImageMask, "moving");
  this->InitializeSuperclass();
  ffdp::MetricProblem problem;
  StackDerivativeType stack;
  if (!this->ReadProblem(problem, &stack))
  {
    this->WarnOfFallback();
  }
}

template <typename TItkMetric>
bool
FusedImageToImageMetricv4<TItkMetric>::ReadProblem(ffdp::MetricProblem & problem,
                                                   StackDerivativeType * derivative) const
{
  m_FallbackReason.clear();
  if (this->m_FixedImage.IsNull() || this->m_MovingImage.IsNull() || this->m_VirtualImage.IsNull())
  {
    itkExceptionMacro("The metric is not initialized. Set the images, then call Initialize() before an evaluation.");
  }
  if constexpr (!FFDPMetricDetail::IsReadable<typename Superclass::FixedImageType>() ||
                !FFDPMetricDetail::IsReadable<typename Superclass::MovingImageType>())
  {
    m_FallbackReason = "an image is not an itk::Image of float or double in 2-D or 3-D";
    return false;
  }
  else
  {
    problem.threads = this->GetThreads();
    return this->HasFastSettings(m_FallbackReason) && this->ReadImages(problem) &&
           (derivative == nullptr || this->ReadDerivative(problem, *derivative));
  }
}

template <typename TItkMetric>
bool
FusedImageToImageMetricv4<TItkMetric>::ReadImages(ffdp::MetricProblem & problem) const
{
  using CoordinateType = typename Superclass::CoordinateRepresentationType;
  using FixedLinearType = LinearInterpolateImageFunction<typename Superclass::FixedImageType, CoordinateType>;
  using MovingLinearType = LinearInterpolateImageFunction<typename Superclass::MovingImageType, CoordinateType>;
  if (this->m_UseSampledPointSet)
  {
    m_FallbackReason = "a sampled point set is used";
    return false;
  }
  const auto & fixedInterpolator = *this->m_FixedInterpolator;
  const auto & movingInterpolator = *this->m_MovingInterpolator;
  if (typeid(fixedInterpolator) != typeid(FixedLinearType) || typeid(movingInterpolator) != typeid(MovingLinearType))
  {
    m_FallbackReason = "an interpolator is not a LinearInterpolateImageFunction";
    return false;
  }
  const auto * const grid = this->m_VirtualImage.GetPointer();
  problem.grid = FFDPMetricDetail::ToExtent(grid->GetBufferedRegion());
  return FFDPMetricDetail::ReadImage(this->m_FixedImage.GetPointer(),
                                     this->m_FixedImageMask.GetPointer(),
                                     this->m_FixedTransform.GetPointer(),
                                     grid,
                                     problem.fixed,
                                     m_FallbackReason) &&
         FFDPMetricDetail::ReadImage(this->m_MovingImage.GetPointer(),
                                     this->m_MovingImageMask.GetPointer(),
                                     this->m_MovingTransform.GetPointer(),
                                     grid,
                                     problem.moving,
                                     m_FallbackReason);
}

template <typename TItkMetric>
bool
FusedImageToImageMetricv4<TItkMetric>::HasFastGradient() const
{
  using CoordinateType = typename Superclass::CoordinateRepresentationType;
  using LinearType = LinearInterpolateImageFunction<typename Superclass::MovingImageType, CoordinateType>;
  if (this->GetGradientSourceIncludesFixed() || !this->GetGradientSourceIncludesMoving())
  {
    m_FallbackReason = "the gradient source is not the moving image alone";
    return false;
  }
  if (this->m_UseMovingImageGradientFilter)
  {
    m_FallbackReason = "UseMovingImageGradientFilter is on";
    return false;
  }
  const auto * const interpolator = this->m_DefaultMovingImageGradientCalculator->GetInterpolator();
  if (this->m_MovingImageGradientCalculator.GetPointer() != this->m_DefaultMovingImageGradientCalculator.GetPointer() ||
      !this->m_DefaultMovingImageGradientCalculator->GetUseImageDirection() ||
      dynamic_cast<const LinearType *>(interpolator) == nullptr)
  {
    m_FallbackReason = "the gradient calculator of the moving image is not the default one";
    return false;
  }
  return true;
}

template <typename TItkMetric>
bool
FusedImageToImageMetricv4<TItkMetric>::ReadDerivative(ffdp::MetricProblem & problem,
                                                      StackDerivativeType & derivative) const
{
  const bool hasLocalSupport = this->HasLocalSupport();
  if (!this->HasFastGradient())
  {
    return false;
  }
  if (!hasLocalSupport && this->GetUseFloatingPointCorrection())
  {
    m_FallbackReason = "UseFloatingPointCorrection is on";
    return false;
  }
  const ImageBase<Dimension> * const image = this->m_MovingImage.GetPointer();
  problem.differences = FFDPMetricDetail::ReadDifferences(image);
  return derivative.Read(
    this->m_MovingTransform.GetPointer(), hasLocalSupport, this->m_VirtualImage.GetPointer(), image, m_FallbackReason);
}

template <typename TItkMetric>
void
FusedImageToImageMetricv4<TItkMetric>::SetDevice(const std::string & name)
{
  try
  {
    this->SetBackend(ffdp::MakeDeviceBackend(name));
  }
  catch (const std::exception & error)
  {
    itkExceptionMacro("SetDevice: " << error.what());
  }
}

template <typename TItkMetric>
void
FusedImageToImageMetricv4<TItkMetric>::SetBackend(std::shared_ptr<ffdp::Backend> backend)
{
  m_DeviceMetric = backend ? std::make_shared<ffdp::DeviceMetric>(std::move(backend)) : nullptr;
  m_UsedDevice = false;
  this->Modified();
}

template <typename TItkMetric>
ffdp::DeviceMetric *
FusedImageToImageMetricv4<TItkMetric>::DeviceFor(const ffdp::MetricProblem & problem) const
{
  const std::string whyNot = m_DeviceMetric ? ffdp::DeviceMetric::WhyNot(problem) : std::string();
  m_UsedDevice = m_DeviceMetric && whyNot.empty();
  if (!whyNot.empty() && !m_HaveWarnedOfDevice)
  {
    m_HaveWarnedOfDevice = true;
    itkWarningMacro("Evaluated on the CPU, not on the device that was set: " << whyNot << ". (This is said once.)");
  }
  return m_UsedDevice ? m_DeviceMetric.get() : nullptr;
}

template <typename TItkMetric>
ffdp::MetricResult
FusedImageToImageMetricv4<TItkMetric>::EvaluateSafely(const ffdp::MetricProblem &    problem,
                                                      const ffdp::MetricDerivative & derivative) const
{
  try
  {
    const ffdp::MetricResult result = this->EvaluateProblem(problem, derivative);
    this->m_NumberOfValidPoints = static_cast<SizeValueType>(result.voxels);
    return result;
  }
  catch (const std::logic_error & error) // an argument that cannot be used
  {
    itkExceptionMacro("The metric cannot be evaluated: " << error.what());
  }
  catch (const std::runtime_error & error) // of a device
  {
    itkExceptionMacro("The metric cannot be evaluated: " << error.what());
  }
  catch (const std::bad_alloc &)
  {
    itkExceptionMacro("The metric cannot be evaluated: there is not enough memory"
                      << (m_UsedDevice ? " on the device. Call SetDevice(\"cpu\") to do without." : "."));
  }
}

template <typename TItkMetric>
auto
FusedImageToImageMetricv4<TItkMetric>::GetValue() const -> MeasureType
{
  ffdp::MetricProblem problem;
  m_UsedDevice = false; // until DeviceFor() is asked, which the superclass does not do
  if (!this->ReadProblem(problem, nullptr))
  {
    this->WarnOfFallback();
    this->VerifySuperclassCanEvaluate(false);
    return Superclass::GetValue();
  }
  const ffdp::MetricResult result = this->EvaluateSafely(problem, {});
  this->m_Value = static_cast<MeasureType>(result.value);
  if (result.voxels == 0)
  {
    DerivativeType none;
    this->HandleNoValidPoints(this->m_Value, none);
  }
  return this->m_Value;
}

template <typename TItkMetric>
void
FusedImageToImageMetricv4<TItkMetric>::GetDerivative(DerivativeType & derivative) const
{
  MeasureType value;
  this->GetValueAndDerivative(value, derivative);
}

template <typename TItkMetric>
ffdp::MetricResult
FusedImageToImageMetricv4<TItkMetric>::EvaluateGlobalDerivative(ffdp::MetricProblem &       problem,
                                                                const StackDerivativeType & stack,
                                                                DerivativeType &            derivative) const
{
  ffdp::MetricDerivative asked;
  asked.moments = true;
  ffdp::MetricResult result;
  for (std::size_t segment = 0; segment < stack.GetNumberOfSegments(); ++segment)
  {
    stack.Plan(segment, problem);
    result = this->EvaluateSafely(problem, asked);
    const double count = static_cast<double>(std::max<std::int64_t>(1, result.voxels));
    stack.Multiply(segment, result.moments, this->IsGlobalDerivativeSum() ? 1.0 / count : 1.0, derivative);
  }
  return result;
}

template <typename TItkMetric>
void
FusedImageToImageMetricv4<TItkMetric>::GetValueAndDerivative(MeasureType & value, DerivativeType & derivative) const
{
  using ValueType = typename DerivativeType::ValueType;
  ffdp::MetricProblem problem;
  StackDerivativeType stack;
  m_UsedDevice = false;
  if (!this->ReadProblem(problem, &stack))
  {
    this->WarnOfFallback();
    this->VerifySuperclassCanEvaluate(true);
    Superclass::GetValueAndDerivative(value, derivative);
    return;
  }

  const auto count = this->GetNumberOfParameters();
  if (derivative.GetSize() != count)
  {
    derivative.SetSize(count);
  }
  ffdp::MetricResult result;
  if (this->HasLocalSupport())
  {
    ffdp::MetricDerivative asked;
    asked.local = ffdp::WarpView<ValueType>::Interleaved(derivative.data_block(), int(Dimension), problem.grid);
    stack.Plan(0, problem);
    result = this->EvaluateSafely(problem, asked);
  }
  else
  {
    result = this->EvaluateGlobalDerivative(problem, stack, derivative);
  }
  this->m_Value = static_cast<MeasureType>(result.value);
  if (result.voxels == 0)
  {
    this->HandleNoValidPoints(this->m_Value, derivative);
  }
  value = this->m_Value;
}

template <typename TItkMetric>
void
FusedImageToImageMetricv4<TItkMetric>::SetMaximumNumberOfWorkUnits(const ThreadIdType number)
{
  Superclass::SetMaximumNumberOfWorkUnits(number);
  const ThreadIdType workUnits = std::max<ThreadIdType>(1, number);
  if (m_WorkUnits != workUnits)
  {
    m_WorkUnits = workUnits;
    this->Modified();
  }
}

template <typename TItkMetric>
ThreadIdType
FusedImageToImageMetricv4<TItkMetric>::GetMaximumNumberOfWorkUnits() const
{
  return m_WorkUnits > 0 ? m_WorkUnits : MultiThreaderBase::GetGlobalDefaultNumberOfThreads();
}

template <typename TItkMetric>
ThreadIdType
FusedImageToImageMetricv4<TItkMetric>::GetNumberOfWorkUnitsUsed() const
{
  return this->GetUsedFastPath() ? this->GetMaximumNumberOfWorkUnits() : Superclass::GetNumberOfWorkUnitsUsed();
}

template <typename TItkMetric>
void
FusedImageToImageMetricv4<TItkMetric>::WarnOfFallback() const
{
  if (!m_HaveWarned)
  {
    m_HaveWarned = true;
    itkWarningMacro("Evaluated by the metric of ITK that this class replaces, not by the fast path: "
                    << m_FallbackReason << ". (This is said once.)");
  }
}

template <typename TItkMetric>
void
FusedImageToImageMetricv4<TItkMetric>::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "UsedFastPath: " << this->GetUsedFastPath() << std::endl;
  os << indent << "FallbackReason: " << m_FallbackReason << std::endl;
  os << indent << "Device: " << this->GetDevice() << std::endl;
  os << indent << "UsedDevice: " << m_UsedDevice << std::endl;
}

} // end namespace itk

#endif
