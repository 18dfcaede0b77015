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
#include "ffdpCommandError.h"
#include "ffdpCommands.h"
#include "ffdpImageFiles.h"
#include "ffdpPresets.h"
#include "ffdpProgressLine.h"
#include "ffdpResampling.h"
#include "ffdpTransformFiles.h"

#include <chrono>
#include <iomanip>
#include <iostream>
#include <memory>
#include <sys/resource.h>

namespace
{

struct Options
{
  std::string fixed, moving, output, fixedMask, movingMask, initial;
  std::string preset = "balanced", modality = "same", transform = "deformable";
  unsigned    threads = 0;
  bool        quiet = false, noMoments = false, composite = false;
};

double
PeakMegabytes()
{
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return double(usage.ru_maxrss) / 1024;
}

/** One direction after the other, each from memory: a warp and ITK's copy of it in doubles are large. */
void
WriteOutputs(const Options & options, const ffdp::RegistrationResult & result, FloatImage * fixed, FloatImage * moving)
{
  const std::string & prefix = options.output;
  WriteLinear(result.affine, prefix + "0GenericAffine.mat");
  for (const bool forward : { true, false })
  {
    const std::string          inverse = forward ? "" : "Inverse";
    const std::vector<float> & warp = forward ? result.warp : result.inverseWarp;
    FieldImage::Pointer        field;
    if (!warp.empty())
    {
      field = MakeField(warp, fixed);
      WriteField(field, prefix + "1" + inverse + "Warp.nii.gz");
    }
    const auto composite = MakeComposite(forward ? result.affine : result.affine.Inverse(), field, forward);
    field = nullptr;
    if (options.composite)
    {
      WriteComposite(composite, prefix + inverse + "Composite.h5");
    }
    const auto warped =
      forward ? ResampleImage(moving, fixed, composite, "linear") : ResampleImage(fixed, moving, composite, "linear");
    WriteImage(warped, prefix + inverse + "Warped.nii.gz");
  }
}

void
RunRegister(const Options & options)
{
  const auto start = std::chrono::steady_clock::now();
  RequireWritable(options.output);
  const auto      fixed = ReadImageWithContrast(options.fixed, "fixed image");
  const auto      moving = ReadImageWithContrast(options.moving, "moving image");
  ffdp::ImagePair pair;
  pair.fixed = PlaceImage(fixed);
  pair.moving = PlaceImage(moving);
  FloatImage::Pointer fixedMask, movingMask;
  if (!options.fixedMask.empty())
  {
    fixedMask = ReadMask(options.fixedMask, "fixed mask", fixed);
    pair.fixedMask = PlaceImage(fixedMask).voxels;
  }
  if (!options.movingMask.empty())
  {
    movingMask = ReadMask(options.movingMask, "moving mask", moving);
    pair.movingMask = PlaceImage(movingMask).voxels;
  }
  const ffdp::AffineMap initial = options.initial.empty() ? ffdp::AffineMap() : ReadLinear(options.initial);
  const bool            withMoments = !options.noMoments && options.initial.empty();
  const auto            stages = MakePreset(options.preset, options.modality == "same", options.transform, withMoments);

  const auto   backend = ffdp::MakeCpuBackend(options.threads);
  const auto   self = ffdp::MakeSelfCommunicator();
  ProgressLine progress(options.quiet);
  const auto   result = ffdp::Register(
    *backend, *self, { pair }, initial, stages, [&](const ffdp::RegistrationProgress & p) { return progress.Show(p); });
  progress.Finish();
  for (const std::string & note : result.notes)
  {
    std::cout << "note: " << note << "\n";
  }
  WriteOutputs(options, result, fixed, moving);
  if (!options.quiet)
  {
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    std::cout << std::fixed << std::setprecision(1) << seconds.count() << " s, " << PeakMegabytes() << " MB";
    if (!result.warp.empty())
    {
      std::cout << std::setprecision(3) << "; smallest Jacobian " << result.smallestJacobian << ", " << result.folds
                << " folds, inverse within " << result.inverseResidual << " voxels";
    }
    std::cout << "\nwritten: " << options.output << "0GenericAffine.mat, Warped.nii.gz and the others\n";
  }
}

} // namespace

void
AddRegisterCommand(CLI::App & program)
{
  auto   options = std::make_shared<Options>();
  auto * command = program.add_subcommand("register", "Find the transform from a fixed to a moving image");
  command->add_option("-f,--fixed", options->fixed, "The image whose grid is kept")->required();
  command->add_option("-m,--moving", options->moving, "The image that is brought to it")->required();
  command->add_option("-o,--output", options->output, "Prefix of all files written, as in ANTs")->required();
  command->add_option("-t,--transform", options->transform, "rigid, affine or deformable")
    ->check(CLI::IsMember({ "rigid", "affine", "deformable" }))
    ->capture_default_str();
  command->add_option("-p,--preset", options->preset, "fast, balanced or accurate")
    ->check(CLI::IsMember({ "fast", "balanced", "accurate" }))
    ->capture_default_str();
  command->add_option("--modality", options->modality, "same (T1 and T1) or different (T1 and T2, CT and MR)")
    ->check(CLI::IsMember({ "same", "different" }))
    ->capture_default_str();
  command->add_option("--fixed-mask", options->fixedMask, "Compare only where this is not 0; on the fixed grid");
  command->add_option("--moving-mask", options->movingMask, "Likewise on the moving grid");
  command->add_option("-r,--initial-transform", options->initial, "Start from this linear transform");
  command->add_flag("--no-moments", options->noMoments, "Start from where the files say the images are");
  command->add_flag("--composite", options->composite, "Also write PREFIXComposite.h5 and PREFIXInverseComposite.h5");
  command->add_option("--threads", options->threads, "0: all, or what ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS says");
  command->add_flag("-q,--quiet", options->quiet, "Print nothing but errors");
  command->callback([options] { RunRegister(*options); });
}
