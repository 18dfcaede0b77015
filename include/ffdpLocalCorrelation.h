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
#ifndef ffdpLocalCorrelation_h
#define ffdpLocalCorrelation_h

#include "FFDPExport.h"
#include "ffdpPlaneSums.h"
#include "ffdpVolume.h"

#include <array>
#include <cstdint>

/** Local normalized cross-correlation (LNCC) of two volumes on one grid, with its gradients.
 *
 * In the window around voxel i, with weights w_ik that add up to one over the voxels k that are there
 * (inside the volume and inside the mask):
 *
 *   mu^F_i = sum_k w_ik F_k                      mu^M_i likewise
 *   A_i = sum_k w_ik (F_k - mu^F_i)(M_k - mu^M_i)      covariance
 *   B_i = sum_k w_ik (F_k - mu^F_i)^2                  variance of the fixed image
 *   C_i = sum_k w_ik (M_k - mu^M_i)^2                  variance of the moving image
 *   n_i = A_i^2 / (B_i C_i + epsilon V_F V_M)          in [0, 1]
 *
 *   loss = -mean of n_i^power over the voxels inside the mask
 *
 * With a power above 1, windows that fit well count for more, also in the gradient, and those in which the images show
 * different things for less. (n_i up to 1e-4 then counts as 0.)
 *
 * V_F and V_M are the caller's idea of the images' variance, so that epsilon is a number without unit
 * and scaling the intensities changes nothing. A window whose variance is no larger than the rounding
 * error made in computing it is flat: it counts `flatValue` and has no gradient.
 *
 * Gradients are of the loss. The exact one sums over every window that a voxel is in; the ANTs
 * approximation keeps only the window centered at the voxel, as ANTs and ITK do.
 *
 * Precision: float sums of intensities minus the mean of a tile of at most 256 x 64 voxels, so that bright
 * images keep their contrast; no sum is slid from an edge. The value is summed in float over groups of up to
 * four rows, and in double from there. Memory: a few windows of planes of one tile per thread, whatever the
 * size of the volume.
 */
namespace ffdp
{

/** So that powers of any correlation that counts stay in the range of a float. */
constexpr int MostCorrelationPower = 8;

struct LocalCorrelationParameters
{
  enum class Window
  {
    Box,     ///< equal weights
    Gaussian ///< weights exp(-d^2 / (2 sigma^2)), cut at the radius
  };
  enum class Gradient
  {
    Exact,
    ANTs
  };

  std::array<int, 3>    radius{ { 3, 3, 3 } }; ///< the window has 2 radius + 1 voxels per axis
  Window                window = Window::Box;
  std::array<double, 3> sigma{ { 1.5, 1.5, 1.5 } }; ///< of the Gaussian window, in voxels
  Gradient              gradient = Gradient::Exact;
  int                   power = 1;          ///< of n_i; MostCorrelationPower at most
  double                epsilon = 0;        ///< relative to fixedVariance * movingVariance
  double                fixedVariance = 1;  ///< V_F; also keeps float arithmetic in range for extreme intensities
  double                movingVariance = 1; ///< V_M
  double                flatValue = 0;      ///< what a flat window counts (ITK's metric counts 1)
  bool                  maskWindows = true; ///< voxels outside the mask are left out of windows, not only of the mean
  std::int64_t normalizer = 0; ///< voxels in the mean; 0: those inside the mask of what is given. Slabs give the total.
};

/** What to compute besides the value; a default-constructed view is not computed. All hold the same planes. */
struct LocalCorrelationOutputs
{
  VolumeView<float> movingGradient; ///< d loss / d M
  VolumeView<float> fixedGradient;  ///< d loss / d F
  VolumeView<float> map;            ///< n_i^power, 0 outside the mask
};

/** Sums of n_i^power. */
struct LocalCorrelationResult : PlaneSums
{
  /** -mean of n_i^power, for a result that covers the whole volume. */
  double
  Loss() const
  {
    return -this->Mean();
  }
};

/** How many planes beyond the computed ones fixed, moving and mask must hold (cut at the volume's ends). */
FFDP_EXPORT std::int64_t
            LocalCorrelationHalo(const LocalCorrelationParameters & parameters, bool withGradient);

/** Computes planes [firstPlane, firstPlane + planes) of the volume that `fixed` and `moving` hold (parts
 * of); the outputs hold exactly these planes. `mask` is optional: voxels where it is not 0 count. */
FFDP_EXPORT LocalCorrelationResult
LocalCorrelation(const VolumeView<const float> &        fixed,
                 const VolumeView<const float> &        moving,
                 const VolumeView<const std::uint8_t> & mask,
                 std::int64_t                           firstPlane,
                 std::int64_t                           planes,
                 const LocalCorrelationParameters &     parameters,
                 const LocalCorrelationOutputs &        outputs,
                 unsigned                               threads = 0);

/** The whole volume. */
FFDP_EXPORT LocalCorrelationResult
LocalCorrelation(const VolumeView<const float> &        fixed,
                 const VolumeView<const float> &        moving,
                 const VolumeView<const std::uint8_t> & mask,
                 const LocalCorrelationParameters &     parameters,
                 const LocalCorrelationOutputs &        outputs,
                 unsigned                               threads = 0);

} // namespace ffdp

#endif
