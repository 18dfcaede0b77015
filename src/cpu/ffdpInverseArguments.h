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
#ifndef ffdpInverseArguments_h
#define ffdpInverseArguments_h

#include "ffdpInverse.h"
#include "ffdpInverseTerms.h"
#include "ffdpWarpSweep.h"

#include <algorithm>
#include <cmath>

/** What inversion checks and prepares on every device. */
namespace ffdp
{

/** Rounding may carry an interpolated displacement this little above the largest of the warp. */
constexpr float RoundingRoom = 1.00001f;

inline void
CheckInverse(const WarpView<const float> & u, const WarpView<float> & w)
{
  RequirePlanarWarp(u, "the warp to invert");
  RequirePlanarWarp(w, "the inverse");
  RequireSameDomain(u.domain, w.domain, "a warp and its inverse");
  RequirePlanes(u, w.firstPlane, w.EndPlane(), 0, "the warp to invert");
  RequireApart(u, w, "a warp and its inverse");
}

inline void
CheckInverseStep(const WarpView<const float> & u, const WarpView<float> & w, const InverseStepParameters & parameters)
{
  CheckInverse(u, w);
  Require(parameters.damping > 0 && parameters.damping <= 1, "the damping of an inverse must be above 0 and at most 1");
  Require(!std::isnan(parameters.boundAlongZ), "the bound of an inverse must be a number");
}

/** All but a bound that is not given. */
inline WarpSweep
DescribeInverseStep(const WarpView<const float> & u,
                    const WarpView<float> &       w,
                    const InverseStepParameters & parameters)
{
  WarpSweep sweep;
  sweep.u = u;
  sweep.v = w;
  sweep.output = w;
  sweep.first = w.firstPlane;
  sweep.end = w.EndPlane();
  sweep.keep = 1 - parameters.damping;
  sweep.gain = -parameters.damping;
  sweep.boundAlongZ = parameters.boundAlongZ;
  sweep.border = parameters.border;
  return sweep;
}

inline void
CheckRefinement(const WarpView<const float> &   u,
                const WarpView<float> &         w,
                const VolumeView<const float> & error,
                const InverseRefinement &       refinement)
{
  CheckInverse(u, w);
  Require(refinement.tolerance > 0 && refinement.iterations >= 0, "the tolerance of an inverse must be positive");
  Require(refinement.allowed >= 0 && refinement.allowedWay >= 0, "the error that is allowed must not be negative");
  Require(error || refinement.allowed == 0, "an error can be allowed only where it is known");
  if (error)
  {
    RequireSameDomain(u.domain, error.domain, "a warp and the error of its inverse");
    RequirePlanes(error, w.firstPlane, w.EndPlane(), 0, "the error of the inverse");
  }
}

/** Voxels that came to what is allowed once would be found again and again, were not a quarter more left alone. */
inline RefinementLimits
DescribeLimits(const InverseRefinement & refinement)
{
  RefinementLimits limits;
  limits.error = refinement.allowed;
  limits.way = refinement.allowed > 0 ? refinement.allowedWay : 0.0f;
  limits.mostError = std::max(refinement.tolerance, 1.25f * refinement.allowed);
  limits.mostWay = 1.25f * limits.way;
  limits.lookedAt = refinement.allowed / 3;
  return limits;
}

inline void
CheckInverseError(const WarpView<const float> & u, const WarpView<const float> & w, const VolumeView<float> & error)
{
  RequirePlanarWarp(u, "the warp");
  RequirePlanarWarp(w, "the inverse");
  RequireSameDomain(u.domain, w.domain, "a warp and its inverse");
  RequireSameDomain(u.domain, error.domain, "a warp and the error of its inverse");
  RequirePlanes(error, w.firstPlane, w.EndPlane(), 0, "the error of the inverse");
}

inline void
CheckMarks(const VolumeView<const float> & error,
           const WarpView<const float> &   w,
           const BlockMarks &              own,
           const BlockMarks &              reached)
{
  RequirePlanarWarp(w, "the inverse");
  RequireSameDomain(w.domain, error.domain, "a warp and the error of its inverse");
  RequirePlanes(error, w.firstPlane, w.EndPlane(), 0, "the error of the inverse");
  Require(own.IsFor(w.domain) && reached.IsFor(w.domain), "marks must be of the blocks of the warp's grid");
}

/** All but the bound. */
inline WarpSweep
DescribeInverseError(const WarpView<const float> & u,
                     const WarpView<const float> & w,
                     int                           margin,
                     const VolumeView<float> &     error,
                     const BlockMarks *            marks)
{
  Require(!marks || marks->IsFor(w.domain), "marks must be of the blocks of the warp's grid");
  WarpSweep sweep;
  sweep.u = u;
  sweep.v = w;
  sweep.first = w.firstPlane;
  sweep.end = w.EndPlane();
  sweep.border = WarpBorder::Edge;
  sweep.error = error;
  sweep.margin = margin;
  sweep.marks = marks;
  return sweep;
}

inline void
CheckRefinementBound(const WarpView<const float> & u, const WarpView<const float> & w, double bound)
{
  RequirePlanes(u, w.firstPlane, w.EndPlane(), CompositionHalo(float(bound)), "the warp to invert");
}

inline WarpPlanes
DescribePlanes(const WarpView<const float> & u)
{
  WarpPlanes planes;
  for (int c = 0; c < 3; ++c)
  {
    planes.component[c] = u.component[c];
  }
  planes.size[0] = u.domain.x;
  planes.size[1] = u.domain.y;
  planes.size[2] = u.domain.z;
  planes.firstPlane = u.firstPlane;
  planes.rowStride = u.rowStride;
  planes.planeStride = u.planeStride;
  return planes;
}

} // namespace ffdp

#endif
