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
#ifndef ffdpProgressLine_h
#define ffdpProgressLine_h

#include "ffdpRegistration.h"

#include <string>

/** Shows how far a registration is: on a terminal one line per stage that changes in place, with a bar and the time
 * that is left; elsewhere, and where asked for, plain lines, at the start of a level and every ten iterations. */
class ProgressLine
{
public:
  explicit ProgressLine(bool quiet, bool plain = false);

  /** With the seconds since the stages began, and those that are left, or NaN. */
  void
  Show(const ffdp::RegistrationProgress & progress, double seconds, double secondsLeft);

  /** Ends the line. */
  void
  Finish();

private:
  bool m_Quiet;
  bool m_Terminal;
  bool m_Open = false;
  int  m_Stage = -1;
  int  m_Level = -1;
};

/** What fits into so many columns of a terminal: always the value, the percentage and the time that is left; then how
 * far the level is and the time that has passed; a bar takes what remains. */
std::string
MakeTerminalLine(const ffdp::RegistrationProgress & progress, double seconds, double secondsLeft, std::size_t columns);

#endif
