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
#include <numeric>

LandmarkErrors
CompareLandmarks(const PointTable & fixed, const PointTable & moving, const CompositeType * transform)
{
  if (fixed.rows.size() != moving.rows.size())
  {
    throw CommandError("there are " + std::to_string(fixed.rows.size()) + " fixed points but " +
                       std::to_string(moving.rows.size()) + " moving ones");
  }
  LandmarkErrors result;
  for (std::size_t i = 0; i < fixed.rows.size(); ++i)
  {
    const CompositeType::InputPointType from(fixed.rows[i].point.data()), to(moving.rows[i].point.data());
    result.errors.push_back(transform->TransformPoint(from).EuclideanDistanceTo(to));
  }
  std::vector<double> sorted = result.errors;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t n = sorted.size();
  result.mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / double(n);
  result.median = 0.5 * (sorted[(n - 1) / 2] + sorted[n / 2]);
  result.largest = sorted.back();
  return result;
}
