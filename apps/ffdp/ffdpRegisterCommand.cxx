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
#include "ffdpAgreement.h"
#include "ffdpArgumentChecks.h"
#include "ffdpCommandError.h"
#include "ffdpCommands.h"
#include "ffdpDevice.h"
#include "ffdpGivenSpacing.h"
#include "ffdpImageGrid.h"
#include "ffdpInterruption.h"
#include "ffdpLaunch.h"
#include "ffdpMemory.h"
#include "ffdpNiftiWriter.h"
#include "ffdpProblem.h"
#include "ffdpProgressLine.h"
#include "ffdpRegisterArguments.h"
#include "ffdpRegisterInputs.h"
#include "ffdpRegisterFiles.h"
#include "ffdpRegisterOutputs.h"
#include "ffdpReport.h"
#include "ffdpRunLog.h"
#include "ffdpStageList.h"
#include "ffdpTimeLeft.h"

#include <algorithm>
#include <chrono>
#include <iomanip>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>

namespace
{

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

ffdp::RegistrationCheckpoint
MakeCheckpoint(const RegisterOptions & options)
{
  ffdp::RegistrationCheckpoint checkpoint;
  checkpoint.directory = options.checkpoint;
  checkpoint.seconds = options.checkpointSeconds;
  return checkpoint;
}

/** About how long outputs and the report will take. */
double
SecondsOfWriting(const RegisterInputs & inputs, const StageList & list)
{
  constexpr double Warps = 2e-7, Images = 5e-8; // seconds of a voxel: they are gathered, compressed and written
  const bool       deforms =
    inputs.start.warp.IsGiven() || std::any_of(list.stages.begin(), list.stages.end(), ffdp::IsDeformable);
  const double voxels = double(ExtentOf(inputs.fixed).Voxels());
  return voxels * (Images + (deforms ? Warps : 0));
}

/** What was registered, for messages. */
std::string
DescribeImages(const RegisterOptions & options, const ImageNames & images)
{
  std::string text = "fixed image '" + images.fixed + "' and moving image '" + images.moving + "'";
  for (const std::string & transform : options.start)
  {
    text += " from '" + transform + "'";
  }
  return text;
}

ffdp::RegistrationResult
RunStages(const RegisterOptions & options,
          const StageList &       list,
          const RegisterInputs &  inputs,
          ffdp::Backend &         backend,
          ffdp::Communicator &    ranks,
          RunLog &                log)
{
  const bool   launched = ranks.Size() > 1; // mpirun gives its processes a terminal, whatever it writes to itself
  ProgressLine line(options.quiet || ranks.Rank() > 0, launched);
  TimeLeft     timeLeft(SecondsOfWriting(inputs, list));
  Stopwatch    watch;
  double       seconds = 0;
  const auto   observe = [&](const ffdp::RegistrationProgress & progress) {
    seconds += watch.Lap();
    const double left = timeLeft.Update(progress, seconds);
    log.Add(progress, left);
    line.Show(progress, seconds, left);
    return !IsInterrupted();
  };
  try
  {
    auto result =
      ffdp::Register(backend, ranks, inputs.pairs, inputs.start, list.stages, observe, MakeCheckpoint(options));
    line.Finish();
    return result;
  }
  catch (const ffdp::RegistrationAborted &)
  {
    line.Finish();
    throw Interrupted();
  }
  catch (const std::invalid_argument & error) // the engine knows no files
  {
    line.Finish();
    const std::string name = "ffdp: ", reason = error.what();
    throw CommandError(DescribeImages(options, list.pairs.front()) + ": " +
                       (reason.compare(0, name.size(), name) == 0 ? reason.substr(name.size()) : reason));
  }
}

/** The device, and its memory, are given back before outputs are written. */
ffdp::RegistrationResult
RunOnDevice(const RegisterOptions & options,
            const StageList &       list,
            const RegisterInputs &  inputs,
            const Launch &          launch,
            RunLog &                log)
{
  const RegistrationDevice device(ParseDevice(options.device), options.threads, launch);
  return RunStages(options, list, inputs, device.Backend(), device.Ranks(), log);
}

void
PrintSummary(const ffdp::RegistrationResult & result, double seconds, double megabytes, int ranks)
{
  std::cout << std::fixed << std::setprecision(1) << seconds << " s, " << megabytes << " MB";
  if (ranks > 1)
  {
    std::cout << " at most on one of " << ranks << " ranks";
  }
  if (result.hasWarp)
  {
    std::cout << std::setprecision(3) << "; smallest Jacobian " << result.smallestJacobian << ", " << result.folds
              << " folds, inverse " << result.smallestInverseJacobian << ", " << result.inverseFolds
              << " folds, within " << result.inverseResidual << " voxels";
  }
  std::cout << "\n";
}

/** The outputs are safe: a state that stays does no harm to them. */
void
RemoveStateOrNote(const RegisterOptions & options, std::vector<std::string> & notes)
{
  try
  {
    ffdp::RemoveCheckpoint(MakeCheckpoint(options));
  }
  catch (const std::exception & error)
  {
    notes.push_back(std::string("the checkpoint could not be removed: ") + error.what());
  }
}

/** What can be known to be wrong before any voxel is read. */
void
CheckProblem(const RegisterOptions & options, const StageList & list, const Launch & launch)
{
  const ffdp::DeviceName device = ParseDevice(options.device);
  RequireDevice(device, launch);
  RequireOneDimension(options, list.pairs);
  RequireMasksOnGrids(options, list.pairs.front());
  RequireAxisWeights(options, ExtentOf(ReadGrid(list.pairs.front().fixed, "fixed image")));
  for (const ImageNames & names : list.pairs)
  {
    RequireNiftiSize(ReadGrid(names.fixed, "fixed image"), "fixed image '" + names.fixed + "'");
    RequireNiftiSize(ReadGrid(names.moving, "moving image"), "moving image '" + names.moving + "'");
  }
  const RegistrationProblem problem = DescribeProblem(options, list, launch.Ranks().Size());
  KeepNeededBytes(problem.peakBytes);
  if (!options.ignoreMemory)
  {
    if (device.cuda)
    {
      RequireDeviceMemory(device, problem.deviceBytes, launch);
    }
    RequireMemory(problem, list.pairs.front(), launch.RanksHere());
  }
  const std::string warning = CompareSizes(options, list.pairs);
  if (!warning.empty() && launch.Ranks().Rank() == 0)
  {
    Warn(options, warning);
  }
}

void
RunRegister(const RegisterOptions & options, const Launch & launch)
{
  Stopwatch            watch;
  ffdp::Communicator & ranks = launch.Ranks();
  const bool           first = ranks.Rank() == 0;
  const StageList      list = PlanStages(options);
  ParseDevice(options.device); // wrong words are found before ranks agree on anything
  RequireOutputNames(options, list);
  DoOnFirst(ranks, [&] { RequireWritableOutputs(options, list); });
  OutputSet outputs(options.output, ranks);
  DoTogether(ranks, [&] { CheckProblem(options, list, launch); });
  const RegisterInputs inputs = ReadRegisterInputs(options, list.pairs, ranks);
  CatchInterruptions(); // until now they end the program, which might wait for a disk that does not answer
  const double          secondsReading = watch.Lap();
  std::optional<RunLog> log;
  DoTogether(ranks, [&] { log.emplace(first ? options.logJson : std::string()); });
  auto result = RunOnDevice(options, list, inputs, launch, *log);
  result.notes.insert(result.notes.begin(), list.notes.begin(), list.notes.end());
  const auto spacingNotes = TakeSpacingNotes();
  result.notes.insert(result.notes.begin(), spacingNotes.begin(), spacingNotes.end());
  if (options.composite && result.hasWarp && ranks.Size() > 1)
  {
    result.notes.emplace_back(
      "--composite: rank 0 held each whole warp, and what ITK makes of it, to write it: four times the warp");
  }
  ReportFacts facts{ list, result, log->Iterations(), secondsReading, watch.Lap(), 0, 0, ranks.Size() };

  std::unique_ptr<RegistrationReport> report;
  if (!options.noReport)
  {
    report = std::make_unique<RegistrationReport>(inputs, result, ranks); // while the warps are there
  }
  WriteRegistration(options, result, inputs, *ffdp::MakeCpuBackend(options.threads), ranks);
  facts.secondsWriting = watch.Lap();
  facts.peakMegabytes = PeakMegabytes();
  ranks.Maximum(&facts.peakMegabytes, 1);
  if (report)
  {
    DoOnFirst(ranks, [&] { WriteText(report->MakePage(facts), options.output + "report.html"); });
  }
  outputs.Commit(ListOutdatedFiles(options, list));
  DoOnFirst(ranks, [&] { RemoveStateOrNote(options, result.notes); });
  if (first && !options.quiet)
  {
    for (const std::string & note : result.notes)
    {
      std::cout << "note: " << note << "\n";
    }
    const double seconds = facts.secondsReading + facts.secondsStages + facts.secondsWriting + watch.Lap();
    PrintSummary(result, seconds, facts.peakMegabytes, ranks.Size());
    for (const std::string & file : outputs.Files())
    {
      std::cout << "written: " << file << "\n";
    }
    for (const std::string & file : outputs.Removed())
    {
      std::cout << "removed: " << file << " (of an earlier run)\n";
    }
  }
}

} // namespace

void
AddRegisterCommand(CLI::App & program, const Launch & launch)
{
  auto   options = std::make_shared<RegisterOptions>();
  auto * command = AddRegistrationCommand(
    program, "register", "Find the transform from a fixed to a moving image", options, [options, &launch] {
      ParseOutput(*options);
      RunRegister(*options, launch);
    });
  command
    ->add_option("-o,--output",
                 options->output,
                 "Prefix of all files written, as in ANTs; or [PREFIX,WARPED,INVERSEWARPED] with names of these images")
    ->required();
  command->add_flag("--composite", options->composite, "Also write PREFIXComposite.h5 and PREFIXInverseComposite.h5");
  command->add_flag(
    "--uncompressed", options->uncompressed, "Write .nii instead of .nii.gz: larger, and all ranks write at once");
  command->add_flag("--no-report", options->noReport, "Do not write PREFIXreport.html");
  command->add_option("--log-json", options->logJson, "Write one JSON object per iteration to this file");
  command->add_option(
    "--checkpoint", options->checkpoint, "Keep state in this folder; the same command goes on from it");
  command->add_option("--checkpoint-seconds", options->checkpointSeconds, "Time between two saves")
    ->check(NumberAtLeast(0))
    ->capture_default_str();
}
