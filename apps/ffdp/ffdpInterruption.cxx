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
#include <mutex>
#include <unistd.h>

namespace
{

volatile std::sig_atomic_t theSignalsAreNoted = 0, theInterrupt = 0, theTermination = 0;

/** Names that live as long as they are here. More files than this are not written at once; they would just stay. */
std::array<std::atomic<const char *>, 64> theFiles = {};

/** Calls nothing but what a signal handler may call. */
extern "C" void
TakeSignal(int signal)
{
  volatile std::sig_atomic_t & noted = signal == SIGINT ? theInterrupt : theTermination;
  if (theSignalsAreNoted && !noted)
  {
    noted = 1;
    return;
  }
  for (const auto & file : theFiles)
  {
    if (const char * name = file.load())
    {
      unlink(name);
    }
  }
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
CatchInterruptions()
{
  theSignalsAreNoted = 1;
  InstallHandler(SIGINT, false);
  InstallHandler(SIGTERM, false);
}

bool
IsInterrupted()
{
  return theInterrupt != 0 || theTermination != 0;
}

RemovedWhenStopped::RemovedWhenStopped(const std::string & file)
  : m_File(file)
{
  static std::once_flag installed;
  std::call_once(installed, [] {
    InstallHandler(SIGINT, true);
    InstallHandler(SIGTERM, true);
  });
  for (auto & slot : theFiles)
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
  for (auto & slot : theFiles)
  {
    const char * own = m_File.c_str();
    slot.compare_exchange_strong(own, nullptr);
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
