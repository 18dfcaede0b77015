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
#ifndef ffdpConvergence_h
#define ffdpConvergence_h

#include "ffdpStateArchive.h"

#include <cmath>
#include <cstddef>
#include <deque>

namespace ffdp
{

/** Tells when a falling sequence of losses has become flat: a line fitted to the last `window` of them falls by less
 * than `tolerance` per iteration, as a part of how far apart the losses of the level are so far. So neither the scale
 * nor the offset of a loss matters, and where a level starts at its minimum, the first step away from it tells the
 * scale. */
class Convergence
{
public:
  Convergence(double tolerance, int window)
    : m_Tolerance(tolerance)
    , m_Window(std::size_t(window > 1 ? window : 2))
  {}

  /** Takes the next loss; true if the sequence is flat or rises. */
  bool
  Add(double loss)
  {
    m_Highest = m_Count == 0 || loss > m_Highest ? loss : m_Highest;
    m_Lowest = m_Count == 0 || loss < m_Lowest ? loss : m_Lowest;
    ++m_Count;
    m_Last.push_back(loss);
    if (m_Last.size() > m_Window)
    {
      m_Last.pop_front();
    }
    if (m_Tolerance < 0 || m_Last.size() < m_Window)
    {
      return false;
    }
    return -this->FitSlope() <= this->LeastFall();
  }

  /** What a loss must fall by, per iteration, to count as falling. */
  double
  LeastFall() const
  {
    return m_Tolerance > 0 ? m_Tolerance * (m_Highest - m_Lowest) : 0.0;
  }

  /** Forgets the window, but not how far apart the losses are. */
  void
  ClearWindow()
  {
    m_Last.clear();
  }

  void
  Exchange(StateArchive & archive)
  {
    std::vector<double> last(m_Last.begin(), m_Last.end());
    archive.Exchange(last);
    m_Last.assign(last.begin(), last.end());
    archive.Exchange(m_Count);
    archive.Exchange(m_Highest);
    archive.Exchange(m_Lowest);
  }

private:
  double
  FitSlope() const
  {
    const auto   n = double(m_Last.size());
    const double center = (n - 1) / 2;
    double       products = 0, squares = 0;
    for (std::size_t i = 0; i < m_Last.size(); ++i)
    {
      products += (double(i) - center) * m_Last[i];
      squares += (double(i) - center) * (double(i) - center);
    }
    return products / squares;
  }

  double             m_Tolerance;
  std::size_t        m_Window;
  std::deque<double> m_Last;
  std::size_t        m_Count = 0;
  double             m_Highest = 0;
  double             m_Lowest = 0;
};

} // namespace ffdp

#endif
