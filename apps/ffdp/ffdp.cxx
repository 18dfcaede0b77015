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
#include "ffdpCommandLine.h"
#include "ffdpCommands.h"
#include "ffdpImageFiles.h"
#include "ffdpInterruption.h"

#include "itkFFDPConfiguration.h"
#include "itkMacro.h"

#include <iostream>
#include <malloc.h>
#include <new>

int
main(int argc, char ** argv)
{
#ifdef __GLIBC__
  // Volumes go back to the system when they are freed. Left to itself, the allocator learns from the first of them to
  // keep the memory of the next, and the program takes a third more than it uses.
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
  CLI::App program{ "Image registration: from two images to the transform between them.", "ffdp" };
  program.set_version_flag("--version", "ffdp " FFDP_VERSION_STRING);
  program.require_subcommand(1);
  program.failure_message(CLI::FailureMessage::simple);
  AddRegisterCommand(program);
  AddPlanCommand(program);
  AddApplyCommand(program);
  AddEvaluateCommand(program);
  AddSynthesizeCommand(program);
  AddComposeCommand(program);
  AddInvertCommand(program);
  AddJacobianCommand(program);
  AddInfoCommand(program);
  try
  {
    program.parse(TakeCommandLine(argc, argv));
  }
  catch (const CLI::ParseError & error)
  {
    return program.exit(error) == 0 ? 0 : 2;
  }
  catch (const Interrupted & stop)
  {
    constexpr int StoppedByUser = 130;
    std::cerr << "ffdp: " << stop.what() << "\n";
    return StoppedByUser;
  }
  catch (const std::bad_alloc &)
  {
    std::cerr << "ffdp: there is not enough memory\n";
    return 1;
  }
  catch (const itk::ExceptionObject & error)
  {
    std::cerr << "ffdp: " << OneLine(error) << "\n";
    return 1;
  }
  catch (const std::exception & error)
  {
    std::cerr << "ffdp: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
