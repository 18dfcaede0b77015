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
#ifndef ffdpImageMetric_h
#define ffdpImageMetric_h

#include "FFDPExport.h"
#include "ffdpChainDerivative.h"
#include "ffdpImageGradient.h"
#include "ffdpLocalCorrelation.h"
#include "ffdpMutualInformation.h"
#include "ffdpSampler.h"
#include "ffdpVolume.h"
#include "ffdpWarpChain.h"

#include <array>
#include <cstdint>

/** Similarity of two images under two composite maps, with its derivative for the map of the moving image.
 *
 * Both images are seen from one grid, the virtual domain of an ITK metric: F(x) = fixed(X_F(x)), M(x) = moving(X_M(x)),
 * X = A x + t + S u(x), by linear interpolation. A voxel x of the grid counts if X is inside each image by ITK's rule
 * ([-0.5, n - 0.5) on every axis), inside each mask that is given, and neither value is NaN.
 *
 * The derivative at x is
 *
 *   d(x) = C g(x) dL/dM(x)
 *
 * g being ITK's central differences of the moving image (see ffdpImageGradient.h), L the loss of the metric, and C
 * whatever the caller wants: the sign, a scale, the Jacobian of what is applied after the displacement. It is written
 * per voxel, or summed up to moments (d x^T and d), from which a derivative for the parameters of a linear transform
 * follows. With `within` it is led back to a segment of a chain first, and moments are d q^T and d with the point q
 * that enters the segment, see ffdpChainDerivative.h.
 *
 * The grid is streamed in pieces of planes, so that no sampled image is ever stored. Extra memory: some planes, see
 * each function; residuals of a chain (12 bytes per voxel), gradients to lead back (12 bytes) and masks (2 bytes) are
 * there for 2^16 voxels, or one plane, at a time. The bytes of the result do not depend on the number of threads. */
namespace ffdp
{

/** One of the two images, as the grid sees it. */
struct MetricImage
{
  ImageInput                     image;  ///< whole
  CompositeMap                   map;    ///< from voxels of the grid to voxels of the image
  WarpInput                      warp;   ///< u on the grid; optional
  WarpChain                      chain;  ///< if it has steps: `map` is its linear part, u are its residuals
  VolumeView<const std::uint8_t> mask;   ///< whole, inside where not 0; optional
  AffineMap                      toMask; ///< from voxels of the image to voxels of the mask

  // For copies on a device: they are made anew when these change; 0: in each evaluation.
  std::uint64_t version = 0;
  std::uint64_t maskVersion = 0;
};

struct MetricProblem
{
  Extent                grid;
  MetricImage           fixed;
  MetricImage           moving;
  ImageDifferences      differences; ///< of the moving image
  std::array<double, 9> C{ { 1, 0, 0, 0, 1, 0, 0, 0, 1 } };
  ChainDerivative       within; ///< optional; its chain is that of the moving image, whatever form that has there
  unsigned              threads = 0;
};

/** What to compute besides the value. */
struct MetricDerivative
{
  WarpOutput local;           ///< d(x) for the whole grid
  bool       moments = false; ///< sums over the grid of d x^T (or d q^T) and of d

  explicit operator bool() const { return bool(local) || moments; }
};

struct MetricResult
{
  std::int64_t voxels = 0;   ///< that count
  double       value = 0;    ///< of the loss; 0 if no voxel counts
  MapGradient  moments = {}; ///< sums of d x^T or d q^T (row major), then of d
};

/** L = mean of (M - F)^2; dL/dM is taken without the division by the number of voxels: 2 (M - F).
 * Extra memory: 9 bytes per voxel of at least 2^15 voxels or one plane, per thread. */
FFDP_EXPORT MetricResult
EvaluateMeanSquares(const MetricProblem & problem, const MetricDerivative & derivative);

/** L = -mean of the local correlation (see ffdpLocalCorrelation.h), of windows that hold the voxels that count; dL/dM
 * is taken without the division by the number of voxels. Of the parameters fixedVariance, movingVariance, normalizer
 * and maskWindows are chosen here. Extra memory: 13 bytes per voxel of 2^18 voxels (for exact derivatives 2^17) or four
 * planes, 9 bytes per voxel of twice the halo, and what LocalCorrelation() takes. */
FFDP_EXPORT MetricResult
EvaluateLocalCorrelation(const MetricProblem &              problem,
                         const LocalCorrelationParameters & parameters,
                         const MetricDerivative &           derivative);

/** L = minus the mutual information (see ffdpMutualInformation.h); dL/dM is that of L, divided by the number of
 * voxels. The images are sampled once for the histogram and once more for the derivative. Extra memory: as mean
 * squares, and the histograms. */
FFDP_EXPORT MetricResult
EvaluateMutualInformation(const MetricProblem &               problem,
                          const MutualInformationParameters & parameters,
                          const MetricDerivative &            derivative);

/** The range of the intensities of an image (rounded to float), over the voxels whose centers are inside the mask, if
 * there is one. Empty (low > high) if there is no such voxel. */
FFDP_EXPORT IntensityRange
MeasureIntensityRange(const MetricImage & image, unsigned threads = 0);

} // namespace ffdp

#endif
