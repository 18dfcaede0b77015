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

using namespace programtest;

TEST(SharedOptions, EveryCommandTellsItsVersionAndHelp)
{
  const Folder      folder("shared-version");
  const std::string version = RunProgram(folder, "--version").output;
  EXPECT_EQ(version.rfind("ffdp ", 0), 0u) << version;
  for (const char * command :
       { "register", "plan", "apply", "evaluate", "synthesize", "compose", "invert", "jacobian", "info", "bench" })
  {
    const Outcome told = RunProgram(folder, command + std::string(" --version"));
    EXPECT_EQ(told.code, 0) << command << told.errors;
    EXPECT_EQ(told.output, version) << command;
    const Outcome help = RunProgram(folder, command + std::string(" -h"));
    EXPECT_EQ(help.code, 0) << command;
    EXPECT_NE(help.output.find("--quiet"), std::string::npos) << command;
  }
}

TEST(SharedOptions, QuietCommandsPrintOnlyWhatWasAskedFor)
{
  const Pair        pair("shared-quiet");
  const std::string image = pair.folder / "fixed.nii.gz", field = pair.folder / "field.nii.gz";
  ASSERT_EQ(RunProgram(pair.folder, "compose -q --threads 2 -t identity -r " + image + " -o " + field).code, 0);
  for (const std::string & arguments :
       { "apply -i " + image + " -r " + image + " -t identity -o " + (pair.folder / "a.nii"),
         "compose -r " + image + " -t identity -o " + (pair.folder / "c.nii"),
         "invert -t " + field + " -o " + (pair.folder / "i.nii"),
         "jacobian -t " + field + " -o " + (pair.folder / "j.nii"),
         "synthesize --head --size 9 9 9 -o " + (pair.folder / "s.nii") })
  {
    for (const char * quiet : { " -q", " --quiet --threads 1" })
    {
      const Outcome outcome = RunProgram(pair.folder, arguments + quiet);
      EXPECT_EQ(outcome.code, 0) << outcome.errors;
      EXPECT_EQ(outcome.output + outcome.errors, "") << arguments;
    }
  }
  const Outcome scores = RunProgram(pair.folder, "evaluate -q --fixed " + image + " --moved " + image);
  EXPECT_NE(scores.output.find("NCC"), std::string::npos) << scores.errors;
}

TEST(SharedOptions, ThreadsAreCountedByAll)
{
  const Folder folder("shared-threads");
  EXPECT_NE(RunProgram(folder, "info --threads 3").output.find("cpu: 3 threads"), std::string::npos);
  EXPECT_NE(RunProgram(folder, "bench --size 16 --repeats 1 --threads 3").output.find("3 threads"), std::string::npos);
}

TEST(SharedOptions, NamesMayBeginWithABracket)
{
  const Pair        pair("shared-bracket");
  const std::string cd = "info >/dev/null; cd " + pair.folder.path.string() + " && " + FFDP_PROGRAM + " ";
  fs::rename(pair.folder / "fixed.nii.gz", pair.folder / "[a.nii.gz");
  fs::copy_file(pair.folder / "[a.nii.gz", pair.folder / "[a,b].nii.gz");
  for (const char * arguments : { "evaluate --fixed '[a.nii.gz' --moved '[a,b].nii.gz'",
                                  "apply -i '[a.nii.gz' -r '[a,b].nii.gz' -t identity -o '[o].nii.gz'",
                                  "compose -r '[a,b].nii.gz' -t identity -o '[w.nii.gz'",
                                  "apply -i '[a.nii.gz' -r '[a.nii.gz' -t '[w.nii.gz' identity -o '[p.nii.gz'",
                                  "invert -t '[w.nii.gz' -o '[i.nii.gz'",
                                  "evaluate --warp '[i.nii.gz'",
                                  "plan -t rigid -f '[a.nii.gz' -m '[a,b].nii.gz'" })
  {
    const Outcome outcome = RunProgram(pair.folder, cd + arguments);
    EXPECT_EQ(outcome.code, 0) << arguments << ": " << outcome.errors;
  }
  EXPECT_TRUE(fs::exists(pair.folder / "[o].nii.gz"));
}

TEST(SharedOptions, AnOptionIsNotTakenForAName)
{
  const Pair    pair("shared-names");
  const Outcome outcome = RunProgram(pair.folder,
                                     "register -q -p fast -f " + (pair.folder / "fixed.nii.gz") + " -m " +
                                       (pair.folder / "moving.mha") + " -o --composite");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.errors, "ffdp: --output needs a value; '--composite' is an option (see ffdp register --help)\n");
  EXPECT_FALSE(fs::exists("--composite0GenericAffine.mat"));
}
