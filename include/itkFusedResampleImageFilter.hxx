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

#include "ffdpResample.h"
#include "itkFFDPPixelLayout.h"

#include "itkLinearInterpolateImageFunction.h"
#include "itkNearestNeighborInterpolateImageFunction.h"

#include <algorithm>
#include <stdexcept>
#include <typeinfo>

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
FusedResampleImageFilter<TInputImage, TOutputImage, TInterpolatorPrecision, TTransformPrecision>::RecordPath(
  bool                fast,
  const std::string & reason)
{
  m_UsedFastPath = fast;
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
    m_ReachedRegion = input->GetRequestedRegion();
    return;
  }
  const InputImageRegionType & whole = input->GetLargestPossibleRegion();
  m_ReachedRegion = whole;
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
    for (unsigned int c = 0; c < InputImageDimension; ++c)
    {
      // a filter upstream cannot be asked for nothing: one pixel, if no point of the output is inside
      m_ReachedRegion.SetIndex(c, whole.GetIndex(c) + static_cast<IndexValueType>(reached.first[c]));
      m_ReachedRegion.SetSize(c, reached.IsEmpty() ? 1 : static_cast<SizeValueType>(reached.count[c]));
    }
    input->SetRequestedRegion(m_ReachedRegion);
  }
}

template <typename TInputImage, typename TOutputImage, typename TInterpolatorPrecision, typename TTransformPrecision>
void
FusedResampleImageFilter<TInputImage, TOutputImage, TInterpolatorPrecision, TTransformPrecision>::GenerateData()
{
  FFDPTransformStack stack;
  std::string        reason;
  bool               fast = this->FindFastPath(stack, reason);
  if (fast && !this->GetInput()->GetBufferedRegion().IsInside(m_ReachedRegion))
  {
    fast =
      false; // an image that comes from nowhere and holds less than it claims: ITK takes what is there for the whole
    reason = "the input does not hold all pixels that are needed, and no filter can make them";
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
  }
  catch (const std::invalid_argument & error)
  {
    itkExceptionMacro("Cannot resample: " << error.what());
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
    const ffdp::ConstPixelView image = FFDPViewOf(this->GetInput());
    TOutputImage * const       output = this->GetOutput();
    ffdp::ResampleParameters   parameters;
    if (dynamic_cast<const NearestType *>(this->GetInterpolator()) != nullptr)
    {
      parameters.interpolation = ffdp::Interpolation::Nearest;
    }
    parameters.outsidePixel = FFDPPixelLayout<TOutputImage>::GetComponents(this->GetDefaultPixelValue());

    // Pieces along the slowest axis, for progress and abort: large enough to keep the threads busy.
    const ffdp::PixelView whole = FFDPViewOf(output);
    const ffdp::PixelBox  asked = FFDPBoxOf(output->GetRequestedRegion(), output->GetLargestPossibleRegion());
    const int             slowest = OutputImageDimension - 1;
    const std::int64_t    pixels = asked.count[0] * asked.count[1] * asked.count[2];
    const std::int64_t    pieces =
      std::max<std::int64_t>(1, std::min({ pixels >> 18, asked.count[slowest], std::int64_t{ 64 } }));
    const std::int64_t pixelSize =
      whole.components * static_cast<std::int64_t>(sizeof(typename FFDPPixelLayout<TOutputImage>::ComponentType));
    for (std::int64_t piece = 0; piece < pieces; ++piece)
    {
      if (this->GetAbortGenerateData())
      {
        ProcessAborted aborted(__FILE__, __LINE__);
        aborted.SetDescription(std::string(this->GetNameOfClass()) + ": AbortGenerateData was set");
        throw aborted;
      }
      ffdp::PixelView part = whole;
      part.box = asked;
      part.box.first[slowest] = asked.first[slowest] + asked.count[slowest] * piece / pieces;
      part.box.count[slowest] =
        asked.first[slowest] + asked.count[slowest] * (piece + 1) / pieces - part.box.first[slowest];
      const std::int64_t offset = (part.box.first[2] - whole.box.first[2]) * whole.planeStride +
                                  (part.box.first[1] - whole.box.first[1]) * whole.rowStride +
                                  (part.box.first[0] - whole.box.first[0]);
      part.data = static_cast<char *>(whole.data) + offset * pixelSize;
      if (stack.HasResiduals())
      {
        ffdp::ResampleChain(image, stack.map, stack.chain, part, parameters, this->GetNumberOfWorkUnits());
      }
      else
      {
        ffdp::Resample(image, stack.map, stack.warp, part, parameters, this->GetNumberOfWorkUnits());
      }
      this->UpdateProgress(static_cast<float>(piece + 1) / static_cast<float>(pieces));
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
  os << indent << "HasWarned: " << (m_HasWarned ? "On" : "Off") << std::endl;
  os << indent << "ReachedRegion: " << m_ReachedRegion << std::endl;
}

} // namespace itk

#endif
