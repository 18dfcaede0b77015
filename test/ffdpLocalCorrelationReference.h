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
#ifndef ffdpLocalCorrelationReference_h
#define ffdpLocalCorrelationReference_h

#include "ffdpLocalCorrelation.h"
#include "ffdpTestSupport.h"

/** Local correlation in double precision, window by window, as the formulas in ffdpLocalCorrelation.h read. */
namespace ffdp
{
namespace test
{

struct CorrelationReference
{
  double         loss = 0;
  Volume<double> map;
  Volume<double> movingGradient;
  Volume<double> fixedGradient;
  /** How much a relative rounding error of the float sums is magnified, at worst: the mean square of the
   * intensities (minus the image's mean) over the variance of the window, summed over both images. */
  double condition = 1;
};

class CorrelationReferenceEvaluator
{
public:
  CorrelationReferenceEvaluator(const Volume<double> &             fixed,
                                const Volume<double> &             moving,
                                const Volume<std::uint8_t> *       mask,
                                const LocalCorrelationParameters & parameters)
    : m_Fixed(fixed)
    , m_Moving(moving)
    , m_Mask(mask)
    , m_Parameters(parameters)
    , m_FixedMean(Mean(fixed))
    , m_MovingMean(Mean(moving))
  {}

  CorrelationReference
  Evaluate() const
  {
    const Extent         size = m_Fixed.domain;
    CorrelationReference result;
    result.map = result.movingGradient = result.fixedGradient = Volume<double>(size);
    const double voxels = this->CountVoxels();
    double       sum = 0;
    for (std::int64_t z = 0; z < size.z; ++z)
      for (std::int64_t y = 0; y < size.y; ++y)
        for (std::int64_t x = 0; x < size.x; ++x)
          if (this->Counts(x, y, z))
          {
            const double n = this->AddWindow(x, y, z, voxels, result);
            result.map.At(x, y, z) = n;
            sum += n;
          }
    result.loss = -sum / voxels;
    return result;
  }

private:
  bool
  Counts(std::int64_t x, std::int64_t y, std::int64_t z) const
  {
    return !m_Mask || m_Mask->At(x, y, z) != 0;
  }

  double
  CountVoxels() const
  {
    if (!m_Mask)
    {
      return double(m_Fixed.domain.Voxels());
    }
    double count = 0;
    for (const auto inside : m_Mask->values)
    {
      count += inside ? 1 : 0;
    }
    return count;
  }

  /** visit(x, y, z, weight) for each voxel of the window. */
  template <typename TVisit>
  void
  ForWindow(std::int64_t cx, std::int64_t cy, std::int64_t cz, const TVisit & visit) const
  {
    const Extent size = m_Fixed.domain;
    const auto & r = m_Parameters.radius;
    for (std::int64_t z = std::max<std::int64_t>(0, cz - r[2]); z <= std::min(size.z - 1, cz + r[2]); ++z)
      for (std::int64_t y = std::max<std::int64_t>(0, cy - r[1]); y <= std::min(size.y - 1, cy + r[1]); ++y)
        for (std::int64_t x = std::max<std::int64_t>(0, cx - r[0]); x <= std::min(size.x - 1, cx + r[0]); ++x)
        {
          if (m_Parameters.maskWindows && !this->Counts(x, y, z))
          {
            continue;
          }
          double weight = 1;
          if (m_Parameters.window == LocalCorrelationParameters::Window::Gaussian)
          {
            const auto & s = m_Parameters.sigma;
            weight = std::exp(
              -0.5 * (std::pow((x - cx) / s[0], 2) + std::pow((y - cy) / s[1], 2) + std::pow((z - cz) / s[2], 2)));
          }
          visit(x, y, z, weight);
        }
  }

  double
  AddWindow(std::int64_t cx, std::int64_t cy, std::int64_t cz, double voxels, CorrelationReference & result) const
  {
    double total = 0, meanF = 0, meanM = 0;
    this->ForWindow(cx, cy, cz, [&](auto x, auto y, auto z, double w) {
      total += w;
      meanF += w * m_Fixed.At(x, y, z);
      meanM += w * m_Moving.At(x, y, z);
    });
    meanF /= total;
    meanM /= total;
    double A = 0, B = 0, C = 0;
    this->ForWindow(cx, cy, cz, [&](auto x, auto y, auto z, double w) {
      const double f = m_Fixed.At(x, y, z) - meanF;
      const double m = m_Moving.At(x, y, z) - meanM;
      A += w / total * f * m;
      B += w / total * f * f;
      C += w / total * m * m;
    });
    const double vf = m_Parameters.fixedVariance;
    const double vm = m_Parameters.movingVariance;
    const double g = B * C + m_Parameters.epsilon * vf * vm;
    if (!(B > 1e-10 * vf && C > 1e-10 * vm))
    {
      return m_Parameters.flatValue;
    }
    result.condition = std::max(result.condition, Condition(m_FixedMean, meanF, B) + Condition(m_MovingMean, meanM, C));

    const double raised = std::pow(A * A / g, m_Parameters.power);
    const double slope = m_Parameters.power * std::pow(A * A / g, m_Parameters.power - 1);

    const bool approximate = m_Parameters.gradient == LocalCorrelationParameters::Gradient::ANTs;
    this->ForWindow(cx, cy, cz, [&](auto x, auto y, auto z, double w) {
      if (approximate && (x != cx || y != cy || z != cz))
      {
        return;
      }
      const double f = m_Fixed.At(x, y, z) - meanF;
      const double m = m_Moving.At(x, y, z) - meanM;
      const double scale = -slope * (w / total) / voxels;
      result.movingGradient.At(x, y, z) += scale * (2 * A / g * f - 2 * A * A * B / (g * g) * m);
      result.fixedGradient.At(x, y, z) += scale * (2 * A / g * m - 2 * A * A * C / (g * g) * f);
    });
    return raised;
  }

  static double
  Mean(const Volume<double> & image)
  {
    double sum = 0;
    for (const double v : image.values)
    {
      sum += v;
    }
    return sum / double(image.values.size());
  }

  static double
  Condition(double imageMean, double windowMean, double variance)
  {
    const double d = windowMean - imageMean;
    return (d * d + variance) / variance + std::abs(windowMean) / std::sqrt(variance);
  }

  const Volume<double> &             m_Fixed;
  const Volume<double> &             m_Moving;
  const Volume<std::uint8_t> *       m_Mask;
  const LocalCorrelationParameters & m_Parameters;
  const double                       m_FixedMean;
  const double                       m_MovingMean;
};

} // namespace test
} // namespace ffdp

#endif
