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
#include "ffdpChildProcess.h"

#include "ffdpInterruption.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <poll.h>
#include <sstream>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

namespace
{

bool
SendBytes(int to, const void * bytes, std::size_t count)
{
  for (const char * next = static_cast<const char *>(bytes); count > 0;)
  {
    const ssize_t sent = write(to, next, count);
    if (sent < 0 && errno != EINTR)
    {
      return false;
    }
    next += std::max<ssize_t>(sent, 0);
    count -= std::size_t(std::max<ssize_t>(sent, 0));
  }
  return true;
}

/** The state of a process or a thread, like "S" while it sleeps, and how long it computed; empty if that is not known.
 */
std::pair<std::string, std::string>
ReadState(const std::string & folder)
{
  std::ifstream status(folder + "/stat");
  std::string   text;
  std::getline(status, text);
  const auto         name = text.rfind(") ");
  std::istringstream words(name == std::string::npos ? std::string() : text.substr(name + 2));
  std::string        state, times, word;
  words >> state;
  constexpr int UserTime = 11, SystemTime = 12; // after the state
  for (int i = 1; i <= SystemTime && words >> word; ++i)
  {
    times += i >= UserTime ? word + " " : "";
  }
  return { state, times };
}

/** Whether no other thread of this process is doing anything, so that none holds a lock of the memory allocator. */
bool
OthersSleep()
{
  namespace fs = std::filesystem;
  std::error_code              error;
  const fs::directory_iterator threads("/proc/self/task", error);
  const std::string            self = std::to_string(syscall(SYS_gettid));
  return !error && std::all_of(begin(threads), end(threads), [&](const fs::directory_entry & thread) {
    return thread.path().filename() == self || ReadState(thread.path().string()).first == "S";
  });
}

/** fork() lets ITK end its threads, start them again here, and start as many in the copy, which needs none. Where a
 * limit allows no more threads, that ends the program. */
pid_t
CopyProcess()
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
  constexpr int MostTries = 1000;
  for (int i = 0; i < MostTries; ++i) // threads that have just finished their work fall asleep in a moment, or in
                                      // some more on a busy machine
  {
    if (OthersSleep())
    {
      return _Fork();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
#endif
  pid_t (*volatile copy)() = fork; // which is declared to throw nothing, and what it calls may throw
  return copy();
}

constexpr std::size_t HeadBytes = 1 + sizeof(std::uint64_t); // before the text of a message

} // namespace

bool
SendOutcome(int to, const WorkOutcome & outcome)
{
  const std::uint64_t length = outcome.text.size();
  return SendBytes(to, &outcome.ending, 1) && SendBytes(to, &length, sizeof(length)) &&
         SendBytes(to, outcome.text.data(), outcome.text.size());
}

ChildProcess::ChildProcess(const std::function<void(int to, pid_t parent)> & serve)
{
  static std::mutex                 oneAtATime; // no process may inherit the pipe of another: its end would not be seen
  static bool                       starts = true;
  const std::lock_guard<std::mutex> lock(oneAtATime);
  int                               ends[2];
  if (!starts || pipe2(ends, O_CLOEXEC) != 0)
  {
    return;
  }
  const pid_t parent = getpid();
  try
  {
    m_Process = CopyProcess();
  }
  catch (const std::system_error &) // ITK stops its threads before, and starts them again; they may not start
  {
    starts = false;
  }
  if (m_Process == 0)
  {
    serve(ends[1], parent);
    _exit(1);
  }
  close(ends[1]);
  m_From = ends[0];
}

ChildProcess::~ChildProcess()
{
  if (m_From >= 0)
  {
    close(m_From);
  }
  if (this->IsStarted() && !m_IsGone)
  {
    kill(m_Process, SIGKILL);
    this->Wait();
  }
}

void
ChildProcess::Wait()
{
  rusage use{};
  if (m_IsStuck)
  {
    kill(m_Process, SIGKILL);
  }
  while (wait4(m_Process, &m_Status, 0, &use) < 0 && errno == EINTR)
  {}
  const auto seconds = [](const timeval & time) { return double(time.tv_sec) + 1e-6 * double(time.tv_usec); };
  m_SecondsUsed = seconds(use.ru_utime) + seconds(use.ru_stime);
  m_IsGone = true;
}

int
ChildProcess::EndingSignal() const
{
  return WIFSIGNALED(m_Status) ? WTERMSIG(m_Status) : 0;
}

bool
ChildProcess::Receive(WorkOutcome & outcome)
{
  std::uint64_t length = 0;
  if (!this->Fill(HeadBytes))
  {
    return false;
  }
  std::memcpy(&length, m_Bytes.data() + 1, sizeof(length));
  if (!this->Fill(HeadBytes + length))
  {
    return false;
  }
  outcome.ending = WorkEnding(m_Bytes[0]);
  outcome.text = m_Bytes.substr(HeadBytes, length);
  m_Bytes.erase(0, HeadBytes + length);
  return true;
}

bool
ChildProcess::Fill(std::size_t count)
{
  for (std::string some = "-"; m_Bytes.size() < count && !some.empty(); m_Bytes += some)
  {
    some = this->ReceiveSome();
  }
  return m_Bytes.size() >= count;
}

/** Empty at the end of the process, or if it is stuck. */
std::string
ChildProcess::ReceiveSome()
{
  constexpr int           Milliseconds = 200;
  std::array<char, 65536> buffer;
  pollfd                  ready{ m_From, POLLIN, 0 };
  while (poll(&ready, 1, Milliseconds) <= 0)
  {
    if (IsInterrupted())
    {
      throw Interrupted();
    }
    this->FindWhetherStuck();
    if (m_IsStuck)
    {
      return {};
    }
  }
  ssize_t got = 0;
  do
  {
    got = read(m_From, buffer.data(), buffer.size());
  } while (got < 0 && errno == EINTR);
  return std::string(buffer.data(), std::size_t(std::max<ssize_t>(got, 0)));
}

/** A limit of its time does not help against a process that waits, as for somebody to write to a FIFO. One that waits
 * for a disk is in another state. */
void
ChildProcess::FindWhetherStuck()
{
  constexpr std::chrono::seconds Patience(30);
  const auto                     progress = ReadState("/proc/" + std::to_string(m_Process));
  if (progress.first != "S" || progress.second != m_Progress)
  {
    m_Progress = progress.second;
    m_LastProgress = Clock::now();
  }
  m_IsStuck = Clock::now() - m_LastProgress > Patience;
}
