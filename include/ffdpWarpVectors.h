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
#ifndef ffdpWarpVectors_h
#define ffdpWarpVectors_h

#include "FFDPExport.h"
#include "ffdpAffineMap.h"
#include "ffdpSampler.h"
#include "ffdpWarpChain.h"

#include <vector>

/** Warps in the two forms that they have: registration keeps three planar volumes in voxels of the fixed grid, ITK
 * keeps vectors in physical units. */
namespace ffdp
{

/** vectors = M u, M the matrix of `indexToPhysical`: for each voxel, `dimension` (2 or 3) doubles side by side. `warp`
 * is three planar volumes of `size` voxels. */
FFDP_EXPORT void
WarpToVectors(const std::vector<float> & warp,
              const Extent &             size,
              const AffineMap &          indexToPhysical,
              int                        dimension,
              double *                   vectors,
              unsigned                   threads = 0);

/** A transform of the fixed grid in the form phi(x) = A (x + u(x)) + t, which registration starts from. */
struct WarpedStart
{
  AffineMap          affine;          ///< A, t in physical space
  bool               hasWarp = false; ///< false: u = 0
  PlaneRange         planes;          ///< that the warp holds; there may be none
  std::vector<float> warp;            ///< u in voxels, three planar volumes
};

/** Finds A, t and u for a transform that takes voxel x of a grid to X = A' x + t' + S u'(x), or to `chain`(x) if that
 * has steps, in voxels of the same grid. A is the linear part, the transform with all fields zero; u = A'^-1 (X - A' x
 * - t'), for the given planes of the grid. Throws std::invalid_argument if A' cannot be inverted or a field holds
 * values there that are not finite. */
FFDP_EXPORT WarpedStart
MakeWarpedStart(const CompositeMap & map,
                const WarpInput &    warp,
                const WarpChain &    chain,
                const Extent &       size,
                const PlaneRange &   planes,
                const AffineMap &    indexToPhysical,
                unsigned             threads = 0);

} // namespace ffdp

#endif
