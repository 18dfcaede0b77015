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
#ifndef ffdpLocalCorrelationPlan_h
#define ffdpLocalCorrelationPlan_h

#include "ffdpCheck.h"
#include "ffdpLocalCorrelationTask.h"

#include <cmath>
#include <vector>

/** What is decided on the host before local correlation starts, on any device: whether the arguments make sense, and
 * the weights of windows. */
namespace ffdp
{

/** A window never needs to reach further than from one end of the volume to the other. */
inline int
EffectiveRadius(int radius, std::int64_t size)
{
  return int(std::min<std::int64_t>(radius, size - 1));
}

/** The window's weights and, for each index along each axis, the inverse of the sum of those inside. */
struct WindowWeights
{
  int                radius[3];
  std::vector<float> taps[3]; ///< empty: all are 1
  std::vector<float> inverse[3];

  WindowWeights(const LocalCorrelationParameters & parameters, const Extent & domain)
  {
    const std::int64_t size[3] = { domain.x, domain.y, domain.z };
    for (int axis = 0; axis < 3; ++axis)
    {
      const int           r = radius[axis] = EffectiveRadius(parameters.radius[axis], size[axis]);
      std::vector<double> weights(std::size_t(2 * r + 1), 1.0);
      if (parameters.window == LocalCorrelationParameters::Window::Gaussian)
      {
        for (int j = -r; j <= r; ++j)
        {
          weights[std::size_t(j + r)] = std::exp(-0.5 * j * j / (parameters.sigma[axis] * parameters.sigma[axis]));
        }
        taps[axis].assign(weights.begin(), weights.end());
      }
      inverse[axis].resize(std::size_t(size[axis]));
      for (std::int64_t i = 0; i < size[axis]; ++i)
      {
        double sum = 0;
        for (std::int64_t j = -r; j <= r; ++j)
        {
          sum += i + j >= 0 && i + j < size[axis] ? weights[std::size_t(j + r)] : 0.0;
        }
        inverse[axis][std::size_t(i)] = float(1.0 / sum);
      }
    }
  }
};

inline void
CheckCorrelationParameters(const LocalCorrelationParameters & parameters)
{
  for (int axis = 0; axis < 3; ++axis)
  {
    Require(parameters.radius[axis] >= 0, "the radius of a correlation window cannot be negative");
    Require(parameters.window == LocalCorrelationParameters::Window::Box || parameters.sigma[axis] > 0,
            "the sigma of a Gaussian correlation window must be positive");
  }
  Require(parameters.epsilon >= 0, "epsilon cannot be negative");
  Require(parameters.power >= 1 && parameters.power <= MostCorrelationPower,
          "the power of a correlation must be from 1 to " + std::to_string(MostCorrelationPower));
  Require(parameters.fixedVariance > 0 && std::isfinite(parameters.fixedVariance) && parameters.movingVariance > 0 &&
            std::isfinite(parameters.movingVariance),
          "the variances that scale a correlation must be positive: is an image constant?");
}

inline void
CheckCorrelationOutput(const VolumeView<float> & output,
                       const Extent &            domain,
                       std::int64_t              firstPlane,
                       std::int64_t              planes,
                       const char *              name)
{
  if (output)
  {
    RequireUsable(output, name);
    RequireSameDomain(domain, output.domain, "an image and an output of the correlation");
    Require(output.firstPlane == firstPlane && output.planes == planes,
            std::string(name) + " does not hold the planes that are computed");
  }
}

inline bool
WantsExactGradient(const LocalCorrelationParameters & parameters, const LocalCorrelationOutputs & outputs)
{
  return (outputs.movingGradient || outputs.fixedGradient) &&
         parameters.gradient == LocalCorrelationParameters::Gradient::Exact;
}

/** Throws std::invalid_argument unless LocalCorrelation() can be computed with these. */
inline void
CheckLocalCorrelation(const VolumeView<const float> &        fixed,
                      const VolumeView<const float> &        moving,
                      const VolumeView<const std::uint8_t> & mask,
                      std::int64_t                           firstPlane,
                      std::int64_t                           planes,
                      const LocalCorrelationParameters &     parameters,
                      const LocalCorrelationOutputs &        outputs)
{
  CheckCorrelationParameters(parameters);
  const std::int64_t halo = LocalCorrelationHalo(parameters, outputs.movingGradient || outputs.fixedGradient);
  RequirePlanes(fixed, firstPlane, firstPlane + planes, halo, "the fixed image");
  RequirePlanes(moving, firstPlane, firstPlane + planes, halo, "the moving image");
  RequireSameDomain(fixed.domain, moving.domain, "fixed and moving image");
  if (mask)
  {
    RequirePlanes(mask, firstPlane, firstPlane + planes, halo, "the mask");
    RequireSameDomain(fixed.domain, mask.domain, "image and mask");
  }
  CheckCorrelationOutput(outputs.movingGradient, fixed.domain, firstPlane, planes, "the moving gradient");
  CheckCorrelationOutput(outputs.fixedGradient, fixed.domain, firstPlane, planes, "the fixed gradient");
  CheckCorrelationOutput(outputs.map, fixed.domain, firstPlane, planes, "the correlation map");
}

/** All but the scale of gradients. The task points into the weights. */
inline CorrelationTask
MakeCorrelationTask(const VolumeView<const float> &        fixed,
                    const VolumeView<const float> &        moving,
                    const VolumeView<const std::uint8_t> & mask,
                    const LocalCorrelationParameters &     parameters,
                    const LocalCorrelationOutputs &        outputs,
                    const WindowWeights &                  weights)
{
  CorrelationTask task;
  task.fixed = fixed;
  task.moving = moving;
  task.mask = mask;
  task.outputs = outputs;
  task.maskWindows = parameters.maskWindows;
  task.exact = WantsExactGradient(parameters, outputs);
  for (int axis = 0; axis < 3; ++axis)
  {
    task.radius[axis] = weights.radius[axis];
    task.taps[axis] = weights.taps[axis].empty() ? nullptr : weights.taps[axis].data();
    task.inverseWeight[axis] = weights.inverse[axis].data();
  }
  task.constants.scale = float(1 / (std::sqrt(parameters.fixedVariance) * std::sqrt(parameters.movingVariance)));
  task.constants.epsilon = std::max(float(parameters.epsilon), SmallestCorrelationEpsilon);
  task.constants.flatValue = float(parameters.flatValue);
  task.constants.power = parameters.power;
  task.gradientScale = 0;
  return task;
}

/** -1 / voxels in the mean. */
inline float
CorrelationGradientScale(std::int64_t voxels)
{
  return voxels > 0 ? float(-1.0 / double(voxels)) : 0.0f;
}

} // namespace ffdp

#endif
