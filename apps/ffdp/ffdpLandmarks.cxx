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
#include "ffdpLandmarks.h"

#include "ffdpCommandError.h"

#include <algorithm>
#include <cmath>
#include <numeric>

std::array<double, 3>
MovePoint(const TransformList & transforms, std::array<double, 3> point)
{
  CompositeType::InputPointType from(point.data());
  const bool                    planar = transforms.file.dimension == PlaneDimension;
  from[2] = planar ? 0 : from[2]; // where fields of the plane are
  const auto moved = transforms.transform->TransformPoint(from);
  if (!std::isfinite(moved[0]) || !std::isfinite(moved[1]) || !std::isfinite(moved[2]))
  {
    throw CommandError(transforms.file.name + " takes a point to where coordinates are no finite numbers");
  }
  std::copy_n(moved.GetDataPointer(), planar ? 2 : 3, point.begin());
  return point;
}

void
RequireFits(const TransformList & transforms, const PointTable & table, const std::string & points)
{
  if (table.dimension == PlaneDimension)
  {
    RequireOneDimension({ points, PlaneDimension }, transforms.file);
  }
}

LandmarkErrors
CompareLandmarks(const PointTable & fixed, const PointTable & moving, const TransformList & transforms)
{
  const bool inPlane = fixed.dimension == PlaneDimension || moving.dimension == PlaneDimension ||
                       transforms.file.Dimension() == PlaneDimension; // a z of some of them means nothing
  LandmarkErrors result;
  for (std::size_t i = 0; i < fixed.rows.size(); ++i)
  {
    const auto   moved = MovePoint(transforms, fixed.rows[i].point);
    const auto & there = moving.rows[i].point;
    result.errors.push_back(std::hypot(moved[0] - there[0], moved[1] - there[1], inPlane ? 0.0 : moved[2] - there[2]));
  }
  std::vector<double> sorted = result.errors;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t n = sorted.size();
  result.mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / double(n);
  result.median = 0.5 * (sorted[(n - 1) / 2] + sorted[n / 2]);
  result.largest = sorted.back();
  return result;
}
