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
#ifndef ffdpSampler_h
#define ffdpSampler_h

#include "FFDPExport.h"
#include "ffdpVolume.h"

#include <array>
#include <cstdint>
#include <vector>

/** The composite implicit sampler and its gradients.
 *
 *   out(x) = I(X),   X = A x + t + S u(x)
 *
 * x is the voxel index in the whole fixed grid: the planes that the output view holds say which part of
 * the grid is computed, and a slab gets the bytes that it has in the whole. X is in voxels of the
 * image I. The map is evaluated in registers and never stored. Coordinates are split into whole voxels
 * and a fraction before they are rounded to float, so precision does not fall with the size of the image.
 *
 * Linear interpolation takes the two planes around X apart,
 *   I(X) = (1 - fz) lower + fz upper,   lower, upper bilinear in their plane,
 * one sum of two terms. So an image may come as slabs, in ascending or descending order: planes that a
 * slab does not hold contribute zero, and adding the slabs' results (accumulate) gives the bytes of the
 * whole image.
 *
 * Not a number, infinite, or farther than 2^28 voxels away is outside. An axis has at most 2^28 voxels.
 * Extra memory: some 20 KB of stack per thread; gradients for the map keep twelve doubles per 16 rows (0.4 MB at
 * 256^3), the adjoint keeps two numbers per plane.
 */
namespace ffdp
{

/** X = A x + t + S u(x). Matrices are row major. ITK's CompositeTransform{affine, displacement} is S = A. */
struct CompositeMap
{
  double A[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
  double t[3] = { 0, 0, 0 }; ///< voxels of the image
  double S[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
};

enum class Interpolation
{
  Linear,
  Nearest ///< halves round to even
};

enum class Border
{
  Zero, ///< corners outside the image are zero: values fade within one voxel
  Edge  ///< ITK's rule: X in [-0.5, n - 0.5) on every axis is inside, corners are clamped to the edge
};

struct SamplerParameters
{
  Interpolation interpolation = Interpolation::Linear;
  Border        border = Border::Zero;
  float         outsideValue = 0;   ///< Border::Edge: the result outside; comes with the slab that holds plane 0
  bool          accumulate = false; ///< add to what the result view holds instead of replacing it
};

/** A displacement field to read, of floats or of doubles; default-constructed: no field, u = 0. */
struct WarpInput
{
  WarpView<const float>  floats;
  WarpView<const double> doubles;

  WarpInput() = default;
  WarpInput(const WarpView<const float> & view)
    : floats(view)
  {}
  WarpInput(const WarpView<float> & view)
    : floats(view)
  {}
  WarpInput(const WarpView<const double> & view)
    : doubles(view)
  {}
  WarpInput(const WarpView<double> & view)
    : doubles(view)
  {}
  explicit operator bool() const { return bool(floats) || bool(doubles); }
};

/** A vector field to write, of floats or of doubles; default-constructed: not asked for. */
struct WarpOutput
{
  WarpView<float>  floats;
  WarpView<double> doubles;

  WarpOutput() = default;
  WarpOutput(const WarpView<float> & view)
    : floats(view)
  {}
  WarpOutput(const WarpView<double> & view)
    : doubles(view)
  {}
  explicit operator bool() const { return bool(floats) || bool(doubles); }
};

/** dL/dA (row major), then dL/dt. */
using MapGradient = std::array<double, 12>;

/** output(x) = I(A x + t + S u(x)) for the planes that `output` holds; u must hold them, too. */
FFDP_EXPORT void
Sample(const VolumeView<const float> & image,
       const CompositeMap &            map,
       const WarpInput &               u,
       const VolumeView<float> &       output,
       const SamplerParameters &       parameters = {},
       unsigned                        threads = 0);

/** For each output plane of [firstPlane, firstPlane + planes) of a fixed grid of size `fixedSize`, the planes of an
 * image of size `imageSize` that Sample() may read with a weight. What a ring of image slabs has to send. */
FFDP_EXPORT std::vector<PlaneRange>
            FindReachedPlanes(const Extent &            imageSize,
                              const CompositeMap &      map,
                              const WarpInput &         u,
                              const Extent &            fixedSize,
                              std::int64_t              firstPlane,
                              std::int64_t              planes,
                              const SamplerParameters & parameters = {},
                              unsigned                  threads = 0);

/** Gradients of a loss L for u and for the map, in one pass over an image, linear interpolation:
 *
 *   dL/du(x) = g(x) S^T dI/dX,   dL/dA = sum_x g(x) dI/dX x^T,   dL/dt = sum_x g(x) dI/dX,
 *
 * g = dL/dout = outputGradient, dI/dX the derivative of the interpolant in its cell (at a grid point, of the cell
 * above it). A slab of an image will do if it holds all planes that FindReachedPlanes() names. Computes the planes that
 * outputGradient holds. With parameters.accumulate dL/du is added to warpGradient.
 * Returns the gradient for the map if mapGradient says so: one sum per plane, see AddPlanes(). */
FFDP_EXPORT std::vector<MapGradient>
            SampleBackward(const VolumeView<const float> & image,
                           const CompositeMap &            map,
                           const WarpInput &               u,
                           const VolumeView<const float> & outputGradient,
                           const WarpOutput &              warpGradient,
                           bool                            mapGradient,
                           const SamplerParameters &       parameters = {},
                           unsigned                        threads = 0);

/** The first half of SampleBackward() for an image that comes as slabs: derivative = dI/dX, three components, for the
 * planes that `derivative` holds. With parameters.accumulate the slabs of an image add up. */
FFDP_EXPORT void
SampleDerivative(const VolumeView<const float> & image,
                 const CompositeMap &            map,
                 const WarpInput &               u,
                 const WarpView<float> &         derivative,
                 const SamplerParameters &       parameters = {},
                 unsigned                        threads = 0);

/** The second half: turns dI/dX into dL/du in place, and returns what SampleBackward() returns, in the same bytes. */
FFDP_EXPORT std::vector<MapGradient>
            FinishSampleBackward(const CompositeMap &            map,
                                 const VolumeView<const float> & outputGradient,
                                 const WarpView<float> &         derivative,
                                 bool                            mapGradient,
                                 unsigned                        threads = 0);

/** Gradient for the image, the adjoint of Sample(): imageGradient(i) = sum_x g(x) dout(x)/dI(i), for the planes of the
 * image that imageGradient holds. Every voxel receives its terms in raster order of x, so output slabs that are
 * processed in ascending order with parameters.accumulate give the bytes of the whole.
 * Threads share out image planes, so an image of one plane is worked on by one thread. */
FFDP_EXPORT void
SampleAdjoint(const VolumeView<const float> & outputGradient,
              const CompositeMap &            map,
              const WarpInput &               u,
              const VolumeView<float> &       imageGradient,
              const SamplerParameters &       parameters = {},
              unsigned                        threads = 0);

/** The sum over planes, added in the order given. */
FFDP_EXPORT MapGradient
AddPlanes(const std::vector<MapGradient> & planeSums);

} // namespace ffdp

#endif
