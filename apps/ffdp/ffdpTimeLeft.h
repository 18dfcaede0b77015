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

/** How long the stages of a registration will still take: by the speed of the level that is at work, or of the one
 * before while it has just begun. Levels that end early make it less. */
class TimeLeft
{
public:
  /** After each iteration, with the seconds since the stages began. Returns the seconds that are left, or NaN while
   * nothing is known: a run that goes on from a checkpoint has not done at once what is done. */
  double
  Update(const ffdp::RegistrationProgress & progress, double seconds);

private:
  int    m_Stage = -1;
  int    m_Level = -1;
  double m_LevelSeconds = 0; ///< when the level was first seen
  double m_LevelFraction = 0;
  double m_Speed = 0; ///< part of the work per second
};

#endif
