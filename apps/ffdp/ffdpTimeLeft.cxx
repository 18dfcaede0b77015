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
#include "ffdpTimeLeft.h"

#include <algorithm>
#include <limits>

namespace
{

constexpr double FullTrust = 0.3;   ///< of the time that has passed: as long a level is asked about its own speed only
constexpr double Smoothing = 0.08;  ///< of the time that has passed: how long an answer lasts
constexpr double LargestRise = 1.2; ///< from one answer to the next

} // namespace

double
TimeLeft::Estimate(double fraction, double seconds) const
{
  double       perRun = 0; // seconds that the whole would take
  const double run = seconds - m_StartSeconds;
  if (fraction > m_StartFraction && run > 0)
  {
    perRun = run / (fraction - m_StartFraction);
  }
  const double level = seconds - m_LevelSeconds;
  if (fraction > m_LevelFraction && level > 0)
  {
    const double trust = perRun > 0 ? std::min(1.0, level / (FullTrust * run)) : 1;
    perRun = trust * level / (fraction - m_LevelFraction) + (1 - trust) * perRun;
  }
  return perRun > 0 ? (1 - fraction) * perRun : std::numeric_limits<double>::quiet_NaN();
}

double
TimeLeft::Update(const ffdp::RegistrationProgress & progress, double seconds)
{
  const bool isFirst = m_Stage < 0;
  const bool isNew = isFirst && progress.stage == 0 && progress.level == 0 && progress.iteration == 1;
  if (isFirst && !isNew)
  {
    m_StartFraction = progress.fraction; // a checkpoint had it
    m_StartSeconds = seconds;
  }
  if ((m_Stage != progress.stage || m_Level != progress.level) && !isNew)
  {
    m_LevelSeconds = seconds; // without the first iteration, which takes longer
    m_LevelFraction = progress.fraction;
  }
  m_Stage = progress.stage;
  m_Level = progress.level;
  if (progress.fraction >= 1)
  {
    return m_After;
  }
  const double estimate = this->Estimate(progress.fraction, seconds);
  if (!(estimate >= 0))
  {
    return estimate;
  }
  if (m_Left < 0)
  {
    m_Left = estimate;
  }
  else
  {
    const double passed = seconds - m_LeftSeconds, expected = std::max(0.5 * m_Left, m_Left - passed);
    const double follow = passed / (passed + Smoothing * seconds);
    m_Left = seconds > 0 ? std::min(LargestRise * m_Left, expected + (estimate - expected) * follow) : estimate;
  }
  m_LeftSeconds = seconds;
  return m_Left + m_After;
}
