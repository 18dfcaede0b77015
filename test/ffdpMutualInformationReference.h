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
#ifndef ffdpMutualInformationReference_h
#define ffdpMutualInformationReference_h

#include "ffdpMutualInformation.h"
#include "ffdpTestSupport.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace ffdp
{
namespace test
{

/** Mutual information in double precision, by the definitions and without any haste: every sample has a weight for
 * every bin, and every bin takes part in every sum. */
class MutualInformationReference
{
public:
  MutualInformationReference(const MutualInformationParameters & parameters,
                             const Volume<float> &               fixed,
                             const Volume<float> &               moving,
                             const Volume<std::uint8_t> *        mask = nullptr)
    : m_Parameters(parameters)
    , m_Bins(parameters.bins)
    , m_Joint(std::size_t(m_Bins * m_Bins), 0.0)
  {
    for (std::size_t i = 0; i < fixed.values.size(); ++i)
    {
      const double f = fixed.values[i];
      const double m = moving.values[i];
      if ((!mask || mask->values[i] != 0) && IsSample(f, m))
      {
        Add(f, m, 1);
        ++samples;
      }
    }
    value = Value(&m_LogRatio);
  }

  std::int64_t samples = 0;
  double       value = 0;

  bool
  IsSample(double f, double m) const
  {
    const IntensityRange & range = m_Parameters.movingRange;
    const bool inside = m_Parameters.kind != MutualInformationKind::Mattes || (m >= range.low && m <= range.high);
    return !std::isnan(f) && !std::isnan(m) && inside;
  }

  /** The value after one sample changed from (f, m) to (newF, newM). */
  double
  ValueAfterChange(double f, double m, double newF, double newM)
  {
    const std::vector<double> saved = m_Joint;
    Add(f, m, -1);
    Add(newF, newM, 1);
    const double changed = Value();
    m_Joint = saved;
    return changed;
  }

  /** The gradient formula for a sample: for the fixed intensity if forFixed, else for the moving one. Of Approximate:
   * the formula of Gaussian at bin centers, with the convolved histogram and only the bins that the convolution
   * reaches. */
  double
  Gradient(double f, double m, bool forFixed) const
  {
    const IntensityRange & range = forFixed ? m_Parameters.fixedRange : m_Parameters.movingRange;
    const double           active = forFixed ? f : m;
    if (!IsSample(f, m) || active < range.low || active > range.high)
    {
      return 0;
    }
    const std::vector<double> wf = forFixed ? WeightDerivatives(f, true) : Weights(f, true, true);
    const std::vector<double> wm = forFixed ? Weights(m, false, true) : WeightDerivatives(m, false);
    double                    sum = 0;
    for (int a = 0; a < m_Bins; ++a)
      for (int b = 0; b < m_Bins; ++b)
      {
        sum += wf[std::size_t(a)] * wm[std::size_t(b)] * m_LogRatio[std::size_t(a * m_Bins + b)];
      }
    return -sum / (double(samples) * BinWidth(range));
  }

  double
  BinWidth(const IntensityRange & range) const
  {
    return (range.high - range.low) / Intervals();
  }

private:
  int
  Intervals() const
  {
    switch (m_Parameters.kind)
    {
      case MutualInformationKind::BSpline:
        return m_Bins - 3;
      case MutualInformationKind::Mattes:
        return m_Bins - 4;
      default:
        return m_Bins;
    }
  }

  static double
  CubicBSpline(double x)
  {
    x = std::abs(x);
    return x < 1 ? 2.0 / 3 - x * x + x * x * x / 2 : x < 2 ? (2 - x) * (2 - x) * (2 - x) / 6 : 0.0;
  }

  static double
  CubicBSplineDerivative(double x)
  {
    const double s = x < 0 ? -1 : 1;
    x = std::abs(x);
    return s * (x < 1 ? -2 * x + 1.5 * x * x : x < 2 ? -(2 - x) * (2 - x) / 2 : 0.0);
  }

  /** The position among the bins: bin b is centered at b. */
  double
  Position(double v, bool isFixed) const
  {
    const IntensityRange & range = isFixed ? m_Parameters.fixedRange : m_Parameters.movingRange;
    const double           x =
      (std::min(std::max(v, range.low), range.high) - range.low) / (range.high - range.low) * Intervals();
    switch (m_Parameters.kind)
    {
      case MutualInformationKind::BSpline:
        return x + 1;
      case MutualInformationKind::Mattes:
        return x + 2;
      default:
        return x - 0.5;
    }
  }

  bool
  IsHard(bool isFixed) const
  {
    return m_Parameters.kind == MutualInformationKind::Approximate ||
           (m_Parameters.kind == MutualInformationKind::Mattes && isFixed);
  }

  /** How far the Gaussian reaches: everywhere; of Approximate as far as its convolution. */
  double
  Reach() const
  {
    return m_Parameters.kind == MutualInformationKind::Approximate
             ? std::max(2.0, std::ceil(4 * m_Parameters.sigma)) + 0.1
             : 1e9;
  }

  double
  HardBin(double v, bool isFixed) const
  {
    if (m_Parameters.kind == MutualInformationKind::Mattes)
    {
      return std::min(std::floor(Position(v, isFixed)), m_Bins - 3.0);
    }
    return std::min(std::floor(Position(v, isFixed) + 0.5), m_Bins - 1.0);
  }

  /** Weights of all bins; smooth ones for Approximate if asked, at the center of the bin. */
  std::vector<double>
  Weights(double v, bool isFixed, bool smooth) const
  {
    std::vector<double> w(std::size_t(m_Bins), 0.0);
    if (IsHard(isFixed) && !(smooth && m_Parameters.kind == MutualInformationKind::Approximate))
    {
      w[std::size_t(HardBin(v, isFixed))] = 1;
      return w;
    }
    const double u = IsHard(isFixed) ? HardBin(v, isFixed) : Position(v, isFixed);
    const double s2 = 2 * m_Parameters.sigma * m_Parameters.sigma;
    double       sum = 0;
    for (int b = 0; b < m_Bins; ++b)
    {
      const bool spline =
        m_Parameters.kind == MutualInformationKind::BSpline || m_Parameters.kind == MutualInformationKind::Mattes;
      w[std::size_t(b)] =
        spline ? CubicBSpline(u - b) : (std::abs(u - b) < Reach() ? std::exp(-(u - b) * (u - b) / s2) : 0.0);
      sum += w[std::size_t(b)];
    }
    for (double & weight : w)
    {
      weight /= sum; // 1 for B-splines
    }
    return w;
  }

  std::vector<double>
  WeightDerivatives(double v, bool isFixed) const
  {
    std::vector<double> d(std::size_t(m_Bins), 0.0);
    const double        u = IsHard(isFixed) ? HardBin(v, isFixed) : Position(v, isFixed);
    if (m_Parameters.kind == MutualInformationKind::BSpline || m_Parameters.kind == MutualInformationKind::Mattes)
    {
      for (int b = 0; b < m_Bins; ++b)
      {
        d[std::size_t(b)] = CubicBSplineDerivative(u - b);
      }
      return d;
    }
    const std::vector<double> w = Weights(v, isFixed, true);
    double                    mean = 0;
    for (int b = 0; b < m_Bins; ++b)
    {
      mean += w[std::size_t(b)] * -(u - b);
    }
    for (int b = 0; b < m_Bins; ++b)
    {
      d[std::size_t(b)] = w[std::size_t(b)] * (-(u - b) - mean) / (m_Parameters.sigma * m_Parameters.sigma);
    }
    return d;
  }

  void
  Add(double f, double m, double sign)
  {
    const std::vector<double> wf = Weights(f, true, false);
    const std::vector<double> wm = Weights(m, false, false);
    for (int a = 0; a < m_Bins; ++a)
    {
      if (wf[std::size_t(a)] > 0)
      {
        for (int b = 0; b < m_Bins; ++b)
        {
          m_Joint[std::size_t(a * m_Bins + b)] += sign * wf[std::size_t(a)] * wm[std::size_t(b)];
        }
      }
    }
  }

  /** The joint density; of Approximate convolved. Sum 1. */
  std::vector<double>
  Density() const
  {
    std::vector<double> p = m_Joint;
    if (m_Parameters.kind == MutualInformationKind::Approximate)
    {
      std::fill(p.begin(), p.end(), 0.0);
      for (int a = 0; a < m_Bins; ++a)
        for (int b = 0; b < m_Bins; ++b)
          for (int j = 0; j < m_Bins; ++j)
            for (int k = 0; k < m_Bins; ++k)
              if (std::abs(a - j) < Reach() && std::abs(b - k) < Reach())
              {
                const double d2 = double((a - j) * (a - j) + (b - k) * (b - k));
                p[std::size_t(a * m_Bins + b)] +=
                  std::exp(-d2 / (2 * m_Parameters.sigma * m_Parameters.sigma)) * m_Joint[std::size_t(j * m_Bins + k)];
              }
    }
    double sum = 0;
    for (const double v : p)
    {
      sum += v;
    }
    for (double & v : p)
    {
      v = std::max(v / sum, 0.0); // removing a sample may leave -1e-20
    }
    return p;
  }

  void
  Marginals(const std::vector<double> & p, std::vector<double> & pf, std::vector<double> & pm) const
  {
    for (int a = 0; a < m_Bins; ++a)
      for (int b = 0; b < m_Bins; ++b)
      {
        pf[std::size_t(a)] += p[std::size_t(a * m_Bins + b)];
        pm[std::size_t(b)] += p[std::size_t(a * m_Bins + b)];
      }
  }

  /** Also log(p / (pf pm)), 0 for empty bins, if asked for. */
  double
  Value(std::vector<double> * logRatio = nullptr) const
  {
    const std::vector<double> p = Density();
    std::vector<double>       pf(std::size_t(m_Bins), 0.0), pm(std::size_t(m_Bins), 0.0);
    Marginals(p, pf, pm);
    double sum = 0;
    for (int a = 0; a < m_Bins; ++a)
      for (int b = 0; b < m_Bins; ++b)
      {
        const double pab = p[std::size_t(a * m_Bins + b)];
        const double ratio = pab > 0 ? std::log(pab / (pf[std::size_t(a)] * pm[std::size_t(b)])) : 0.0;
        sum += pab * ratio;
        if (logRatio)
        {
          logRatio->push_back(ratio);
        }
      }
    return -sum;
  }

  MutualInformationParameters m_Parameters;
  int                         m_Bins;
  std::vector<double>         m_Joint;
  std::vector<double>         m_LogRatio;
};

} // namespace test
} // namespace ffdp

#endif
