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
#ifndef ffdpGaussianReference_h
#define ffdpGaussianReference_h

#include "ffdpGaussian.h"
#include "ffdpTestSupport.h"

namespace ffdp
{
namespace test
{

/** k[-radius..radius] straight from the definition, in double precision. */
inline std::vector<double>
ReferenceGaussianKernel(double sigma, double truncate)
{
  if (sigma == 0)
  {
    return { 1.0 };
  }
  const int           radius = int(std::max(truncate * sigma, 0.5) + 0.5);
  std::vector<double> kernel;
  double              sum = 0;
  for (int i = -radius; i <= radius; ++i)
  {
    const double s = sigma * std::sqrt(2.0);
    kernel.push_back(0.5 * (std::erf((i + 0.5) / s) - std::erf((i - 0.5) / s)));
    sum += kernel.back();
  }
  for (double & k : kernel)
  {
    k /= sum;
  }
  return kernel;
}

/** One axis after the other, each on a copy. */
inline Volume<double>
ReferenceGaussian(const Volume<double> & input, const GaussianParameters & parameters)
{
  const Extent       n = input.domain;
  const std::int64_t size[3] = { n.x, n.y, n.z };
  Volume<double>     result = input;
  for (const int axis : { 2, 1, 0 })
  {
    const Volume<double>      old = result;
    const std::vector<double> kernel = ReferenceGaussianKernel(parameters.sigma[axis], parameters.truncate);
    const std::int64_t        radius = std::int64_t(kernel.size() / 2);
    for (std::int64_t z = 0; z < n.z; ++z)
      for (std::int64_t y = 0; y < n.y; ++y)
        for (std::int64_t x = 0; x < n.x; ++x)
        {
          double sum = 0, weights = 0;
          for (std::int64_t i = -radius; i <= radius; ++i)
          {
            std::int64_t p[3] = { x, y, z };
            p[axis] += i;
            if (p[axis] >= 0 && p[axis] < size[axis])
            {
              sum += kernel[std::size_t(i + radius)] * old.At(p[0], p[1], p[2]);
              weights += kernel[std::size_t(i + radius)];
            }
          }
          result.At(x, y, z) = parameters.border == SmoothingBorder::Renormalize ? sum / weights : sum;
        }
  }
  return result;
}

} // namespace test
} // namespace ffdp

#endif
