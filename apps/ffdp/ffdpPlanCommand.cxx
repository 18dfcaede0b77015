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
#include "ffdpDeviceName.h"
#include "ffdpGivenSpacing.h"
#include "ffdpOutputFiles.h"
#include "ffdpOutputNames.h"
#include "ffdpProblem.h"
#include "ffdpRegisterArguments.h"
#include "ffdpRegisterFiles.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <random>
#include <stdexcept>

namespace
{

using Stage = ffdp::RegistrationStage;

/** Blurred noise: something with contrast everywhere, so that no voxel is cheaper than in a real image. */
std::vector<float>
MakeTrialImage(const ffdp::Extent & size, unsigned seed)
{
  std::mt19937       random(seed);
  std::vector<float> voxels(std::size_t(size.Voxels()));
  for (float & voxel : voxels)
  {
    voxel = float(random() % 4096);
  }
  ffdp::GaussianParameters smoothing;
  ffdp::SmoothGaussian(ffdp::VolumeView<float>(voxels.data(), size), smoothing);
  return voxels;
}

/** Seconds per voxel and iteration of a stage on this machine: a few iterations on a small volume. */
double
MeasureStage(ffdp::Backend & backend, const Stage & stage, bool planar)
{
  const ffdp::Extent       size = planar ? ffdp::Extent{ 1024, 1024, 1 } : ffdp::Extent{ 112, 112, 112 };
  const std::vector<float> fixed = MakeTrialImage(size, 1), moving = MakeTrialImage(size, 2);
  ffdp::ImagePair          pair;
  pair.fixed.voxels = ffdp::VolumeView<const float>(fixed.data(), size);
  pair.moving.voxels = ffdp::VolumeView<const float>(moving.data(), size);
  Stage trial = stage;
  for (ffdp::RegistrationMetric & metric : trial.metrics)
  {
    metric.pair = 0;
  }
  trial.shrinkFactors = { 1 };
  trial.smoothingSigmas.clear();
  trial.iterations = { 4 };
  trial.tolerance = -1;
  using Clock = std::chrono::steady_clock;
  std::vector<Clock::time_point> times;
  double                         voxels = 1; // of the level: moments are searched on a coarse one
  const auto                     self = ffdp::MakeSelfCommunicator();
  try
  {
    ffdp::Register(backend, *self, { pair }, {}, { trial }, [&](const ffdp::RegistrationProgress & progress) {
      voxels = double(progress.levelSize.Voxels());
      times.push_back(Clock::now());
      return times.size() < 4;
    });
  }
  catch (const ffdp::RegistrationAborted &)
  {
    // as asked, before it brings a result home
  }
  std::vector<double> laps; // without the first, which also allocates
  for (std::size_t i = 1; i < times.size(); ++i)
  {
    laps.push_back(std::chrono::duration<double>(times[i] - times[i - 1]).count());
  }
  std::nth_element(laps.begin(), laps.begin() + std::ptrdiff_t(laps.size() / 2), laps.end());
  return laps[laps.size() / 2] / voxels;
}

/** Seconds until a warp and its inverse agree, which take about as long as so many iterations of a usual stage at full
 * resolution: it depends on the images. 0 if there is no warp. */
double
PredictEnd(ffdp::Backend & backend, const RegistrationProblem & problem, bool planar)
{
  constexpr double Iterations = 16;
  if (problem.estimate.resultBytes == 0)
  {
    return 0;
  }
  return Iterations * double(problem.pairs.front().fixedSize.Voxels()) * MeasureStage(backend, Stage(), planar);
}

std::string
Seconds(double seconds)
{
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f s", seconds);
  return text;
}

/** The device, or null and the reason if it is not there: the memory of a run is known without it. */
std::unique_ptr<ffdp::Backend>
FindDevice(const RegisterOptions & options, std::string & whyNot)
{
  try
  {
    return ffdp::MakeBackend(options.device, options.threads);
  }
  catch (const std::runtime_error & error)
  {
    whyNot = error.what();
    return nullptr;
  }
}

void
RunPlan(const RegisterOptions & options, int ranks, const std::string & json)
{
  if (!json.empty())
  {
    RequireWritableText(json);
  }
  const StageList list = PlanStages(options);
  RequireOwnNames({ json }, ListReadFiles(options, list));
  const RegistrationProblem problem = DescribeProblem(options, list, ranks);
  RequireAxisWeights(options, problem.pairs.front().fixedSize);
  const bool          planar = problem.pairs.front().fixedSize.z == 1;
  const bool          onGpu = problem.deviceBytes > 0;
  const double        images = onGpu ? problem.deviceBytes - problem.estimate.peakBytes : problem.imageBytes;
  std::string         whyNoTimes;
  const auto          device = FindDevice(options, whyNoTimes);
  std::vector<double> cost(list.stages.size(), -1.0);
  nlohmann::json      levels = nlohmann::json::array();
  double              total = 0;
  std::printf("%-10s %16s %10s %10s %12s\n", "stage", "grid", "iterations", "memory", "about");
  for (const ffdp::LevelEstimate & level : problem.estimate.levels)
  {
    double & perVoxel = cost[std::size_t(level.stage)];
    if (device && perVoxel < 0)
    {
      perVoxel = MeasureStage(*device, list.stages[std::size_t(level.stage)], planar);
    }
    const double seconds = device ? perVoxel * double(level.size.Voxels()) * level.iterations : 0;
    total += seconds;
    char grid[64];
    std::snprintf(
      grid, sizeof(grid), "%lldx%lldx%lld", (long long)level.size.x, (long long)level.size.y, (long long)level.size.z);
    std::printf("%-10s %16s %10d %7.0f MB %12s\n",
                level.stageName,
                grid,
                level.iterations,
                (images + level.bytes) / 1e6,
                device ? Seconds(seconds).c_str() : "not known");
    levels.push_back({ { "stage", level.stage },
                       { "name", level.stageName },
                       { "size", { level.size.x, level.size.y, level.size.z } },
                       { "iterations", level.iterations },
                       { "bytes", images + level.bytes },
                       { "seconds", device ? nlohmann::json(seconds) : nlohmann::json() } });
  }
  const double atTheEnd = device ? PredictEnd(*device, problem, planar) : 0;
  total += atTheEnd;
  if (atTheEnd > 0)
  {
    std::printf("%-10s %*s\n", "inverse", 51, Seconds(atTheEnd).c_str());
  }
  std::vector<std::string> notes = TakeSpacingNotes();
  notes.insert(notes.end(), problem.estimate.notes.begin(), problem.estimate.notes.end());
  for (const std::string & note : notes)
  {
    std::printf("note: %s\n", note.c_str());
  }
  if (onGpu)
  {
    std::printf("peak memory of %s %.0f MB\n", ranks == 1 ? "the GPU" : "each GPU", problem.deviceBytes / 1e6);
  }
  std::printf("peak memory of %s %.0f MB (%.0f MB are free)",
              ranks == 1 ? "the program" : ("each of " + std::to_string(ranks) + " ranks").c_str(),
              problem.peakBytes / 1e6,
              AvailableBytes() / 1e6);
  if (device)
  {
    std::printf(", about %s%s on this machine as it is now, less where levels end early; files come on top\n",
                Seconds(total).c_str(),
                ranks == 1 ? "" : " by one process");
  }
  else
  {
    std::printf("; how long stages take is not known here: %s\n", whyNoTimes.c_str());
  }
  if (problem.firstBytes > 0)
  {
    std::printf("rank 0 needs %.0f MB more: it reads a compressed file as a whole\n", problem.firstBytes / 1e6);
  }
  if (!json.empty())
  {
    const nlohmann::json all = { { "levels", levels },
                                 { "ranks", ranks },
                                 { "peak_bytes", problem.peakBytes },
                                 { "device_bytes", problem.deviceBytes },
                                 { "seconds_at_the_end", device ? nlohmann::json(atTheEnd) : nlohmann::json() },
                                 { "first_rank_more_bytes", problem.firstBytes },
                                 { "seconds", device ? nlohmann::json(total) : nlohmann::json() } };
    WriteText(all.dump(2) + "\n", json);
  }
}

} // namespace

void
AddPlanCommand(CLI::App & program)
{
  auto   options = std::make_shared<RegisterOptions>();
  auto   json = std::make_shared<std::string>();
  auto   ranks = std::make_shared<int>(1);
  auto * command =
    program.add_subcommand("plan", "Memory and time of a registration, stage by stage, without running it");
  AddProblemOptions(*command, options, [options, ranks, json] { RunPlan(*options, *ranks, *json); });
  command->add_option("--ranks", *ranks, "Processes that mpirun would start: the memory is then that of each")
    ->check(CLI::Range(1, 1 << 20))
    ->capture_default_str();
  command->add_option("--json", *json, "Also write the figures to this file");
}
