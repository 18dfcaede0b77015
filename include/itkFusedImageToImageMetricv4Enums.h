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
#ifndef itkFusedImageToImageMetricv4Enums_h
#define itkFusedImageToImageMetricv4Enums_h

#include <cstdint>
#include <ostream>

namespace itk
{

/** \class FusedImageToImageMetricv4Enums
 * \brief Choices that the fused metrics offer beyond those of ITK's.
 * \ingroup FFDP
 */
class FusedImageToImageMetricv4Enums
{
public:
  /** Derivative of the local correlation. */
  enum class DerivativeMode : std::uint8_t
  {
    ANTSApproximate, ///< only of the window centered at the voxel, as ANTs and ITK do
    Exact            ///< of all windows that hold the voxel: the derivative of the value
  };

  /** How a sample is spread over the bins of the joint histogram. */
  enum class HistogramKernel : std::uint8_t
  {
    Mattes,     ///< as ITK: one bin of the fixed image, a cubic B-spline over the bins of the moving image
    Gaussian,   ///< Gaussian windows for both images, exact
    Approximate ///< the bins are counted, and the histogram is smoothed
  };
};

inline std::ostream &
operator<<(std::ostream & os, FusedImageToImageMetricv4Enums::DerivativeMode mode)
{
  return os << (mode == FusedImageToImageMetricv4Enums::DerivativeMode::Exact ? "Exact" : "ANTSApproximate");
}

inline std::ostream &
operator<<(std::ostream & os, FusedImageToImageMetricv4Enums::HistogramKernel kernel)
{
  using Kernel = FusedImageToImageMetricv4Enums::HistogramKernel;
  return os << (kernel == Kernel::Mattes ? "Mattes" : kernel == Kernel::Gaussian ? "Gaussian" : "Approximate");
}

} // end namespace itk

#endif
