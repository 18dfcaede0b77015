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
#include "ffdpAdam.h"

#include "ffdpAdamArguments.h"
#include "ffdpNotANumber.h"
#include "ffdpParallel.h"
#include "ffdpRowLanes.h"
#include "ffdpRowPieces.h"

#include <cmath>
#include <vector>

namespace ffdp
{
namespace
{

struct AdamJob
{
  WarpView<const float> gradient;
  WarpView<float>       firstMoment;
  VolumeView<float>     secondMoment;
  AdamFactors           factors;
  int                   components = 3;
};

} // namespace
} // namespace ffdp

#define FFDP_KERNEL_FILE "ffdpAdamKernel.h"
#include "ffdpForEachInstructionSet.h"

namespace ffdp
{

double
AdamGradientScale(double largest)
{
  if (!(largest > 0) || !std::isfinite(largest))
  {
    return 1;
  }
  const int exponent = std::min(126, std::max(-126, -std::ilogb(largest)));
  return std::ldexp(1.0, exponent);
}

double
AdamStep(const WarpView<const float> & gradient,
         const WarpView<float> &       firstMoment,
         const VolumeView<float> &     secondMoment,
         const AdamParameters &        parameters,
         unsigned                      threads)
{
  AdamJob job;
  job.gradient = gradient;
  job.firstMoment = firstMoment;
  job.secondMoment = secondMoment;
  job.components = gradient.component[2] ? 3 : 2;
  CheckAdamStep(gradient, firstMoment, secondMoment);
  job.factors = MakeAdamFactors(parameters);

  const RowPieces    pieces{ gradient.domain.y, gradient.firstPlane, gradient.planes };
  const auto         kernel = FFDP_SELECT_KERNEL(AdamPiece);
  std::vector<float> largest(std::size_t(pieces.Count()));
  ParallelFor(pieces.Count(), threads, [&](std::int64_t piece, unsigned) {
    largest[std::size_t(piece)] = kernel(job, pieces.Plane(piece), pieces.FirstRow(piece), pieces.EndRow(piece));
  });
  return std::sqrt(double(largest.empty() ? 0.0f : *std::max_element(largest.begin(), largest.end())));
}

double
AdamStepScale(double largestNorm, double learningRate, double unit, bool scaleDownOnly)
{
  const double norm = scaleDownOnly ? std::max(largestNorm, 1.0) : largestNorm;
  return norm > 0 && std::isfinite(norm) ? learningRate * unit / norm : 0.0;
}

} // namespace ffdp
