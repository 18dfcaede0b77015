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
#ifndef ffdpChildProcess_h
#define ffdpChildProcess_h

#include "ffdpWorkOutcome.h"

#include <chrono>
#include <functional>
#include <string>
#include <sys/types.h>

/** Sends a message through a pipe: an ending, the length of its text, the text. Returns whether it went. */
bool
SendOutcome(int to, const WorkOutcome & outcome);

/** A copy of this process that sends messages. It is killed at the end of this object's life. */
class ChildProcess
{
public:
  /** Calls serve(pipe, this process's id) in the copy; it must not return. */
  explicit ChildProcess(const std::function<void(int to, pid_t parent)> & serve);
  ~ChildProcess();
  ChildProcess(const ChildProcess &) = delete;
  ChildProcess &
  operator=(const ChildProcess &) = delete;

  /** False where no process can be started. */
  bool
  IsStarted() const
  {
    return m_Process > 0;
  }

  /** Waits for the next message; false if none came as a whole, or it waits for something that does not happen. Throws
   * Interrupted if the user stops the program meanwhile. */
  bool
  Receive(WorkOutcome & outcome);

  /** Waits for its end. */
  void
  Wait();

  /** The signal that ended it, or 0. */
  int
  EndingSignal() const;

  /** Of computing, after its end. */
  double
  SecondsUsed() const
  {
    return m_SecondsUsed;
  }
  bool
  IsStuck() const
  {
    return m_IsStuck;
  }

private:
  using Clock = std::chrono::steady_clock;

  bool
  Fill(std::size_t count);
  std::string
  ReceiveSome();
  void
  FindWhetherStuck();

  pid_t             m_Process = -1;
  int               m_From = -1;
  std::string       m_Bytes; ///< that came and were not taken yet
  bool              m_IsGone = false, m_IsStuck = false;
  int               m_Status = 0;
  double            m_SecondsUsed = 0;
  std::string       m_Progress;
  Clock::time_point m_LastProgress = Clock::now();
};

#endif
