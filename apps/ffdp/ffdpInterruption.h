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
#ifndef ffdpInterruption_h
#define ffdpInterruption_h

#include "ffdpCommunicator.h"

#include <csignal>
#include <stdexcept>
#include <string>

/** The user stopped the program. It ends with code 130, as shells expect. */
class Interrupted : public std::runtime_error
{
public:
  Interrupted()
    : std::runtime_error("stopped; nothing was written")
  {}
};

/** From now on signals that end the program remove files first (see RemovedWhenStopped). A file that gets longer than
 * `ulimit -f` allows is an error of the call that writes it, not a signal. */
void
PrepareSignals();

/** From now on SIGINT (Ctrl-C), SIGTERM and SIGHUP (the terminal was closed; not below nohup) are noted instead of
 * ending the program; the second of a kind does end it. Whoever calls this must ask IsInterrupted() often: what may
 * wait for ever, as for a file to be opened, comes before. */
void
CatchInterruptions();

bool
IsInterrupted();

/** Throws Interrupted, on all ranks, if one of them got a signal. */
void
StopIfInterrupted(ffdp::Communicator & communicator);

/** Signals wait while this object lives: for the moment between making a file and having it removed by them. */
class SignalsWait
{
public:
  SignalsWait();
  ~SignalsWait();
  SignalsWait(const SignalsWait &) = delete;
  SignalsWait &
  operator=(const SignalsWait &) = delete;

private:
  sigset_t m_Before;
};

/** A file, or a folder if it is empty by then, that is removed if a signal ends the program while this object lives.
 * marksFolder: of a file by which another run knows that it may remove its folder; it stays where the folder does. */
class RemovedWhenStopped
{
public:
  explicit RemovedWhenStopped(const std::string & file, bool marksFolder = false);
  ~RemovedWhenStopped();
  RemovedWhenStopped(const RemovedWhenStopped &) = delete;
  RemovedWhenStopped &
  operator=(const RemovedWhenStopped &) = delete;

  const std::string &
  Name() const
  {
    return m_File;
  }

private:
  std::string m_File;
};

#endif
