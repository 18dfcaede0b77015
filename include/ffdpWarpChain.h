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
#ifndef ffdpWarpChain_h
#define ffdpWarpChain_h

#include "FFDPExport.h"
#include "ffdpAffineMap.h"
#include "ffdpSampler.h"
#include "ffdpVolume.h"

#include <cstdint>
#include <vector>

/** Several displacement fields, each on a grid of its own, with linear maps before, between and after them.
 *
 *   p_0 = start(x),   p_k = after_k(p_{k-1} + u_k(toIndex_k(p_{k-1}))),   X = p_n
 *
 * x is the voxel index in the fixed grid, X is in voxels of the image, p_k is in whatever space the fields are (at the
 * ITK boundary: physical points). A field is read by linear interpolation with ITK's rule: inside is from half a voxel
 * before the first sample to half a voxel after the last, corners are clamped, and outside its grid u_k = 0.
 *
 * Everything that samples takes one field on the fixed grid (CompositeMap, WarpInput). A chain takes that form by its
 * residual r(x) = X(x) - (A x + t), where A x + t is the chain with all fields zero: the map (A, t, S = 1) and the
 * field r. Residuals are computed in double; whole planes of them are stored as float.
 */
namespace ffdp
{

/** One field of a chain. */
struct WarpStep
{
  AffineMap toIndex; ///< from the space of the chain to voxels of the grid of the field
  WarpInput warp;    ///< the whole field
  AffineMap after;   ///< what follows once the displacement has been added

  std::uint64_t version = 0; ///< of the field, for copies of it on a device; 0: not known
};

struct WarpChain
{
  AffineMap             start; ///< from the fixed grid to the space of the first field
  std::vector<WarpStep> steps; ///< in the order in which they are applied
};

/** Throws std::invalid_argument if a step of the chain has no field, or not a whole one. */
FFDP_EXPORT void
RequireChain(const WarpChain & chain);

/** The chain with all fields zero, S = 1. */
FFDP_EXPORT CompositeMap
LinearPart(const WarpChain & chain);

/** X(x) for one point, which need not be a voxel of the grid. */
FFDP_EXPORT void
MapPoint(const WarpChain & chain, const double * x, double * X);

/** r(x) = X(x) - (A x + t) for `count` voxels of a row from column x of row y of plane z. `linear` is LinearPart(chain)
 * or close to it. */
FFDP_EXPORT void
FillResidualRow(const WarpChain &    chain,
                const CompositeMap & linear,
                std::int64_t         x,
                std::int64_t         y,
                std::int64_t         z,
                std::int64_t         count,
                double * const *     residual);

/** r(x) for the planes of the fixed grid that `residual` holds (three components, elementStride 1). */
FFDP_EXPORT void
FillResiduals(const WarpChain &       chain,
              const CompositeMap &    linear,
              const WarpView<float> & residual,
              unsigned                threads = 0);

/** The same with LinearPart(chain). */
FFDP_EXPORT void
FillResiduals(const WarpChain & chain, const WarpView<float> & residual, unsigned threads = 0);

} // namespace ffdp

#endif
