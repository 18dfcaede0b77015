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
#include "ffdpInterruption.h"

#include <array>
#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <mutex>
#include <unistd.h>

namespace
{

constexpr int EndingSignals[] = { SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGALRM, SIGTERM, SIGXCPU, SIGUSR1, SIGUSR2 };

volatile std::sig_atomic_t theSignalsAreNoted = 0, theInterrupt = 0, theTermination = 0;

/** Set before names are read here for the last time. */
std::atomic<bool> theProgramEnds = false;

/** Names that live as long as they are here. More files than this are not written at once; the next run would remove
 * them. */
std::array<std::atomic<const char *>, 64> theFiles = {}, theMarks = {};

/** Removes files, then the folders that they were in, which may be in one another. A folder that something else is in
 * gets its mark again. */
void
RemoveFiles()
{
  theProgramEnds = true;
  for (const auto * files : { &theFiles, &theMarks })
  {
    for (const auto & file : *files)
    {
      if (const char * name = file.load())
      {
        unlink(name);
      }
    }
  }
  for (bool again = true; again;)
  {
    again = false;
    for (const auto & file : theFiles)
    {
      const char * name = file.load();
      again = (name && rmdir(name) == 0) || again;
    }
  }
  for (const auto & mark : theMarks)
  {
    if (const char * name = mark.load())
    {
      close(open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)); // fails if the folder is gone
    }
  }
}

/** Calls nothing but what a signal handler may call. */
extern "C" void
TakeSignal(int signal)
{
  volatile std::sig_atomic_t & noted = signal == SIGINT ? theInterrupt : theTermination;
  if (theSignalsAreNoted && !noted && (signal == SIGINT || signal == SIGTERM || signal == SIGHUP))
  {
    noted = 1;
    return;
  }
  RemoveFiles();
  std::signal(signal, SIG_DFL);
  raise(signal); // ends the program as this signal does
}

/** unlessIgnored: leaves alone what is not at its default, as below nohup. */
void
InstallHandler(int signal, bool unlessIgnored)
{
  struct sigaction action = {}, before = {};
  sigaction(signal, nullptr, &before);
  if (unlessIgnored && before.sa_handler != SIG_DFL)
  {
    return;
  }
  action.sa_handler = TakeSignal;
  action.sa_flags = SA_RESTART;
  sigaction(signal, &action, nullptr);
}

} // namespace

void
PrepareSignals()
{
  std::signal(SIGXFSZ, SIG_IGN);
  for (const int signal : EndingSignals)
  {
    InstallHandler(signal, true);
  }
}

void
CatchInterruptions()
{
  InstallHandler(SIGINT, false);
  InstallHandler(SIGTERM, false);
  theSignalsAreNoted = 1;
}

bool
IsInterrupted()
{
  return theInterrupt != 0 || theTermination != 0;
}

SignalsWait::SignalsWait()
{
  sigset_t waiting;
  sigemptyset(&waiting);
  for (const int signal : EndingSignals)
  {
    sigaddset(&waiting, signal);
  }
  pthread_sigmask(SIG_BLOCK, &waiting, &m_Before);
}

SignalsWait::~SignalsWait()
{
  pthread_sigmask(SIG_SETMASK, &m_Before, nullptr);
}

RemovedWhenStopped::RemovedWhenStopped(const std::string & file, bool marksFolder)
  : m_File(file)
{
  static std::once_flag installed;
  std::call_once(installed, PrepareSignals);
  for (auto & slot : marksFolder ? theMarks : theFiles)
  {
    const char * none = nullptr;
    if (slot.compare_exchange_strong(none, m_File.c_str()))
    {
      return;
    }
  }
}

RemovedWhenStopped::~RemovedWhenStopped()
{
  for (auto * slots : { &theFiles, &theMarks })
  {
    for (auto & slot : *slots)
    {
      const char * own = m_File.c_str();
      slot.compare_exchange_strong(own, nullptr);
    }
  }
  while (theProgramEnds) // another thread got the signal, and may be reading the name
  {
    pause();
  }
}

void
StopIfInterrupted(ffdp::Communicator & communicator)
{
  double interrupted = IsInterrupted() ? 1 : 0;
  communicator.Maximum(&interrupted, 1);
  if (interrupted != 0)
  {
    throw Interrupted();
  }
}
