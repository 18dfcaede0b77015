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
#ifndef ffdpWarpGrid_h
#define ffdpWarpGrid_h

#include "FFDPExport.h"
#include "ffdpGridMap.h"
#include "ffdpVolume.h"

namespace ffdp
{

/** Brings a planar warp to the grid of the next level: on the planes that `fine` holds,
 *
 *   fine_c(x) = scale_c * coarse_c((x - offset) / scale)
 *
 * with the map whose coarse index i lies at the fine coordinate scale * i + offset; trilinear, the coordinate
 * cut to the coarse grid. The factor turns voxels of the coarse grid into voxels of the fine one. The third
 * component may be null in both. `coarse` must hold the planes that UpsampleWarpPlanes() names.
 * Memory: one coarse row per thread and a table per axis. */
FFDP_EXPORT void
UpsampleWarp(const WarpView<const float> & coarse,
             const WarpView<float> &       fine,
             const GridMap &               map,
             unsigned                      threads = 0);

/** The planes of the coarse warp that the planes [planes.first, planes.end) of the fine one depend on. */
FFDP_EXPORT PlaneRange
UpsampleWarpPlanes(const Extent & coarse, const GridMap & map, const PlaneRange & planes);

/** How large the vectors of a field are. What is not finite does not count, so that one bad voxel does not hide
 * how far the others reach. */
struct WarpSize
{
  double norm = 0;                 ///< largest sqrt(sum over c of (axisScale[c] u_c)^2)
  double largest[3] = { 0, 0, 0 }; ///< largest |u_c| of each component, exact: bounds how far a warp reaches
  bool   finite = true;            ///< false where some component is infinite or not a number
};

/** Measures the planes that a planar field holds; the third component may be null. Extra memory: four
 * numbers per 32 rows. Between slabs, maxima combine in any order. */
FFDP_EXPORT WarpSize
MeasureWarp(const WarpView<const float> & warp, const double (&axisScale)[3], unsigned threads = 0);

/** The same with all axes alike. */
FFDP_EXPORT WarpSize
MeasureWarp(const WarpView<const float> & warp, unsigned threads = 0);

} // namespace ffdp

#endif
