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

/** From now on SIGINT (Ctrl-C) and SIGTERM are noted instead of ending the program; the second of a kind does end it.
 */
void
CatchInterruptions();

bool
IsInterrupted();

/** Throws Interrupted, on all ranks, if one of them got a signal. */
void
StopIfInterrupted(ffdp::Communicator & communicator);

/** A file that is removed if SIGINT or SIGTERM ends the program while this object lives. */
class RemovedWhenStopped
{
public:
  explicit RemovedWhenStopped(const std::string & file);
  ~RemovedWhenStopped();
  RemovedWhenStopped(const RemovedWhenStopped &) = delete;
  RemovedWhenStopped &
  operator=(const RemovedWhenStopped &) = delete;

private:
  std::string m_File;
};

#endif
