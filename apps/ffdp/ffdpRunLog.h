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
#ifndef ffdpRunLog_h
#define ffdpRunLog_h

#include "ffdpRegistration.h"

#include <chrono>
#include <fstream>
#include <string>
#include <vector>

/** What happened in an iteration. */
struct IterationRecord
{
  ffdp::RegistrationProgress progress;
  double                     seconds = 0; ///< since the log began
  double                     peakMegabytes = 0;
};

/** Largest amount of memory that the program has held so far. */
double
PeakMegabytes();

/** Keeps all iterations, and writes each to a file as one JSON object per line if a file is given. A line is in the
 * file when its iteration is over, so that others can follow it. */
class RunLog
{
public:
  /** Without a name there is no file. */
  explicit RunLog(const std::string & file);

  /** With the seconds that are left, or NaN. */
  void
  Add(const ffdp::RegistrationProgress & progress, double secondsLeft);

  const std::vector<IterationRecord> &
  Iterations() const
  {
    return m_Iterations;
  }

private:
  std::string                           m_Name;
  std::ofstream                         m_File;
  std::chrono::steady_clock::time_point m_Start;
  std::vector<IterationRecord>          m_Iterations;
};

#endif
