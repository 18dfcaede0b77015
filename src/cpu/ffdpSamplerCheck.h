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
#ifndef ffdpSamplerCheck_h
#define ffdpSamplerCheck_h

#include "ffdpCheck.h"
#include "ffdpMapTerms.h"
#include "ffdpSampler.h"

#include <cstdint>
#include <string>

/** What the functions of ffdpSampler.h ask of their arguments, on every device. The image and the map are checked where
 * they become plain numbers for the kernels, by MakeSamplerPlan(). */
namespace ffdp
{

template <typename TView>
void
RequireWarp(const TView & warp, const Extent & domain, std::int64_t first, std::int64_t end, const char * name)
{
  if (warp)
  {
    RequirePlanes(warp, first, end, 0, name);
    RequireSameDomain(warp.domain, domain, name);
    Require(warp.component[1] != nullptr, std::string(name) + " has no y component");
  }
}

/** The field, if given, lies on the fixed grid and holds its planes [first, end). */
inline void
RequireFixedGrid(const WarpInput & u, const Extent & domain, std::int64_t first, std::int64_t end)
{
  Require(domain.x <= SamplerLongestAxis && domain.y <= SamplerLongestAxis && domain.z <= SamplerLongestAxis,
          "the fixed grid has an axis of more than 2^28 voxels");
  RequireWarp(u.floats, domain, first, end, "the warp, which must lie on the fixed grid,");
  RequireWarp(u.doubles, domain, first, end, "the warp, which must lie on the fixed grid,");
}

inline void
RequireLinear(const SamplerParameters & parameters)
{
  Require(parameters.interpolation == Interpolation::Linear,
          "nearest-neighbor interpolation has no gradient for the warp or the map; use linear interpolation");
}

inline void
CheckSample(const WarpInput & u, const VolumeView<float> & output)
{
  RequireUsable(output, "the output of the sampler");
  RequireFixedGrid(u, output.domain, output.firstPlane, output.EndPlane());
}

inline void
CheckReach(const WarpInput & u, const Extent & fixedSize, std::int64_t firstPlane, std::int64_t planes)
{
  const float                   noVoxel = 0;
  const VolumeView<const float> grid(&noVoxel, fixedSize, firstPlane, planes);
  RequireUsable(grid, "the fixed grid");
  RequireFixedGrid(u, fixedSize, firstPlane, firstPlane + planes);
}

inline void
CheckSampleBackward(const WarpInput &               u,
                    const VolumeView<const float> & outputGradient,
                    const WarpOutput &              warpGradient,
                    const SamplerParameters &       parameters)
{
  RequireLinear(parameters);
  RequireUsable(outputGradient, "the gradient of the output");
  const Extent &     domain = outputGradient.domain;
  const std::int64_t first = outputGradient.firstPlane;
  const std::int64_t end = outputGradient.EndPlane();
  RequireFixedGrid(u, domain, first, end);
  RequireWarp(warpGradient.floats, domain, first, end, "the gradient of the warp");
  RequireWarp(warpGradient.doubles, domain, first, end, "the gradient of the warp");
}

inline void
RequireThreeComponents(const WarpView<float> & derivative)
{
  RequireUsable(derivative, "the derivative of the image");
  Require(derivative.component[1] && derivative.component[2], "the derivative of the image needs three components");
}

inline void
CheckSampleDerivative(const WarpInput & u, const WarpView<float> & derivative, const SamplerParameters & parameters)
{
  RequireLinear(parameters);
  RequireThreeComponents(derivative);
  RequireFixedGrid(u, derivative.domain, derivative.firstPlane, derivative.EndPlane());
}

inline void
CheckFinishSampleBackward(const VolumeView<const float> & outputGradient, const WarpView<float> & derivative)
{
  RequireThreeComponents(derivative);
  RequirePlanes(outputGradient, derivative.firstPlane, derivative.EndPlane(), 0, "the gradient of the output");
  RequireSameDomain(
    outputGradient.domain, derivative.domain, "the gradient of the output and the derivative of the image");
}

inline void
CheckSampleAdjoint(const WarpInput & u, const VolumeView<const float> & outputGradient)
{
  RequireUsable(outputGradient, "the gradient of the output");
  RequireFixedGrid(u, outputGradient.domain, outputGradient.firstPlane, outputGradient.EndPlane());
}

} // namespace ffdp

#endif
