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
#ifndef itkFusedResampleImageFilter_h
#define itkFusedResampleImageFilter_h

#include "ffdpDeviceName.h"
#include "ffdpDeviceResampler.h"
#include "ffdpPixels.h"
#include "itkFFDPCompatibility.h"
#include "itkFFDPTransformStack.h"

#include "itkResampleImageFilter.h"

#include <memory>
#include <string>

namespace itk
{

/** \class FusedResampleImageFilter
 * \brief Resamples an image through a stack of linear transforms and displacement fields, many times faster than its
 * superclass, and streams.
 *
 * Takes the place of itk::ResampleImageFilter: same inputs, same setters, same defaults. The output at grid point x is
 *
 *   out(x) = I(A x + t + S u(x)),
 *
 * where (A, t, S, u) is what the transform does to the grid of the output, in continuous indices of the input
 * (FFDPTransformStack). The composite transform is evaluated in registers; no field of positions is made.
 *
 * The fast path is taken for
 * - transforms: identity, translation, scale, matrix and offset, anything linear, DisplacementFieldTransform with
 * linear interpolation, and CompositeTransform of these, nested or not, fields on any grid;
 * - LinearInterpolateImageFunction and NearestNeighborInterpolateImageFunction, no extrapolator;
 * - itk::Image of numbers or of vectors of fixed length (Vector, CovariantVector, RGBPixel, RGBAPixel, ...) and
 *   itk::VectorImage, 2-D and 3-D, input and output with the same number of components.
 *
 * Everything else is done by the superclass. GetUsedFastPath() tells which of the two did the last update,
 * GetFallbackReason() says why it was not the fast path, and so does a warning, once per object.
 *
 * <b>Results</b> are those of the superclass up to rounding: positions and interpolation are in double (float to float
 * with one component: in float, except at the very border), inside is from half a voxel before the first pixel to half
 * a voxel after the last, the nearest pixel of a half is the upper one, values are cut to the range of the output's
 * type and integers are cut towards zero. An integer may thus differ by one where its value in double is within
 * rounding of a whole number. Entries of the map that miss a multiple of 1/64 by rounding only are set to it, so that
 * resampling to the image's own grid gives back its pixels, which the superclass does not promise. The same bytes come
 * out for any number of work units and for any stream division.
 *
 * <b>Streaming.</b> The filter asks upstream only for the box of pixels that the requested region of the output reaches
 * through the transform, as far as the values of the displacement fields say, with one pixel to spare. What is inside
 * the image is decided by its largest possible region, not by the part that is at hand. An input that is not the output
 * of another filter and is in memory as a whole is not measured out.
 *
 * <b>Memory</b> beyond input and output: about 25 KB per thread, and three doubles per column of the output per thread
 * for fields that do not lie on the grid of the output.
 *
 * <b>Device.</b> With SetDevice() all of the fast path runs on a GPU, in one kernel without a field of positions, with
 * the bytes of the CPU: the arithmetic of a pixel is the same code. (What is not a number may have other bits.) The
 * input and the displacement fields stay there from one update to the next, as long as their memory and their modified
 * time are the same; the output is computed and brought back in pieces. What is left to the superclass runs on the CPU.
 * Memory of the device: input as far as it is in memory, fields, and a piece of the output, of 2^21 pixels or one row.
 *
 * \ingroup FFDP
 * \ingroup GeometricTransform
 * \sa ResampleImageFilter
 */
template <typename TInputImage,
          typename TOutputImage,
          typename TInterpolatorPrecisionType = double,
          typename TTransformPrecisionType = TInterpolatorPrecisionType>
class ITK_TEMPLATE_EXPORT FusedResampleImageFilter
  : public ResampleImageFilter<TInputImage, TOutputImage, TInterpolatorPrecisionType, TTransformPrecisionType>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(FusedResampleImageFilter);

  using Self = FusedResampleImageFilter;
  using Superclass =
    ResampleImageFilter<TInputImage, TOutputImage, TInterpolatorPrecisionType, TTransformPrecisionType>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  using InputImageRegionType = typename TInputImage::RegionType;
  using OutputImageRegionType = typename TOutputImage::RegionType;

  itkNewMacro(Self);
  itkOverrideGetNameOfClassMacro(FusedResampleImageFilter);

  static constexpr unsigned int InputImageDimension = TInputImage::ImageDimension;
  static constexpr unsigned int OutputImageDimension = TOutputImage::ImageDimension;

  /** Whether the last update took the fast path. False before the first one. */
  itkGetConstMacro(UsedFastPath, bool);

  /** Why the last update was left to the superclass; empty if it was not. */
  const std::string &
  GetFallbackReason() const
  {
    return m_FallbackReason;
  }

  /** Where the fast path runs: "cpu" (the default), "cuda" (the first GPU) or "cuda:N". Throws an exception, with the
   * reason, if the device is not there. */
  void
  SetDevice(const std::string & name);

  /** The same with a backend; null: the CPU. */
  void
  SetBackend(std::shared_ptr<ffdp::Backend> backend);

  /** What was set: "cpu", or the name of the backend. */
  std::string
  GetDevice() const
  {
    return m_DeviceResampler ? m_DeviceResampler->GetBackend().Name() : "cpu";
  }

  /** Whether the last update ran on the device that was set, to its end. If it threw no exception and did not,
   * GetFallbackReason() says why. */
  itkGetConstMacro(UsedDevice, bool);

protected:
  FusedResampleImageFilter() = default;
  ~FusedResampleImageFilter() override = default;

  void
  PrintSelf(std::ostream & os, Indent indent) const override;

  /** Asks for the pixels that the requested region of the output reaches. */
  void
  GenerateInputRequestedRegion() override;

  void
  GenerateData() override;

private:
  /** The stack that the fast path needs, or false and the reason why there is none. */
  bool
  FindFastPath(FFDPTransformStack & stack, std::string & reason) const;

  void
  RecordPath(bool fast, const std::string & reason);

  void
  GenerateDataFast(const FFDPTransformStack & stack);

  bool        m_UsedFastPath{ false };
  bool        m_UsedDevice{ false };
  bool        m_HasWarned{ false };
  std::string m_FallbackReason;

  std::shared_ptr<ffdp::DeviceResampler> m_DeviceResampler; ///< null: the CPU
};

} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkFusedResampleImageFilter.hxx"
#endif

#endif
