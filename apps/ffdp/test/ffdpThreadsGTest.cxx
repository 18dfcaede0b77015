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
#include "ffdpProgramTestSupport.h"

#include <pwd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace programtest;

namespace
{

/** Runs the program as a child that has called `limit`. A signal counts as a code of 128 and more. */
template <typename TLimit>
Outcome
RunLimited(const Folder & folder, const std::string & arguments, const TLimit & limit)
{
  const pid_t child = fork();
  if (child == 0)
  {
    limit();
    const std::string command =
      "exec " FFDP_PROGRAM " " + arguments + " >" + (folder / "stdout") + " 2>" + (folder / "stderr");
    execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char *>(nullptr));
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return { WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
           ReadText(folder / "stdout"),
           ReadText(folder / "stderr") };
}

void
SetLimit(decltype(RLIMIT_AS) resource, rlim_t value)
{
  const rlimit limit{ value, value };
  setrlimit(resource, &limit);
}

/** Every command in turn that uses threads, with outputs in the folder. */
std::vector<std::string>
SomeRuns(const Folder & folder)
{
  const std::string image = folder / "fixed.nii.gz";
  return { "apply --threads 4 -i " + image + " -r " + image + " -t identity -o " + (folder / "a.nii.gz"),
           "compose --threads 4 -r " + image + " -t identity -o " + (folder / "c.nii.gz"),
           "evaluate --threads 4 --fixed " + image + " --moved " + image,
           "register --threads 4 -t rigid -p fast -q -f " + image + " -m " + image + " -o " + (folder / "r_") };
}

} // namespace

TEST(Threads, FewerThanAskedForAreUsedWhereTheyCannotStart)
{
  if (geteuid() != 0)
  {
    GTEST_SKIP() << "needs to run as a user who has no other processes";
  }
  const Pair pair("threads-few");
  fs::permissions(pair.folder.path, fs::perms::all);
  for (const std::string & arguments : SomeRuns(pair.folder))
  {
    std::string bytes;
    for (const rlim_t processes : { 1, 3, 100 })
    {
      constexpr uid_t Nobody = 54321; // has no other processes
      for (const char * last : { "stdout", "stderr", "a.nii.gz", "c.nii.gz" })
      {
        fs::remove(pair.folder / last);
      }
      const Outcome outcome = RunLimited(pair.folder, arguments, [&] {
        static_cast<void>(!setgid(Nobody));
        static_cast<void>(!setuid(Nobody));
        SetLimit(RLIMIT_NPROC, processes);
      });
      ASSERT_EQ(outcome.code, 0) << arguments << " " << processes << ": " << outcome.errors;
      EXPECT_EQ(outcome.ErrorLines(), processes < 5 && arguments.find(" -q ") == std::string::npos ? 1 : 0)
        << outcome.errors;
      const std::string result =
        outcome.output + (fs::exists(pair.folder / "a.nii.gz") ? ReadText(pair.folder / "a.nii.gz") : "");
      EXPECT_TRUE(bytes.empty() || bytes == result) << arguments;
      bytes = result;
    }
  }
}

TEST(Threads, LimitsOfAddressSpaceEndInOneLineOrInTheResult)
{
  const Pair pair("threads-address-space");
  for (const std::string & arguments : SomeRuns(pair.folder))
  {
    for (const rlim_t megabytes : { 80, 110, 130, 180, 400 })
    {
      const Outcome outcome = RunLimited(pair.folder, arguments, [&] { SetLimit(RLIMIT_AS, rlim_t(megabytes) << 20); });
      EXPECT_TRUE(outcome.code == 0 || outcome.code == 1 || outcome.code == 127) // 127: the libraries do not load
        << arguments << " " << megabytes << " MB: " << outcome.code << outcome.errors;
      EXPECT_TRUE(outcome.code != 1 || outcome.ErrorLines() <= 2) << outcome.errors; // fewer threads, and the reason
      EXPECT_EQ(outcome.errors.find("terminate"), std::string::npos) << outcome.errors;
      EXPECT_TRUE(outcome.code != 1 || outcome.errors.rfind("ffdp: ", 0) == 0) << megabytes << outcome.errors;
    }
  }
}

TEST(Threads, StacksOfAnySizeAreGood)
{
  const Pair pair("threads-stacks");
  for (const rlim_t stack : { RLIM_INFINITY, rlim_t(1) << 40, rlim_t(256) << 10 })
  {
    const Outcome outcome =
      RunLimited(pair.folder, SomeRuns(pair.folder).front(), [&] { SetLimit(RLIMIT_STACK, stack); });
    EXPECT_EQ(outcome.code, 0) << stack << outcome.errors;
    EXPECT_EQ(outcome.errors, "");
  }
}
