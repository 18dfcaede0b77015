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
#ifndef ffdpMutualInformation_h
#define ffdpMutualInformation_h

#include "ffdpStatistics.h"
#include "ffdpVolume.h"

#include "FFDPExport.h"

#include <cstdint>
#include <vector>

/** Mutual information of a fixed and a moving image, and its gradient for the intensities of either.
 *
 * A sample is a voxel of both images. It adds wF_a(f) * wM_b(m) to bin (a, b) of the joint histogram, w being
 * Parzen weights that sum to 1. With p the histogram divided by its sum, and pF, pM its row and column sums,
 *
 *   value = - sum over p > 0 of p_ab log(p_ab / (pF_a pM_b))         natural logarithm; to be minimized
 *   dvalue/dm = - 1 / (samples * binWidth) * sum_ab wF_a(f) wM'_b(m) log(p_ab / (pF_a pM_b))
 *
 * and the same for f with the roles exchanged: the gradient of the value itself, divided by the number of samples, per
 * unit of intensity. A voxel is no sample where the mask is 0 or either image is NaN; its gradient is 0.
 *
 * Each image is mapped by its own range inside the loops: there is no normalized copy. Intensities outside the
 * range (infinities too) count as the nearest end of it and have gradient 0.
 *
 * The work comes in three steps, so that ranks can add their histograms between them: ComputeJointHistogram for the
 * planes at hand, FinishMutualInformation (O(bins^2), in double precision), MutualInformationGradient for the
 * planes at hand. No step looks at a neighbor, so slabs need no halo.
 *
 * The histogram is in fixed point, so its bytes depend neither on threads, nor on slabs, nor on the instruction set.
 *
 * Extra memory: O(bins^2) per thread, nothing that grows with the images. In the histogram step a thread
 * holds, in bytes per bin^2: BSpline 8 + 64 c, Mattes 8 + 16 c, Approximate 8 + 4 c, Gaussian 8 + 4 c (of bins padded
 * by the support); c is 4 as long as these c copies take no more than 256 KB per thread, else 2 or 1. 32 bins: BSpline
 * 224 KB per thread. 256 bins: BSpline 4.7 MB per thread. The gradient step shares tables of 4 bytes per bin^2 between
 * all threads. */
namespace ffdp
{

enum class MutualInformationKind
{
  /** Cubic B-spline windows for both images, exact. The range is cut into bins - 3 intervals, so that the four bins
   * which a sample touches always exist. */
  BSpline,
  /** Gaussian windows at bin centers low + (b + 0.5) * (high - low) / bins, for both images, exact. A sample
   * touches the 2 * ceil(6 sigma) bins nearest to it, as far as they exist, and its weights are divided by their sum.
   * What is cut off is below exp(-18) = 1.5e-8 of the largest weight: less than the rounding of a float. */
  Gaussian,
  /** The paper's approximation of Gaussian: every sample counts for one bin of `bins` equal ones; then the histogram
   * is convolved with a Gaussian of 2 * max(2, ceil(4 sigma)) + 1 taps (zeros beyond its edges) and scaled to sum 1.
   * The gradient is the formula of Gaussian, taken at the centers of the sample's bins: one table look-up per voxel. It
   * points down the value of Gaussian, but is not the gradient of this value, which is piecewise constant. */
  Approximate,
  /** ITK's MattesMutualInformationImageToImageMetricv4: the bin that holds f (no window), a cubic B-spline window for
   * m, bins - 4 intervals with 2 bins of padding at both ends, all positions in double precision by ITK's formula. A
   * sample whose m is outside the moving range is not counted. No gradient for the fixed image. */
  Mattes
};

struct MutualInformationParameters
{
  MutualInformationKind kind = MutualInformationKind::BSpline;
  int                   bins = 32;   ///< per image; 4 to 256, for Mattes 5 to 256
  IntensityRange        fixedRange;  ///< spans the bins of the fixed image: low < high, both finite
  IntensityRange        movingRange; ///< of the moving image
  double                sigma = 0.5; ///< of Gaussian and Approximate, in bins; 0.3 to 4
};

/** What the samples of some planes add up to. Histograms of disjoint planes may be added in any order. */
struct JointHistogram
{
  /** A sample adds about 2^25 to the sum of all counts; a weight is rounded to 2^-25 of a sample, which is half the
   * spacing of floats below 1. Counts cannot overflow before 2^37 samples. */
  static constexpr int FractionBits = 25;

  MutualInformationParameters parameters;
  std::int64_t                samples = 0;
  std::vector<std::int64_t>   counts; ///< [fixed bin * bins + moving bin]; of Approximate: before the convolution

  /** An empty histogram: what a rank without planes contributes. Throws std::invalid_argument if the parameters
   * cannot be used. */
  FFDP_EXPORT explicit JointHistogram(const MutualInformationParameters & parameters);

  /** Adds the samples of other planes. Throws std::invalid_argument unless both have the same parameters. */
  FFDP_EXPORT JointHistogram &
  operator+=(const JointHistogram & other);
};

/** The value, and what the gradient step looks up. */
struct MutualInformation
{
  MutualInformationParameters parameters;
  std::int64_t                samples = 0;
  double                      value = 0; ///< minus the mutual information, in nats
  std::vector<float>          movingTable;
  std::vector<float>          fixedTable; ///< empty unless asked for
};

/** The joint histogram of the planes that `moving` holds; `fixed`, and `mask` if given, must hold them too.
 * Samples are the voxels with mask != 0. Throws std::invalid_argument if an argument cannot be used. */
FFDP_EXPORT JointHistogram
ComputeJointHistogram(const MutualInformationParameters &    parameters,
                      const VolumeView<const float> &        fixed,
                      const VolumeView<const float> &        moving,
                      const VolumeView<const std::uint8_t> & mask = VolumeView<const std::uint8_t>(),
                      unsigned                               threads = 0);

/** Value and tables from the histogram of all samples. Throws std::invalid_argument if there is no sample,
 * or if a gradient for the fixed image is asked of Mattes. */
FFDP_EXPORT MutualInformation
FinishMutualInformation(const JointHistogram & histogram, bool forFixed = false);

/** Writes dvalue/dmoving and dvalue/dfixed (either may be missing) for the planes that the outputs hold, which must be
 * the same planes if both are given. The inputs must hold them and be the ones of the histogram. An output must not
 * overlap an input. dvalue/dfixed needs tables made with forFixed. */
FFDP_EXPORT void
MutualInformationGradient(const MutualInformation &              information,
                          const VolumeView<const float> &        fixed,
                          const VolumeView<const float> &        moving,
                          const VolumeView<const std::uint8_t> & mask,
                          const VolumeView<float> &              gradientMoving,
                          const VolumeView<float> &              gradientFixed = VolumeView<float>(),
                          unsigned                               threads = 0);

/** The three steps in one, for volumes (or slabs) whose samples are all here. Returns the value. */
FFDP_EXPORT double
ComputeMutualInformation(const MutualInformationParameters &    parameters,
                         const VolumeView<const float> &        fixed,
                         const VolumeView<const float> &        moving,
                         const VolumeView<const std::uint8_t> & mask = VolumeView<const std::uint8_t>(),
                         const VolumeView<float> &              gradientMoving = VolumeView<float>(),
                         const VolumeView<float> &              gradientFixed = VolumeView<float>(),
                         unsigned                               threads = 0);

} // namespace ffdp

#endif
