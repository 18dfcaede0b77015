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
#include "ffdpUsage.h"

#include "ffdpProgramTestSupport.h"

using namespace programtest;

namespace
{

/** Wrong usage is one line that begins with the program's name, and code 2. */
void
ExpectUsageError(const Folder & folder, const std::string & arguments, const std::string & expected)
{
  const Outcome outcome = RunProgram(folder, arguments);
  EXPECT_EQ(outcome.code, 2) << arguments;
  EXPECT_EQ(outcome.ErrorLines(), 1) << outcome.errors;
  EXPECT_EQ(outcome.errors.rfind("ffdp: ", 0), 0u) << outcome.errors;
  EXPECT_NE(outcome.errors.find(expected), std::string::npos) << outcome.errors;
}

} // namespace

TEST(Usage, MisspeltCommandsAreNamed)
{
  const Folder folder("usage-commands");
  ExpectUsageError(folder, "regster -f a -m b", "there is no command 'regster'; did you mean 'register'?");
  ExpectUsageError(folder, "dance", "there is no command 'dance'; there are register, plan");
  ExpectUsageError(folder, "", "a command is needed: register, plan");
  EXPECT_EQ(FindNearest("aply", { "register", "apply" }), "apply");
  EXPECT_EQ(FindNearest("dance", { "register", "apply" }), "");
}

TEST(Usage, WrongOptionsAreCodeTwoAndOneLine)
{
  const Folder      folder("usage-options");
  const std::string run = "register -f a -m b -o " + (folder / "x_ "), rigid = run + "-t 'Rigid[0.25]' --metric MI ";
  const struct
  {
    std::string arguments, expected;
  } cases[] = {
    { "register -f a -m b", "--output is required: Prefix of all files written" },
    { run + "--preset slow", "slow" },
    { run + "one two three", "one two three" },
    { run + "--device gpu", "--device" },
    { run + "-t 'BSplineSyN[0.1]'", "no such stage" },
    { rigid + "--convergence -5", "number of iterations '-5'" },
    { "register -f a -o x_", "go together" },
    { "synthesize -o a.nii", "--labels FILE or --head" },
    { "synthesize --head --seed -1 -o a.nii", "--seed" },
    { run + "--checkpoint c --checkpoint-seconds -5", "--checkpoint-seconds" },
    { rigid + "--preset fast", "--preset is about presets" },
    { rigid + "--modality different", "--modality is about presets" },
    { rigid + "--no-moments", "--no-moments is about presets" },
    { rigid + "--restrict-deformation 1x1x0", "no stage deforms" },
    { run + "-t affine --restrict-deformation 1x1x0", "no stage deforms" },
  };
  for (const auto & c : cases)
  {
    ExpectUsageError(folder, c.arguments, c.expected);
  }
}

TEST(Usage, ThreeAxesNeedThreeWeights)
{
  const Pair pair("usage-axes");
  ExpectUsageError(pair.folder, pair.Arguments() + " --restrict-deformation 1x1", "three numbers");
  ExpectUsageError(pair.folder,
                   "plan -f " + (pair.folder / "fixed.nii.gz") + " -m " + (pair.folder / "moving.mha") +
                     " --restrict-deformation 1x0",
                   "three numbers");
}

TEST(Usage, ThreeAxesNeedThreeFactors)
{
  const Pair        pair("usage-factors");
  const std::string stage = " -t 'Greedy[]' --metric CC --convergence 2x2 --shrink-factors ";
  ExpectUsageError(pair.folder,
                   pair.Arguments() + stage + "'[2,2]x1'",
                   "--shrink-factors '[2,2]x1': the images are 3-D, but level 1 is '[2,2]'");
  ExpectUsageError(pair.folder, pair.Arguments() + stage + "'[2,2,1]x[1,1,2]'", "level 2 is '[1,1,2]'");
}

TEST(Usage, ErrorsOfTheLibraryNameTheProgramOnce)
{
  const Pair pair("usage-prefix");
  auto       away = MakeImage(0, 0, 0);
  auto       origin = away->GetOrigin();
  origin[1] += 5000;
  away->SetOrigin(origin);
  Write(away, pair.folder / "away.nii.gz");
  const std::string run = "register -f " + (pair.folder / "fixed.nii.gz") + " -m " + (pair.folder / "away.nii.gz") +
                          " -o " + (pair.folder / "x_");
  const Outcome outcome = RunProgram(pair.folder, run + " --no-moments");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.errors.rfind("ffdp: fixed image '" + (pair.folder / "fixed.nii.gz") + "' and moving image '", 0),
            0u)
    << outcome.errors;
  EXPECT_NE(outcome.errors.find("': the images do not overlap where the stage rigid starts: begin with"),
            std::string::npos)
    << outcome.errors;
}

TEST(Usage, ARunThatWentAstrayIsRefused)
{
  const Pair               pair("usage-astray");
  auto                     bright = MakeImage(0, 0, 0); // the squares are least where none of it is seen
  float * const            voxels = bright->GetBufferPointer();
  const itk::SizeValueType count = bright->GetLargestPossibleRegion().GetNumberOfPixels();
  for (itk::SizeValueType i = 0; i < count; ++i)
  {
    voxels[i] = i < count / 10 ? 0 : 1000;
  }
  Write(bright, pair.folder / "bright.nii.gz");
  const std::string run = "register -f " + (pair.folder / "fixed.nii.gz") + " -m " + (pair.folder / "bright.nii.gz") +
                          " -o " + (pair.folder / "x_");
  const std::string astray = " -t 'Rigid[5]' --metric MeanSquares --convergence 100 --shrink-factors 1 ";
  const Outcome     last = RunProgram(pair.folder, run + astray);
  EXPECT_EQ(last.code, 1);
  EXPECT_NE(last.errors.find("do not overlap where the last stage ended"), std::string::npos) << last.errors;
  const Outcome next = RunProgram(pair.folder, run + astray + "-t 'Affine[1]' --metric MI");
  EXPECT_EQ(next.code, 1);
  EXPECT_NE(next.errors.find("where the stage affine starts: rigid went astray"), std::string::npos) << next.errors;
}

TEST(Usage, ValuesThatCannotBeSquaredAreRefusedWithTheFile)
{
  const Pair pair("usage-huge");
  auto       huge = MakeImage(0, 0, 0);
  huge->GetBufferPointer()[0] = 1e30f;
  Write(huge, pair.folder / "huge.nii.gz");
  const Outcome refused = RunProgram(
    pair.folder, "register -f " + (pair.folder / "fixed.nii.gz") + " -m " + (pair.folder / "huge.nii.gz") + " -o x_");
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.errors.find("huge.nii.gz' has voxels beyond 1e18"), std::string::npos) << refused.errors;
}

TEST(Usage, NotesNameTheStage)
{
  const Pair    pair("usage-notes");
  const Outcome outcome =
    RunProgram(pair.folder, pair.Arguments() + " -t 'Rigid[0.25]' --metric MI --convergence 2 --shrink-factors 1000");
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_NE(outcome.output.find("note: rigid: with a shrink factor of 1000 too little would be left of the image; the "
                                "level has 16x16x16 voxels"),
            std::string::npos)
    << outcome.output;
  const Outcome preset = RunProgram(pair.folder, pair.Arguments() + " -t affine");
  EXPECT_NE(preset.output.find("note: rigid: the level with shrink factor 8 was left out"), std::string::npos);
  EXPECT_NE(preset.output.find("note: affine: the level with shrink factor 8 was left out"), std::string::npos);
}

TEST(Usage, OutputTakesTheNamesOfWarpedImagesAsAntsDoes)
{
  const Pair        pair("usage-output");
  const std::string start = "register -q --no-report -f " + (pair.folder / "fixed.nii.gz") + " -m " +
                            (pair.folder / "moving.mha") + " -t 'Rigid[0.25]' --metric MI --convergence 2 -o ";
  const auto prefix = pair.folder / "made/x_", warped = pair.folder / "there/w.nii.gz", back = pair.folder / "b.nii";
  ASSERT_EQ(RunProgram(pair.folder, start + "'[" + prefix + "," + warped + ", " + back + "]'").code, 0);
  EXPECT_TRUE(fs::exists(prefix + "0GenericAffine.mat"));
  EXPECT_TRUE(fs::exists(warped));
  EXPECT_TRUE(fs::exists(back));
  EXPECT_FALSE(fs::exists(prefix + "Warped.nii.gz"));
  EXPECT_FALSE(fs::exists(prefix + "InverseWarped.nii.gz"));
  ASSERT_EQ(RunProgram(pair.folder, start + "'[" + prefix + "]'").code, 0);
  EXPECT_TRUE(fs::exists(prefix + "Warped.nii.gz"));
  EXPECT_EQ(ReadText(prefix + "Warped.nii.gz"), ReadText(warped));
  ExpectUsageError(pair.folder, start + "'[x_,warped]'", "'warped' does not end in .nii");
  ExpectUsageError(pair.folder, start + "'[x_,a.nii,a.nii]'", "two outputs");
  ExpectUsageError(pair.folder, start + "'[x_,a.nii,./a.nii]'", "two outputs");
  ExpectUsageError(pair.folder, start + "'[x_,x_InverseWarped.nii.gz]'", "two outputs");
  ExpectUsageError(pair.folder, start + "'[x_," + (pair.folder / "fixed.nii.gz") + "]'", "is an input");
  ExpectUsageError(pair.folder, start + "'[x_,a.nii'", "closing bracket");
  ExpectUsageError(pair.folder, start + "'[,a.nii]'", "is not [PREFIX]");
}

TEST(Usage, OptionsOfAntsAreAcceptedWithANote)
{
  const Pair    pair("usage-ants");
  const Outcome outcome =
    RunProgram(pair.folder,
               pair.Arguments() + " -d 3 --float 1 -v -z 1 -u 1 -n BSpline -a 1 -t 'Affine[0.25]' --metric MI -c 2x2 "
                                  "--shrink-factors 2x2 -s 1x0vox");
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  for (const char * note : { "note: --dimensionality 3 is ignored",
                             "note: --float 1 is ignored",
                             "note: --verbose is ignored",
                             "note: --use-histogram-matching is ignored",
                             "note: --interpolation BSpline is ignored",
                             "affine level 1/2",
                             "affine level 2/2" })
  {
    EXPECT_NE(outcome.output.find(note), std::string::npos) << note << "\n" << outcome.output;
  }
  EXPECT_EQ(outcome.output.find("collapse"), std::string::npos);
  EXPECT_TRUE(fs::exists(pair.folder / "out_Composite.h5"));
  ExpectUsageError(pair.folder, pair.Arguments() + " -w '[0.005,0.995]'", "--winsorize-image-intensities");
}
