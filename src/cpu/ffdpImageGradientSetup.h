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
#ifndef ffdpImageGradientSetup_h
#define ffdpImageGradientSetup_h

#include "ffdpCheck.h"
#include "ffdpImageGradient.h"
#include "ffdpImageGradientPlan.h"
#include "ffdpSamplerPlan.h"

#include <array>
#include <cmath>

/** What is checked and computed before the rows of ImageGradient(), on any device. */
namespace ffdp
{

/** Steps may not be longer, in voxels: indices stay within 32 bits. */
constexpr double LongestStep = 1 << 20;

/** Positions are not known better than this, in voxels: a step that is off by less is taken as half a voxel. */
constexpr double StepTolerance = 1e-6;

/** The image axis along which `step` is half a voxel, forward or backward; -1: it is not. */
inline int
FindAxis(const double * step, double & direction)
{
  int found = -1;
  for (int axis = 0; axis < 3; ++axis)
  {
    if (std::abs(std::abs(step[axis]) - 0.5) <= StepTolerance)
    {
      found = axis;
      direction = step[axis] < 0 ? -1 : 1;
    }
    else if (!(std::abs(step[axis]) <= StepTolerance))
    {
      return -1;
    }
  }
  return found;
}

inline void
RequireDifferences(const ImageDifferences & differences, const std::array<double, 9> & C)
{
  const int dimension = differences.dimension;
  Require(dimension == 2 || dimension == 3, "differences of an image are along two or three axes");
  for (int c = 0; c < dimension; ++c)
  {
    const double distance = differences.distance[c];
    Require(distance > 0 && std::isfinite(distance), "the distance of a difference must be positive and finite");
    for (const double component : differences.step[c])
    {
      Require(std::abs(component) <= LongestStep, "the step of a difference is not finite, or beyond any image");
    }
  }
  for (const double entry : C)
  {
    Require(std::isfinite(entry), "the matrix of an image gradient has an entry that is not finite");
  }
}

/** Fills everything but the sampler. */
inline void
PlanDifferences(const ImageDifferences & differences, const std::array<double, 9> & C, GradientPlan & plan)
{
  int    axis[3] = { 0, 1, 2 };
  double direction[3] = { 1, 1, 1 };
  plan.dimension = differences.dimension;
  plan.alongAxes = true;
  for (int c = 0; c < plan.dimension; ++c)
  {
    axis[c] = FindAxis(differences.step[c], direction[c]);
    plan.alongAxes = plan.alongAxes && axis[c] >= 0;
  }
  double M[9] = {}; // added up: two differences may be along the same axis
  for (int c = 0; c < plan.dimension; ++c)
  {
    const int    column = plan.alongAxes ? axis[c] : c;
    const double factor = (plan.alongAxes ? direction[c] : 1.0) / differences.distance[c];
    for (int r = 0; r < 3; ++r)
    {
      M[3 * r + column] += C[std::size_t(3 * r + c)] * factor;
    }
    for (int i = 0; i < 3; ++i)
    {
      plan.step[c][i] = float(differences.step[c][i]);
      plan.back[c][i] = -plan.step[c][i];
    }
  }
  for (int i = 0; i < 9; ++i)
  {
    plan.M[i] = float(M[i]);
  }
}

/** The sampler's plan for an image of floats or of doubles; of the latter it has the size, not the voxels. */
inline SamplerPlan
PlanSampler(const ImageInput & image, const CompositeMap & map)
{
  if (image.floats)
  {
    return MakeSamplerPlan(image.floats, "the image to differentiate", map, {});
  }
  RequireUsable(image.doubles, "the image to differentiate");
  const float             noVoxel = 0;
  VolumeView<const float> shape(&noVoxel, image.doubles.domain, image.doubles.firstPlane, image.doubles.planes);
  shape.rowStride = image.doubles.rowStride;
  shape.planeStride = image.doubles.planeStride;
  SamplerPlan plan = MakeSamplerPlan(shape, "the image to differentiate", map, {});
  plan.image.data = nullptr;
  return plan;
}

inline void
CheckImageGradient(const WarpInput &               u,
                   const ImageDifferences &        differences,
                   const VolumeView<const float> & weights,
                   const std::array<double, 9> &   C,
                   const WarpOutput &              derivative)
{
  RequireUsable(weights, "the volume of weights");
  const Extent &     domain = weights.domain;
  const std::int64_t first = weights.firstPlane;
  const std::int64_t end = weights.EndPlane();
  RequireFixedGrid(u, domain, first, end);
  RequireWarp(derivative.floats, domain, first, end, "the derivative");
  RequireWarp(derivative.doubles, domain, first, end, "the derivative");
  RequireDifferences(differences, C);
}

inline GradientPlan
MakeGradientPlan(const ImageInput &            image,
                 const CompositeMap &          map,
                 const ImageDifferences &      differences,
                 const std::array<double, 9> & C)
{
  GradientPlan plan;
  plan.sampler = PlanSampler(image, map);
  Require(plan.sampler.image.endPlane - plan.sampler.image.firstPlane == image.Domain().z,
          "the image to differentiate is a slab, but all of its planes are needed");
  PlanDifferences(differences, C, plan);
  return plan;
}

} // namespace ffdp

#endif
