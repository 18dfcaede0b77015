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
#ifndef ffdpChainDerivative_h
#define ffdpChainDerivative_h

#include "FFDPExport.h"
#include "ffdpSampler.h"
#include "ffdpVolume.h"
#include "ffdpWarpChain.h"

#include <array>
#include <cstddef>
#include <vector>

/** Derivatives for something in the middle of a chain of warps.
 *
 * The linear maps of a chain (see ffdpWarpChain.h) are its segments: segment s comes after s fields. Let q_n be a point
 * to which the last displacement has been added, and e = dL/dq_n. The chain rule leads back to where segment s ends:
 *
 *   d_s = J_{s+1}^T after_{s+1}^T J_{s+2}^T ... after_{n-1}^T J_n^T e
 *
 * J_k being the Jacobian of p -> p + u_k(p) where field k is read. Fields are given by samples, so J_k is a matter of
 * definition; here it is that of itk::DisplacementFieldTransform,
 *
 *   J = 1 + left G right,   G_ij = (u_i[-2] - 8 u_i[-1] + 8 u_i[+1] - u_i[+2]) / 12 along axis j of the grid of u,
 *
 * at the sample nearest to p (halves go up). J = 1 outside the grid, at some of its borders, and where G is not finite.
 * A derivative for the parameters of segment s is made of sums of d_s q_s^T and of d_s, q_s being the point that enters
 * the segment: for s = 0 the voxel x, else the point to which displacement s has been added.
 */
namespace ffdp
{

/** How the Jacobian of a field is made of its samples. Matrices are row major. */
struct FieldSlope
{
  enum class Border
  {
    Clamped, ///< ITK 5.3 and later: J = 1 at the first and the last sample of an axis, [-2] and [+2] stay in the grid
    Still    ///< ITK 5.2: J = 1 at the first sample; at a side with less than two samples both are the middle one
  };
  Border border = Border::Clamped;
  double left[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
  double right[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
};

/** J (row major) at a point of the chain. Components that a field does not have count as zero. */
FFDP_EXPORT void
FieldJacobian(const WarpStep & step, const FieldSlope & slope, const double * point, double * jacobian);

/** Which derivative of a chain. */
struct ChainDerivative
{
  WarpChain               chain;
  std::vector<FieldSlope> slopes;      ///< one per step; only those of fields after the segment are used
  std::size_t             segment = 0; ///< fields before it
  std::array<double, 9>   last{ { 1, 0, 0, 0, 1, 0, 0, 0, 1 } }; ///< d_s is multiplied by it in the end

  explicit operator bool() const { return !chain.steps.empty(); }
};

/** Computes d = last d_s for the planes that `gradient` = e holds (three planar components). For the last segment there
 * is nothing to lead back: `gradient` is then d_n itself. Writes d to `derivative` if given. If `moments`, returns the
 * sums over each plane of d q_s^T (row major), then of d. A voxel with e = 0 has exactly d = 0, wherever it is mapped.
 * Sums are in double, row after row, so they do not depend on threads or slabs. Extra memory: 3 KB per field and
 * thread, twelve numbers per row. */
FFDP_EXPORT std::vector<MapGradient>
            LeadBack(const ChainDerivative &       task,
                     const WarpView<const float> & gradient,
                     const WarpOutput &            derivative,
                     bool                          moments,
                     unsigned                      threads = 0);

} // namespace ffdp

#endif
