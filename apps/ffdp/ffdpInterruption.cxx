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

#include <csignal>

namespace
{

volatile std::sig_atomic_t theSignal = 0;

extern "C" void
NoteSignal(int signal)
{
  theSignal = signal;
}

} // namespace

void
CatchInterruptions()
{
  struct sigaction action = {};
  action.sa_handler = NoteSignal;
  action.sa_flags = int(SA_RESETHAND) | SA_RESTART; // the next one finds the default action
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool
IsInterrupted()
{
  return theSignal != 0;
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
