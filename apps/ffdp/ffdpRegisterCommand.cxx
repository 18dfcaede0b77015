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
#include "ffdpProblem.h"
#include "ffdpProgressLine.h"
#include "ffdpRegisterArguments.h"
#include "ffdpRegisterInputs.h"
#include "ffdpRegisterOutputs.h"
#include "ffdpReport.h"
#include "ffdpRunLog.h"

#include "itkMultiThreaderBase.h"

#include <chrono>
#include <iomanip>
#include <iostream>
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
  OutputSet outputs(options.output);
  if (!options.ignoreMemory)
  {
    RequireMemory(DescribeProblem(options, list));
  }
  const auto           self = ffdp::MakeSelfCommunicator();
  const RegisterInputs inputs = ReadRegisterInputs(options, list.pairs, *self);
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

} // namespace

void
AddRegisterCommand(CLI::App & program)
{
  auto   options = std::make_shared<RegisterOptions>();
  auto * command = program.add_subcommand("register", "Find the transform from a fixed to a moving image");
  AddProblemOptions(*command, options, [options] { RunRegister(*options); });
  command->add_option("-o,--output", options->output, "Prefix of all files written, as in ANTs")->required();
  command->add_flag("--composite", options->composite, "Also write PREFIXComposite.h5 and PREFIXInverseComposite.h5");
  command->add_flag("--no-report", options->noReport, "Do not write PREFIXreport.html");
  command->add_option("--log-json", options->logJson, "Write one JSON object per iteration to this file");
  command->add_option(
    "--checkpoint", options->checkpoint, "Keep state in this folder; the same command goes on from it");
  command->add_option("--checkpoint-seconds", options->checkpointSeconds, "Time between two saves")
    ->capture_default_str();
  command->add_flag("--ignore-memory", options->ignoreMemory, "Run even if the memory that is free will not do");
  command->add_flag("-q,--quiet", options->quiet, "Print nothing but errors");
}
