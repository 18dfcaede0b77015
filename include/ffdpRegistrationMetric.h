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
#ifndef ffdpRegistrationMetric_h
#define ffdpRegistrationMetric_h

namespace ffdp
{

/** How a pair of images is compared. All values are losses: smaller is more similar. */
struct RegistrationMetric
{
  enum class Kind
  {
    LocalCorrelation, ///< minus the mean of a power of the correlation of windows, in [-1, 0]
    MutualInformation,
    MeanSquares ///< in units of the product of both images' standard deviations
  };

  Kind   kind = Kind::LocalCorrelation;
  int    pair = 0;             ///< which of the image pairs
  double weight = 1;           ///< in the sum of all metrics
  bool   ofEdges = false;      ///< compares where the images have edges (ffdpEdgeStrength.h), whatever their contrast
  int    radius = 3;           ///< LocalCorrelation: windows of 2 radius + 1 voxels of the level
  double epsilon = 2e-4;       ///< LocalCorrelation: contrast below this part of the images' own counts as noise
  bool   exactGradient = true; ///< LocalCorrelation: false takes ANTs' approximation
  int    bins = 32;            ///< MutualInformation

  /** LocalCorrelation: the mean is of the squared correlation to this power; 1 is what ANTs does. With more, windows
   * that fit decide, and those in which the two images show different things have less of a say. That finds better
   * warps, but no better linear maps, which leave most windows far from fitting. 0: WarpPower for greedy and SyN,
   * otherwise 1. */
  int                  power = 0;
  static constexpr int WarpPower = 5;

  /** LocalCorrelation, warps: how much the slope of the moved image (as it is compared, on the fixed grid) says about
   * the step, beside that of the moving one where it is sampled, from 0 (nothing) to 1 (as much). A step is composed
   * with the warp, v + u o (id + v), so the loss changes with it by the slope of the moved image: the other one leaves
   * out how the warp turns and stretches it. It is sharper, though. SyN does the same for the fixed image. */
  double movedSlope = 1;

  /** LocalCorrelation, greedy stages: how much the slope of the fixed image says about the step, likewise. The moved
   * image is interpolated, so its slope is blurred. */
  double fixedSlope = 0.3;
};

} // namespace ffdp

#endif
