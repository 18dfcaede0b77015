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
#include "ffdpImageScores.h"

#include "ffdpCommandError.h"
#include "ffdpLocalCorrelation.h"
#include "ffdpMutualInformation.h"
#include "ffdpStatistics.h"

#include <cmath>
#include <vector>

namespace
{

using Volume = ffdp::VolumeView<const float>;
using Mask = ffdp::VolumeView<const std::uint8_t>;

ffdp::Statistics
Measure(const Volume & image, const Mask & mask, const std::string & what)
{
  const ffdp::Statistics statistics = ffdp::CombineStatistics(ffdp::PlaneStatistics(image, mask));
  if (!(statistics.minimum < statistics.maximum))
  {
    throw CommandError("the " + what + " image is constant where it is compared");
  }
  return statistics;
}

/** Sums per plane first: plain sums of many voxels lose digits. */
double
Covariance(const Volume & a, double meanOfA, const Volume & b, double meanOfB, const Mask & mask)
{
  const std::int64_t plane = a.domain.x * a.domain.y;
  double             sum = 0;
  for (std::int64_t z = 0; z < a.domain.z; ++z)
  {
    double planeSum = 0;
    for (std::int64_t i = z * plane; i < (z + 1) * plane; ++i)
    {
      planeSum += !mask || mask.data[i] != 0 ? (a.data[i] - meanOfA) * (b.data[i] - meanOfB) : 0;
    }
    sum += planeSum;
  }
  return sum;
}

} // namespace

ImageScores
CompareImages(const FloatImage * fixed, const FloatImage * moved, const FloatImage * mask)
{
  const Volume              a = PlaceImage(fixed).voxels, b = PlaceImage(moved).voxels;
  std::vector<std::uint8_t> inside;
  Mask                      maskView;
  if (mask)
  {
    const float * values = mask->GetBufferPointer();
    for (std::int64_t i = 0; i < a.domain.Voxels(); ++i)
    {
      inside.push_back(values[i] != 0 ? 1 : 0);
    }
    maskView = Mask(inside.data(), a.domain);
  }
  const ffdp::Statistics ofA = Measure(a, maskView, "fixed"), ofB = Measure(b, maskView, "moved");
  ImageScores            scores;
  scores.voxels = ofA.count;
  scores.correlation = Covariance(a, ofA.mean, b, ofB.mean, maskView) / std::sqrt(ofA.squares * ofB.squares);

  ffdp::LocalCorrelationParameters windows;
  windows.fixedVariance = ofA.Variance();
  windows.movingVariance = ofB.Variance();
  if (a.domain.z == 1)
  {
    windows.radius[2] = 0;
  }
  scores.localCorrelation = ffdp::LocalCorrelation(a, b, maskView, windows, {}).Mean();

  ffdp::MutualInformationParameters bins;
  bins.fixedRange = { ofA.minimum, ofA.maximum };
  bins.movingRange = { ofB.minimum, ofB.maximum };
  scores.mutualInformation = -ffdp::ComputeMutualInformation(bins, a, b, maskView);
  return scores;
}
