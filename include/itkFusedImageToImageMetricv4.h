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
#ifndef itkFusedImageToImageMetricv4_h
#define itkFusedImageToImageMetricv4_h

#include "itkFFDPCompatibility.h"

#include "itkImageToImageMetricv4.h"

#include <string>

namespace itk
{

/** \class FusedImageToImageMetricv4
 * \brief What the fused metrics share: evaluates in one pass where it can, as its superclass where it cannot.
 *
 * \tparam TItkMetric the metric of ITK that is replaced. This class derives from it, so that code which holds a pointer
 * to ITK's metric can hold a fused one, setters and defaults are ITK's, and whatever the fast path does not cover is
 * done by ITK's own code.
 *
 * GetUsedFastPath() says which of the two did the last evaluation (or would do the next one, after Initialize());
 * GetFallbackReason() says why it was not the fast path, and so does a warning, once per object.
 *
 * \ingroup FFDP
 */
template <typename TItkMetric>
class ITK_TEMPLATE_EXPORT FusedImageToImageMetricv4 : public TItkMetric
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(FusedImageToImageMetricv4);

  using Self = FusedImageToImageMetricv4;
  using Superclass = TItkMetric;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkOverrideGetNameOfClassMacro(FusedImageToImageMetricv4);

  using MeasureType = typename Superclass::MeasureType;
  using DerivativeType = typename Superclass::DerivativeType;

  void
  Initialize() override;

  MeasureType
  GetValue() const override;

  void
  GetDerivative(DerivativeType & derivative) const override;

  void
  GetValueAndDerivative(MeasureType & value, DerivativeType & derivative) const override;

  /** Whether the last evaluation took the fast path; after Initialize(), whether the next one will. */
  bool
  GetUsedFastPath() const
  {
    return m_FallbackReason.empty();
  }

  /** Why the last evaluation was left to the superclass; empty if it was not. */
  const std::string &
  GetFallbackReason() const
  {
    return m_FallbackReason;
  }

protected:
  FusedImageToImageMetricv4();
  ~FusedImageToImageMetricv4() override = default;

  void
  PrintSelf(std::ostream & os, Indent indent) const override;

private:
  mutable std::string m_FallbackReason;
};

} // end namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkFusedImageToImageMetricv4.hxx"
#endif

#endif
