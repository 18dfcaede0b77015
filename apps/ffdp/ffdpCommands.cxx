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
#include "ffdpCommands.h"

#include "itkFFDPConfiguration.h"

std::unique_ptr<CLI::App>
MakeProgram(const Launch & launch)
{
  auto program =
    std::make_unique<CLI::App>("Image registration: from two images to the transform between them.", "ffdp");
  program->set_version_flag("--version", "ffdp " FFDP_VERSION_STRING);
  program->require_subcommand(1);
  AddRegisterCommand(*program, launch);
  AddPlanCommand(*program);
  AddApplyCommand(*program);
  AddEvaluateCommand(*program);
  AddSynthesizeCommand(*program);
  AddComposeCommand(*program);
  AddInvertCommand(*program);
  AddJacobianCommand(*program);
  AddInfoCommand(*program);
  AddBenchCommand(*program, launch);
  for (CLI::App * command : program->get_subcommands([](CLI::App *) { return true; }))
  {
    for (CLI::Option * option : command->get_options())
    {
      option->allow_extra_args(false); // ReadArguments() gives values one by one, and [FILE,1] is one of them
    }
  }
  return program;
}
