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
#include "ffdpIsolation.h"

#include "ffdpChildProcess.h"
#include "ffdpCommandError.h"
#include "ffdpWorkOutcome.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <mutex>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <system_error>
#include <unistd.h>

namespace
{

/** Nothing of what libraries print is for the user: what went wrong comes back as a reason. */
void
SilenceOutput()
{
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
  if (nowhere > STDERR_FILENO)
  {
    close(nowhere);
  }
}

/** Lowers a limit, with some more for the hard one. */
void
Limit(int resource, rlim_t soft, rlim_t more)
{
  rlimit limit{};
  getrlimit(resource, &limit);
  limit.rlim_max = std::min(limit.rlim_max, soft + more);
  limit.rlim_cur = std::min({ limit.rlim_cur, limit.rlim_max, soft });
  setrlimit(resource, &limit);
}

rlim_t
AddressSpaceInUse()
{
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * std::uint64_t(sysconf(_SC_PAGESIZE));
}

/** In the new process: it dies with the one that started it, as signals say, and does not take the machine. */
void
Confine(const ApartTask & task, pid_t parent)
{
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
  {
    _exit(1);
  }
  for (int signal = 1; signal < NSIG; ++signal)
  {
    struct sigaction action = {};
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN && action.sa_handler != SIG_DFL)
    {
      std::signal(signal, SIG_DFL);
    }
  }
  std::atexit([] { _exit(1); }); // of a library that ends the program: what others do then may wait for ever
  SilenceOutput();
  const rlim_t used = AddressSpaceInUse();
  Limit(RLIMIT_CORE, 0, 0);
  Limit(RLIMIT_CPU, rlim_t(std::ceil(task.seconds)), 1);
  if (used > 0)
  {
    Limit(RLIMIT_AS, used + task.memory, 0);
  }
}

/** Why nothing came from it. */
std::string
CauseOfDeath(const ApartTask & task, const ChildProcess & child)
{
  const int  signal = child.EndingSignal();
  const bool killed = signal == SIGKILL && !child.IsStuck();
  const bool endless = child.IsStuck() || signal == SIGXCPU || (killed && child.SecondsUsed() >= task.seconds);
  const auto library = std::string("the library that ") + (task.writes ? "writes" : "reads") + " it ";
  if (killed && !endless)
  {
    return (task.writes ? "cannot be written: " : "cannot be read: ") + library +
           "was ended by the system: is there enough memory?";
  }
  return (task.writes ? "cannot be written: " : "is damaged: ") + library +
         (endless ? "does not come to an end" : "crashed");
}

bool thisProcessIsApart = false;

[[noreturn]] void
Serve(const ApartTask & task, pid_t parent, int to, const std::function<std::string()> & work)
{
  bool sent = false;
  thisProcessIsApart = true;
  try
  {
    Confine(task, parent);
    sent = SendOutcome(to, { WorkEnding::Began, "" }) && SendOutcome(to, DoWork(work));
  }
  catch (...) // the reason was too long for the memory that there is
  {
    sent = SendOutcome(to, { WorkEnding::Memory, "" });
  }
  _exit(sent ? 0 : 1); // without what libraries do at an end
}

/** Standard output and error of this process go nowhere while such an object lives. */
class SilencedOutput
{
public:
  SilencedOutput()
    : m_Output(dup(STDOUT_FILENO))
    , m_Error(dup(STDERR_FILENO))
  {
    std::cout.flush();
    std::fflush(stdout);
    SilenceOutput();
  }
  SilencedOutput(const SilencedOutput &) = delete;
  SilencedOutput &
  operator=(const SilencedOutput &) = delete;
  ~SilencedOutput()
  {
    std::cout.flush();
    std::fflush(stdout);
    Restore(m_Output, STDOUT_FILENO);
    Restore(m_Error, STDERR_FILENO);
  }

private:
  static void
  Restore(int kept, int descriptor)
  {
    close(descriptor);
    if (kept >= 0)
    {
      dup2(kept, descriptor);
      close(kept);
    }
  }

  int m_Output, m_Error;
};

std::string
RunHere(const ApartTask & task, const std::function<std::string()> & work)
{
  static std::recursive_mutex                 oneAtATime; // there is one standard error
  const std::lock_guard<std::recursive_mutex> lock(oneAtATime);
  WorkOutcome                                 outcome;
  {
    const SilencedOutput silence;
    outcome = DoWork(work);
  }
  return TakeResult(outcome, task.Failure());
}

} // namespace

ApartTask
ReadingTask(const std::string & what, const std::string & file, std::uint64_t bytes)
{
  constexpr double        BytesPerSecond = 4e6; // of the slowest decompression
  constexpr std::uint64_t Headers = 1u << 30;
  std::error_code         unknown;
  const auto              stored = std::filesystem::file_size(file, unknown);
  ApartTask               task;
  task.subject = what + " '" + file + "'";
  task.seconds += double(bytes) / BytesPerSecond;
  task.memory = Headers + 4 * bytes + (unknown || bytes == 0 ? 0 : 2 * std::uint64_t(stored));
  return task;
}

ApartTask
WritingTask(const std::string & file, std::uint64_t bytes)
{
  constexpr double        BytesPerSecond = 1e6; // of the slowest compression
  constexpr std::uint64_t Others = 1u << 30;
  ApartTask               task;
  task.subject = "'" + file + "'";
  task.writes = true;
  task.seconds = 60 + double(bytes) / BytesPerSecond;
  task.memory = Others + 4 * bytes;
  return task;
}

std::string
RunApart(const ApartTask & task, const std::function<std::string()> & work)
{
  if (thisProcessIsApart)
  {
    return work();
  }
  ChildProcess child([&](int to, pid_t parent) { Serve(task, parent, to, work); });
  WorkOutcome  began, outcome;
  if (!child.IsStarted() || !child.Receive(began)) // what never began has done nothing
  {
    return RunHere(task, work);
  }
  const bool isDone = child.Receive(outcome);
  child.Wait();
  if (!isDone)
  {
    throw CommandError(task.subject + " " + CauseOfDeath(task, child));
  }
  return TakeResult(outcome, task.Failure());
}
