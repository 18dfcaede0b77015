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
#include "ffdpOutputNames.h"

#include "ffdpOutputFiles.h"
#include "ffdpTransformTestSupport.h"

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

using namespace programtest;

namespace
{

/** An image, a field, a transform and points, and streams of a folder of its own: a test that fails as root must not
 * replace those of the machine. */
struct Streams
{
  Folder      folder;
  std::string image, field, affine, points;

  explicit Streams(const std::string & name)
    : folder(name)
    , image(folder / "image.nii.gz")
    , field(folder / "field.nii.gz")
    , affine(folder / "affine.mat")
    , points(folder / "points.csv")
  {
    Write(MakeImage(0, 0.1, 0), image);
    Write(MakeField(MakeImage(0, 0.1, 0), 2), field);
    WriteTransform(MakeAffine(0.1), affine);
    std::ofstream(points) << "x,y,z\n1,2,3\n";
  }

  std::string
  MakePipe(const std::string & name) const
  {
    EXPECT_EQ(mkfifo((folder / name).c_str(), 0600), 0);
    return folder / name;
  }

  /** All commands that write text, without the name of the output. */
  std::vector<std::string>
  TextCommands() const
  {
    return { "evaluate --warp " + field + " --json ",
             "apply -i " + points + " -t " + affine + " -o ",
             "plan -t rigid -f " + image + " -m " + image + " --json " };
  }
};

/** Refused in one line that says why, and nothing was printed before. */
void
ExpectRefused(const Outcome & outcome, const std::string & reason)
{
  EXPECT_NE(outcome.code, 0);
  EXPECT_EQ(outcome.output, "");
  EXPECT_EQ(outcome.ErrorLines(), 1) << outcome.errors;
  EXPECT_NE(outcome.errors.find(reason), std::string::npos) << outcome.errors;
}

} // namespace

TEST(OutputNames, TextGoesThroughPipes)
{
  const Streams streams("pipes");
  const auto    pipe = streams.MakePipe("pipe");
  const int     reader = open(pipe.c_str(), O_RDWR | O_NONBLOCK); // nobody waits for the other
  for (const std::string & command : streams.TextCommands())
  {
    const Outcome outcome = RunProgram(streams.folder, command + pipe);
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    EXPECT_TRUE(fs::is_fifo(pipe)) << command;
    char got[1 << 14] = "";
    EXPECT_GT(read(reader, got, sizeof(got)), 0) << command;
  }
  close(reader);
}

TEST(OutputNames, TextGoesToDevices)
{
  const Streams     streams("devices");
  const std::string null = streams.folder / "null";
  if (mknod(null.c_str(), S_IFCHR | 0600, makedev(1, 3)) != 0 || !std::ofstream(null))
  {
    GTEST_SKIP() << "a device cannot be made here";
  }
  fs::create_symlink("null", streams.folder / "link");
  for (const std::string & command : streams.TextCommands())
  {
    const Outcome outcome = RunProgram(streams.folder, command + (streams.folder / "link"));
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    EXPECT_TRUE(fs::is_symlink(streams.folder / "link")) << command;
    EXPECT_TRUE(fs::is_character_file(null)) << command;
  }
}

/** As with --json /dev/stdout > file: what is printed and the text come one after the other. */
TEST(OutputNames, TextFollowsWhatWasPrinted)
{
  const Streams     streams("stdout");
  const std::string link = streams.folder / "link";
  fs::create_symlink("/proc/self/fd/1", link);
  EXPECT_EQ(DescriptorOf(link), 1);
  const Outcome outcome = RunProgram(streams.folder, "evaluate --warp " + streams.field + " --json " + link);
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(outcome.output.rfind("Jacobian determinant", 0), 0u) << outcome.output;
  const auto json = outcome.output.find('{');
  ASSERT_NE(json, std::string::npos) << outcome.output;
  EXPECT_TRUE(nlohmann::json::parse(outcome.output.substr(json)).contains("warp"));
}

TEST(OutputNames, ImagesAndTransformsDoNotReplaceStreams)
{
  const Streams     streams("refused");
  const std::string out = streams.folder / "out_", reason = "is a device, a pipe";
  const auto        image = streams.MakePipe("pipe.nii.gz"), transform = streams.MakePipe("pipe.mat");
  fs::create_symlink("pipe.nii.gz", streams.folder / "link.nii.gz");
  const std::string link = streams.folder / "link.nii.gz";
  const auto        warped = streams.MakePipe("out_Warped.nii.gz");
  for (const std::string & arguments :
       { "apply -i " + streams.image + " -r " + streams.image + " -t " + streams.affine + " -o " + link,
         "compose -t " + streams.field + " -r " + streams.image + " -o " + image,
         "invert -t " + streams.affine + " -o " + transform,
         "jacobian -t " + streams.field + " -o " + image,
         "synthesize --head --spacing 16 -o " + out + "a.nii.gz --labels-out " + image,
         "register -f " + streams.image + " -m " + streams.image + " -t rigid -o " + out })
  {
    ExpectRefused(RunProgram(streams.folder, arguments), reason);
  }
  for (const std::string & pipe : { image, transform, warped })
  {
    EXPECT_TRUE(fs::is_fifo(pipe)) << pipe;
  }
}

TEST(OutputNames, LinksStayAndWhatTheyLeadToIsWritten)
{
  const Streams streams("links");
  fs::create_directories(streams.folder / "there");
  WriteText("old", streams.folder / "there/old"); // an ending of its own would say another format
  fs::create_symlink("there/old", streams.folder / "middle");
  fs::create_symlink("middle", streams.folder / "old.nii.gz");
  fs::create_symlink("there/new", streams.folder / "new.nii.gz"); // nothing is there yet
  for (const std::string name : { "old", "new" })
  {
    const std::string link = streams.folder / (name + ".nii.gz");
    const Outcome     outcome = RunProgram(streams.folder, "jacobian -t " + streams.field + " -o " + link);
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    EXPECT_TRUE(fs::is_symlink(link)) << name;
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(streams.folder / ("there/" + name)))) << name;
    EXPECT_EQ(Read(link)->GetBufferedRegion(), Read(streams.image)->GetBufferedRegion());
  }
  EXPECT_TRUE(fs::is_symlink(streams.folder / "middle"));
  EXPECT_EQ(std::distance(fs::directory_iterator(streams.folder / "there"), fs::directory_iterator()), 2);
}

TEST(OutputNames, WhereALinkLeadsIsCheckedBeforeTheWork)
{
  const Pair pair("blind-link");
  std::ofstream(pair.folder / "file") << "no folder";
  fs::create_symlink("file/warp.nii.gz", pair.folder / "out_1Warp.nii.gz");
  ExpectRefused(RunProgram(pair.folder, pair.Arguments() + " -p fast --threads 1"), "is not a folder");
  EXPECT_TRUE(fs::is_symlink(pair.folder / "out_1Warp.nii.gz"));
}

TEST(OutputNames, LinksInACircleAreRefused)
{
  const Streams streams("circle");
  fs::create_symlink("b.mha", streams.folder / "a.mha");
  fs::create_symlink("a.mha", streams.folder / "b.mha");
  ExpectRefused(RunProgram(streams.folder, "jacobian -t " + streams.field + " -o " + (streams.folder / "a.mha")),
                "a.mha' is");
  EXPECT_TRUE(fs::is_symlink(streams.folder / "a.mha"));
}

TEST(OutputNames, InputsAreNotOverwritten)
{
  const Streams streams("inputs");
  Write(MakeImage(0, 0, 1), streams.folder / "out_Warped.nii.gz");
  Write(MakeImage(0, 0, 1), streams.folder / "target.nii.gz");
  fs::create_symlink("target.nii.gz", streams.folder / "out_InverseWarped.nii.gz");
  fs::create_symlink("image.nii.gz", streams.folder / "link.nii.gz");
  const std::string &image = streams.image, &field = streams.field, &affine = streams.affine, &points = streams.points;
  const std::string  link = streams.folder / "link.nii.gz", inverted = " -t '[" + affine + ",1]' ";
  const std::string  target = streams.folder / "target.nii.gz", out = " -t rigid -o " + (streams.folder / "out_");
  const std::string  before = ReadText(image), fieldBefore = ReadText(field), affineBefore = ReadText(affine),
                    targetBefore = ReadText(target);
  for (const std::string & arguments :
       { "apply -i " + image + " -r " + target + inverted + "-o " + link,
         "apply -i " + target + " -r " + image + inverted + "-o " + image,
         "apply -i " + points + " -t " + affine + " -o " + points,
         "apply -i " + points + inverted + "-o " + affine,
         "compose -r " + image + " -t " + field + inverted + "-o " + field,
         "compose" + inverted + "-o " + affine,
         "invert -t " + field + " -o " + field,
         "invert" + inverted + "-o " + affine,
         "jacobian -t " + field + " -o " + field,
         "jacobian" + inverted + "-r " + image + " -o " + link,
         "evaluate --fixed " + image + " --moved " + image + " --json " + link,
         "evaluate --fixed-points " + points + " --moving-points " + points + inverted + "--json " + affine,
         "synthesize --labels " + image + " -o " + (streams.folder / "made.nii.gz") + " --labels-out " + image,
         "plan -t rigid -f " + image + " -m " + image + " --json " + image,
         "register -f " + image + " -m " + image + out + "new_ --log-json " + link,
         "register -f " + image + " -m " + (streams.folder / "out_Warped.nii.gz") + out,
         "register -f " + image + " -m " + target + out })
  {
    const Outcome outcome = RunProgram(streams.folder, arguments);
    EXPECT_EQ(outcome.code, 2) << arguments;
    ExpectRefused(outcome, "' is an input: take another name for the output");
  }
  EXPECT_TRUE(ReadText(image) == before && ReadText(field) == fieldBefore);
  EXPECT_TRUE(ReadText(affine) == affineBefore && ReadText(target) == targetBefore);
  EXPECT_EQ(ReadText(points), "x,y,z\n1,2,3\n");
}

TEST(OutputNames, TheLogIsAnOutputLikeOthers)
{
  const Pair        pair("log-name");
  const std::string still = pair.Arguments() + " -q --transform 'Rigid[]' --metric MI --convergence 0 --log-json ",
                    page = pair.folder / "out_report.html";
  ExpectRefused(RunProgram(pair.folder, still + page), "out_report.html' is the name of two outputs");
  const Outcome outcome = RunProgram(pair.folder, still + page + " --no-report");
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_TRUE(fs::exists(page)); // not of an earlier run
}

TEST(OutputSet, WhatALinkLeadsToIsNotOutdated)
{
  const Folder folder("linked-set");
  const auto   self = ffdp::MakeSelfCommunicator();
  WriteText("old", folder / "out_a.txt");
  WriteText("old", folder / "out_b.txt");
  fs::create_symlink("out_a.txt", folder / "link.txt");
  OutputSet set(folder / "out_", *self);
  WriteText("new", folder / "link.txt");
  EXPECT_EQ(ReadText(folder / "link.txt"), "old");
  set.Commit({ folder / "out_a.txt", folder / "out_b.txt" });
  EXPECT_EQ(ReadText(folder / "out_a.txt"), "new");
  EXPECT_TRUE(fs::is_symlink(folder / "link.txt"));
  EXPECT_FALSE(fs::exists(folder / "out_b.txt"));
}
