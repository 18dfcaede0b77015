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
#ifndef ffdpOutputTestSupport_h
#define ffdpOutputTestSupport_h

#include "ffdpProgramTestSupport.h"

#include <chrono>
#include <csignal>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>

/** For tests of what is written: a folder as /tmp is, and runs in the background. */
namespace programtest
{

/** A small image and points, and a folder that all may write to, as /tmp is. */
struct SharedFolder
{
  Folder      folder;
  std::string image, moving, out, victims;

  explicit SharedFolder(const std::string & name)
    : folder(name)
    , image(folder / "image.nii.gz")
    , moving(folder / "moving.nii.gz")
    , out(folder / "out")
    , victims(folder / "victims")
  {
    Write(MakeImage(0, 0.1, 0), image);
    Write(MakeImage(1.5, -0.2, 1), moving);
    for (const std::string & made : { out, victims })
    {
      fs::create_directories(made);
    }
    chmod(out.c_str(), 01777);
    std::ofstream(victims + "/important.txt") << "precious";
    std::ofstream(victims + "/bashrc") << "precious";
    std::ofstream(out + "/evil") << "evil";
  }
  std::string
  Apply(const std::string & name = "a.nii.gz") const
  {
    return "apply -i " + image + " -r " + image + " -t identity -o " + out + "/" + name;
  }
  std::string
  Register(const std::string & prefix) const
  {
    return "register -p fast --threads 1 --no-report -f " + image + " -m " + image + " -o " + prefix;
  }
  void
  ExpectVictims() const
  {
    for (const char * name : { "/important.txt", "/bashrc" })
    {
      EXPECT_EQ(ReadText(victims + name), "precious") << name;
    }
  }
};

inline std::vector<std::string>
NamesIn(const std::string & folder)
{
  std::vector<std::string> names;
  for (const auto & entry : fs::directory_iterator(folder))
  {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

using Names = std::vector<std::string>;

/** A run of the program in a process of its own, its stderr in a file. */
class Background
{
public:
  Background(const Folder & folder, const std::string & arguments)
    : m_Process(fork())
  {
    if (m_Process == 0)
    {
      const std::string command =
        "exec " + std::string(FFDP_PROGRAM) + " " + arguments + " >/dev/null 2>" + (folder / "background-errors");
      execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char *>(nullptr));
      _exit(127);
    }
  }
  ~Background()
  {
    if (m_Process > 0)
    {
      kill(m_Process, SIGKILL);
      waitpid(m_Process, nullptr, 0);
    }
  }
  void
  Send(int signal) const
  {
    kill(m_Process, signal);
  }
  std::string
  Number() const
  {
    return std::to_string(m_Process);
  }
  /** The code, or minus the signal; or 1000 if it goes on for longer than it may. */
  int
  Wait(int seconds)
  {
    int status = 0;
    for (int i = 0; i < 100 * seconds; ++i)
    {
      if (waitpid(m_Process, &status, WNOHANG) == m_Process)
      {
        m_Process = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return 1000;
  }

private:
  pid_t m_Process;
};

template <typename TCondition>
bool
ComesTrue(const TCondition & condition)
{
  for (int i = 0; i < 6000 && !condition(); ++i)
  {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return condition();
}

/** A registration that goes on until it is stopped, in the midst of its iterations. */
inline std::string
LongRegistration(const SharedFolder & shared, const std::string & prefix)
{
  return "register --threads 1 -f " + shared.image + " -m " + shared.moving +
         " --transform 'Greedy[]' --metric CC --convergence '[100000,0,200000]' --log-json " + (shared.folder / "log") +
         " -o " + prefix;
}

inline bool
HasBegun(const SharedFolder & shared)
{
  return ComesTrue([&] { return ReadText(shared.folder / "log").find('\n') != std::string::npos; });
}

inline void
ExpectOneLine(const Outcome & outcome, const std::string & reason)
{
  EXPECT_EQ(outcome.code, 1) << outcome.errors;
  EXPECT_EQ(outcome.ErrorLines(), 1) << outcome.errors;
  EXPECT_NE(outcome.errors.find(reason), std::string::npos) << outcome.errors;
}

} // namespace programtest

#endif
