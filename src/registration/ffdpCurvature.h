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
#ifndef ffdpCurvature_h
#define ffdpCurvature_h

#include "ffdpStateArchive.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace ffdp
{

/** What the steps of a descent tell about the inverse of the loss's second derivatives (BFGS), for a handful of
 * parameters. */
class Curvature
{
public:
  /** The gradient was changed by `change` on the way of `step`. Where the loss curves down on this way, nothing is to
   * be learned from it. */
  void
  Learn(const std::vector<double> & step, const std::vector<double> & change)
  {
    const std::size_t n = step.size();
    const double      along = Product(step, change);
    if (!(along > 1e-10 * std::sqrt(Product(step, step) * Product(change, change))))
    {
      return;
    }
    if (m_Inverse.size() != n * n) // a guess of the scale
    {
      m_Inverse.assign(n * n, 0.0);
      for (std::size_t i = 0; i < n; ++i)
      {
        m_Inverse[i * n + i] = along / Product(change, change);
      }
    }
    const std::vector<double> moved = this->Times(change);
    const double              factor = (1 + Product(change, moved) / along) / along;
    for (std::size_t i = 0; i < n; ++i)
    {
      for (std::size_t j = 0; j < n; ++j)
      {
        m_Inverse[i * n + j] += factor * step[i] * step[j] - (moved[i] * step[j] + step[i] * moved[j]) / along;
      }
    }
  }

  /** The step to where the gradient would be zero, or the way there as far as no parameter changes by more than
   * `length`. Downhill, as long as nothing is known. */
  std::vector<double>
  Step(const std::vector<double> & gradient, double length) const
  {
    const bool          knows = m_Inverse.size() == gradient.size() * gradient.size();
    std::vector<double> step = knows ? this->Times(gradient) : gradient;
    double              longest = 0;
    for (const double s : step)
    {
      longest = std::max(longest, std::abs(s));
    }
    const double scale = longest > length || (!knows && longest > 0) ? length / longest : 1.0;
    for (double & s : step)
    {
      s *= -scale;
    }
    return step;
  }

  void
  Exchange(StateArchive & archive)
  {
    archive.Exchange(m_Inverse);
  }

private:
  static double
  Product(const std::vector<double> & a, const std::vector<double> & b)
  {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
    {
      sum += a[i] * b[i];
    }
    return sum;
  }

  std::vector<double>
  Times(const std::vector<double> & vector) const
  {
    const std::size_t   n = vector.size();
    std::vector<double> product(n);
    for (std::size_t i = 0; i < n * n; ++i)
    {
      product[i / n] += m_Inverse[i] * vector[i % n];
    }
    return product;
  }

  std::vector<double> m_Inverse; ///< a matrix; empty before something is known
};

} // namespace ffdp

#endif
