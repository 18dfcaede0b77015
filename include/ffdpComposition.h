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
#ifndef ffdpComposition_h
#define ffdpComposition_h

#include "FFDPExport.h"
#include "ffdpVolume.h"

#include <cstdint>

/** Composition of warps in place, and the exponential of a velocity by scaling and squaring.
 *
 * Warps are three planar float volumes of displacements in voxels of their own grid. Between voxels they
 * are interpolated trilinearly.
 *
 * Extra memory: old planes of u are kept as four numbers per voxel in a window of 3 R + 1 planes for each of T threads,
 * where R = CompositionHalo(largest displacement along z); or, where that is less, in one of 2 R + 8 T planes for all
 * threads, or as one such copy of the planes that are read. An infinite or NaN displacement makes its own voxel
 * infinite or NaN and harms nothing else.
 */
namespace ffdp
{

/** What a warp is outside its grid. */
enum class WarpBorder
{
  Zero, ///< nothing moves: each corner of a cell that is outside contributes 0
  Edge  ///< what is nearest on the grid
};

struct CompositionParameters
{
  float      stepScale = 1;             ///< s below; spares a pass that scales the update
  WarpBorder border = WarpBorder::Zero; ///< of u
  float      boundAlongZ = -1;          ///< an upper bound of |s v_z|; negative: found by a pass over v_z
};

/** The planes of u that are read on either side of a plane, if no displacement along z is above `boundAlongZ`. */
FFDP_EXPORT std::int64_t
            CompositionHalo(float boundAlongZ);

/** u(x) <- s v(x) + u(x + s v(x)) for the planes [firstOwned, firstOwned + ownedPlanes) of u. u holds them and
 * CompositionHalo() planes of halo on both sides, which are only read; v holds at least the owned planes and
 * shares no memory with u. Throws if a finite |s v_z| is above a given bound (u is then spoiled). */
FFDP_EXPORT void
ComposeWarps(const WarpView<float> &       u,
             std::int64_t                  firstOwned,
             std::int64_t                  ownedPlanes,
             const WarpView<const float> & v,
             const CompositionParameters & parameters = {},
             unsigned                      threads = 0);

/** All planes of u; for whole warps. */
FFDP_EXPORT void
ComposeWarps(const WarpView<float> &       u,
             const WarpView<const float> & v,
             const CompositionParameters & parameters = {},
             unsigned                      threads = 0);

/** u(x) <- s u(x) + s u(x + s u(x)), one step of scaling and squaring (s = 1 but for the first). Planes and
 * halos as in ComposeWarps(); boundAlongZ bounds |s u_z| of the owned planes. */
FFDP_EXPORT void
SquareWarp(const WarpView<float> &       u,
           std::int64_t                  firstOwned,
           std::int64_t                  ownedPlanes,
           const CompositionParameters & parameters = {},
           unsigned                      threads = 0);

struct ExponentialParameters
{
  int        squarings = -1;            ///< n; negative: as many as make |v| / 2^n at most largestStep
  float      largestStep = 0.5f;        ///< in voxels
  WarpBorder border = WarpBorder::Zero; ///< of the warp at every step
};

/** The number of squarings for a velocity whose largest norm over the whole volume is given. */
FFDP_EXPORT int
CountSquarings(float largestNorm, float largestStep = 0.5f);

/** v <- exp(v): w = v / 2^n, then n times w(x) <- w(x) + w(x + w(x)). For a whole warp; a slab calls
 * SquareWarp() and refreshes its halo before every step. Returns n. */
FFDP_EXPORT int
ExponentiateWarp(const WarpView<float> & v, const ExponentialParameters & parameters = {}, unsigned threads = 0);

} // namespace ffdp

#endif
