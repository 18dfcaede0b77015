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
#include <limits>
#include <vector>

using namespace programtest;

namespace
{

struct Case
{
  std::string arguments, file, reason;
};

/** Good files, and broken ones of every kind. */
struct Files
{
  Folder      folder;
  std::string good, field, affine, points, out;

  explicit Files(const std::string & name)
    : folder(name)
    , good(folder / "good.nii.gz")
    , field(folder / "field.nii.gz")
    , affine(folder / "good.mat")
    , points(folder / "points.csv")
    , out(folder / "out.nii.gz")
  {
    const auto image = MakeImage(0, 0.1, 0);
    Write(image, good);
    Write(image, folder / "good.mha");
    Write(MakeField(image, 2), field);
    WriteTransform(MakeAffine(0.1), affine);
    WriteTransform(MakeAffine(0.1), folder / "good.h5");
    Text("points.csv", "x,y,z\n1,2,3\n4,5,6\n");
    Text("text.nii.gz", "this is no image");
    Text("text.mat", "this is no transform");
    Text("text.h5", "this is no transform");
    Text("text.txt", "this is no transform");
    Text("zero.mha",
         "ObjectType = Image\nNDims = 3\nDimSize = 2 2 2\nElementSpacing = 1 0 1\nElementType = MET_UCHAR\n"
         "ElementDataFile = LOCAL\n12345678");
    for (const std::string file : { "good.nii.gz", "good.mha", "field.nii.gz", "good.h5", "good.mat" })
    {
      const std::string whole = ReadText(folder / file);
      Text("cut-" + file, whole.substr(0, whole.size() / 2));
    }
    auto holes = MakeImage(0, 0.1, 0);
    holes->GetBufferPointer()[77] = std::numeric_limits<float>::quiet_NaN();
    Write(holes, folder / "nan.mha");
    Write(holes, folder / "nan.nii.gz");
    Write(holes, folder / "nan.nii");
    auto torn = MakeField(image, 2);
    torn->GetBufferPointer()[77][1] = std::numeric_limits<float>::infinity();
    Write(torn, folder / "nan-field.nii.gz");
    Text("nan.txt",
         "#Insight Transform File V1.0\nTransform: AffineTransform_double_3_3\n"
         "Parameters: 1 0 0 0 nan 0 0 0 1 0 0 0\nFixedParameters: 0 0 0\n");
    Text("plane.txt",
         "#Insight Transform File V1.0\nTransform: AffineTransform_double_2_2\nParameters: 1 0 0 1 0 0\n"
         "FixedParameters: 0 0\n");
    auto undefined = MakeAffine(0.1);
    auto parameters = undefined->GetParameters();
    parameters[4] = std::numeric_limits<double>::quiet_NaN();
    undefined->SetParameters(parameters);
    WriteTransform(undefined, folder / "nan.mat");
    using Series = itk::Image<float, 4>;
    auto series = Series::New();
    series->SetRegions(Series::SizeType{ { 4, 4, 4, 3 } });
    series->Allocate(true);
    Write(series, folder / "series.nii.gz");
    using Five = itk::Image<float, 5>;
    auto five = Five::New();
    five->SetRegions(Five::SizeType{ { 2, 2, 2, 2, 2 } });
    five->Allocate(true);
    Write(five, folder / "five.mha");
    auto small = Image::New();
    small->SetRegions(Image::SizeType{ { 4, 4, 4 } });
    small->Allocate(true);
    Write(small, folder / "small.nii.gz");
  }

  void
  Text(const std::string & name, const std::string & text) const
  {
    std::ofstream(folder / name, std::ios::binary) << text;
  }

  std::string
  operator/(const std::string & name) const
  {
    return folder / name;
  }

  /** One line that names the file and says why, a code of 1, and nothing written. */
  void
  Expect(const std::vector<Case> & cases) const
  {
    for (const Case & c : cases)
    {
      const Outcome outcome = RunProgram(folder, c.arguments);
      EXPECT_EQ(outcome.code, 1) << c.arguments;
      EXPECT_EQ(outcome.ErrorLines(), 1) << c.arguments << "\n" << outcome.errors;
      EXPECT_NE(outcome.errors.find(c.file), std::string::npos) << c.arguments << "\n" << outcome.errors;
      EXPECT_NE(outcome.errors.find(c.reason), std::string::npos) << c.arguments << "\n" << outcome.errors;
      for (const auto & entry : fs::directory_iterator(folder.path))
      {
        const std::string name = entry.path().filename().string();
        EXPECT_TRUE(name.rfind("out", 0) != 0 && name.rfind(".ffdp", 0) != 0) << c.arguments << ": " << name;
      }
    }
  }
};

} // namespace

TEST(BadInput, Images)
{
  const Files             files("bad-images");
  const std::vector<Case> broken = {
    { "", "missing.nii.gz", "does not exist" }, { "", "text.nii.gz", "" },         { "", "cut-good.nii.gz", "cut off" },
    { "", "cut-good.mha", "cut off" },          { "", "nan.mha", "not a number" }, { "", "nan.nii.gz", "not a number" },
    { "", "nan.nii", "not a number" },          { "", "zero.mha", "spacing" },     { "", "five.mha", "dimensions" }
  };
  std::vector<Case> cases;
  for (const Case & c : broken)
  {
    const std::string bad = files / c.file;
    cases.push_back(
      { "apply -i " + bad + " -r " + files.good + " -t " + files.affine + " -o " + files.out, c.file, c.reason });
    cases.push_back({ "evaluate --fixed " + files.good + " --moved " + bad, c.file, c.reason });
    cases.push_back({ "evaluate --fixed-labels " + bad + " --moved-labels " + files.good, c.file, c.reason });
    if (c.file.rfind("nan", 0) != 0 && c.file.rfind("cut", 0) != 0) // only the header is read
    {
      const std::string rest = bad + " -t " + files.affine + " -o " + files.out;
      cases.push_back({ "apply -i " + files.good + " -r " + rest, c.file, c.reason });
      cases.push_back({ "compose -r " + rest, c.file, c.reason });
      cases.push_back({ "jacobian -r " + rest, c.file, c.reason });
    }
  }
  const std::string folder = files.folder.path.string();
  cases.push_back({ "evaluate --fixed " + folder + " --moved " + files.good, folder, "is a folder" });
  files.Expect(cases);
}

TEST(BadInput, WhatCannotBeCompared)
{
  const Files files("bad-pairs");
  auto        constant = MakeImage(0, 0.1, 0);
  constant->FillBuffer(5);
  Write(constant, files / "constant.nii.gz");
  auto empty = MakeImage(0, 0.1, 0);
  empty->FillBuffer(0);
  Write(empty, files / "empty.nii.gz");
  const std::string both = "evaluate --fixed " + files.good + " --moved ";
  files.Expect(
    { { both + (files / "small.nii.gz"), "small.nii.gz", "constant" },
      { both + (files / "constant.nii.gz"), "constant.nii.gz", "constant" },
      { both + files.good + " --mask " + (files / "empty.nii.gz"), "empty.nii.gz", "is empty" },
      { both + files.good + " --mask " + (files / "small.nii.gz"), "small.nii.gz", "not on the grid" },
      { "evaluate --fixed-labels " + (files / "empty.nii.gz") + " --moved-labels " + (files / "small.nii.gz"),
        "small.nii.gz",
        "differ in size" },
      { "evaluate --fixed-labels " + (files / "empty.nii.gz") + " --moved-labels " + (files / "empty.nii.gz"),
        "empty.nii.gz",
        "no label but 0" },
      { "evaluate --fixed-labels " + files.good + " --moved-labels " + files.good, "good.nii.gz", "whole number" },
      { "evaluate --fixed-labels " + files.field + " --moved-labels " + files.good, "field.nii.gz", "3 values" },
      { both + files.field, "field.nii.gz", "3 values" },
      { "evaluate --warp " + files.good, "good.nii.gz", "three values" },
      { "evaluate", "", "nothing to evaluate" } });
}

namespace
{

/** Files of transforms that no command takes. */
const std::vector<Case> BrokenTransforms = { { "", "missing.mat", "does not exist" },
                                             { "", "missing.nii.gz", "does not exist" },
                                             { "", "text.mat", "" },
                                             { "", "text.h5", "" },
                                             { "", "text.txt", "" },
                                             { "", "text.nii.gz", "" },
                                             { "", "cut-good.h5", "" },
                                             { "", "cut-good.mat", "" },
                                             { "", "cut-field.nii.gz", "cut off" },
                                             { "", "nan-field.nii.gz", "not a number" },
                                             { "", "nan.txt", "line 3: 'nan' is not a finite number" },
                                             { "", "nan.mat", "not a number" },
                                             { "", "good.nii.gz", "three values" } };

} // namespace

TEST(BadInput, TransformsOfImages)
{
  const Files       files("bad-transforms");
  std::vector<Case> cases;
  for (const Case & c : BrokenTransforms)
  {
    const std::string bad = files / c.file, to = " -o " + files.out, r = " -r " + files.good;
    cases.push_back({ "apply -i " + files.good + r + " -t " + bad + to, c.file, c.reason });
    cases.push_back({ "compose -t " + files.affine + " " + bad + r + to, c.file, c.reason });
    cases.push_back({ "jacobian -t " + bad + r + to, c.file, c.reason });
  }
  cases.push_back(
    { "apply -i " + files.good + " -r " + files.good + " -t " + (files / "plane.txt") + " -o " + files.out,
      "plane.txt",
      "three dimensions" });
  const std::string apply = "apply -i " + files.good + " -r " + files.good + " -o " + files.out + " -t ";
  cases.push_back({ apply + "'[" + files.affine + ",2]'", "good.mat", "form" });
  cases.push_back({ apply + "'[" + files.field + ",1]'", "field.nii.gz", "not linear" });
  files.Expect(cases);
}

TEST(BadInput, TransformsOfPointsAndTheirInverses)
{
  const Files       files("bad-inverses");
  std::vector<Case> cases;
  for (const Case & c : BrokenTransforms)
  {
    const std::string bad = files / c.file;
    cases.push_back({ "apply -i " + files.points + " -t " + bad + " -o " + (files / "out.csv"), c.file, c.reason });
    cases.push_back({ "invert -t " + bad + " -o " + (files / "out.h5"), c.file, c.reason });
    cases.push_back({ "evaluate --fixed-points " + files.points + " --moving-points " + files.points + " -t " + bad,
                      c.file,
                      c.reason });
  }
  files.Expect(cases);
}

TEST(BadInput, Points)
{
  const Files files("bad-points");
  files.Text("words.csv", "x,y,z\n1,2,3\n1,two,3\n");
  files.Text("few.csv", "x,y,z\n1,2,3\n1,2\n");
  files.Text("nan.csv", "1,2,3\n1,nan,3\n");
  files.Text("none.csv", "x,y,z\n");
  files.Text("one.csv", "1,2,3\n");
  std::vector<Case> cases = { { "", "missing.csv", "does not exist" },
                              { "", "words.csv", "line 3" },
                              { "", "few.csv", "line 3" },
                              { "", "nan.csv", "line 2" },
                              { "", "none.csv", "no point" } };
  const std::size_t count = cases.size();
  for (std::size_t i = 0; i < count; ++i)
  {
    const std::string bad = files / cases[i].file;
    cases[i].arguments = "apply -i " + bad + " -t " + files.affine + " -o " + (files / "out.csv");
    cases.push_back(
      { "evaluate --fixed-points " + files.points + " --moving-points " + bad, cases[i].file, cases[i].reason });
  }
  cases.push_back({ "evaluate --fixed-points " + files.points + " --moving-points " + (files / "one.csv"),
                    "",
                    "2 fixed points but 1 moving" });
  files.Expect(cases);
}

TEST(BadInput, OutputsThatCannotBeWritten)
{
  const Files                    files("bad-outputs");
  const std::vector<std::string> commands = { "apply -i " + files.good + " -r " + files.good + " -t " + files.affine,
                                              "compose -r " + files.good + " -t " + files.field,
                                              "invert -t " + files.field,
                                              "jacobian -t " + files.field };
  std::vector<Case>              cases;
  for (const std::string & command : commands)
  {
    cases.push_back({ command + " -o " + files.good + "/x.nii.gz", "good.nii.gz", "cannot be made" });
    cases.push_back({ command + " -o " + files.folder.path.string(), files.folder.path.string(), "is a folder" });
    cases.push_back({ command + " -o " + (files / "out.doc"), "out.doc", "does not end like" });
  }
  const std::string labels = "evaluate --warp " + files.field + " --json ";
  cases.push_back({ labels + files.good + "/x.json", "good.nii.gz", "cannot be made" });
  cases.push_back({ labels + files.folder.path.string(), "", "is a folder" });
  cases.push_back({ "apply -i " + files.good + " -t " + files.affine + " -o " + files.out, "", "--reference" });
  cases.push_back({ "compose -t " + files.field + " -o " + files.out, "", "--reference" });
  files.Expect(cases);
}

TEST(BadInput, Options)
{
  const Files       files("bad-options");
  const std::string apply = "apply -i " + files.good + " -r " + files.good + " -t " + files.affine;
  for (const std::string & arguments : std::vector<std::string>{ apply,
                                                                 apply + " -o " + files.out + " -n cubic",
                                                                 apply + " -o " + files.out + " --speed 9",
                                                                 "apply -o " + files.out,
                                                                 "compose -o " + files.out,
                                                                 "invert -t " + files.affine,
                                                                 "jacobian -t " + files.field,
                                                                 "evaluate --fixed " + files.good,
                                                                 "evaluate --moved-labels " + files.good,
                                                                 "evaluate --fixed-points " + files.points,
                                                                 "evaluate --warp " + files.field + " --no-surfaces" })
  {
    const Outcome outcome = RunProgram(files.folder, arguments);
    EXPECT_EQ(outcome.code, 2) << arguments;
    EXPECT_FALSE(outcome.errors.empty()) << arguments;
    EXPECT_FALSE(fs::exists(files.out)) << arguments;
  }
}

TEST(BadInput, AFullDiskLeavesNothingBehind)
{
  const Files       files("full");
  const std::string disk = files / "disk";
  fs::create_directories(disk);
  const auto onSmallDisk = [&](const std::string & command) {
    return "unshare -rm sh -c 'mount -t tmpfs -o size=32k none " + disk + " && { " + command + "; }' >" +
           (files / "stdout") + " 2>" + (files / "stderr");
  };
  if (std::system(onSmallDisk("true").c_str()) != 0)
  {
    GTEST_SKIP() << "a small disk cannot be mounted here";
  }
  auto          noise = MakeImage(0, 0.1, 0); // does not shrink when it is compressed
  std::uint32_t state = 1;
  for (itk::SizeValueType i = 0; i < noise->GetBufferedRegion().GetNumberOfPixels(); ++i)
  {
    noise->GetBufferPointer()[i] = float(state = state * 1664525u + 1013904223u);
  }
  Write(noise, files / "noise.nii.gz");
  std::string many = "x,y,z\n";
  for (int i = 0; i < 5000; ++i)
  {
    many += "1.2345678,2.3456789,3.4567891\n";
  }
  files.Text("many.csv", many);
  const std::string apply =
    "apply -i " + (files / "noise.nii.gz") + " -r " + files.good + " -t " + files.affine + " -o ";
  for (const std::string & command :
       { apply + disk + "/o.nii.gz",
         apply + disk + "/o.nii",
         apply + disk + "/o.mha",
         apply + disk + "/o.nrrd",
         "apply -i " + (files / "many.csv") + " -t " + files.affine + " -o " + disk + "/o.csv",
         "compose -t " + files.field + " -o " + disk + "/o.h5",
         "jacobian -t " + files.field + " -o " + disk + "/o.nii.gz",
         "invert -t " + files.field + " -o " + disk + "/o.nii.gz" })
  {
    const int status =
      std::system(onSmallDisk(std::string(FFDP_PROGRAM) + " " + command + "; echo code $?; ls -A " + disk).c_str());
    EXPECT_EQ(status, 0) << command;
    EXPECT_NE(ReadText(files / "stdout").find("code 1\n"), std::string::npos) << command << ReadText(files / "stdout");
    EXPECT_EQ(ReadText(files / "stdout").find("o."), std::string::npos) << command << ReadText(files / "stdout");
    const std::string errors = ReadText(files / "stderr");
    EXPECT_EQ(std::count(errors.begin(), errors.end(), '\n'), 1) << command << "\n" << errors;
    EXPECT_NE(errors.find(disk + "/o."), std::string::npos) << command << "\n" << errors;
  }
}

TEST(BadInput, AFullDiskKeepsTheTransformThatWasThere)
{
  const Files       files("full-linear");
  const std::string disk = files / "disk";
  fs::create_directories(disk);
  const auto onSmallDisk = [&](const std::string & command) {
    return "unshare -rm sh -c 'mount -t tmpfs -o size=32k none " + disk + " && { " + command + "; }' >" +
           (files / "stdout") + " 2>" + (files / "stderr");
  };
  if (std::system(onSmallDisk("true").c_str()) != 0)
  {
    GTEST_SKIP() << "a small disk cannot be mounted here";
  }
  for (const std::string name : { "/o.mat", "/o.txt", "/o.tfm", "/o.h5" })
  {
    for (const std::string command : { "compose", "invert" })
    {
      const std::string fill =
        "echo old >" + disk + name + "; head -c 40000 /dev/zero >" + disk + "/rest 2>/dev/null; ";
      const std::string run = std::string(FFDP_PROGRAM) + " " + command + " -t " + files.affine + " -o " + disk + name;
      const int         status =
        std::system(onSmallDisk(fill + run + "; echo code $?; cat " + disk + name + "; ls -A " + disk).c_str());
      EXPECT_EQ(status, 0) << run;
      EXPECT_EQ(ReadText(files / "stdout"), "code 1\nold\n" + name.substr(1) + "\nrest\n") << run;
      const std::string errors = ReadText(files / "stderr");
      EXPECT_EQ(std::count(errors.begin(), errors.end(), '\n'), 1) << run << "\n" << errors;
      EXPECT_NE(errors.find(disk + name), std::string::npos) << run << "\n" << errors;
    }
  }
}
