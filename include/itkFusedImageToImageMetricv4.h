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

#include "ffdpDeviceMetric.h"
#include "ffdpDeviceName.h"
#include "ffdpImageMetric.h"
#include "itkFFDPCompatibility.h"
#include "itkFFDPStackDerivative.h"

#include "itkImageToImageMetricv4.h"

#include <memory>
#include <string>

namespace itk
{

/** \class FusedImageToImageMetricv4
 * \brief What the fused metrics share: they evaluate in one pass where they can, as their superclass where not.
 *
 * \tparam TItkMetric the metric of ITK that is replaced. This class derives from it, so that code which holds a pointer
 * to ITK's metric can hold a fused one, setters and defaults are ITK's (but see below), and whatever the fast path does
 * not cover is done by ITK's own code.
 *
 * **Fast path.** Images are itk::Image of float or double in 2-D or 3-D. Both transforms are stacks
 * (CompositeTransform, also nested) of linear transforms and displacement fields. Interpolators are linear (the
 * default). Masks are ImageMaskSpatialObject, on any grid. All voxels of the virtual domain are used. Derivatives are
 * those of ITK's default, for one of
 * - global support: what is optimized are linear transforms, anywhere in the stack; any parameters whose Jacobian is
 *   affine in the point, which all of ITK's linear transforms have;
 * - local support: what is optimized is a displacement field on the virtual domain that is applied first.
 *
 * Displacement fields behind what is optimized enter by ComputeJacobianWithRespectToPosition(), as in ITK. (Outside the
 * field, where ITK 5.2 reads beyond its memory, that is the identity.)
 *
 * **Otherwise** (B-spline transforms, sampled point sets, other interpolators, other masks, gradient filters, gradients
 * of the fixed image) the superclass does the work. GetUsedFastPath() says which of the two did the last evaluation
 * (after Initialize(): which will do the next one), GetFallbackReason() says why, and so does a warning, once per
 * object.
 *
 * \warning UseMovingImageGradientFilter and UseFixedImageGradientFilter are off here and on in ITK's metrics: the
 * gradient of the moving image is taken by central differences at the point, as ANTs does, not from a stored image of
 * recursive Gaussian derivatives (24 bytes per voxel, computed anew at each Initialize()). Whoever turns the filter on
 * gets ITK's result, from the superclass.
 *
 * Value, sign and scale of the derivative are those of the class that is replaced. Differences are rounding: sampled
 * intensities are float. Voxels of an image that are NaN do not count. The result does not depend on the number of
 * threads, not in the last bit; ITK's does. An evaluation needs some planes of the virtual domain as extra memory, see
 * the subclasses, and never modifies the object.
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

  /** The number of threads of an evaluation is the one asked for. (In ITK 5.2 it is that of the thread pool, which only
   * grows.) By default it is ITK's global default. */
  void
  SetMaximumNumberOfWorkUnits(const ThreadIdType number) override;
  ThreadIdType
  GetMaximumNumberOfWorkUnits() const override;

  ThreadIdType
  GetNumberOfWorkUnitsUsed() const override;

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

  /** Where the fast path runs: "cpu" (the default), "cuda" (the first GPU) or "cuda:N". Images and masks stay on a GPU
   * from one evaluation to the next, as long as their memory and their modified time are the same. Images of floats
   * under linear transforms and one displacement field on the virtual domain run there; the rest of the fast path
   * runs on the CPU, with a warning once. Throws an exception, with the reason, if the device is not there. */
  void
  SetDevice(const std::string & name);

  /** The same with a backend; null: the CPU. */
  void
  SetBackend(std::shared_ptr<ffdp::Backend> backend);

  /** What was set: "cpu", or the name of the backend. */
  std::string
  GetDevice() const
  {
    return m_DeviceMetric ? m_DeviceMetric->GetBackend().Name() : "cpu";
  }

  /** Whether the last evaluation ran on the device that was set. */
  bool
  GetUsedDevice() const
  {
    return m_UsedDevice;
  }

protected:
  FusedImageToImageMetricv4();
  ~FusedImageToImageMetricv4() override = default;

  static constexpr unsigned int Dimension = Superclass::VirtualImageDimension;

  using StackDerivativeType =
    FFDPMetricDetail::StackDerivative<typename Superclass::CoordinateRepresentationType, Dimension>;

  /** Value and derivative by the fast path. */
  virtual ffdp::MetricResult
  EvaluateProblem(const ffdp::MetricProblem & problem, const ffdp::MetricDerivative & derivative) const = 0;

  /** The device to evaluate this on; null: the CPU. */
  ffdp::DeviceMetric *
  DeviceFor(const ffdp::MetricProblem & problem) const;

  /** False, and a reason, if a setting of the subclass is not for the fast path. */
  virtual bool
  HasFastSettings(std::string & /* whyNot */) const
  {
    return true;
  }

  /** Whether the sum over the voxels that is the derivative for global support is still to be divided by their number.
   */
  virtual bool
  IsGlobalDerivativeSum() const
  {
    return true;
  }

  /** Initializes the superclass, by default with its Initialize(). */
  virtual void
  InitializeSuperclass()
  {
    Superclass::Initialize();
  }

  /** Throws if the superclass cannot compute what is asked for, having no such option. */
  virtual void
  VerifySuperclassCanEvaluate(bool /* withDerivative */) const
  {}

  /** What happens if no voxel counts: by default as in ITK, a warning, the largest value and a zero derivative. */
  virtual void
  HandleNoValidPoints(MeasureType & value, DerivativeType & derivative) const
  {
    this->VerifyNumberOfValidPoints(value, derivative);
  }

  /** For ffdp, where 0 stands for the global default. */
  unsigned int
  GetThreads() const
  {
    return static_cast<unsigned int>(m_WorkUnits);
  }

  /** What ffdp needs to know, also for a derivative unless `derivative` is null. Returns false and sets the reason if
   * this is not for the fast path. */
  bool
  ReadProblem(ffdp::MetricProblem & problem, StackDerivativeType * derivative) const;

  void
  PrintSelf(std::ostream & os, Indent indent) const override;

private:
  void
  VerifyInputs() const;
  void
  VerifyMask(const SpatialObject<Dimension> * mask, const char * name) const;
  bool
  ReadImages(ffdp::MetricProblem & problem) const;
  bool
  HasFastGradient() const;
  bool
  ReadDerivative(ffdp::MetricProblem & problem, StackDerivativeType & derivative) const;
  ffdp::MetricResult
  EvaluateGlobalDerivative(ffdp::MetricProblem &       problem,
                           const StackDerivativeType & stack,
                           DerivativeType &            derivative) const;
  void
  WarnOfFallback() const;
  ffdp::MetricResult
  EvaluateSafely(const ffdp::MetricProblem & problem, const ffdp::MetricDerivative & derivative) const;

  ThreadIdType        m_WorkUnits = 0; ///< 0: not set
  mutable std::string m_FallbackReason;
  mutable bool        m_HaveWarned = false;

  std::shared_ptr<ffdp::DeviceMetric> m_DeviceMetric; ///< null: the CPU
  mutable bool                        m_UsedDevice = false;
  mutable bool                        m_HaveWarnedOfDevice = false;
};

} // end namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkFusedImageToImageMetricv4.hxx"
#endif

#endif
