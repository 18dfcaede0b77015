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
#include "ffdpTransformTestSupport.h"

#include <cstdint>
#include <cstring>
#include <limits>

using namespace programtest;

namespace
{

/** Small images of several kinds, and transforms. */
struct SmallFiles
{
  Folder      folder;
  std::string image, field, affine;

  explicit SmallFiles(const std::string & name)
    : folder(name)
    , image(folder / "image.nii.gz")
    , field(folder / "field.nii.gz")
    , affine(folder / "affine.mat")
  {
    Write(MakeImage(0, 0.1, 0), image);
    Write(MakeField(MakeImage(0, 0.1, 0), 2), field);
    WriteTransform(MakeAffine(0.1), affine);
  }

  /** One line with this reason, nothing on stdout, and nothing new in the folder. */
  void
  ExpectNothing(const std::string & arguments, const std::string & reason) const
  {
    const Outcome outcome = RunProgram(folder, arguments);
    EXPECT_EQ(outcome.code, 1) << arguments;
    EXPECT_EQ(outcome.output, "") << arguments;
    EXPECT_EQ(outcome.ErrorLines(), 1) << arguments << "\n" << outcome.errors;
    EXPECT_NE(outcome.errors.find(reason), std::string::npos) << arguments << "\n" << outcome.errors;
    for (const auto & entry : fs::directory_iterator(folder.path))
    {
      const std::string name = entry.path().filename().string();
      EXPECT_TRUE(name.rfind("out", 0) != 0 && name.rfind(".ffdp", 0) != 0) << arguments << ": " << name;
    }
  }
};

/** A NIfTI file without a place, with this pixdim[1]. */
void
WriteSpacing(const std::string & from, const std::string & to, float spacing)
{
  constexpr std::size_t FirstSpacingAt = 80, FormsAt = 252;
  std::string           bytes = ReadText(from);
  std::memcpy(&bytes[FirstSpacingAt], &spacing, sizeof(spacing));
  std::memset(&bytes[FormsAt], 0, 4);
  std::ofstream(to, std::ios::binary) << bytes;
}

} // namespace

TEST(EarlyFailure, FormatsThatCannotHoldTheResult)
{
  const SmallFiles  files("formats");
  const std::string image = files.image, out = files.folder / "out";
  files.ExpectNothing("apply -i " + image + " -r " + image + " -t " + files.affine + " -o " + out + ".png",
                      "PNG supports");
  files.ExpectNothing("apply -i " + image + " -r " + image + " -t " + files.affine + " -o " + out + ".mhd",
                      "two files");
  files.ExpectNothing("jacobian -t " + files.field + " -o " + out + ".png", "PNG supports");
  files.ExpectNothing("compose -t " + files.field + " -r " + image + " -o " + out + ".png", "PNG supports");
  files.ExpectNothing("compose -t " + files.affine + " -o " + out + ".xfm", "does not end like");
  files.ExpectNothing("invert -t " + files.affine + " -o " + out + ".xfm", "does not end like");
  files.ExpectNothing("synthesize --head --spacing 16 -o " + out + "/a.nii.gz --rigid-out " + out + "/r.foo",
                      "does not end like");
  auto bytes = itk::Image<std::uint8_t, 3>::New();
  bytes->SetRegions(itk::Size<3>{ { 4, 4, 4 } });
  bytes->Allocate(true);
  Write(bytes, files.folder / "bytes.nii.gz");
  const std::string volume = files.folder / "bytes.nii.gz"; // of which a .png would show one plane
  files.ExpectNothing("apply -n nearest -i " + volume + " -r " + volume + " -t " + files.affine + " -o " + out + ".png",
                      "does not hold all");
}

TEST(EarlyFailure, MissingInputsOfAnyPart)
{
  const SmallFiles  files("parts");
  const std::string missing = files.folder / "missing.nii.gz";
  const std::string both = " --fixed " + files.image + " --moved " + files.image;
  files.ExpectNothing("evaluate" + both + " --warp " + missing, "does not exist");
  std::ofstream(files.folder / "points.csv") << "1,2,3\n";
  const std::string points = files.folder / "points.csv";
  files.ExpectNothing("evaluate" + both + " --fixed-points " + points + " --moving-points " + points + " -t " + missing,
                      "does not exist");
  files.ExpectNothing("register -f " + missing + " -m " + files.image + " -o " + (files.folder / "out/er/pair_"),
                      "does not exist");
}

TEST(EarlyFailure, SpacingOfNiftiThatLibrariesMend)
{
  const SmallFiles files("spacing");
  Write(MakeImage(0, 0.1, 0), files.folder / "plain.nii");
  const std::string bad = files.folder / "bad.nii";
  WriteSpacing(files.folder / "plain.nii", bad, 0);
  files.ExpectNothing("evaluate --fixed " + bad + " --moved " + files.image,
                      "bad.nii' has a spacing of 0 along axis 1");
  WriteSpacing(files.folder / "plain.nii", bad, std::numeric_limits<float>::quiet_NaN());
  files.ExpectNothing("evaluate --fixed " + bad + " --moved " + files.image,
                      "bad.nii' has a spacing of nan along axis 1");
}

TEST(EarlyFailure, FilesThatMustNotBeRead)
{
  const SmallFiles files("permission");
  fs::permissions(files.image, fs::perms::none);
  if (access(files.image.c_str(), R_OK) == 0)
  {
    GTEST_SKIP() << "this user reads everything";
  }
  files.ExpectNothing("evaluate --fixed " + files.image + " --moved " + files.image, "Permission denied");
}

TEST(EarlyFailure, AFolderInTheWayOfAnOutput)
{
  const Pair pair("in-the-way");
  fs::create_directories(pair.folder / "out_1Warp.nii.gz");
  const Outcome outcome = RunProgram(pair.folder, pair.Arguments() + " -p fast --threads 1");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.output, ""); // before the work
  EXPECT_NE(outcome.errors.find("out_1Warp.nii.gz' is a folder"), std::string::npos) << outcome.errors;
  EXPECT_FALSE(fs::exists(pair.folder / "out_0GenericAffine.mat"));
}

TEST(RegisterOutputs, NothingOfAnEarlierRunStaysBesideThem)
{
  const Pair        pair("earlier");
  const std::string fast = pair.Arguments() + " -p fast --threads 1";
  ASSERT_EQ(RunProgram(pair.folder, fast + " --composite").code, 0);
  ASSERT_TRUE(fs::exists(pair.folder / "out_1Warp.nii.gz"));
  std::ofstream(pair.folder / "out_mine.txt") << "not written by the program";
  const Outcome outcome = RunProgram(pair.folder, fast + " -t rigid --no-report");
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  for (const char * name :
       { "1Warp.nii.gz", "1InverseWarp.nii.gz", "Composite.h5", "InverseComposite.h5", "report.html" })
  {
    EXPECT_FALSE(fs::exists(pair.folder / ("out_" + std::string(name)))) << name;
    EXPECT_NE(outcome.output.find("removed: " + (pair.folder / ("out_" + std::string(name)))), std::string::npos)
      << outcome.output;
  }
  EXPECT_TRUE(fs::exists(pair.folder / "out_0GenericAffine.mat"));
  EXPECT_TRUE(fs::exists(pair.folder / "out_mine.txt"));
}

TEST(RegisterOutputs, InputsAndWhatOthersMayHaveWrittenStays)
{
  const Pair        pair("earlier-inputs");
  const std::string rest = " -m " + (pair.folder / "moving.mha") + " -t rigid --no-report --threads 1 -o ";
  ASSERT_EQ(
    RunProgram(pair.folder, "register -f " + (pair.folder / "fixed.nii.gz") + rest + (pair.folder / "out_")).code, 0);
  fs::create_symlink("out_Warped.nii.gz", pair.folder / "link.nii.gz");
  const Outcome again = RunProgram(
    pair.folder, "register --uncompressed -f " + (pair.folder / "link.nii.gz") + rest + (pair.folder / "out_"));
  ASSERT_EQ(again.code, 0) << again.errors;
  EXPECT_TRUE(fs::exists(pair.folder / "out_Warped.nii.gz"));
  EXPECT_FALSE(fs::exists(pair.folder / "out_InverseWarped.nii.gz"));
  std::ofstream(pair.folder / "report.html") << "of somebody else";
  ASSERT_EQ(RunProgram(pair.folder, "register -f " + (pair.folder / "fixed.nii.gz") + rest + (pair.folder / "")).code,
            0);
  EXPECT_TRUE(fs::exists(pair.folder / "report.html"));
}

TEST(RegisterOutputs, ACheckpointThatCannotBeSavedIsANote)
{
  const Pair        pair("full-checkpoint");
  const std::string disk = pair.folder / "disk";
  fs::create_directories(disk);
  const auto onSmallDisk = [&](const std::string & command) {
    return std::system(("unshare -rm sh -c 'mount -t tmpfs -o size=16k none " + disk + " && { " + command + "; }' >" +
                        (pair.folder / "stdout") + " 2>" + (pair.folder / "stderr"))
                         .c_str());
  };
  if (onSmallDisk("true") != 0)
  {
    GTEST_SKIP() << "a small disk cannot be mounted here";
  }
  onSmallDisk(std::string(FFDP_PROGRAM) + " " + pair.Arguments() + " -p fast --threads 1 --checkpoint " + disk +
              " --checkpoint-seconds 0; echo code $?; ls " + disk);
  const std::string told = ReadText(pair.folder / "stdout"), note = "note: the state could not be saved";
  EXPECT_NE(told.find("code 0\n"), std::string::npos) << told << ReadText(pair.folder / "stderr");
  EXPECT_NE(told.find("No space left on device"), std::string::npos) << told;
  EXPECT_EQ(told.find(note), told.rfind(note)) << told; // once
  EXPECT_EQ(told.find("unfinished\n"), std::string::npos) << told;
}

TEST(EvaluateLabels, WithoutACommonLabelThereIsNoDistance)
{
  const Folder folder("disjoint");
  using Labels = itk::Image<std::uint8_t, 3>;
  for (const std::uint8_t label : { 1, 2 })
  {
    auto labels = Labels::New();
    labels->SetRegions(Labels::SizeType{ { 6, 6, 6 } });
    labels->Allocate(true);
    labels->SetPixel({ { 3, 3, label } }, label);
    Write(labels, folder / (std::to_string(label) + ".nii.gz"));
  }
  const Outcome outcome = RunProgram(folder,
                                     "evaluate --fixed-labels " + (folder / "1.nii.gz") + " --moved-labels " +
                                       (folder / "2.nii.gz") + " --json " + (folder / "scores.json"));
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_NE(outcome.output.find("HD90 n/a"), std::string::npos) << outcome.output;
  EXPECT_EQ(outcome.output.find("nan"), std::string::npos) << outcome.output;
  EXPECT_NE(ReadText(folder / "scores.json").find("\"mean_hd90_mm\": null"), std::string::npos);
}
