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
#ifndef ffdpMeanSquaresJob_h
#define ffdpMeanSquaresJob_h

#include "ffdpCheck.h"
#include "ffdpMeanSquares.h"
#include "ffdpRowPieces.h"

#include <cstdint>
#include <string>
#include <vector>

/** What mean squares is told and gives on any device: a partial sum for each piece of rows, added in their order. */
namespace ffdp
{

struct MeanSquaresJob
{
  VolumeView<const float>        moving;
  VolumeView<const float>        fixed;
  VolumeView<const std::uint8_t> mask;
  VolumeView<float>              movingGradient;
  VolumeView<float>              fixedGradient;
  float                          gradientScale = 0; ///< 2 / N
};

struct MeanSquaresPartial
{
  double       sum = 0;
  std::int64_t count = 0;
};

inline void
CheckMeanSquares(const MeanSquaresJob & job, std::int64_t normalizer)
{
  RequireUsable(job.moving, "the moving image");
  const std::int64_t first = job.moving.firstPlane;
  const std::int64_t end = job.moving.EndPlane();
  const auto         require = [&](const auto & view, const char * name) {
    RequirePlanes(view, first, end, 0, name);
    RequireSameDomain(job.moving.domain, view.domain, (std::string("the moving image and ") + name).c_str());
  };
  require(job.fixed, "the fixed image");
  if (job.mask)
  {
    require(job.mask, "the mask");
  }
  if (job.movingGradient)
  {
    require(job.movingGradient, "the moving image's gradient");
  }
  if (job.fixedGradient)
  {
    require(job.fixedGradient, "the fixed image's gradient");
  }
  Require(normalizer >= 0, "the number of voxels that the gradient is divided by is negative");
}

inline float
MeanSquaresGradientScale(std::int64_t voxels)
{
  return voxels > 0 ? float(2.0 / double(voxels)) : 0.0f;
}

inline MeanSquaresResult
AddPieces(const std::vector<MeanSquaresPartial> & partials, const RowPieces & pieces)
{
  MeanSquaresResult result;
  result.planeSums.resize(std::size_t(pieces.planes));
  result.planeCounts.resize(std::size_t(pieces.planes));
  for (std::int64_t piece = 0; piece < pieces.Count(); ++piece)
  {
    const auto plane = std::size_t(pieces.Plane(piece) - pieces.firstPlane);
    result.planeSums[plane] += partials[std::size_t(piece)].sum;
    result.planeCounts[plane] += partials[std::size_t(piece)].count;
  }
  return result;
}

} // namespace ffdp

#endif
