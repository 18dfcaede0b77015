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
#include "ffdpLeftovers.h"

#include "ffdpFileExchange.h"
#include "ffdpFileLock.h"
#include "ffdpOutputFiles.h"
#include "ffdpOutputTestSupport.h"

using namespace programtest;

namespace
{

/** What a killed process left: a private folder with these files, and perhaps a journal. Returns its path. */
std::string
LeaveFolder(const std::string &                                      folder,
            const RunMark &                                          mark,
            const std::vector<std::pair<std::string, std::string>> & files,
            const std::string &                                      name = ".ffdp-AbCd12")
{
  const std::string path = folder + "/" + name;
  mkdir(path.c_str(), 0700);
  std::ofstream(path + "/lock") << ffdp::LockHolder::ThisProcess(mark.Text()).Bytes();
  for (const auto & file : files)
  {
    std::ofstream(path + "/" + file.first, std::ios::binary) << file.second;
  }
  return path;
}

FileExchange
TwoFiles(const RunMark & mark, const std::string & folder)
{
  FileExchange exchange;
  exchange.run = mark.run;
  exchange.folders = { folder + "/.ffdp-AbCd12" };
  exchange.steps = { { 0, "1.txt", "out_a.txt", "" }, { 0, "2.txt", "out_b.txt", "" } };
  return exchange;
}

} // namespace

TEST(Leftovers, PlantedJournalsAreNotExecuted)
{
  const SharedFolder shared("planted");
  char               host[256] = "";
  gethostname(host, sizeof(host) - 1);
  const std::string evil = shared.out + "/evil", bashrc = shared.victims + "/bashrc",
                    important = shared.victims + "/important.txt";
  const std::string start = shared.out + "/.ffdp-" + host + "-";
  const std::string zero(1, '\0');
  std::ofstream(start + "99999999-x.ffdp-journal", std::ios::binary) << zero + important + zero;
  std::ofstream(start + "99999998-y.ffdp-journal", std::ios::binary) << evil + zero + bashrc + zero;
  // as this program makes them now, but for rights, names and the user
  const RunMark mark = RunMark::Make("r_");
  FileExchange  exchange;
  exchange.run = mark.run;
  exchange.folders = { shared.out + "/.ffdp-AbCd12", shared.victims + "/.ffdp-AbCd12" };
  exchange.steps = { { 0, "", "../victims/important.txt", "" }, { 0, "1", bashrc, "" }, { 1, "1", "bashrc", "" } };
  LeaveFolder(shared.out, mark, { { "1", "evil" }, { "journal", WriteJournal(exchange) } });
  exchange.steps.resize(0);
  exchange.steps.push_back({ 0, "1", "r_Warped.nii.gz", "" });
  exchange.folders.resize(1);
  const auto open =
    LeaveFolder(shared.out, mark, { { "1", "evil" }, { "journal", WriteJournal(exchange) } }, ".ffdp-AbCd13");
  chmod(open.c_str(), 0777);
  if (geteuid() == 0)
  {
    const auto foreign =
      LeaveFolder(shared.out, mark, { { "1", "evil" }, { "journal", WriteJournal(exchange) } }, ".ffdp-AbCd14");
    EXPECT_EQ(chown(foreign.c_str(), 65534, 65534), 0);
  }
  fs::create_directory_symlink(shared.victims, shared.out + "/.ffdp-AbCd15");
  const auto expect = [&](const Outcome & outcome) {
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    shared.ExpectVictims();
    EXPECT_TRUE(fs::exists(evil));
    EXPECT_NE(ReadText(shared.out + "/r_Warped.nii.gz"), "evil");
  };
  expect(RunProgram(shared.folder, shared.Apply()));
  expect(RunProgram(shared.folder, shared.Register(shared.out + "/r_")));
  EXPECT_EQ(NamesIn(shared.victims), (Names{ "bashrc", "important.txt" }));
}

TEST(Leftovers, TwoRunsDoNotShareAPrefix)
{
  const SharedFolder shared("prefix");
  const std::string  prefix = shared.out + "/r_";
  Background         first(shared.folder, LongRegistration(shared, prefix));
  ASSERT_TRUE(HasBegun(shared));
  first.Send(SIGSTOP);
  const Outcome second = RunProgram(shared.folder, shared.Register(prefix));
  ExpectOneLine(second, "'" + prefix + "' is in use by process " + first.Number() + " of host '");
  EXPECT_EQ(second.output, "");
  EXPECT_EQ(RunProgram(shared.folder, shared.Register(shared.out + "/other_")).code, 0);
  EXPECT_EQ(RunProgram(shared.folder, shared.Apply()).code, 0);
  first.Send(SIGCONT);
  first.Send(SIGKILL);
  EXPECT_EQ(first.Wait(60), -SIGKILL);
  EXPECT_EQ(RunProgram(shared.folder, shared.Register(prefix)).code, 0);
  for (const std::string & name : NamesIn(shared.out))
  {
    EXPECT_NE(name[0], '.') << name;
  }
}

TEST(Leftovers, TwoRunsDoNotShareACheckpoint)
{
  const SharedFolder shared("checkpoint");
  const std::string  kept = " --checkpoint " + (shared.folder / "state");
  Background         first(shared.folder, LongRegistration(shared, shared.out + "/r_") + kept);
  ASSERT_TRUE(HasBegun(shared));
  const Outcome second = RunProgram(shared.folder, shared.Register(shared.out + "/other_") + kept);
  ExpectOneLine(second, "is in use by process " + first.Number());
  EXPECT_EQ(NamesIn(shared.folder / "state"), Names{ "ffdp-lock" });
}

TEST(Leftovers, WhatAKilledRunLeftIsRemovedByAnyOther)
{
  const SharedFolder shared("leftovers");
  LeaveFolder(shared.out, {}, { { "1.nii.gz", "half" }, { "1.nii.gz.header.nii", "half" } });
  LeaveFolder(shared.out, RunMark::Make("other_"), { { "1.nii.gz", "half" } }, ".ffdp-AbCd13");
  mkdir((shared.out + "/.ffdp-AbCd14").c_str(), 0700); // killed before it was locked
  std::ofstream(shared.out + "/" + LockNameOf("third_")) << ffdp::LockHolder::ThisProcess("third_").Bytes();
  const auto not_ours = LeaveFolder(shared.out, {}, {}, ".ffdp-AbCd15");
  std::ofstream(not_ours + "/lock") << "mine";
  EXPECT_EQ(RunProgram(shared.folder, shared.Apply()).code, 0);
  EXPECT_EQ(NamesIn(shared.out), (Names{ ".ffdp-AbCd15", "a.nii.gz", "evil" }));
}

TEST(Leftovers, AProbeThatIsKilledLeavesNothingForEver)
{
  const SharedFolder shared("probe");
  const pid_t        child = fork();
  if (child == 0)
  {
    const TemporaryFile probe(shared.out + "/a.nii.gz");
    std::ofstream(probe.Name()) << "half";
    kill(getpid(), SIGKILL);
  }
  waitpid(child, nullptr, 0);
  EXPECT_EQ(NamesIn(shared.out).size(), 2u);
  EXPECT_EQ(RunProgram(shared.folder, shared.Apply()).code, 0);
  EXPECT_EQ(NamesIn(shared.out), (Names{ "a.nii.gz", "evil" }));
}

TEST(Leftovers, AnExchangeIsFinishedByTheNextRunOfItsPrefix)
{
  const SharedFolder shared("finish");
  const RunMark      mark = RunMark::Make("out_");
  const auto         write = [&](const std::string & name, const std::string & text) {
    std::ofstream(shared.out + "/" + name) << text;
  };
  const auto finish = [&](const std::string & prefix) {
    const auto      self = ffdp::MakeSelfCommunicator();
    const OutputSet set(shared.out + "/" + prefix, *self);
  };
  // killed when one of two had arrived
  write("out_a.txt", "new");
  LeaveFolder(shared.out,
              mark,
              { { "2.txt", "new" },
                { "old-0", "old" },
                { "old-1", "old" },
                { "journal", WriteJournal(TwoFiles(mark, shared.out)) } });
  finish("other_");
  EXPECT_EQ(NamesIn(shared.out), (Names{ ".ffdp-AbCd12", "evil", "out_a.txt" }));
  finish("out_");
  EXPECT_EQ(NamesIn(shared.out), (Names{ "evil", "out_a.txt", "out_b.txt" }));
  EXPECT_EQ(ReadText(shared.out + "/out_a.txt") + ReadText(shared.out + "/out_b.txt"), "newnew");

  // since then, somebody wrote one of them
  write("out_b.txt", "newer");
  fs::remove(shared.out + "/out_a.txt");
  LeaveFolder(shared.out,
              mark,
              { { "1.txt", "stale" }, { "2.txt", "stale" }, { "journal", WriteJournal(TwoFiles(mark, shared.out)) } });
  finish("out_");
  EXPECT_EQ(ReadText(shared.out + "/out_b.txt"), "newer");
  EXPECT_EQ(NamesIn(shared.out), (Names{ "evil", "out_a.txt", "out_b.txt" }));
}

TEST(Leftovers, AJournalThatIsDamagedIsNoJournal)
{
  const RunMark     mark = RunMark::Make("out_");
  const std::string whole = WriteJournal(TwoFiles(mark, "/folder"));
  ASSERT_TRUE(ParseJournal(whole));
  EXPECT_EQ(ParseJournal(whole)->steps.at(1).name, "out_b.txt");
  for (std::size_t i = 0; i < whole.size(); ++i)
  {
    EXPECT_FALSE(ParseJournal(whole.substr(0, i))) << i;
    std::string changed = whole;
    changed[i] = char(changed[i] ^ 1);
    EXPECT_FALSE(ParseJournal(changed)) << i;
  }
  for (const char * name : { "/etc/passwd", "../a", "..", "", ".ffdp-abcdef" })
  {
    FileExchange exchange = TwoFiles(mark, "/folder");
    exchange.steps[0].name = name;
    EXPECT_FALSE(ParseJournal(WriteJournal(exchange))) << name;
  }
  FileExchange exchange = TwoFiles(mark, "/folder");
  exchange.steps[0].folder = 1;
  EXPECT_FALSE(ParseJournal(WriteJournal(exchange)));
}

TEST(Leftovers, OutputsInSeveralFoldersAppearTogether)
{
  const SharedFolder shared("folders");
  const std::string  elsewhere = shared.folder / "elsewhere";
  const auto         self = ffdp::MakeSelfCommunicator();
  const pid_t        child = fork(); // killed when nothing is renamed yet, but all is to be
  if (child == 0)
  {
    OutputSet set(shared.out + "/out_", *self);
    WriteText("new", shared.out + "/out_a.txt");
    WriteText("new", elsewhere + "/b.txt");
    kill(getpid(), SIGKILL);
  }
  waitpid(child, nullptr, 0);
  const auto privateIn = [](const std::string & folder) {
    for (const std::string & name : NamesIn(folder))
    {
      if (name.size() == 12 && name[0] == '.')
      {
        return folder + "/" + name;
      }
    }
    return std::string();
  };
  FileExchange exchange;
  exchange.folders = { privateIn(shared.out), privateIn(elsewhere) };
  exchange.run = RunMark::Parse(ffdp::LockHolder::Parse(ReadText(exchange.folders[0] + "/lock")).text).run;
  exchange.steps = { { 0, "1.txt", "out_a.txt", "" }, { 1, "1.txt", "b.txt", "" } };
  std::ofstream(exchange.folders[0] + "/journal", std::ios::binary) << WriteJournal(exchange);
  WriteText("text", elsewhere + "/c.txt"); // does not remove what a journal elsewhere needs
  EXPECT_TRUE(fs::exists(exchange.folders[1] + "/1.txt"));
  {
    const OutputSet set(shared.out + "/out_", *self);
  }
  EXPECT_EQ(NamesIn(elsewhere), (Names{ "b.txt", "c.txt" }));
  EXPECT_EQ(NamesIn(shared.out), (Names{ "evil", "out_a.txt" }));
  EXPECT_EQ(ReadText(elsewhere + "/b.txt"), "new");
}
