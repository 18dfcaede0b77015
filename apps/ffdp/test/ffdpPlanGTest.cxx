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
#include "ffdpProblem.h"

#include "ffdpCommandError.h"
#include "ffdpCudaBackend.h"
#include "ffdpTransformTestSupport.h"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include <fstream>
#include <string>

using namespace programtest;

namespace
{

/** The number before " MB" in what `register` prints at its end. */
double
PeakMegabytesOf(const std::string & output)
{
  const auto end = output.rfind(" MB");
  const auto begin = output.rfind(' ', end - 1);
  return std::stod(output.substr(begin, end - begin));
}

nlohmann::json
Plan(const Folder & folder, const std::string & arguments)
{
  const auto outcome = RunProgram(folder, "plan " + arguments + " --json " + (folder / "plan.json"));
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  return nlohmann::json::parse(ReadText(folder / "plan.json"));
}

} // namespace

TEST(Plan, TellsTheMemoryThatRegisterThenUses)
{
  const Folder folder("plan");
  for (const char * name : { "a", "b" })
  {
    ASSERT_EQ(RunProgram(folder,
                         "synthesize --head --size 112 128 120 --spacing 1.6 --seed " +
                           std::string(name[0] == 'a' ? "1" : "2") + " -o " + (folder / name) + ".nii.gz")
                .code,
              0);
  }
  const std::string images = "-f " + (folder / "a.nii.gz") + " -m " + (folder / "b.nii.gz") + " --threads 2 ";
  for (const std::string stages : { "-t Greedy[0.5] --metric CC --convergence 2x1 --shrink-factors 2x1",
                                    "-t SyN[0.1] --metric CC --convergence 2x1 --shrink-factors 2x1",
                                    "-t Affine[0.25] --metric MI --convergence 3 --shrink-factors 2" })
  {
    const auto plan = Plan(folder, images + stages);
    const auto run = RunProgram(folder, "register " + images + stages + " -o " + (folder / "out_"));
    ASSERT_EQ(run.code, 0) << run.errors;
    EXPECT_NEAR(plan["peak_bytes"].get<double>() / 1e6 / PeakMegabytesOf(run.output), 1, 0.1) << stages;
    EXPECT_GT(plan["seconds"].get<double>(), 0);
  }
}

TEST(Plan, ARankNeedsAPartOfWhatOneProcessNeeds)
{
  const Folder folder("plan-ranks");
  ASSERT_EQ(RunProgram(folder, "synthesize --head --size 128 128 128 --spacing 1.6 -o " + (folder / "a.nii")).code, 0);
  const std::string images = "-f " + (folder / "a.nii") + " -m " + (folder / "a.nii") + " --threads 1 ";
  const double      one = Plan(folder, images)["peak_bytes"], two = Plan(folder, images + "--ranks 2")["peak_bytes"],
               four = Plan(folder, images + "--ranks 4")["peak_bytes"];
  EXPECT_LT(two, 0.9 * one);
  EXPECT_LT(four, 0.9 * two);
  EXPECT_GT(four, 0.25 * one);
  EXPECT_NE(RunProgram(folder, "plan " + images + "--ranks 0").code, 0);
}

TEST(Plan, KnowsThatACompositeToStartFromHoldsAWarp)
{
  const Folder folder("plan-start");
  auto         image = Image::New();
  image->SetRegions(Image::SizeType{ { 120, 110, 100 } });
  image->Allocate();
  for (itk::ImageRegionIteratorWithIndex<Image> voxel(image, image->GetBufferedRegion()); !voxel.IsAtEnd(); ++voxel)
  {
    const auto index = voxel.GetIndex();
    voxel.Set(Organ(double(index[0]) - 60, double(index[1]) - 55, double(index[2]) - 50, 1));
  }
  Write(image, folder / "a.nii");
  Write(programtest::MakeField(image, 2), folder / "u.nii");
  WriteTransform(MakeAffine(0.01), folder / "a.h5");
  ASSERT_EQ(
    RunProgram(folder, "compose -t " + (folder / "u.nii") + " " + (folder / "a.h5") + " -o " + (folder / "c.h5")).code,
    0);
  const std::string arguments = "-f " + (folder / "a.nii") + " -m " + (folder / "a.nii") +
                                " --threads 2 -t Affine[0.1] --metric MI --convergence 1 --shrink-factors 4 -r ";
  const double  linear = Plan(folder, arguments + (folder / "a.h5"))["peak_bytes"];
  const double  warp = Plan(folder, arguments + (folder / "c.h5"))["peak_bytes"];
  const Outcome outcome =
    RunProgram(folder, "register --no-report " + arguments + (folder / "c.h5") + " -o " + (folder / "out_"));
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_GT(warp, linear + 50e6);
  EXPECT_NEAR(warp, 1e6 * PeakMegabytesOf(outcome.output), 0.1 * warp);
}

TEST(Plan, WhatRankZeroAloneHoldsCountsOnce)
{
  const Folder folder("plan-first");
  const auto   describe = [&](bool text, const std::string & kind, bool composite, int ranks) {
    std::ofstream(folder / "a.mhd") << "ObjectType = Image\nNDims = 3\nDimSize = 512 512 512\nElementSpacing = 1 1 1\n"
                                    << "ElementType = MET_FLOAT\nBinaryData = " << (text ? "False" : "True")
                                    << "\nElementDataFile = a.raw\n";
    RegisterOptions options;
    options.fixed = options.moving = folder / "a.mhd";
    options.stages = { { StageOption::Transform, kind } };
    options.composite = composite;
    options.threads = 1;
    return DescribeProblem(options, PlanStages(options), ranks);
  };
  constexpr int    Ranks = 64;
  constexpr double Whole = 4.0 * 512 * 512 * 512, Program = 45e6;
  const auto       plain = describe(false, "affine", false, Ranks), text = describe(true, "affine", false, Ranks);
  EXPECT_EQ(plain.firstBytes, 0);
  EXPECT_EQ(text.peakBytes, plain.peakBytes);
  EXPECT_EQ(text.peakBytes + text.firstBytes, Program + Whole + Whole / Ranks); // and its planes
  const auto warps = describe(false, "deformable", false, Ranks),
             composite = describe(false, "deformable", true, Ranks);
  EXPECT_EQ(composite.peakBytes, warps.peakBytes);
  // two of floats and one of doubles, three components each, beside what it has already
  EXPECT_GT(composite.peakBytes + composite.firstBytes, 12 * Whole);
  EXPECT_LT(composite.peakBytes + composite.firstBytes, 12.5 * Whole);
  const auto alone = describe(false, "deformable", true, 1);
  EXPECT_EQ(alone.firstBytes, 0);         // it is in the peak of the one that is there
  EXPECT_GT(alone.peakBytes, 18 * Whole); // with both warps and the image
}

/** Whether there is a GPU or not: its memory is known from the sizes of the images. */
TEST(Plan, TheMemoryOfAGpuHoldsItsWindows)
{
  const Folder folder("plan-device");
  const auto   describe = [&](const std::string & device) {
    std::ofstream(folder / "a.mhd") << "ObjectType = Image\nNDims = 3\nDimSize = 256 256 192\nElementSpacing = 1 1 1\n"
                                    << "ElementType = MET_FLOAT\nElementDataFile = a.raw\n";
    RegisterOptions options;
    options.fixed = options.moving = folder / "a.mhd";
    options.stages = { { StageOption::Transform, "Greedy[0.5]" },
                       { StageOption::Metric, "CC" },
                       { StageOption::Convergence, "1" },
                       { StageOption::ShrinkFactors, "1" } };
    options.threads = 1;
    options.device = device;
    return DescribeProblem(options, PlanStages(options));
  };
  constexpr double Voxels = 256.0 * 256 * 192;
  const auto       cpu = describe("cpu"), gpu = describe("cuda");
  EXPECT_EQ(cpu.deviceBytes, 0);
  EXPECT_EQ(cpu.imageBytes, 4 * Voxels); // one file
  EXPECT_EQ(gpu.deviceBytes, 4 * Voxels + gpu.estimate.peakBytes);
  EXPECT_GT(gpu.estimate.peakBytes, 1.1 * cpu.estimate.peakBytes);
  EXPECT_LT(gpu.estimate.peakBytes, 2 * cpu.estimate.peakBytes);
  EXPECT_EQ(cpu.engineBytes, cpu.imageBytes + cpu.estimate.peakBytes);
  EXPECT_EQ(gpu.engineBytes, gpu.imageBytes + 2 * 12 * Voxels); // the host keeps the images, and both warps at the end
  EXPECT_LT(gpu.engineBytes, 0.9 * cpu.engineBytes);
  EXPECT_LE(gpu.peakBytes, cpu.peakBytes); // outputs are written in the same way
  EXPECT_THROW(describe("gpu"), CommandError);
}

TEST(Plan, ADeviceThatIsNotThereHasMemoryButNoTimes)
{
  if (!ffdp::FindCudaDevices().devices.empty())
  {
    GTEST_SKIP() << "there is one";
  }
  const Folder folder("plan-no-device");
  Write(MakeImage(0, 0, 0), folder / "a.nii");
  const auto plan = Plan(folder, "-f " + (folder / "a.nii") + " -m " + (folder / "a.nii") + " --device cuda");
  EXPECT_GT(plan["device_bytes"].get<double>(), 0);
  EXPECT_TRUE(plan["seconds"].is_null());
}

TEST(Plan, ListsTheLevelsOfPresetsAndRefusesWhatRegisterRefuses)
{
  const Folder folder("plan-levels");
  Write(MakeImage(0, 0, 0), folder / "a.nii");
  const std::string images = "-f " + (folder / "a.nii") + " -m " + (folder / "a.nii") + " ";
  const auto        fast = Plan(folder, images + "-p fast"), accurate = Plan(folder, images + "-p accurate");
  EXPECT_LT(fast["levels"].size(), accurate["levels"].size());
  EXPECT_LT(fast["peak_bytes"].get<double>(), 1e9);
  const auto missing = RunProgram(folder, "plan -f nowhere.nii -m nowhere.nii");
  EXPECT_NE(missing.code, 0);
  EXPECT_NE(missing.errors.find("nowhere.nii"), std::string::npos);
}

TEST(Plan, LevelsOfThickSlicesGoBySpacingUnlessFactorsAreGiven)
{
  const Folder folder("plan-thick");
  auto         thick = MakeImage(0, 0, 0);
  const auto   size = thick->GetLargestPossibleRegion().GetSize();
  auto         spacing = thick->GetSpacing();
  spacing[0] = spacing[1] = 0.5;
  spacing[2] = 5;
  thick->SetSpacing(spacing);
  Write(thick, folder / "a.nii");
  const std::string images = "-f " + (folder / "a.nii") + " -m " + (folder / "a.nii") + " --device cuda "; // not timed
  const std::string stage = "-t 'Greedy[]' --metric CC --convergence 2x2 ";
  const auto        halved = nlohmann::json({ size[0] / 2, size[1] / 2, size[2] });
  EXPECT_EQ(Plan(folder, images)["levels"].at(5)["size"], halved); // moments, rigid, affine at 4 and 2, greedy at 4
  EXPECT_EQ(Plan(folder, images + stage)["levels"].at(0)["size"], halved);
  EXPECT_EQ(Plan(folder, images + stage + "--shrink-factors '[2,2,1]x1'")["levels"].at(0)["size"], halved);
  EXPECT_EQ(Plan(folder, images + stage + "--shrink-factors 2x1")["levels"].at(0)["size"],
            nlohmann::json({ size[0] / 2, size[1] / 2, 16 })); // as few as a shrunk axis may have
}

TEST(Plan, ARunThatCannotFitSaysSoAtOnce)
{
  // A header of an image of 8 TB, with no voxels behind it: refused by its size before anything is read.
  const Folder  folder("plan-large");
  std::ofstream header(folder / "huge.mhd");
  header << "ObjectType = Image\nNDims = 3\nDimSize = 16384 16384 8192\nElementType = MET_FLOAT\n"
            "ElementSpacing = 1 1 1\nElementDataFile = huge.raw\n";
  header.close();
  std::ofstream(folder / "huge.raw") << "nothing";
  const auto run = RunProgram(
    folder, "register -f " + (folder / "huge.mhd") + " -m " + (folder / "huge.mhd") + " -o " + (folder / "out_"));
  EXPECT_EQ(run.code, 1);
  EXPECT_NE(run.errors.find("GB"), std::string::npos) << run.errors;
  EXPECT_EQ(run.ErrorLines(), 1);
}
