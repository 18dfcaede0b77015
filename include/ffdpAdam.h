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
#ifndef ffdpAdam_h
#define ffdpAdam_h

#include "FFDPExport.h"
#include "ffdpVolume.h"

#include <cstdint>

/** The optimizer's step, up to but not including the composition with the warp.
 *
 *   const double norm = AdamStep(g, m, v, parameters);
 *   const double step = AdamStepScale(norm, learningRate);
 *   // then u <- (id + u) o (id - step * d) - id: see ComposeAdamStep()
 *
 * Between ranks, the norm is the maximum of the ranks' norms.
 */
namespace ffdp
{

struct AdamParameters
{
  double       beta1 = 0.9;          ///< memory of the first moment, in [0, 1)
  double       beta2 = 0.99;         ///< memory of the second moment, in [0, 1)
  double       epsilon = 1e-8;       ///< in units of gradientScale * gradient; damps what is smaller
  std::int64_t step = 1;             ///< t: 1 for the first step after the moments were set to zero
  double       gradientScale = 1;    ///< the gradient is multiplied by this when it is read
  double axisScale[3] = { 1, 1, 1 }; ///< and component c by this: 1 / spacing makes it one per mm, 0 leaves it out
};

/** A power of two near 1 / largest, where `largest` is the largest absolute value of a gradient (see
 * MeasureWarp). Use it as gradientScale from the first step after a reset of the moments to the next
 * reset: the moments are in its units.
 *
 * Adam's direction does not depend on the gradient's scale, except through epsilon, and except that float
 * second moments of gradients below 1e-19 are zero. Scaled like this, epsilon is a fraction of the largest
 * gradient, and neither the number of voxels nor the unit of the intensities changes a result: a power of
 * two changes no digit. Returns 1 for a gradient that is zero or not finite. */
FFDP_EXPORT double
AdamGradientScale(double largest);

/** One step of Adam for the vector of each voxel, with bias correction:
 *
 *   m <- beta1 m + (1 - beta1) g,   v <- beta2 v + (1 - beta2) |g|^2,
 *   d = (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon)
 *
 * where g_c = gradientScale * axisScale[c] * gradient_c. A voxel has one second moment: its direction d does not depend
 * on how the axes lie, its norm is about 1 where gradients agree, and it takes two floats less than one moment per
 * component. d points uphill; it is not kept, as ComposeAdamStep() finds it again from the moments. All fields are
 * planar; the planes that `gradient` holds are done, and the moments must hold them too. The third component may be
 * null in both vectors (2-D).
 *
 * Returns the largest |d| over the voxels; infinite if some d is not a number, so that callers can stop. Reads and
 * writes each value once; extra memory O(1) (one number per 32 rows). No halo. */
FFDP_EXPORT double
AdamStep(const WarpView<const float> & gradient,
         const WarpView<float> &       firstMoment,
         const VolumeView<float> &     secondMoment,
         const AdamParameters &        parameters,
         unsigned                      threads = 0);

/** The factor that makes a step of the direction: learningRate * unit / max(largestNorm, 1).
 *
 * The largest vector then moves by learningRate * unit at most: with the default unit, half a voxel times the
 * learning rate. Directions whose largest norm is below 1 are left short, because there the moments disagree with each
 * other. With scaleDownOnly false they are lengthened: learningRate * unit / largestNorm, so that the largest vector
 * always moves by the same distance. Positive; descent passes its negative to the composition. 0 if the norm is not
 * finite, or if it is 0 and would be divided by. */
FFDP_EXPORT double
AdamStepScale(double largestNorm, double learningRate, double unit = 0.5, bool scaleDownOnly = true);

} // namespace ffdp

#endif
