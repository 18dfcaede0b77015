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
#ifndef itkFusedResampleImageFilter_hxx
#define itkFusedResampleImageFilter_hxx

#include "itkFusedResampleImageFilter.h"

#include "ffdpPixelPieces.h"
#include "ffdpResample.h"
#include "itkFFDPPixelLayout.h"

#include "itkLinearInterpolateImageFunction.h"
#include "itkNearestNeighborInterpolateImageFunction.h"

#include <algorithm>
#include <new>
#include <stdexcept>
#include <typeinfo>
#include <utility>
#include <vector>

namespace itk
{

template <typename TInputImage, typename TOutputImage, typename TInterpolatorPrecision, typename TTransformPrecision>
bool
FusedResampleImageFilter<TInputImage, TOutputImage, TInterpolatorPrecision, TTransformPrecision>::FindFastPath(
  FFDPTransformStack & stack,
  std::string &        reason) const
{
  using InputLayoutType = FFDPPixelLayout<TInputImage>;
  using OutputLayoutType = FFDPPixelLayout<TOutputImage>;
  using LinearType = LinearInterpolateImageFunction<TInputImage, TInterpolatorPrecision>;
  using NearestType = NearestNeighborInterpolateImageFunction<TInputImage, TInterpolatorPrecision>;
  if constexpr (!InputLayoutType::isKnown || !OutputLayoutType::isKnown || InputImageDimension != OutputImageDimension)
  {
    reason = "images of this kind, of these pixels or of these dimensions are left to ResampleImageFilter";
    return false;
  }
  else
  {
    const TInputImage * const  input = this->GetInput();
    const TOutputImage * const output = this->GetOutput();
    const auto * const         interpolator = this->GetInterpolator();
    const int                  components = InputLayoutType::GetNumberOfComponents(input);
    if (this->GetExtrapolator() != nullptr)
    {
      reason = "an extrapolator is set";
    }
    else if (interpolator == nullptr)
    {
      reason = "no interpolator is set";
    }
    else if (typeid(*interpolator) != typeid(LinearType) && typeid(*interpolator) != typeid(NearestType))
    {
      reason = std::string(interpolator->GetNameOfClass()) + " is neither linear nor nearest-neighbor interpolation";
    }
    else if (OutputLayoutType::GetNumberOfComponents(output) != components ||
             !OutputLayoutType::HasComponents(this->GetDefaultPixelValue(), components))
    {
      reason = "the pixels of input, output and default value differ in their number of components";
    }
    else if (input->GetLargestPossibleRegion().GetNumberOfPixels() == 0)
    {
      reason = "the input has no pixels";
    }
    else
    {
      constexpr SizeValueType longestAxis = SizeValueType{ 1 } << 28;
      for (unsigned int c = 0; c < InputImageDimension && reason.empty(); ++c)
      {
        if (std::max(input->GetLargestPossibleRegion().GetSize(c), output->GetLargestPossibleRegion().GetSize(c)) >
            longestAxis)
        {
          reason = "an image has an axis of more than 2^28 pixels";
        }
      }
    }
    return reason.empty() &&
           ReadTransformStack<TTransformPrecision, InputImageDimension>(this->GetTransform(),
                                                                        output,
                                                                        output->GetLargestPossibleRegion(),
                                                                        input,
                                                                        input->GetLargestPossibleRegion(),
                                                                        stack,
                                                                        reason);
  }
}

template <typename TInputImage, typename TOutputImage, typename TInterpolatorPrecision, typename TTransformPrecision>
void
FusedResampleImageFilter<TInputImage, TOutputImage, TInterpolatorPrecision, TTransformPrecision>::SetDevice(
  const std::string & name)
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

template <typename TInputImage, typename TOutputImage, typename TInterpolatorPrecision, typename TTransformPrecision>
void
FusedResampleImageFilter<TInputImage, TOutputImage, TInterpolatorPrecision, TTransformPrecision>::SetBackend(
  std::shared_ptr<ffdp::Backend> backend)
{
  m_DeviceResampler = backend ? std::make_shared<ffdp::DeviceResampler>(std::move(backend)) : nullptr;
  m_UsedDevice = false;
  this->Modified();
}

template <typename TInputImage, typename TOutputImage, typename TInterpolatorPrecision, typename TTransformPrecision>
void
FusedResampleImageFilter<TInputImage, TOutputImage, TInterpolatorPrecision, TTransformPrecision>::RecordPath(
  bool                fast,
  const std::string & reason)
{
  m_UsedFastPath = fast;
  m_UsedDevice = false; // until it has done its work
  m_FallbackReason = fast ? std::string() : reason;
  if (!fast && !m_HasWarned)
  {
    m_HasWarned = true;
    itkWarningMacro("The fast path is not taken, ResampleImageFilter does the work: " << reason);
  }
}

template <typename TInputImage, typename TOutputImage, typename TInterpolatorPrecision, typename TTransformPrecision>
void
FusedResampleImageFilter<TInputImage, TOutputImage, TInterpolatorPrecision, TTransformPrecision>::
  GenerateInputRequestedRegion()
{
  auto * const       input = const_cast<TInputImage *>(this->GetInput());
  FFDPTransformStack stack;
  std::string        reason;
  if (!this->FindFastPath(stack, reason))
  {
    Superclass::GenerateInputRequestedRegion();
    return;
  }
  const InputImageRegionType & whole = input->GetLargestPossibleRegion();
  if (input->GetSource() == nullptr && input->GetBufferedRegion() == whole)
  {
    input->SetRequestedRegion(whole); // nothing to be saved
    return;
  }
  if constexpr (InputImageDimension == OutputImageDimension)
  {
    const OutputImageRegionType & grid = this->GetOutput()->GetLargestPossibleRegion();
    const ffdp::Extent            imageSize = FFDPExtentOf(whole);
    const ffdp::Extent            gridSize = FFDPExtentOf(grid);
    const ffdp::PixelBox          asked = FFDPBoxOf(this->GetOutput()->GetRequestedRegion(), grid);
    const unsigned int            threads = this->GetNumberOfWorkUnits();
    ffdp::PixelBox                reached;
    try
    {
      reached = stack.HasResiduals()
                  ? ffdp::FindReachedBoxOfChain(imageSize, stack.map, stack.chain, gridSize, asked, threads)
                  : ffdp::FindReachedBox(imageSize, stack.map, stack.warp, gridSize, asked, threads);
    }
    catch (const std::invalid_argument & error)
    {
      itkExceptionMacro("Cannot find the part of the input that is needed: " << error.what());
    }
    InputImageRegionType region;
    for (unsigned int c = 0; c < InputImageDimension; ++c)
    {
      // a filter upstream cannot be asked for nothing: one pixel, if no point of the output is inside
      region.SetIndex(c, whole.GetIndex(c) + static_cast<IndexValueType>(reached.first[c]));
      region.SetSize(c, reached.IsEmpty() ? 1 : static_cast<SizeValueType>(reached.count[c]));
    }
    input->SetRequestedRegion(region);
  }
}

template <typename TInputImage, typename TOutputImage, typename TInterpolatorPrecision, typename TTransformPrecision>
void
FusedResampleImageFilter<TInputImage, TOutputImage, TInterpolatorPrecision, TTransformPrecision>::GenerateData()
{
  FFDPTransformStack stack;
  std::string        reason;
  bool               fast = this->FindFastPath(stack, reason);
  if (fast && !this->GetInput()->GetBufferedRegion().IsInside(this->GetInput()->GetRequestedRegion()))
  {
    fast = false; // ITK's interpolators take what is there for the whole
    reason = "the input does not hold all pixels that were asked for";
  }
  this->RecordPath(fast, reason);
  if (!fast)
  {
    Superclass::GenerateData();
    return;
  }
  this->AllocateOutputs();
  this->BeforeThreadedGenerateData(); // gives the default value of a VectorImage its length
  try
  {
    this->GenerateDataFast(stack);
    m_UsedDevice = m_DeviceResampler != nullptr;
  }
  catch (const std::invalid_argument & error)
  {
    itkExceptionMacro("Cannot resample: " << error.what());
  }
  catch (const std::runtime_error & error) // of a device
  {
    itkExceptionMacro("Cannot resample: " << error.what());
  }
  catch (const std::bad_alloc &)
  {
    itkExceptionMacro("Cannot resample: there is not enough memory"
                      << (m_DeviceResampler ? " on the device. Call SetDevice(\"cpu\") to do without." : "."));
  }
  this->AfterThreadedGenerateData();
}

template <typename TInputImage, typename TOutputImage, typename TInterpolatorPrecision, typename TTransformPrecision>
void
FusedResampleImageFilter<TInputImage, TOutputImage, TInterpolatorPrecision, TTransformPrecision>::GenerateDataFast(
  const FFDPTransformStack & stack)
{
  if constexpr (FFDPPixelLayout<TInputImage>::isKnown && FFDPPixelLayout<TOutputImage>::isKnown)
  {
    using NearestType = NearestNeighborInterpolateImageFunction<TInputImage, TInterpolatorPrecision>;
    TOutputImage * const     output = this->GetOutput();
    ffdp::ResampleParameters parameters;
    ffdp::ResampleProblem    problem;
    problem.image = FFDPViewOf(this->GetInput());
    problem.imageVersion = this->GetInput()->GetMTime();
    problem.map = stack.map;
    problem.warp = stack.warp;
    problem.warpVersion = stack.warpVersion;
    problem.chain = stack.chain;
    if (dynamic_cast<const NearestType *>(this->GetInterpolator()) != nullptr)
    {
      parameters.interpolation = ffdp::Interpolation::Nearest;
    }
    parameters.outsidePixel = FFDPPixelLayout<TOutputImage>::GetComponents(this->GetDefaultPixelValue());

    // Pieces, for progress and abort, and for the memory of a device: large enough to keep it or the threads busy.
    const ffdp::PixelView whole = FFDPViewOf(output);
    const ffdp::PixelBox  asked = FFDPBoxOf(output->GetRequestedRegion(), output->GetLargestPossibleRegion());
    const std::int64_t    fewPixels =
      std::max(2 * ffdp::Backend::FewVoxelsOfCpu, asked.count[0] * asked.count[1] * asked.count[2] / 64);
    const std::vector<ffdp::PixelBox> pieces =
      ffdp::CutIntoPieces(asked, m_DeviceResampler ? m_DeviceResampler->GetBackend().FewVoxels() : fewPixels);
    const std::int64_t pixelSize =
      whole.components * static_cast<std::int64_t>(sizeof(typename FFDPPixelLayout<TOutputImage>::ComponentType));
    std::size_t done = 0;
    for (const ffdp::PixelBox & piece : pieces)
    {
      if (this->GetAbortGenerateData())
      {
        ProcessAborted aborted(__FILE__, __LINE__);
        aborted.SetDescription(std::string(this->GetNameOfClass()) + ": AbortGenerateData was set");
        throw aborted;
      }
      ffdp::PixelView part = whole;
      part.box = piece;
      const std::int64_t offset = (part.box.first[2] - whole.box.first[2]) * whole.planeStride +
                                  (part.box.first[1] - whole.box.first[1]) * whole.rowStride +
                                  (part.box.first[0] - whole.box.first[0]);
      part.data = static_cast<char *>(whole.data) + offset * pixelSize;
      if (m_DeviceResampler)
      {
        m_DeviceResampler->Resample(problem, part, parameters);
      }
      else if (stack.HasResiduals())
      {
        ffdp::ResampleChain(problem.image, problem.map, problem.chain, part, parameters, this->GetNumberOfWorkUnits());
      }
      else
      {
        ffdp::Resample(problem.image, problem.map, problem.warp, part, parameters, this->GetNumberOfWorkUnits());
      }
      this->UpdateProgress(static_cast<float>(++done) / static_cast<float>(pieces.size()));
    }
  }
}

template <typename TInputImage, typename TOutputImage, typename TInterpolatorPrecision, typename TTransformPrecision>
void
FusedResampleImageFilter<TInputImage, TOutputImage, TInterpolatorPrecision, TTransformPrecision>::PrintSelf(
  std::ostream & os,
  Indent         indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "UsedFastPath: " << (m_UsedFastPath ? "On" : "Off") << std::endl;
  os << indent << "FallbackReason: " << m_FallbackReason << std::endl;
  os << indent << "Device: " << this->GetDevice() << std::endl;
  os << indent << "UsedDevice: " << (m_UsedDevice ? "On" : "Off") << std::endl;
  os << indent << "HasWarned: " << (m_HasWarned ? "On" : "Off") << std::endl;
}

} // namespace itk

#endif
