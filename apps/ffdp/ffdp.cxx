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
#include "ffdpAgreement.h"
#include "ffdpArguments.h"
#include "ffdpCommandError.h"
#include "ffdpCommandLine.h"
#include "ffdpCommands.h"
#include "ffdpCommonOptions.h"
#include "ffdpImageFiles.h"
#include "ffdpInterruption.h"
#include "ffdpLaunch.h"
#include "ffdpMemory.h"
#include "ffdpSpacingOptions.h"
#include "ffdpUsage.h"

#include "itkMacro.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <malloc.h>
#include <new>
#include <poll.h>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace
{

/** How a run of the program ended; the lines that tell of a failure are not printed yet. */
struct Ending
{
  int         code = 0;
  std::string lines;
};

constexpr int WrongUsage = 2;

/** What the library throws begins with its name, which is that of the program. Whatever a message says is one line, and
 * holds nothing that a terminal would obey: names in damaged headers may have any bytes. */
Ending
Fail(int code, std::string message)
{
  const std::string name = "ffdp: ";
  std::replace_if(
    message.begin(), message.end(), [](unsigned char c) { return std::iscntrl(c) != 0; }, ' ');
  return { code, (message.compare(0, name.size(), name) == 0 ? "" : name) + message + "\n" };
}

/** Where a library throws something that says nothing. */
std::string
DescribeUnknown()
{
  return "an error that does not say what it is ended " +
         (NameOfCommand().empty() ? "the program" : "ffdp " + NameOfCommand());
}

/** Where no handler is left, as in a thread of a library: a line and a code instead of SIGABRT. */
[[noreturn]] void
Terminate()
{
  std::string reason = DescribeUnknown();
  try
  {
    if (const std::exception_ptr error = std::current_exception())
    {
      std::rethrow_exception(error);
    }
  }
  catch (const std::bad_alloc &)
  {
    reason = DescribeLackOfMemory();
  }
  catch (const std::exception & error)
  {
    reason = error.what();
  }
  catch (...)
  {
    // as it was
  }
  const std::string line = Fail(1, reason).lines;
  static_cast<void>(!write(STDERR_FILENO, line.data(), line.size()));
  _exit(1); // other threads may be at work: nothing that they use is taken apart
}

/** Parses the arguments, and runs the command that they name. */
Ending
Run(int argc, char ** argv, const Launch & launch)
{
  const auto program = MakeProgram(launch);
  try
  {
    program->parse(ReadArguments(*program, KeepCommandLine(argc, argv)));
    PrintSpacingNotes(*program);
  }
  catch (const CLI::ParseError & error)
  {
    std::ostringstream help, lines;
    if (program->exit(error, help, lines) != 0)
    {
      return Fail(WrongUsage, DescribeUsageError(*program, error));
    }
    if (launch.Ranks().Rank() == 0)
    {
      std::cout << help.str();
    }
  }
  catch (const Interrupted & stop)
  {
    constexpr int StoppedByUser = 130;
    return Fail(StoppedByUser, stop.what());
  }
  catch (const std::bad_alloc &)
  {
    return Fail(1, DescribeLackOfMemory());
  }
  catch (const itk::MemoryAllocationError &)
  {
    return Fail(1, DescribeLackOfMemory());
  }
  catch (const itk::ExceptionObject & error)
  {
    return Fail(1, OneLine(error));
  }
  catch (const UsageError & error)
  {
    return Fail(WrongUsage, error.what());
  }
  catch (const std::exception & error)
  {
    return Fail(1, error.what());
  }
  catch (...) // a library may throw anything
  {
    return Fail(1, DescribeUnknown());
  }
  return {};
}

/** Whether the reader of standard output has gone, as that of `| head -1` has, or it was closed: nobody misses it. */
bool
IsOutputUnwanted()
{
  pollfd output{ STDOUT_FILENO, POLLOUT, 0 };
  return poll(&output, 1, 0) == 1 && (output.revents & (POLLERR | POLLNVAL)) != 0;
}

/** What was printed is on its way only now, and a disk may be full. */
Ending
FinishOutput()
{
  const int reason = std::fflush(stdout) == 0 ? 0 : errno;
  if (!std::ferror(stdout) || IsOutputUnwanted())
  {
    return {};
  }
  return Fail(1,
              std::string("not all could be written to standard output: ") +
                (reason != 0 ? std::strerror(reason) : "is the disk full?"));
}

/** Commands that one process runs are those of rank 0. */
bool
IsForAllRanks(int argc, char ** argv)
{
  return argc > 1 && argv[1] == std::string("register");
}

/** Ranks that do not do the same wait for each other in vain. One line if a launcher gave them different arguments. */
Ending
CompareArguments(int argc, char ** argv, ffdp::Communicator & ranks)
{
  std::string arguments;
  for (int i = 1; i < argc; ++i)
  {
    arguments += argv[i] + std::string(1, '\0');
  }
  const int other = FindOther(ranks, arguments);
  return other == 0 ? Ending()
                    : Fail(WrongUsage,
                           "all ranks need the same arguments, and those of rank " + std::to_string(other) +
                             " are not those of rank 0");
}

} // namespace

int
main(int argc, char ** argv)
{
  std::set_terminate(Terminate);
#ifdef __GLIBC__
  // Volumes go back to the system when they are freed. Left to itself, the allocator learns from the first of them to
  // keep the memory of the next, and the program takes a third more than it uses.
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
  PrepareSignals();
  try
  {
    const Launch launch(argc, argv);
    const bool   first = launch.Ranks().Rank() == 0, together = IsForAllRanks(argc, argv);
    if (together)
    {
      launch.RequireAll();
    }
    const Ending differing = CompareArguments(argc, argv, launch.Ranks());
    if (differing.code != 0)
    {
      std::cerr << (first ? differing.lines : std::string());
      return differing.code;
    }
    Ending ending = first || together ? Run(argc, argv, launch) : Ending();
    if (together && ending.code != 0)
    {
      const bool all = launch.AllFailed();
      if (first || !all)
      {
        std::cerr << ending.lines;
      }
      if (!all)
      {
        launch.Abort(ending.code);
      }
      return ending.code;
    }
    if (ending.code == 0)
    {
      ending = FinishOutput();
    }
    std::cerr << ending.lines;
    return launch.AgreeOnCode(ending.code);
  }
  catch (const std::exception & error)
  {
    std::cerr << Fail(1, error.what()).lines;
    return 1;
  }
  catch (...)
  {
    std::cerr << Fail(1, DescribeUnknown()).lines;
    return 1;
  }
}
