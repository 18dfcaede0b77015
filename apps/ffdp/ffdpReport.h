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
#ifndef ffdpReport_h
#define ffdpReport_h

#include "ffdpRegisterInputs.h"
#include "ffdpRunLog.h"

/** What the report tells beside what it shows. */
struct ReportFacts
{
  const StageList &                    list;
  const ffdp::RegistrationResult &     result; ///< its warps are not needed any more
  const std::vector<IterationRecord> & iterations;
  double                               secondsReading = 0, secondsStages = 0, secondsWriting = 0;
  double                               peakMegabytes = 0; ///< of the rank with the most
  int                                  ranks = 1;
};

/** A page about a registration, complete in one file: slices before and after, the deformed grid, the Jacobian, the
 * course of the stages, and what was run on what. */
class RegistrationReport
{
public:
  /** Takes the pictures. All ranks make the call. */
  RegistrationReport(const RegisterInputs &           inputs,
                     const ffdp::RegistrationResult & result,
                     ffdp::Communicator &             communicator);

  std::string
  MakePage(const ReportFacts & facts) const;

private:
  const RegisterInputs & m_Inputs;
  std::string            m_Slices;
  std::string            m_Deformation; ///< nothing without a warp
};

#endif
