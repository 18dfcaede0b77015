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
#ifndef ffdpCommands_h
#define ffdpCommands_h

#include <CLI/CLI.hpp>

#include <memory>

class Launch;

/** Each adds a sub-command with its options to the program; the sub-command runs when it is parsed. All ranks run
 * `register`, rank 0 alone runs any other. */
void
AddRegisterCommand(CLI::App & program, const Launch & launch);
void
AddPlanCommand(CLI::App & program);
void
AddApplyCommand(CLI::App & program);
void
AddEvaluateCommand(CLI::App & program);
void
AddSynthesizeCommand(CLI::App & program);
void
AddComposeCommand(CLI::App & program);
void
AddInvertCommand(CLI::App & program);
void
AddJacobianCommand(CLI::App & program);
void
AddInfoCommand(CLI::App & program);
void
AddBenchCommand(CLI::App & program, const Launch & launch);

/** The program with all of its commands. `launch` must live as long. */
std::unique_ptr<CLI::App>
MakeProgram(const Launch & launch);

#endif
