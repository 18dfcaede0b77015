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
#include "itkImageMomentsCalculator.h"
#include "itkTransformFileReader.h"
#include "itkVector.h"

#include <chrono>
#include <csignal>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <thread>

namespace
{

using namespace programtest;

const std::string Transforms[] = { "0GenericAffine.mat", "1Warp.nii.gz", "1InverseWarp.nii.gz" };
const std::string Images[] = { "Warped.nii.gz", "InverseWarped.nii.gz" };

/** Short stages; windows are longer than levels, so none ends early. */
const std::string ShortStages = " --transform 'Affine[0.25]' --metric 'MI[1,16]' --convergence '[5x3,1e-3,20]'"
                                " --shrink-factors 2x1 --smoothing-sigmas 1x0vox"
                                " --transform 'SyN[0.2,3,0]' --metric 'CC[1,2]' --convergence '[4,1e-3,20]'";

std::vector<std::string>
NamesThatBegin(const Folder & folder, const std::string & start)
{
  std::vector<std::string> names;
  for (const auto & entry : fs::directory_iterator(folder.path))
  {
    const std::string name = entry.path().filename().string();
    if (name.rfind(start, 0) == 0)
    {
      names.push_back(name);
    }
  }
  return names;
}

/** A run of the program in a process of its own. */
class Process
{
public:
  explicit Process(const std::string & arguments)
    : m_Process(fork())
  {
    if (m_Process == 0)
    {
      const std::string command = std::string("exec ") + FFDP_PROGRAM + " " + arguments + " >/dev/null 2>&1";
      execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char *>(nullptr));
      _exit(127);
    }
  }
  void
  Send(int signal) const
  {
    kill(m_Process, signal);
  }
  /** The code that it ended with, or minus the signal that ended it. */
  int
  Wait() const
  {
    int status = 0;
    waitpid(m_Process, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

private:
  pid_t m_Process;
};

/** The offset of the linear transform that a run without iterations writes: where it started. */
itk::Vector<double, 3>
OffsetOfStart(const Pair & pair, const std::string & start)
{
  const Outcome outcome = RunProgram(
    pair.folder, pair.Arguments() + " --quiet --no-report --transform 'Rigid[]' --metric MI --convergence 0 " + start);
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  auto reader = itk::TransformFileReader::New();
  reader->SetFileName(pair.folder / "out_0GenericAffine.mat");
  reader->Update();
  using Affine = itk::AffineTransform<double, 3>;
  return dynamic_cast<Affine &>(*reader->GetModifiableTransformList()->front()).GetOffset();
}

itk::Vector<double, 3>
CenterOfMass(const Image * image)
{
  auto moments = itk::ImageMomentsCalculator<Image>::New();
  moments->SetImage(image);
  moments->Compute();
  return moments->GetCenterOfGravity();
}

} // namespace

TEST(RegisterCommand, LogHasALineForEachIterationAndStagesRunInOrder)
{
  const Pair    pair("log");
  const Outcome outcome =
    RunProgram(pair.folder, pair.Arguments() + ShortStages + " --log-json " + (pair.folder / "log"));
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  std::istringstream log(ReadText(pair.folder / "log"));
  std::string        line;
  int                lines = 0, ends = 0;
  double             seconds = 0, fraction = 0;
  while (std::getline(log, line))
  {
    const auto record = nlohmann::json::parse(line);
    EXPECT_GE(record.at("seconds").get<double>(), seconds);
    EXPECT_GT(record.at("fraction").get<double>(), fraction);
    seconds = record.at("seconds");
    fraction = record.at("fraction");
    if (record.at("name") == "inverse") // what comes after all stages
    {
      EXPECT_EQ(record.at("stage"), 2);
      EXPECT_EQ(record.at("iteration"), ++ends);
      continue;
    }
    EXPECT_EQ(ends, 0);
    const bool affine = lines < 8;
    EXPECT_EQ(record.at("stage"), affine ? 0 : 1);
    EXPECT_EQ(record.at("name"), affine ? "affine" : "SyN");
    EXPECT_EQ(record.at("level"), lines >= 5 && affine ? 1 : 0);
    EXPECT_EQ(record.at("iteration"), 1 + (lines < 5 ? lines : affine ? lines - 5 : lines - 8));
    EXPECT_EQ(record.at("size"), lines < 5 ? nlohmann::json({ 22, 20, 16 }) : nlohmann::json({ 44, 40, 30 }));
    EXPECT_TRUE(record.at("value").is_number());
    EXPECT_GT(record.at("step").get<double>(), 0);
    ++lines;
  }
  EXPECT_EQ(lines, 5 + 3 + 4);
  EXPECT_GE(ends, 2);
  EXPECT_DOUBLE_EQ(fraction, 1);
  EXPECT_EQ(RunProgram(pair.folder, pair.Arguments() + " --log-json " + (pair.folder / "no/such/folder/log")).code, 1);
}

TEST(RegisterCommand, PlainLinesInAPipeAndNothingWhenQuiet)
{
  const Pair    pair("lines");
  const Outcome loud = RunProgram(pair.folder, pair.Arguments() + ShortStages);
  EXPECT_NE(loud.output.find("affine level 1/2 (22x20x16) iteration 1/5 value"), std::string::npos) << loud.output;
  EXPECT_EQ(loud.output.find('\r'), std::string::npos);
  EXPECT_NE(loud.output.find("out_report.html"), std::string::npos);
  const Outcome quiet = RunProgram(pair.folder, pair.Arguments() + ShortStages + " --quiet");
  EXPECT_EQ(quiet.code, 0);
  EXPECT_EQ(quiet.output + quiet.errors, "");
}

TEST(RegisterCommand, SameBytesForAnyNumberOfThreads)
{
  const Pair pair("threads");
  ASSERT_EQ(RunProgram(pair.folder, pair.Arguments() + "1" + ShortStages + " --no-report --threads 1").code, 0);
  ASSERT_EQ(RunProgram(pair.folder, pair.Arguments() + "3" + ShortStages + " --no-report --threads 3").code, 0);
  EXPECT_FALSE(fs::exists(pair.folder / "out_1report.html"));
  for (const auto & names : { std::vector<std::string>(std::begin(Transforms), std::end(Transforms)),
                              std::vector<std::string>(std::begin(Images), std::end(Images)) })
  {
    for (const std::string & name : names)
    {
      const std::string one = ReadText(pair.folder / ("out_1" + name));
      EXPECT_FALSE(one.empty()) << name;
      EXPECT_TRUE(one == ReadText(pair.folder / ("out_3" + name))) << name;
    }
  }
}

TEST(RegisterCommand, UncompressedFilesHoldTheSame)
{
  const Pair pair("uncompressed");
  ASSERT_EQ(RunProgram(pair.folder, pair.Arguments() + "zipped_ -q -p fast").code, 0);
  ASSERT_EQ(RunProgram(pair.folder, pair.Arguments() + " -q -p fast --uncompressed").code, 0);
  for (const std::string name : { "1Warp", "1InverseWarp", "Warped", "InverseWarped" })
  {
    const std::string plain = pair.folder / ("out_" + name + ".nii");
    const std::string zipped = pair.folder / ("out_zipped_" + name + ".nii.gz");
    ASSERT_TRUE(fs::exists(plain)) << name;
    EXPECT_EQ(std::system(("gzip -dc " + zipped + " | cmp -s - " + plain).c_str()), 0) << name;
  }
}

TEST(RegisterCommand, RefusesAtOnceWhatNiftiCannotHold)
{
  const Pair  pair("long");
  std::string header = "ObjectType = Image\nNDims = 3\nDimSize = 40000 2 9\nElementType = MET_UCHAR\n"
                       "ElementDataFile = LOCAL\n";
  std::ofstream(pair.folder / "long.mha", std::ios::binary) << header << std::string(40000 * 2 * 9, 'x');
  const Outcome outcome = RunProgram(pair.folder,
                                     "register -f " + (pair.folder / "fixed.nii.gz") + " -m " +
                                       (pair.folder / "long.mha") + " -o " + (pair.folder / "out_"));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.ErrorLines(), 1) << outcome.errors;
  EXPECT_NE(outcome.errors.find("long.mha' has 40000 voxels along an axis"), std::string::npos) << outcome.errors;
}

TEST(RegisterCommand, StartsWhereItIsTold)
{
  const Pair pair("start");
  const auto expect = [&](const std::string & start, const itk::Vector<double, 3> & expected, double tolerance) {
    EXPECT_LT((OffsetOfStart(pair, start) - expected).GetNorm(), tolerance) << start;
  };
  const std::string            option = "--initial-moving-transform ";
  const auto                   origins = pair.moving->GetOrigin() - pair.fixed->GetOrigin();
  const itk::Vector<double, 3> none(0.0);
  expect("", none, 1e-9);
  expect(option + "'[0]'", none, 1e-3); // both are centered at 0
  expect(option + "'[2]'", origins, 1e-3);
  expect(option + "'[" + (pair.folder / "fixed.nii.gz") + "," + (pair.folder / "moving.mha") + ",2]'", origins, 1e-3);
  expect(option + "'[1]'", CenterOfMass(pair.moving) - CenterOfMass(pair.fixed), 1e-3);

  fs::rename(pair.folder / "out_0GenericAffine.mat", pair.folder / "start.mat"); // that of [1]
  const auto there = OffsetOfStart(pair, option + (pair.folder / "start.mat"));
  EXPECT_GT(there.GetNorm(), 1);
  expect(option + "'[" + (pair.folder / "start.mat") + ",1]'", -there, 1e-9);
  expect("-r " + (pair.folder / "start.mat") + " " + (pair.folder / "start.mat"), there * 2.0, 1e-9);
  EXPECT_EQ(RunProgram(pair.folder, pair.Arguments() + " -r '[3]'").code, 2);
  EXPECT_EQ(RunProgram(pair.folder, pair.Arguments() + " -r '[a,b,c,d]'").code, 2);
}

TEST(RegisterCommand, GoesOnFromAWarp)
{
  const Pair pair("warp");
  ASSERT_EQ(RunProgram(pair.folder, pair.Arguments() + ShortStages + " --quiet").code, 0);
  const std::string prefix = pair.folder / "out_";
  const std::string start = "register -f " + (pair.folder / "fixed.nii.gz") + " -m " + (pair.folder / "moving.mha") +
                            " -o " + (pair.folder / "again_") +
                            " --transform 'Greedy[]' --metric CC --convergence 0 -r ";
  const std::string again = start + prefix;
  const Outcome     outcome = RunProgram(pair.folder, again + "1Warp.nii.gz " + prefix + "0GenericAffine.mat");
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  // A warp and its inverse are drawn together by up to a tenth of a voxel at the end, in this run, too: the intensities
  // are between 0 and about 2, and few voxels move.
  EXPECT_LT(MeanDifference(Read(pair.folder / "again_Warped.nii.gz"), Read(prefix + "Warped.nii.gz")), 1e-2);
  // the same in one file
  RunProgram(pair.folder,
             "compose -t " + prefix + "1Warp.nii.gz " + prefix + "0GenericAffine.mat -o " + prefix + "Composite.h5");
  const auto    separate = Read(pair.folder / "again_Warped.nii.gz");
  const Outcome composite = RunProgram(pair.folder, again + "Composite.h5");
  ASSERT_EQ(composite.code, 0) << composite.errors;
  EXPECT_LT(MeanDifference(Read(pair.folder / "again_Warped.nii.gz"), separate), 1e-4);
  const Outcome inverse = RunProgram(pair.folder, start + "'[" + prefix + "1Warp.nii.gz,1]'");
  EXPECT_EQ(inverse.code, 2);
  EXPECT_NE(inverse.errors.find("give the file of its inverse"), std::string::npos) << inverse.errors;
  const Outcome late = RunProgram(pair.folder, again + "0GenericAffine.mat " + prefix + "Composite.h5");
  EXPECT_EQ(late.code, 2);
  EXPECT_NE(late.errors.find("must come first"), std::string::npos) << late.errors;
  const Outcome swapped = RunProgram(pair.folder, again + "0GenericAffine.mat " + prefix + "1Warp.nii.gz");
  EXPECT_EQ(swapped.code, 2);
  EXPECT_NE(swapped.errors.find("must come first"), std::string::npos) << swapped.errors;
}

TEST(RegisterCommand, SeveralPairsMasksAndRestrictedAxes)
{
  const Pair pair("pairs");
  auto       mask = MakeImage(1.5, 0.1, 1);
  std::for_each(mask->GetBufferPointer(),
                mask->GetBufferPointer() + mask->GetBufferedRegion().GetNumberOfPixels(),
                [](float & voxel) { voxel = voxel > 1 ? 1 : 0; });
  Write(mask, pair.folder / "mask.nii.gz");
  const std::string second = (pair.folder / "mask.nii.gz") + "," + (pair.folder / "moving.mha");
  const std::string stage = " --no-report --restrict-deformation 1x0x1 --transform 'Greedy[0.5,2,0.5]' --metric 'CC[" +
                            (pair.folder / "fixed.nii.gz") + "," + (pair.folder / "moving.mha") +
                            ",1,2]' --metric 'MeanSquares[" + second + ",0.2]' --convergence 10";
  const std::string masked = " --masks '[" + (pair.folder / "mask.nii.gz") + ",NULL]'";
  const std::string output = "register -o " + (pair.folder / "out_");
  const Outcome     outcome = RunProgram(pair.folder, output + stage + masked);
  ASSERT_EQ(outcome.code, 0) << outcome.errors;

  using Field = itk::Image<itk::Vector<float, 3>, 3>;
  const auto field = Read<Field>(pair.folder / "out_1Warp.nii.gz");
  const auto inverse = field->GetDirection().GetInverse();
  double     largest[3] = { 0, 0, 0 };
  for (itk::SizeValueType i = 0; i < field->GetBufferedRegion().GetNumberOfPixels(); ++i)
  {
    const auto & mm = field->GetBufferPointer()[i];
    for (unsigned int axis = 0; axis < 3; ++axis)
    {
      const double along = inverse[axis][0] * mm[0] + inverse[axis][1] * mm[1] + inverse[axis][2] * mm[2];
      largest[axis] = std::max(largest[axis], std::abs(along));
    }
  }
  EXPECT_GT(largest[0], 0.1);
  EXPECT_LT(largest[1], 1e-5); // single precision of the field
  EXPECT_GT(largest[2], 0.1);

  const std::string warp = ReadText(pair.folder / "out_1Warp.nii.gz");
  ASSERT_EQ(RunProgram(pair.folder, output + stage).code, 0);
  EXPECT_FALSE(warp == ReadText(pair.folder / "out_1Warp.nii.gz")) << "the mask changed nothing";
  const Outcome both =
    RunProgram(pair.folder, output + stage + masked + " --fixed-mask " + (pair.folder / "mask.nii.gz"));
  EXPECT_NE(both.errors.find("--masks"), std::string::npos);
  const Outcome grids = RunProgram(pair.folder,
                                   pair.Arguments() + " -t 'Rigid[]' --metric 'CC[" + (pair.folder / "moving.mha") +
                                     "," + (pair.folder / "moving.mha") + ",1,2]'");
  EXPECT_NE(grids.errors.find("is not on the grid"), std::string::npos) << grids.errors;
}

TEST(RegisterCommand, WrongOptionsAreNamedInOneLine)
{
  const Pair pair("options");
  const struct
  {
    std::string arguments, expected;
  } cases[] = {
    { pair.Arguments() + " -t Rigid", "with brackets" },    { pair.Arguments() + " --metric CC", "need a --transform" },
    { pair.Arguments() + " -t 'Rigid[1]'", "no --metric" }, { "register -f 4x2x1 -m b -o x_", "--shrink-factors" },
    { "register -f a -m 'MI[a,b]' -o x_", "--metric" },     { "register -f a -o x_", "go together" },
    { "register -o x_", "--fixed and --moving" },
  };
  for (const auto & c : cases)
  {
    const Outcome outcome = RunProgram(pair.folder, c.arguments);
    EXPECT_EQ(outcome.code, 2) << c.arguments;
    EXPECT_NE(outcome.errors.find(c.expected), std::string::npos) << outcome.errors;
    EXPECT_EQ(outcome.ErrorLines(), 1) << outcome.errors;
  }
}

/** Waits until a condition holds; false if it does not within minutes. */
template <typename TCondition>
bool
ComesTrue(const TCondition & condition)
{
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(5);
  while (!condition())
  {
    if (std::chrono::steady_clock::now() > deadline)
    {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

TEST(RegisterCommand, StopsOnInterruptionAndLeavesNothing)
{
  const Pair pair("interrupt");
  for (const std::string stage : { "'Greedy[]' --metric CC --convergence '[100000,0,20]'", "'Moments[180,1]'" })
  {
    for (const int signal : { SIGINT, SIGTERM })
    {
      const std::string log = pair.folder / (stage.substr(1, 2) + std::to_string(signal));
      const Process     process(pair.Arguments() + " --transform " + stage + " --log-json " + log);
      EXPECT_TRUE(ComesTrue([&] { return ReadText(log).find('\n') != std::string::npos; }));
      process.Send(signal);
      EXPECT_EQ(process.Wait(), 130);
    }
  }
  EXPECT_TRUE(NamesThatBegin(pair.folder, "out_").empty());
  EXPECT_TRUE(NamesThatBegin(pair.folder, ".ffdp-").empty());
}

TEST(RegisterCommand, KilledAtAnyMomentItLeavesOldFilesOrNewOnes)
{
  const Pair        pair("kill");
  const std::string run = pair.Arguments() + ShortStages + " --quiet";
  const auto        begin = std::chrono::steady_clock::now();
  ASSERT_EQ(RunProgram(pair.folder, run).code, 0);
  const std::chrono::duration<double, std::milli> duration = std::chrono::steady_clock::now() - begin;
  std::mt19937_64                                 random(3);
  std::map<std::string, std::string>              whole;
  for (const std::string & name : NamesThatBegin(pair.folder, "out_"))
  {
    whole[name] = ReadText(pair.folder / name);
  }
  for (int trial = 0; trial < 12; ++trial)
  {
    for (const auto & file : whole)
    {
      fs::remove(pair.folder / file.first);
      if (trial % 2 != 0) // there are old files
      {
        std::ofstream(pair.folder / file.first, std::ios::binary) << file.second;
      }
    }
    const Process process(run);
    std::this_thread::sleep_for(duration * (double(random() % 1000) / 1000));
    process.Send(SIGKILL);
    process.Wait();
    const auto names = NamesThatBegin(pair.folder, "out_");
    EXPECT_TRUE(trial % 2 == 0 || names.size() == whole.size());
    for (const std::string & name : names)
    {
      const std::string text = ReadText(pair.folder / name);
      if (name == "out_report.html") // tells times
      {
        EXPECT_NE(text.find("</html>"), std::string::npos);
      }
      else
      {
        EXPECT_TRUE(text == whole[name]) << name;
      }
    }
  }
  ASSERT_EQ(RunProgram(pair.folder, run).code, 0);
  EXPECT_TRUE(NamesThatBegin(pair.folder, ".ffdp-").empty()); // what was left is gone
}

TEST(RegisterCommand, GoesOnFromACheckpointToTheSameBytes)
{
  const Pair pair("checkpoint");
  // Iterations enough that the run is not over when it is killed, however late that is.
  const std::string stages = " --no-report --transform 'Greedy[]' --metric 'CC[1,2]' --convergence '[300,1e-3,1000]'";
  ASSERT_EQ(RunProgram(pair.folder, pair.Arguments() + stages).code, 0);
  const std::string warp = ReadText(pair.folder / "out_1Warp.nii.gz");
  fs::remove(pair.folder / "out_1Warp.nii.gz");

  const std::string log = pair.folder / "log";
  const std::string kept = pair.Arguments() + stages + " --checkpoint " + (pair.folder / "state") +
                           " --checkpoint-seconds 0 --log-json " + log;
  const auto iterations = [&] {
    std::istringstream text(ReadText(log));
    int                count = 0;
    for (std::string line; std::getline(text, line);)
    {
      count += line.find("\"greedy\"") != std::string::npos ? 1 : 0;
    }
    return count;
  };
  const Process process(kept);
  EXPECT_TRUE(ComesTrue([&] { return iterations() >= 20; }));
  process.Send(SIGKILL);
  ASSERT_EQ(process.Wait(), -SIGKILL) << "the run was over before it could be killed";
  EXPECT_FALSE(fs::exists(pair.folder / "out_1Warp.nii.gz"));
  const Outcome outcome = RunProgram(pair.folder, kept);
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_LE(iterations(), 300 - 19); // it did not begin anew; the state of the last iteration in the log may be lost
  EXPECT_TRUE(ReadText(pair.folder / "out_1Warp.nii.gz") == warp);
}
