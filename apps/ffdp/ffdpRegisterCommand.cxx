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
#include "ffdpCommands.h"
#include "ffdpInterruption.h"
#include "ffdpProgressLine.h"
#include "ffdpRegisterInputs.h"
#include "ffdpRegisterOutputs.h"
#include "ffdpReport.h"
#include "ffdpRunLog.h"

#include "itkMultiThreaderBase.h"

#include <chrono>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>

namespace
{

ffdp::RegistrationCheckpoint
MakeCheckpoint(const RegisterOptions & options)
{
  ffdp::RegistrationCheckpoint checkpoint;
  checkpoint.directory = options.checkpoint;
  checkpoint.seconds = options.checkpointSeconds;
  return checkpoint;
}

ffdp::RegistrationResult
RunStages(const RegisterOptions & options, const StageList & list, const RegisterInputs & inputs, RunLog & log)
{
  const auto   backend = ffdp::MakeCpuBackend(options.threads);
  const auto   self = ffdp::MakeSelfCommunicator();
  ProgressLine line(options.quiet);
  const auto   observe = [&](const ffdp::RegistrationProgress & progress) {
    log.Add(progress);
    line.Show(progress);
    return !IsInterrupted();
  };
  try
  {
    auto result =
      ffdp::Register(*backend, *self, inputs.pairs, inputs.start, list.stages, observe, MakeCheckpoint(options));
    line.Finish();
    return result;
  }
  catch (const ffdp::RegistrationAborted &)
  {
    line.Finish();
    throw Interrupted();
  }
}

void
PrintSummary(const ffdp::RegistrationResult & result, bool deformable, double seconds, const OutputSet & outputs)
{
  std::cout << std::fixed << std::setprecision(1) << seconds << " s, " << PeakMegabytes() << " MB";
  if (deformable)
  {
    std::cout << std::setprecision(3) << "; smallest Jacobian " << result.smallestJacobian << ", " << result.folds
              << " folds, inverse within " << result.inverseResidual << " voxels";
  }
  std::cout << "\n";
  for (const std::string & file : outputs.Files())
  {
    std::cout << "written: " << file << "\n";
  }
}

/** Seconds since it was last asked. */
class Stopwatch
{
public:
  double
  Lap()
  {
    const auto                          now = std::chrono::steady_clock::now();
    const std::chrono::duration<double> lap = now - m_Last;
    m_Last = now;
    return lap.count();
  }

private:
  std::chrono::steady_clock::time_point m_Last = std::chrono::steady_clock::now();
};

void
RunRegister(const RegisterOptions & options)
{
  Stopwatch watch;
  CatchInterruptions();
  if (options.threads > 0)
  {
    itk::MultiThreaderBase::SetGlobalDefaultNumberOfThreads(options.threads); // of resampling and writing, too
  }
  const StageList list = PlanStages(options);
  RequireWritable(options.output);
  OutputSet            outputs(options.output);
  const RegisterInputs inputs = ReadRegisterInputs(options, list.pairs);
  StopIfInterrupted();
  const double secondsReading = watch.Lap();
  RunLog       log(options.logJson);
  auto         result = RunStages(options, list, inputs, log);
  const bool   deformable = !result.warp.empty();
  result.notes.insert(result.notes.begin(), list.notes.begin(), list.notes.end());
  ReportFacts facts{ list, result, log.Iterations(), secondsReading, watch.Lap(), 0 };

  std::unique_ptr<RegistrationReport> report;
  if (!options.noReport)
  {
    report = std::make_unique<RegistrationReport>(inputs, result); // while the warps are there
  }
  WriteRegistration(options, result, inputs);
  facts.secondsWriting = watch.Lap();
  if (report)
  {
    WriteText(report->MakePage(facts), options.output + "report.html");
  }
  outputs.Commit();
  ffdp::RemoveCheckpoint(MakeCheckpoint(options));
  if (!options.quiet)
  {
    for (const std::string & note : result.notes)
    {
      std::cout << "note: " << note << "\n";
    }
    const double seconds = facts.secondsReading + facts.secondsStages + facts.secondsWriting + watch.Lap();
    PrintSummary(result, deformable, seconds, outputs);
  }
}

/** Options that can be given once per stage; what the user meant depends on their order. */
using StageOptions = std::map<const CLI::Option *, StageOption>;

StageOptions
AddStageOptions(CLI::App & command)
{
  StageOptions options;
  const auto   add = [&](const std::string & name, StageOption which, const std::string & help) {
    auto * option = command.add_option(name, help)->type_name("TEXT");
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)->allow_extra_args(false)->group("Stages");
    options[option] = which;
  };
  add("-t,--transform",
      StageOption::Transform,
      "rigid, affine or deformable (the default): the preset up to that kind; or one stage, as in 'Rigid[0.25]'");
  add("--metric", StageOption::Metric, "As in 'CC[1,4]', 'MI[fixed.nii,moving.nii,1,32]' or 'MeanSquares'");
  add("--convergence", StageOption::Convergence, "As in '[100x50x25,1e-3,10]' or 100x50x25");
  add("--shrink-factors", StageOption::ShrinkFactors, "As in 4x2x1");
  add("--smoothing-sigmas", StageOption::SmoothingSigmas, "As in 2x1x0vox or 2x1x0mm");
  return options;
}

std::vector<StageArgument>
CollectInOrder(const CLI::App & command, const StageOptions & options)
{
  std::vector<StageArgument>                 arguments;
  std::map<const CLI::Option *, std::size_t> seen;
  for (const CLI::Option * option : command.parse_order())
  {
    const auto known = options.find(option);
    if (known != options.end())
    {
      arguments.push_back({ known->second, option->results().at(seen[option]++) });
    }
  }
  return arguments;
}

} // namespace

void
AddRegisterCommand(CLI::App & program)
{
  auto   options = std::make_shared<RegisterOptions>();
  auto * command = program.add_subcommand("register", "Find the transform from a fixed to a moving image");
  command->add_option("-f,--fixed", options->fixed, "The image whose grid is kept");
  command->add_option("-m,--moving", options->moving, "The image that is brought to it");
  command->add_option("-o,--output", options->output, "Prefix of all files written, as in ANTs")->required();
  command->add_option("-p,--preset", options->preset, "fast, balanced or accurate")
    ->check(CLI::IsMember({ "fast", "balanced", "accurate" }))
    ->capture_default_str();
  command->add_option("--modality", options->modality, "same (T1 and T1) or different (T1 and T2, CT and MR)")
    ->check(CLI::IsMember({ "same", "different" }))
    ->capture_default_str();
  command->add_option("--fixed-mask", options->fixedMask, "Compare only where this is not 0; on the fixed grid");
  command->add_option("--moving-mask", options->movingMask, "Likewise on the moving grid");
  command->add_option("-x,--masks", options->masks, "Both, as [FIXED,MOVING]; NULL for none")->allow_extra_args(false);
  command->add_option(
    "-r,--initial-moving-transform,--initial-transform",
    options->start,
    "Start from these, in the order of `ffdp apply`: FILE, [FILE,1] for the inverse, a warp first; or "
    "from [FIXED,MOVING,N], or just [N], with N 0: middles of the images, 1: centers of mass, "
    "2: origins");
  command->add_option("--restrict-deformation",
                      options->restrictDeformation,
                      "Weights of the fixed grid's axes in warps: 1x1x0 moves nothing along the third");
  command->add_flag("--no-moments", options->noMoments, "Start from where the files say the images are");
  command->add_flag("--composite", options->composite, "Also write PREFIXComposite.h5 and PREFIXInverseComposite.h5");
  command->add_flag("--no-report", options->noReport, "Do not write PREFIXreport.html");
  command->add_option("--log-json", options->logJson, "Write one JSON object per iteration to this file");
  command->add_option(
    "--checkpoint", options->checkpoint, "Keep state in this folder; the same command goes on from it");
  command->add_option("--checkpoint-seconds", options->checkpointSeconds, "Time between two saves")
    ->capture_default_str();
  command->add_option("--threads", options->threads, "0: all, or what ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS says");
  command->add_flag("-q,--quiet", options->quiet, "Print nothing but errors");
  const StageOptions stageOptions = AddStageOptions(*command);
  command->footer(StageHelp);
  command->callback([options, command, stageOptions] {
    options->stages = CollectInOrder(*command, stageOptions);
    RunRegister(*options);
  });
}
