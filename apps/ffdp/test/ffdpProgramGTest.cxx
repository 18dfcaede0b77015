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

#include "itkAffineTransform.h"
#include "itkCompositeTransform.h"
#include "itkDisplacementFieldTransform.h"
#include "itkResampleImageFilter.h"
#include "itkTransformFileReader.h"

#include <cstdio>
#include <limits>

using namespace programtest;

TEST(Program, RegisterWritesFilesThatItkUnderstandsAsAntsDoes)
{
  const Pair    pair("register");
  const Outcome outcome = RunProgram(pair.folder, pair.Arguments() + " --composite");
  ASSERT_EQ(outcome.code, 0) << outcome.errors;

  // The composite that ANTs makes of the two files: the warp is applied to a point first.
  auto reader = itk::TransformFileReader::New();
  reader->SetFileName(pair.folder / "out_0GenericAffine.mat");
  reader->Update();
  auto * affine =
    dynamic_cast<itk::AffineTransform<double, 3> *>(reader->GetModifiableTransformList()->front().GetPointer());
  ASSERT_NE(affine, nullptr);
  using Field = itk::DisplacementFieldTransform<double, 3>;
  auto field = Field::New();
  field->SetDisplacementField(Read<Field::DisplacementFieldType>(pair.folder / "out_1Warp.nii.gz"));
  auto composite = itk::CompositeTransform<double, 3>::New();
  composite->AddTransform(affine);
  composite->AddTransform(field);

  auto resample = itk::ResampleImageFilter<Image, Image>::New();
  resample->SetInput(pair.moving);
  resample->SetReferenceImage(pair.fixed);
  resample->UseReferenceImageOn();
  resample->SetTransform(composite);
  resample->Update();
  const auto warped = Read(pair.folder / "out_Warped.nii.gz");
  EXPECT_LT(MeanDifference(resample->GetOutput(), warped), 1e-3); // of 100; the field is stored as float

  resample->SetTransform(itk::IdentityTransform<double, 3>::New());
  resample->Update();
  EXPECT_LT(MeanDifference(warped, pair.fixed), 0.7 * MeanDifference(resample->GetOutput(), pair.fixed));

  // The two ways to apply what was written agree, and so does the file that holds both.
  ASSERT_EQ(RunProgram(pair.folder,
                       "apply -i " + (pair.folder / "moving.mha") + " -r " + (pair.folder / "fixed.nii.gz") + " -t " +
                         (pair.folder / "out_Composite.h5") + " -o " + (pair.folder / "again.nii.gz"))
              .code,
            0);
  EXPECT_LT(MeanDifference(Read(pair.folder / "again.nii.gz"), warped), 1e-3);
}

TEST(Program, PointsGoThereAndBack)
{
  const Pair pair("points");
  ASSERT_EQ(RunProgram(pair.folder, pair.Arguments() + " --quiet").code, 0);
  std::ofstream(pair.folder / "points.csv") << "x,y,z,name\n1,2,3,a\n-6.5,4,-2,b\n";
  const std::string prefix = pair.folder / "out_";
  ASSERT_EQ(RunProgram(pair.folder,
                       "apply -i " + (pair.folder / "points.csv") + " -t " + prefix + "1Warp.nii.gz " + prefix +
                         "0GenericAffine.mat -o " + (pair.folder / "there.csv"))
              .code,
            0);
  ASSERT_EQ(RunProgram(pair.folder,
                       "apply -i " + (pair.folder / "there.csv") + " -t '[" + prefix + "0GenericAffine.mat,1]' " +
                         prefix + "1InverseWarp.nii.gz -o " + (pair.folder / "back.csv"))
              .code,
            0);
  EXPECT_NE(ReadText(pair.folder / "there.csv"), ReadText(pair.folder / "points.csv"));
  std::istringstream back(ReadText(pair.folder / "back.csv"));
  std::string        header, line;
  std::getline(back, header);
  EXPECT_EQ(header, "x,y,z,name");
  const double expected[2][3] = { { 1, 2, 3 }, { -6.5, 4, -2 } };
  for (const auto & point : expected)
  {
    ASSERT_TRUE(std::getline(back, line));
    double x, y, z;
    ASSERT_EQ(std::sscanf(line.c_str(), "%lf,%lf,%lf,", &x, &y, &z), 3);
    EXPECT_LT(std::hypot(x - point[0], y - point[1], z - point[2]), 0.1); // inverted to 0.02 voxel, on a linear grid
  }
}

TEST(Program, EvaluateCountsOverlap)
{
  const Folder folder("evaluate");
  auto         a = MakeImage(0, 0, 0), b = MakeImage(0, 0, 0);
  a->FillBuffer(0);
  b->FillBuffer(0);
  for (int i = 0; i < 100; ++i)
  {
    a->GetBufferPointer()[i] = 7;
    b->GetBufferPointer()[i + 50] = 7;
  }
  for (int i = 1000; i < 1010; ++i)
  {
    a->GetBufferPointer()[i] = b->GetBufferPointer()[i] = 3;
  }
  Write(a, folder / "a.nii.gz");
  Write(b, folder / "b.nii.gz");
  const Outcome outcome = RunProgram(folder,
                                     "evaluate --fixed-labels " + (folder / "a.nii.gz") + " --moved-labels " +
                                       (folder / "b.nii.gz") + " --json " + (folder / "e.json"));
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_NE(outcome.output.find("mean Dice 0.7500"), std::string::npos) << outcome.output; // (0.5 + 1) / 2
  EXPECT_NE(ReadText(folder / "e.json").find("\"mean_dice\": 0.75"), std::string::npos);
}

TEST(Program, SaysInOneLineWhatIsWrong)
{
  const Pair        pair("errors");
  const Folder &    folder = pair.folder;
  const std::string good = folder / "fixed.nii.gz";
  const auto        write = [&](const std::string & name, const std::string & text) {
    std::ofstream(folder / name, std::ios::binary) << text;
    return folder / name;
  };
  auto constant = MakeImage(0, 0, 0);
  constant->FillBuffer(5);
  Write(constant, folder / "constant.nii.gz");
  auto holes = MakeImage(0, 0, 0);
  holes->GetBufferPointer()[77] = std::numeric_limits<float>::quiet_NaN();
  Write(holes, folder / "nan.mha");
  auto empty = MakeImage(1.5, 0.1, 1);
  empty->FillBuffer(0);
  Write(empty, folder / "empty.nii.gz");
  const std::string whole = ReadText(good);

  const struct
  {
    std::string arguments, expected;
  } cases[] = {
    { "-f " + (folder / "missing.nii") + " -m " + good, "does not exist" },
    { "-f " + folder.path.string() + " -m " + good, "is a folder" },
    { "-f " + write("text.nii", "this is no image") + " -m " + good, "text.nii" },
    { "-f " + write("short.nii.gz", whole.substr(0, whole.size() / 2)) + " -m " + good, "short.nii.gz" },
    { "-f " + good + " -m " + (folder / "constant.nii.gz"), "is constant" },
    { "-f " + good + " -m " + (folder / "nan.mha"), "not a number" },
    { "-f " + good + " -m " + good + " --fixed-mask " + (folder / "empty.nii.gz"), "is empty" },
    { "-f " + good + " -m " + good + " --fixed-mask " + (folder / "moving.mha"), "not on the grid" },
    { "-f " + good + " -m " + good + " -r " + (folder / "missing.mat"), "does not exist" },
  };
  for (const auto & c : cases)
  {
    const Outcome outcome = RunProgram(folder, "register " + c.arguments + " -o " + (folder / "bad_"));
    EXPECT_EQ(outcome.code, 1) << c.arguments;
    EXPECT_NE(outcome.errors.find(c.expected), std::string::npos) << outcome.errors;
    EXPECT_EQ(outcome.ErrorLines(), 1) << outcome.errors;
  }
  const Outcome blocked = RunProgram(folder, "register -f " + good + " -m " + good + " -o " + good + "/x_");
  EXPECT_EQ(blocked.code, 1); // a file where a folder would have to be
  EXPECT_EQ(RunProgram(folder, "register -f " + good + " -m " + good + " -o x_ --preset slow").code, 2);
  EXPECT_EQ(RunProgram(folder, "register -f " + good).code, 2);
  EXPECT_EQ(RunProgram(folder, "dance").code, 2);
  EXPECT_EQ(RunProgram(folder, "").code, 2);
  for (const auto & entry : fs::directory_iterator(folder.path))
  {
    EXPECT_NE(entry.path().filename().string().rfind("bad_", 0), 0u) << entry.path();
  }
}

TEST(Program, AKilledRunLeavesNothingUnderAFinalName)
{
  const Pair pair("killed");
  for (const char * after : { "0.05", "0.3" })
  {
    std::system(("timeout -s KILL " + std::string(after) + " " + FFDP_PROGRAM + " " + pair.Arguments() +
                 " -p accurate >/dev/null 2>&1")
                  .c_str());
    for (const auto & entry : fs::directory_iterator(pair.folder.path))
    {
      if (entry.path().filename().string().rfind("out_", 0) == 0 && entry.path().extension() == ".gz")
      {
        EXPECT_NO_THROW(Read(entry.path().string())) << entry.path(); // whole, if it is there
      }
    }
  }
}

TEST(Program, ProcessesThatDoNotFindEachOtherAreRefused)
{
  const Folder folder("launch");
  const auto   run = [&](const std::string & arguments) {
    const std::string step = "SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=3 "; // srun --mpi=none
    const int         status = std::system(
      (step + FFDP_PROGRAM + " " + arguments + " >" + (folder / "stdout") + " 2>" + (folder / "stderr")).c_str());
    return WEXITSTATUS(status);
  };
  EXPECT_EQ(run("register -f a.nii -m b.nii -o out_"), 1);
  const std::string errors = ReadText(folder / "stderr");
  EXPECT_NE(errors.find("one of several processes"), std::string::npos) << errors;
  EXPECT_NE(errors.find("unset SLURM_STEP_NUM_TASKS"), std::string::npos) << errors;
  EXPECT_EQ(run("info"), 0); // needs no other
}

TEST(Program, HelpAndVersionAndInfo)
{
  const Folder folder("help");
  EXPECT_NE(RunProgram(folder, "--version").output.find("ffdp "), std::string::npos);
  EXPECT_NE(RunProgram(folder, "register --help").output.find("--preset"), std::string::npos);
  const Outcome info = RunProgram(folder, "info");
  EXPECT_EQ(info.code, 0);
  EXPECT_NE(info.output.find("device cpu"), std::string::npos);
}

TEST(Program, SaysThatStandardOutputIsFull)
{
  if (!fs::exists("/dev/full"))
  {
    GTEST_SKIP() << "needs /dev/full";
  }
  const Pair        pair("full-output");
  const std::string image = pair.folder / "fixed.nii.gz";
  for (const std::string & arguments : { std::string("--version"),
                                         std::string("--help"),
                                         std::string("register --help"), // more than is kept back
                                         std::string("info"),
                                         "evaluate --fixed " + image + " --moved " + image,
                                         "plan -t rigid -f " + image + " -m " + image })
  {
    const Outcome     outcome = RunProgram(pair.folder, arguments + " >/dev/full 2>" + (pair.folder / "told") + " #");
    const std::string told = ReadText(pair.folder / "told");
    EXPECT_EQ(outcome.code, 1) << arguments;
    EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 1) << told;
    EXPECT_EQ(told.rfind("ffdp: not all could be written to standard output: ", 0), 0u) << told;
  }
}

TEST(Program, NobodyMissesWhatNobodyReads)
{
  const Folder folder("closed-output");
  for (const char * arguments : { "info", "register --help" })
  {
    const std::string program = FFDP_PROGRAM + std::string(" ") + arguments + " 2>>" + (folder / "told"),
                      code = folder / "code";
    std::system(("(trap '' PIPE; sleep 0.2; " + program + "; echo $? >" + code + ") | true; sleep 0.5").c_str());
    EXPECT_EQ(ReadText(code), "0\n") << arguments;
    std::system(("(" + program + " >&-; echo $? >" + code + ")").c_str());
    EXPECT_EQ(ReadText(code), "0\n") << arguments;
  }
  EXPECT_EQ(ReadText(folder / "told"), "");
}
