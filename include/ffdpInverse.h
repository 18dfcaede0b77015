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
#ifndef ffdpInverse_h
#define ffdpInverse_h

#include "FFDPExport.h"
#include "ffdpBlockMarks.h"
#include "ffdpComposition.h"
#include "ffdpVolume.h"

/** The inverse of a warp by fixed-point iteration:
 *
 *   w(x) <- (1 - d) w(x) - d u(x + w(x)),     so that (id + u) o (id + w) = id where it stands still.
 *
 * d is 1 until the largest residual |w(x) + u(x + w(x))| grows; it is then halved. Undamped, the iteration is
 * a contraction only while the slope of u is below 1; damped, it also inverts warps that expand more than that.
 * Warps are planar, in voxels of their grid. w is the only memory of the size of the volume; beyond it a
 * window of planes of u as for composition, see ffdpComposition.h.
 */
namespace ffdp
{

struct InverseParameters
{
  float      tolerance = 1e-3f;         ///< stop once no voxel's residual is above this, in voxels
  unsigned   maximumIterations = 20;    ///< stop after these at the latest
  WarpBorder border = WarpBorder::Edge; ///< of u; Zero tears the warp at the border, and seldom converges there
  bool       startFromOutput = false;   ///< w holds a guess; otherwise the iteration starts at -u
};

struct InverseResult
{
  unsigned iterations = 0;
  float    maximumResidual = 0; ///< of the w that entered the last iteration; what left it is closer still
  bool     converged = false;   ///< maximumResidual is at most the tolerance
};

/** Finds w for a whole warp u. u and w share no memory. */
FFDP_EXPORT InverseResult
InvertWarp(const WarpView<const float> & u,
           const WarpView<float> &       w,
           const InverseParameters &     parameters = {},
           unsigned                      threads = 0);

struct InverseStepParameters
{
  float      damping = 1;               ///< d above
  WarpBorder border = WarpBorder::Edge; ///< of u
  float      boundAlongZ = -1;          ///< an upper bound of |w_z|; negative: found by a pass over w_z
};

/** One iteration on the planes that w holds, for slabs. u holds them and CompositionHalo(largest |w_z|) planes
 * on both sides. Returns the largest residual of the w that entered; a distributed caller takes the maximum
 * over its slabs and decides for all of them. */
FFDP_EXPORT float
IterateInverse(const WarpView<const float> & u,
               const WarpView<float> &       w,
               const InverseStepParameters & parameters = {},
               unsigned                      threads = 0);

struct InverseRefinement
{
  float tolerance = 1e-3f; ///< voxels whose residual is at most this are left alone
  int   iterations = 20;   ///< of Newton's method, per voxel
  float boundAlongZ = -1;  ///< |w_z| stays within this; negative: the largest |u_z| of the planes that u holds
  float allowed = 0;       ///< error that voxels may keep; above 0 only with a map of errors
  float allowedWay = 0;    ///< with `allowed`: how far voxels may stay from where there is none; 0: any distance
};

/** Finishes an inverse voxel by voxel, by Newton's method with the slope of u: where a warp nearly folds, or expands
 * more than twice, the fixed point is far too slow. Border of u: Edge. Planes and halo as in IterateInverse(), with the
 * bound of InverseRefinement. Returns the largest residual |w(x) + u(x + w(x))| that is left; voxels that are not
 * finite are left out. No extra memory. */
FFDP_EXPORT float
RefineInverse(const WarpView<const float> & u,
              const WarpView<float> &       w,
              const InverseRefinement &     refinement = {},
              unsigned                      threads = 0);

/** The same for those voxels whose error, of InverseError(), is longer than the tolerance, and than what is allowed by
 * a quarter of it or more. They go so far that the allowed error would be left, were it linear. An empty `error` stands
 * for all voxels, all the way.
 *
 * Where u squeezes n voxels into one, a w that has a small error e = w + u(x + w) may be n e away from the w that has
 * none, and so is what w, as it is interpolated, makes of a point that comes from u. With `allowedWay`, voxels whose
 * error is at least a third of what is allowed go on that account, too. */
FFDP_EXPORT float
RefineInverse(const WarpView<const float> &   u,
              const WarpView<float> &         w,
              const VolumeView<const float> & error,
              const InverseRefinement &       refinement = {},
              unsigned                        threads = 0);

/** error(x) = -|w(x) + u(x + w(x))| for the planes that w holds; 0 for voxels x that are, or whose x + w(x) is, outside
 * of the grid or nearer than `margin` to its border: beyond it u is not known, and so its inverse is not near it. With
 * a negative margin, x + w(x) may be so far outside. (The error is negative, so that IronFolds() irons where it is too
 * small.) Border, planes, halo and extra memory as in IterateInverse() with WarpBorder::Edge; negative `boundAlongZ`:
 * found by a pass over w_z. Returns the largest length.
 *
 * With marks, only their blocks are looked at; the error is 0 elsewhere. */
FFDP_EXPORT float
InverseError(const WarpView<const float> & u,
             const WarpView<const float> & w,
             float                         boundAlongZ,
             int                           margin,
             const VolumeView<float> &     error,
             const BlockMarks *            marks = nullptr,
             unsigned                      threads = 0);

/** Marks, for each voxel x of the planes that w holds whose error is longer than `longest`, the blocks near x in `own`
 * and those near x + w(x) in `reached`: where errors change, in w and in its inverse, if w(x) does. Extra
 * memory: two bytes per block and thread. */
FFDP_EXPORT void
MarkInverseErrors(const VolumeView<const float> & error,
                  const WarpView<const float> &   w,
                  float                           longest,
                  BlockMarks &                    own,
                  BlockMarks &                    reached,
                  unsigned                        threads = 0);

} // namespace ffdp

#endif
