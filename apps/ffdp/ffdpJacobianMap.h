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
#ifndef ffdpJacobianMap_h
#define ffdpJacobianMap_h

#include "ffdpSlices.h"

/** Jacobian determinants of a warp in some planes; how often each occurs, and how far voxels move, where the fixed
 * image is brighter than its mean. */
struct JacobianMap
{
  static constexpr double Octaves = 3; ///< the histogram goes from 1/8 to 8

  std::vector<Slice>        slices;
  std::vector<std::int64_t> histogram;            ///< over the logarithm; what is outside counts in the outermost bins
  double                    meanDisplacement = 0; ///< mm, in the same voxels
  double                    largestDisplacement = 0;

  /** The determinant that a share of the voxels is below, to the width of a bin. */
  double
  Quantile(double share) const;
};

/** All ranks make the call, with the planes of the warp and of the image that they own. Memory: some planes. */
JacobianMap
MapJacobian(const ffdp::WarpView<const float> & warp,
            const FloatImage *                  fixed,
            const std::vector<SlicePlane> &     planes,
            ffdp::Communicator &                communicator);

#endif
