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
#ifndef ffdpGaussianPlan_h
#define ffdpGaussianPlan_h

#include "ffdpCheck.h"
#include "ffdpGaussian.h"
#include "ffdpGaussianPlane.h"

#include <algorithm>
#include <vector>

/** What smoothing prepares on every device: its checks, and the taps along each axis. */
namespace ffdp
{

/** The taps of every kind of position along one axis, see GaussianAxis. */
inline std::vector<float>
TapsByPosition(const std::vector<double> & taps, std::int64_t size, SmoothingBorder border)
{
  const std::int64_t kernelRadius = std::int64_t(taps.size()) - 1;
  const std::int64_t radius = std::min(kernelRadius, size - 1);
  const std::int64_t kinds = size > 2 * radius ? 2 * radius + 1 : size;
  std::vector<float> table;
  for (std::int64_t kind = 0; kind < kinds; ++kind)
  {
    const std::int64_t below = std::min(radius, kind);
    const std::int64_t above = std::min(radius, kinds - 1 - kind);
    double             inside = taps[0];
    for (std::int64_t i = 1; i <= radius; ++i)
    {
      inside += (i <= below ? taps[std::size_t(i)] : 0) + (i <= above ? taps[std::size_t(i)] : 0);
    }
    // The kernel's own sum is 1, so a window that is wholly inside needs no division.
    const bool whole = below == kernelRadius && above == kernelRadius;
    for (std::int64_t i = 0; i <= radius; ++i)
    {
      const double tap = taps[std::size_t(i)];
      table.push_back(float(border == SmoothingBorder::Zero || whole ? tap : tap / inside));
    }
  }
  return table;
}

/** The kernel along one axis; `taps` is where its numbers live. */
inline GaussianAxis
MakeGaussianAxis(const GaussianParameters & parameters, int axis, std::int64_t size, std::vector<float> & taps)
{
  const std::vector<double> half = GaussianTaps(parameters.sigma[axis], parameters.truncate);
  taps = TapsByPosition(half, size, parameters.border);
  GaussianAxis result;
  result.taps = taps.data();
  result.radius = std::min(std::int64_t(half.size()) - 1, size - 1);
  result.size = size;
  return result;
}

inline void
CheckGaussianParameters(const GaussianParameters & parameters)
{
  for (const double sigma : parameters.sigma)
  {
    Require(sigma >= 0 && sigma * parameters.truncate <= 1e6, "a Gaussian's sigma must be between 0 and 1e6 voxels");
  }
  Require(parameters.truncate > 0, "a Gaussian must be truncated at a positive number of sigmas");
}

template <typename TView>
void
CheckGaussianPlanes(const TView &              view,
                    std::int64_t               firstOwned,
                    std::int64_t               ownedPlanes,
                    const GaussianParameters & parameters,
                    const char *               name)
{
  CheckGaussianParameters(parameters);
  RequireUsable(view, name);
  Require(ownedPlanes >= 0 && firstOwned >= view.firstPlane && firstOwned + ownedPlanes <= view.EndPlane(),
          std::string("the planes to smooth are not all in ") + name);
  RequirePlanes(
    view, firstOwned, firstOwned + ownedPlanes, GaussianRadius(parameters.sigma[2], parameters.truncate), name);
}

inline void
CheckGaussian(const VolumeView<float> &  volume,
              std::int64_t               firstOwned,
              std::int64_t               ownedPlanes,
              const GaussianParameters & parameters)
{
  CheckGaussianPlanes(volume, firstOwned, ownedPlanes, parameters, "the volume");
}

inline void
CheckGaussian(const WarpView<float> &    warp,
              std::int64_t               firstOwned,
              std::int64_t               ownedPlanes,
              const GaussianParameters & parameters)
{
  CheckGaussianPlanes(warp, firstOwned, ownedPlanes, parameters, "the warp");
  Require(warp.elementStride == 1 && warp.component[1] && warp.component[2],
          "only a planar warp of three components can be smoothed in place");
}

/** Not in place. */
inline void
CheckGaussian(const WarpView<const float> & warp,
              const WarpView<float> &       smoothed,
              const GaussianParameters &    parameters)
{
  RequireUsable(smoothed, "the smoothed warp");
  RequireSameDomain(warp.domain, smoothed.domain, "a warp and what it is smoothed to");
  CheckGaussianPlanes(warp, smoothed.firstPlane, smoothed.planes, parameters, "the warp");
  for (const WarpView<const float> & view : { warp, WarpView<const float>(smoothed) })
  {
    Require(view.elementStride == 1 && view.component[1] && view.component[2],
            "only a planar warp of three components can be smoothed");
  }
  Require(warp.rowStride == warp.domain.x, "a warp to smooth must have densely packed planes");
}

} // namespace ffdp

#endif
