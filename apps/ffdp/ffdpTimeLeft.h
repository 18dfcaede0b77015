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
#ifndef ffdpTimeLeft_h
#define ffdpTimeLeft_h

#include "ffdpRegistration.h"

/** How long a registration will still take: by the speed of the level that is at work and by that of the whole run, the
 * more by the first the longer it is known. The answer is smoothed: it follows within a tenth of the time that has
 * passed, and never rises by more than a fifth at a time. */
class TimeLeft
{
public:
  /** `after` are seconds that follow the last stage, for outputs: they are always left. */
  explicit TimeLeft(double after = 0)
    : m_After(after)
  {}

  /** After each iteration, with the seconds since the stages began. Returns the seconds that are left, or NaN while
   * nothing is known: a run that goes on from a checkpoint has not done at once what is done. */
  double
  Update(const ffdp::RegistrationProgress & progress, double seconds);

private:
  /** Seconds that are left by what is known now, not smoothed. */
  double
  Estimate(double fraction, double seconds) const;

  double m_After;
  int    m_Stage = -1;
  int    m_Level = -1;
  double m_StartFraction = 0; ///< of the run, when it was first seen: 0, or what a checkpoint had
  double m_StartSeconds = 0;
  double m_LevelSeconds = 0; ///< when the level was first seen
  double m_LevelFraction = 0;
  double m_Left = -1;       ///< the last answer; below 0: none yet
  double m_LeftSeconds = 0; ///< when it was given
};

#endif
