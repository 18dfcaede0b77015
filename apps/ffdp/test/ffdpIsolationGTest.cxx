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

#include "ffdpCommandError.h"
#include "ffdpInterruption.h"
#include "ffdpSharedBytes.h"

#include "itk_H5Cpp.h"
#include "itkMacro.h"
#include "itkMultiThreaderBase.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace
{

ApartTask
ShortTask()
{
  ApartTask task = ReadingTask("image", "a.nii");
  task.seconds = 1;
  return task;
}

/** What a user would be told. */
std::string
ReasonOf(const std::function<std::string()> & work, const ApartTask & task = ShortTask())
{
  try
  {
    RunApart(task, work);
  }
  catch (const CommandError & error)
  {
    return error.what();
  }
  return "nothing";
}

[[noreturn]] std::string
Crash()
{
  std::raise(SIGSEGV);
  std::abort();
}

} // namespace

TEST(Isolation, GivesBackWhatWasReturned)
{
  EXPECT_EQ(RunApart(ShortTask(), [] { return std::string("a\0b", 3); }), std::string("a\0b", 3));
  EXPECT_EQ(RunApart(ShortTask(), [] { return std::string(); }), "");
  const std::string large(30 << 20, 'x');
  EXPECT_TRUE(RunApart(ShortTask(), [&] { return large; }) == large);
}

TEST(Isolation, ACrashIsAReason)
{
  EXPECT_EQ(ReasonOf([] { return Crash(); }), "image 'a.nii' is damaged: the library that reads it crashed");
  EXPECT_EQ(ReasonOf([]() -> std::string { std::abort(); }),
            "image 'a.nii' is damaged: the library that reads it crashed");
  EXPECT_EQ(ReasonOf([]() -> std::string { std::exit(0); }),
            "image 'a.nii' is damaged: the library that reads it crashed");
  EXPECT_EQ(ReasonOf([] { return Crash(); }, WritingTask("o.h5")),
            "'o.h5' cannot be written: the library that writes it crashed");
}

TEST(Isolation, WhatDoesNotEndIsEnded)
{
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(ReasonOf([]() -> std::string {
              for (volatile int i = 0;; i = i + 1)
              {}
            }),
            "image 'a.nii' is damaged: the library that reads it does not come to an end");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(Isolation, ExceptionsOfAnyTypeAreOneLine)
{
  const std::string failed = "image 'a.nii' cannot be read: ";
  EXPECT_EQ(ReasonOf([]() -> std::string { throw CommandError("image 'b' is bad"); }), "image 'b' is bad");
  EXPECT_EQ(ReasonOf([]() -> std::string { itkGenericExceptionMacro("two\n  lines"); }), failed + "two lines");
  EXPECT_EQ(ReasonOf([]() -> std::string { throw std::runtime_error("it\tis\nso\n"); }), failed + "it is so");
  EXPECT_EQ(ReasonOf([]() -> std::string { throw "text"; }), failed + "text");
  EXPECT_EQ(ReasonOf([]() -> std::string { throw std::string("string"); }), failed + "string");
  EXPECT_EQ(ReasonOf([]() -> std::string { throw H5::FileIException("f", "no file"); }), failed + "no file");
  EXPECT_EQ(ReasonOf([]() -> std::string { throw 7; }), failed + "an error that nothing is known of");
  EXPECT_EQ(ReasonOf([]() -> std::string { throw std::runtime_error(""); }),
            failed + "an error that nothing is known of");
  EXPECT_THROW(RunApart(ShortTask(), []() -> std::string { throw UsageError("so not"); }), UsageError);
  EXPECT_THROW(RunApart(ShortTask(), []() -> std::string { throw Interrupted(); }), Interrupted);
}

TEST(Isolation, MemoryHasABound)
{
  const std::string reason = "image 'a.nii' cannot be read: there is not enough memory for what it says that it holds";
  EXPECT_EQ(ReasonOf([]() -> std::string {
              std::vector<std::vector<char>> all;
              while (true)
              {
                all.emplace_back(100 << 20, 'x');
              }
            }),
            reason);
  EXPECT_EQ(ReasonOf([]() -> std::string { return std::string(std::string().max_size() + 1, 'x'); }), reason);
}

TEST(Isolation, NothingIsPrintedAndNothingStays)
{
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  static int changed = 0;
  RunApart(ShortTask(), [] {
    changed = 1;
    std::cout << "chatter" << std::endl;
    std::cerr << "chatter" << std::endl;
    std::fprintf(stderr, "chatter\n");
    std::atexit([] { std::cerr << "chatter" << std::endl; });
    return std::string();
  });
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(changed, 0);
}

TEST(Isolation, BytesAreShared)
{
  SharedBytes bytes(10 << 20);
  EXPECT_TRUE(std::all_of(bytes.begin(), bytes.end(), [](char byte) { return byte == 0; }));
  RunApart(ShortTask(), [&] {
    std::fill_n(bytes.data(), bytes.size(), 'x');
    return std::string();
  });
  EXPECT_TRUE(std::all_of(bytes.begin(), bytes.end(), [](char byte) { return byte == 'x'; }));
  SharedBytes other = std::move(bytes);
  EXPECT_EQ(other.size(), std::size_t(10 << 20));
  EXPECT_TRUE(SharedBytes().empty());
  EXPECT_THROW(SharedBytes(~std::size_t(0)), std::bad_alloc);
}

TEST(Isolation, WorkWithinWorkIsDone)
{
  EXPECT_EQ(RunApart(ShortTask(), [] { return RunApart(ShortTask(), [] { return std::string("in"); }); }), "in");
}

TEST(Isolation, ThreadsAtATimeDoNotMeet)
{
  std::vector<std::thread> threads;
  std::atomic<int>         right{ 0 };
  for (int t = 0; t < 4; ++t)
  {
    threads.emplace_back([&right, t] {
      for (int i = 0; i < 10; ++i)
      {
        const std::string text(std::size_t(1000 * i), char('a' + t));
        right += RunApart(ShortTask(), [&] { return text; }) == text ? 1 : 0;
      }
    });
  }
  for (std::thread & thread : threads)
  {
    thread.join();
  }
  EXPECT_EQ(right, 40);
}

TEST(Isolation, IsDoneHereWhereNoProcessCanBeStarted)
{
  if (getuid() == 0 && setresuid(65534, 65534, 0) != 0)
  {
    GTEST_SKIP() << "the limit does not hold for this user";
  }
  rlimit before{};
  getrlimit(RLIMIT_NPROC, &before);
  rlimit none = before;
  none.rlim_cur = 0;
  setrlimit(RLIMIT_NPROC, &none);
  testing::internal::CaptureStderr();
  static int        changed = 0;
  std::string       result;
  const std::string reason = [&] {
    result = RunApart(ShortTask(), [] {
      changed = 1;
      std::cerr << "chatter" << std::endl;
      return std::string("here");
    });
    return ReasonOf([]() -> std::string { throw "text"; });
  }();
  const std::string printed = testing::internal::GetCapturedStderr();
  setrlimit(RLIMIT_NPROC, &before);
  if (getuid() != 0)
  {
    (void)!setresuid(0, 0, 0);
  }
  EXPECT_EQ(result, "here");
  EXPECT_EQ(changed, 1);
  EXPECT_EQ(reason, "image 'a.nii' cannot be read: text");
  EXPECT_EQ(printed, "");
}

TEST(Isolation, ASignalOfTheUserEndsTheWait)
{
  EXPECT_EXIT(
    {
      CatchInterruptions();
      std::thread later([] {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        kill(getpid(), SIGTERM);
      });
      try
      {
        RunApart(WritingTask("o.h5"), []() -> std::string {
          while (true)
          {
            pause();
          }
        });
      }
      catch (const Interrupted &)
      {
        later.join();
        _exit(42);
      }
    },
    testing::ExitedWithCode(42),
    "");
}
