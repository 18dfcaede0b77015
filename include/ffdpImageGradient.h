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
#ifndef ffdpImageGradient_h
#define ffdpImageGradient_h

#include "FFDPExport.h"
#include "ffdpSampler.h"
#include "ffdpVolume.h"

#include <array>
#include <vector>

/** The gradient of an image under a composite map, by ITK's central differences.
 *
 *   d(x) = w(x) C g(x),   g_c(x) = (I(X + h_c) - I(X - h_c)) / distance_c,   X = A x + t + S u(x)
 *
 * with linear interpolation and ITK's rule at the border: X in [-0.5, n - 0.5) on every axis is inside, corners are
 * clamped to the edge, and a difference is 0 if X + h_c or X - h_c is outside. This is what
 * itk::CentralDifferenceImageFunction gives at a point with h_c = half a spacing along physical axis c; it is not
 * the derivative of the interpolant, which SampleBackward() gives.
 *
 * x and X are as in ffdpSampler.h, and so is the precision: positions are whole voxels and a float fraction.
 * Values of an image of floats are computed in float, those of an image of doubles in double; d is rounded to float.
 * Fastest where the image axes are the physical axes, in any order and direction, and h_c is half a voxel: one read of
 * the 20 voxels around X serves all differences. Else six values are interpolated.
 *
 * A difference of a voxel that is not a number is not a number. Positions that are not a number are outside.
 * Extra memory: some 20 KB of stack per thread; moments keep twelve doubles per 16 rows (0.4 MB at 256^3).
 */
namespace ffdp
{

/** An image to read, of floats or of doubles. */
struct ImageInput
{
  VolumeView<const float>  floats;
  VolumeView<const double> doubles;

  ImageInput() = default;
  ImageInput(const VolumeView<const float> & view)
    : floats(view)
  {}
  ImageInput(const VolumeView<float> & view)
    : floats(view)
  {}
  ImageInput(const VolumeView<const double> & view)
    : doubles(view)
  {}
  ImageInput(const VolumeView<double> & view)
    : doubles(view)
  {}
  explicit operator bool() const { return bool(floats) || bool(doubles); }

  const Extent &
  Domain() const
  {
    return floats ? floats.domain : doubles.domain;
  }
};

/** Which differences make up a gradient. The default: along the axes, in voxels. */
struct ImageDifferences
{
  int    dimension = 3;                                                ///< 2: no third difference, g_2 = 0
  double step[3][3] = { { 0.5, 0, 0 }, { 0, 0.5, 0 }, { 0, 0, 0.5 } }; ///< step[c] = h_c, in voxels of the image
  double distance[3] = { 1, 1, 1 };                                    ///< from X - h_c to X + h_c, in mm
};

/** Computes d for the planes that `weights` = w holds, and u must hold them, too; the image is whole. C is row major.
 * Writes d to `derivative` if given. If `moments`, returns the sums over each plane of d x^T (row major), then of d:
 * see AddPlanes(). w(x) = 0 gives exactly 0, whatever the image holds there; such voxels cost little where there are
 * many. */
FFDP_EXPORT std::vector<MapGradient>
            ImageGradient(const ImageInput &              image,
                          const CompositeMap &            map,
                          const WarpInput &               u,
                          const ImageDifferences &        differences,
                          const VolumeView<const float> & weights,
                          const std::array<double, 9> &   C,
                          const WarpOutput &              derivative,
                          bool                            moments,
                          unsigned                        threads = 0);

} // namespace ffdp

#endif
