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

#include <limits>

double
TimeLeft::Update(const ffdp::RegistrationProgress & progress, double seconds)
{
  const bool newLevel = m_Stage != progress.stage || m_Level != progress.level;
  const bool isFirst = m_Stage < 0 && progress.stage == 0 && progress.level == 0 && progress.iteration == 1;
  if (newLevel && !isFirst)
  {
    m_LevelSeconds = seconds;
    m_LevelFraction = progress.fraction;
  }
  else if (progress.fraction > m_LevelFraction && seconds > m_LevelSeconds)
  {
    m_Speed = (progress.fraction - m_LevelFraction) / (seconds - m_LevelSeconds);
  }
  m_Stage = progress.stage;
  m_Level = progress.level;
  if (progress.fraction >= 1)
  {
    return 0;
  }
  return m_Speed > 0 ? (1 - progress.fraction) / m_Speed : std::numeric_limits<double>::quiet_NaN();
}
