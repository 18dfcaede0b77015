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
#include "ffdpOutputTestSupport.h"

using namespace programtest;

/** The shell makes links of the names that this very process would use, if its names could be known. */

TEST(OutputSafety, LinksAtTemporaryNamesAreNotFollowed)
{
  const SharedFolder shared("links");
  const std::string  command = "ln -s " + shared.victims + "/bashrc " + shared.out +
                              "/.ffdp-$(hostname)-$$-a.nii.gz; exec " + FFDP_PROGRAM + " " + shared.Apply();
  EXPECT_EQ(std::system(("sh -c '" + command + "'").c_str()), 0);
  shared.ExpectVictims();
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(shared.out + "/a.nii.gz")));

  const std::string state = shared.folder / "state";
  const auto run = shared.Register(shared.out + "/r_") + " -t rigid --checkpoint " + state + " --checkpoint-seconds 0";
  for (const char * name : { "/ffdp-state.unfinished", "/ffdp-probe" })
  {
    for (const bool soft : { true, false })
    {
      fs::remove_all(state);
      fs::create_directories(state);
      soft ? fs::create_symlink(shared.victims + "/bashrc", state + name)
           : fs::create_hard_link(shared.victims + "/bashrc", state + name);
      const Outcome outcome = RunProgram(shared.folder, run);
      EXPECT_EQ(outcome.code, 0) << outcome.errors;
      shared.ExpectVictims();
      EXPECT_TRUE(NamesIn(state).empty()) << name;
    }
  }
  for (const char * name : { "/ffdp-state", "/ffdp-lock" })
  {
    fs::create_symlink(shared.victims + "/bashrc", state + name);
    const Outcome outcome = RunProgram(shared.folder, run);
    ExpectOneLine(outcome, "it is a link");
    shared.ExpectVictims();
    fs::remove(state + name);
  }
}

TEST(OutputSafety, AFileThatIsTooLongForALimitIsOneLine)
{
  const SharedFolder shared("limit");
  std::signal(SIGXFSZ, SIG_DFL); // parts of the program that ran in this process may have ignored it
  for (const std::string & arguments :
       { shared.Apply("a.nii.gz"), shared.Apply("a.mha"), shared.Register(shared.out + "/r_") })
  {
    const std::string command = "ulimit -f 20; " + std::string(FFDP_PROGRAM) + " " + arguments + " >" +
                                (shared.folder / "stdout") + " 2>" + (shared.folder / "stderr");
    const int status = std::system(command.c_str());
    EXPECT_EQ(status, 1 << 8) << arguments;
    const std::string errors = ReadText(shared.folder / "stderr");
    EXPECT_EQ(std::count(errors.begin(), errors.end(), '\n'), 1) << errors;
    EXPECT_NE(errors.find("File too large"), std::string::npos) << errors;
    EXPECT_EQ(NamesIn(shared.out), Names{ "evil" });
  }
}

TEST(OutputSafety, OutputsAreTriedBeforeTheWork)
{
  const SharedFolder shared("tried");
  const auto         refused = [&](const std::string & prefix, const std::string & reason) {
    // a missing image would be found next
    const Outcome outcome = RunProgram(shared.folder, "register -f missing.nii -m missing.nii -t rigid -o " + prefix);
    ExpectOneLine(outcome, reason);
  };
  refused("/proc/nope/x_", "the folder '/proc/nope' cannot be made");
  refused("/proc/x_", "the folder '/proc' is not writable");
  const std::string longest = "InverseWarped.nii.gz";
  const std::string prefix = shared.out + "/" + std::string(255 - longest.size(), 'x');
  refused(prefix + "x", "File name too long");
  refused(shared.out + "/new/er/r_", "does not exist");
  EXPECT_EQ(NamesIn(shared.out), Names{ "evil" }); // also what was made
  const Outcome outcome = RunProgram(shared.folder, shared.Register(prefix) + " -t rigid");
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_TRUE(fs::exists(prefix + longest));
}

TEST(OutputSafety, ACheckpointThatCannotBeRemovedIsANote)
{
  const SharedFolder shared("stays");
  fs::create_directories(shared.folder / "state/ffdp-state.unfinished/something");
  const Outcome outcome =
    RunProgram(shared.folder, shared.Register(shared.out + "/r_") + " --checkpoint " + (shared.folder / "state"));
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_NE(outcome.output.find("note: the checkpoint could not be removed"), std::string::npos) << outcome.output;
  EXPECT_TRUE(fs::exists(shared.out + "/r_1Warp.nii.gz"));
}

TEST(OutputSafety, ASignalEndsARunThatWaitsForAFile)
{
  const SharedFolder shared("fifo");
  const std::string  pipe = shared.folder / "pipe.mat";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  Background run(shared.folder, shared.Register(shared.out + "/new/r_") + " -r " + pipe);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  run.Send(SIGTERM);
  const int code = run.Wait(20);
  EXPECT_TRUE(code == -SIGTERM || code == 130 || code == 1) << code; // 1: refused before
  EXPECT_EQ(NamesIn(shared.out), Names{ "evil" });
}

TEST(OutputSafety, AHangupEndsLikeAnInterruption)
{
  const SharedFolder shared("hangup");
  for (const int signal : { SIGHUP, SIGQUIT, SIGPIPE })
  {
    fs::remove(shared.folder / "log");
    Background run(shared.folder, LongRegistration(shared, shared.out + "/r_"));
    ASSERT_TRUE(HasBegun(shared));
    run.Send(signal);
    EXPECT_EQ(run.Wait(60), signal == SIGHUP ? 130 : -signal);
    EXPECT_EQ(NamesIn(shared.out), Names{ "evil" }) << signal;
  }
}

/** Images whose voxels are in other files than the one that is named. */

TEST(OutputSafety, VoxelsOfInputsAreNotOverwritten)
{
  const SharedFolder shared("data-files");
  const Folder &     folder = shared.folder;
  Write(MakeImage(0, 0.1, 0), folder / "m.mhd");
  Write(MakeImage(0, 0.1, 0), folder / "n.nhdr");
  Write(MakeImage(0, 0.1, 0), folder / "p.img");
  fs::rename(folder / "m.raw", folder / "m.mha"); // names that images have, too
  std::string header = ReadText(folder / "m.mhd");
  header.replace(header.find("m.raw"), 5, "m.mha");
  std::ofstream(folder / "m.mhd") << header;
  header = ReadText(folder / "n.nhdr");
  const auto        at = header.find("data file: ") + 11;
  const std::string data = header.substr(at, header.find('\n', at) - at);
  fs::rename(folder / data, folder / "n.nrrd");
  header.replace(at, data.size(), "n.nrrd");
  std::ofstream(folder / "n.nhdr") << header;
  Write(MakeImage(0, 0.1, 0), folder / "s001.mha"); // slices are not looked at: only their names matter
  std::ofstream(folder / "list.mhd") << "NDims = 3\nDimSize = 2 2 1\nElementType = MET_UCHAR\nElementDataFile = LIST\n"
                                        "s001.mha\n";
  std::ofstream(folder / "pattern.mhd") << "NDims = 3\nDimSize = 2 2 1\nElementType = MET_UCHAR\n"
                                           "ElementDataFile = s%03d.mha 1 1 1\n";
  const std::pair<std::string, std::string> pairs[] = {
    { "m.mhd", "m.mha" }, { "n.nhdr", "n.nrrd" }, { "list.mhd", "s001.mha" }, { "pattern.mhd", "s001.mha" }
  };
  for (const auto & pair : pairs)
  {
    const std::string input = folder / pair.first, output = folder / pair.second, before = ReadText(output);
    for (const std::string & arguments :
         { "apply -i " + input + " -r " + shared.image + " -t identity -o " + output,
           "apply -i " + shared.image + " -r " + input + " -t identity -o " + output,
           "synthesize --labels " + input + " -o " + output,
           "register -f " + input + " -m " + shared.image + " -o " + shared.out + "/r_ --log-json " + output,
           "evaluate --fixed " + input + " --moved " + input + " --json " + output })
    {
      const Outcome outcome = RunProgram(folder, arguments);
      EXPECT_EQ(outcome.code, 2) << arguments << outcome.errors;
      EXPECT_NE(outcome.errors.find("is an input"), std::string::npos) << arguments << outcome.errors;
      EXPECT_TRUE(ReadText(output) == before) << arguments;
    }
  }
  const Outcome outcome = RunProgram(folder,
                                     "evaluate --fixed " + (folder / "p.hdr") + " --moved " + (folder / "p.hdr") +
                                       " --json " + (folder / "p.img"));
  EXPECT_EQ(outcome.code, 2) << outcome.errors;
}
