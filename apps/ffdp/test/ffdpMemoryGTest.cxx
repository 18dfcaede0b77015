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
#include "ffdpMemoryNeeds.h"

#include "ffdpProgramTestSupport.h"

#include <cstring>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace programtest;

namespace
{

/** The most memory that a run of the program held, in bytes. */
double
PeakOf(const Folder & folder, const std::string & arguments)
{
  const std::string errors = folder / "stderr";
  const pid_t       child = fork();
  if (child == 0)
  {
    const std::string command = "exec " FFDP_PROGRAM " " + arguments + " >/dev/null 2>" + errors;
    execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char *>(nullptr));
    _exit(127);
  }
  int    status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << arguments << ": " << ReadText(errors);
  return 1024.0 * double(usage.ru_maxrss);
}

/** A NIfTI header of an image of floats with nothing behind it but a hole in the file: it takes no room on the disk. */
void
WriteHugeNifti(const std::string & file, std::int16_t side)
{
  char       header[352] = {};
  const auto put = [&](std::size_t at, auto value) { std::memcpy(header + at, &value, sizeof(value)); };
  put(0, std::int32_t(348));
  put(40, std::int16_t(3));
  for (std::size_t axis = 0; axis < 7; ++axis)
  {
    put(42 + 2 * axis, std::int16_t(axis < 3 ? side : 1));
    put(80 + 4 * axis, 1.0f);
  }
  put(70, std::int16_t(16)); // float
  put(72, std::int16_t(32));
  put(76, 1.0f);
  put(108, 352.0f);
  std::memcpy(header + 344, "n+1", 4);
  std::ofstream(file, std::ios::binary).write(header, sizeof(header));
  fs::resize_file(file, 352 + 4 * std::uintmax_t(side) * std::uintmax_t(side) * std::uintmax_t(side));
}

/** Floats, labels and fields of some size, large enough that what the program takes by itself is little. */
struct Volumes
{
  Folder      folder;
  std::string image, labels, field, composite;

  explicit Volumes(const std::string & name)
    : folder(name)
    , image(folder / "image.nii")
    , labels(folder / "labels.nii")
    , field(folder / "field.nii")
    , composite(folder / "field.h5")
  {
    const std::string size = " --size 120 110 100";
    EXPECT_EQ(
      RunProgram(folder, "synthesize -q --head --spacing 1.6" + size + " -o " + image + " --labels-out " + labels).code,
      0);
    EXPECT_EQ(RunProgram(folder, "compose -q -t identity -r " + image + " -o " + field).code, 0);
    EXPECT_EQ(RunProgram(folder, "compose -q -t " + field + " -o " + composite).code, 0);
  }
};

} // namespace

TEST(Memory, WhatEachCommandNeedsIsKnownFromHeaders)
{
  const Volumes     v("memory-needs");
  const double      base = PeakOf(v.folder, "info");
  const std::string out = v.folder / "out.nii", zipped = out + ".gz", h5 = v.folder / "out.h5";
  EvaluatedFiles    images, masked, warp, labels, flat;
  images.fixed = images.moved = masked.fixed = masked.moved = v.image;
  masked.mask = v.labels;
  warp.warp = v.field;
  labels.fixedLabels = labels.movedLabels = flat.fixedLabels = flat.movedLabels = v.labels;
  flat.surfaces = false;
  SyntheticSizes head;
  head.result = 120.0 * 110 * 100;
  head.plane = 120.0 * 110;
  head.output = out;
  const std::string apply = "apply -r " + v.image + " ",
                    images2 = "evaluate --fixed " + v.image + " --moved " + v.image;
  // ITK writes in a process of its own, whose memory is not in the peak of the program: there it puts the components of
  // vectors in the order of a NIfTI file.
  const double vectors = 12 * 120.0 * 110 * 100;
  const struct
  {
    std::string arguments;
    MemoryNeed  need;
    double      apart = 0;
  } cases[] = {
    { apply + "-i " + v.image + " -t " + v.field + " -o " + out,
      NeedOfApply(v.image, v.image, { v.field }, true, out) },
    { apply + "-i " + v.image + " -t " + v.field + " " + v.field + " -o " + zipped,
      NeedOfApply(v.image, v.image, { v.field, v.field }, true, zipped) },
    { apply + "-i " + v.image + " -t " + v.composite + " -o " + out,
      NeedOfApply(v.image, v.image, { v.composite }, true, out) },
    { apply + "-i " + v.labels + " -n label -t identity -o " + out,
      NeedOfApply(v.labels, v.image, { "identity" }, false, out) },
    { apply + "-i " + v.field + " -t identity -o " + out,
      NeedOfApply(v.field, v.image, { "identity" }, true, out),
      vectors },
    { "compose -t " + v.field + " -r " + v.image + " -o " + out, NeedOfCompose({ v.field }, v.image, out), vectors },
    { "compose -t " + v.field + " -r " + v.image + " -o " + zipped, NeedOfCompose({ v.field }, v.image, zipped) },
    { "compose -t " + v.field + " " + v.field + " -o " + h5, NeedOfCompose({ v.field, v.field }, "", h5) },
    { "invert -t " + v.field + " -o " + out, NeedOfInvert(v.field, out) },
    { "invert -t " + v.composite + " -o " + h5, NeedOfInvert(v.composite, h5) },
    { "jacobian -t " + v.field + " -o " + out, NeedOfJacobian({ v.field }, "", out) },
    { "jacobian -t " + v.field + " -r " + v.image + " -o " + out, NeedOfJacobian({ v.field }, v.image, out) },
    { images2, NeedOfEvaluate(images) },
    { images2 + " --mask " + v.labels, NeedOfEvaluate(masked) },
    { "evaluate --warp " + v.field, NeedOfEvaluate(warp) },
    { "evaluate --no-surfaces --fixed-labels " + v.labels + " --moved-labels " + v.labels, NeedOfEvaluate(flat) },
    { "evaluate --fixed-labels " + v.labels + " --moved-labels " + v.labels, NeedOfEvaluate(labels) },
    { "synthesize --head --spacing 1.6 --size 120 110 100 -o " + out, NeedOfSynthesize(head) },
    { "bench --size 110 --repeats 1", NeedOfBench(110.0 * 110 * 110) },
  };
  for (const auto & c : cases)
  {
    const double measured = PeakOf(v.folder, c.arguments), estimated = base + c.need.Bytes() - c.apart;
    std::printf("%6.1f MB for %6.1f: %s\n", estimated / 1e6, measured / 1e6, c.arguments.substr(0, 60).c_str());
    EXPECT_LT(estimated, 1.1 * measured + 2e6) << c.arguments;
    EXPECT_GT(estimated, measured - 4e6) << c.arguments;
  }
}

TEST(Memory, WhatDoesNotFitIsRefusedWithFileAndFigures)
{
  const Folder      folder("memory-refused");
  const std::string huge = folder / "huge.nii", small = folder / "small.nii.gz", out = folder / "o.nii";
  WriteHugeNifti(huge, 5000); // 500 GB
  Write(MakeImage(0, 0, 0), small);
  const std::string reference = " -r " + huge + " -t identity -o ";
  for (const std::string & arguments : { "apply -i " + small + reference + out,
                                         "apply -i " + huge + " -r " + small + " -t identity -o " + out,
                                         "apply -i " + small + " -r " + small + " -t " + huge + " -o " + out,
                                         "compose" + reference + out,
                                         "compose -t " + huge + " -o " + (folder / "o.h5"),
                                         "invert -t " + huge + " -o " + out,
                                         "jacobian" + reference + out,
                                         "evaluate --fixed " + huge + " --moved " + huge,
                                         "evaluate --fixed-labels " + huge + " --moved-labels " + huge,
                                         "synthesize --labels " + huge + " -o " + out })
  {
    const Outcome outcome = RunProgram(folder, arguments);
    EXPECT_EQ(outcome.code, 1) << arguments;
    EXPECT_EQ(outcome.ErrorLines(), 1) << outcome.errors;
    const bool isField = outcome.errors.find("does not have three values") != std::string::npos;
    EXPECT_TRUE(isField || outcome.errors.find("huge.nii' of 5000x5000x5000 voxels needs ") != std::string::npos)
      << arguments << ": " << outcome.errors;
    EXPECT_TRUE(isField || outcome.errors.find(" MB are free") != std::string::npos) << outcome.errors;
    EXPECT_FALSE(fs::exists(out));
  }
  const Outcome head = RunProgram(folder, "synthesize --head --size 20000 20000 20000 -o " + out);
  EXPECT_EQ(head.code, 1);
  EXPECT_NE(head.errors.find("ffdp synthesize needs "), std::string::npos) << head.errors;
}

TEST(Memory, ALimitOfAddressSpaceCounts)
{
  const Folder      folder("memory-limit");
  const std::string large = folder / "large.nii", small = folder / "small.nii.gz", out = folder / "o.nii";
  WriteHugeNifti(large, 600); // 864 MB
  Write(MakeImage(0, 0, 0), small);
  const std::string run = "info >/dev/null; ulimit -v 900000; " FFDP_PROGRAM " ";
  const std::string arguments = "apply --threads 1 -i " + small + " -r " + large + " -t identity -o " + out;
  const Outcome     refused = RunProgram(folder, run + arguments);
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.errors.find("large.nii' of 600x600x600 voxels needs 864 MB"), std::string::npos) << refused.errors;
  EXPECT_NE(refused.errors.find("--ignore-memory"), std::string::npos) << refused.errors;
  const Outcome tried = RunProgram(folder, run + arguments + " --ignore-memory");
  EXPECT_EQ(tried.code, 1);
  EXPECT_EQ(tried.ErrorLines(), 1) << tried.errors;
  EXPECT_NE(tried.errors.find("not enough memory for ffdp apply, which was estimated to need 86"), std::string::npos)
    << tried.errors;
}
