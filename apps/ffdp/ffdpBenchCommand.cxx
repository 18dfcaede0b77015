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
#include "ffdpArgumentChecks.h"
#include "ffdpCommandError.h"
#include "ffdpCommands.h"
#include "ffdpCommonOptions.h"
#include "ffdpDevice.h"
#include "ffdpImageFiles.h"
#include "ffdpMemoryNeeds.h"
#include "ffdpOutputFiles.h"
#include "ffdpOutputNames.h"

#include "ffdpCudaBackend.h"
#include "ffdpDeviceArray.h"
#include "ffdpInstructionSet.h"
#include "ffdpParallel.h"
#include "ffdpRegistration.h"
#include "itkFFDPConfiguration.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>

/** `ffdp bench`: what the primitives and the iterations of a registration cost on a device, as numbers to send in. */
namespace
{

struct BenchOptions : CommonOptions
{
  std::string  device = "cpu", json;
  std::int64_t size = 192;
  int          repeats = 5;
};

using Array = ffdp::DeviceArray<float>;

/** Images, warps and room for results on the device. */
struct BenchData
{
  ffdp::Extent       size;
  std::vector<float> hostFixed, hostMoving;
  Array              fixed, moving, output, u, v, gradient;

  BenchData(ffdp::Backend & backend, std::int64_t n)
    : size{ n, n, n }
    , hostFixed(Wave(0.0))
    , hostMoving(Wave(0.4))
    , fixed(Upload(backend, hostFixed))
    , moving(Upload(backend, hostMoving))
    , output(backend, size.Voxels())
    , u(UploadWarp(backend, 3.0f))
    , v(UploadWarp(backend, 0.25f))
    , gradient(UploadWarp(backend, 1.0f))
  {}

  ffdp::VolumeView<float>
  Volume(const Array & array) const
  {
    return ffdp::VolumeView<float>(array.Data(), size);
  }
  ffdp::WarpView<float>
  Warp(const Array & array) const
  {
    return ffdp::WarpView<float>::Planar(array.Data(), size);
  }

private:
  /** Smooth, with structure at several scales; `shift` moves it by some voxels. */
  std::vector<float>
  Wave(double shift) const
  {
    std::vector<float> values(std::size_t(size.Voxels()));
    std::size_t        at = 0;
    for (std::int64_t z = 0; z < size.z; ++z)
    {
      for (std::int64_t y = 0; y < size.y; ++y)
      {
        for (std::int64_t x = 0; x < size.x; ++x)
        {
          values[at++] = float(500 + 200 * std::sin(0.21 * x + 0.05 * z + shift) * std::cos(0.17 * y - shift) +
                               100 * std::sin(0.4 * z + 0.1 * y + 2 * shift));
        }
      }
    }
    return values;
  }
  static Array
  Upload(ffdp::Backend & backend, const std::vector<float> & values)
  {
    Array array(backend, std::int64_t(values.size()));
    backend.CopyFromHost(array.Data(), values.data(), values.size() * sizeof(float));
    return array;
  }
  Array
  UploadWarp(ffdp::Backend & backend, float largest) const
  {
    std::vector<float> values(3 * hostFixed.size());
    for (std::size_t i = 0; i < values.size(); ++i)
    {
      values[i] = largest * (hostMoving[i % hostMoving.size()] - 500.0f) / 300.0f;
    }
    return Upload(backend, values);
  }
};

struct BenchCase
{
  const char *          name;
  int                   bytesPerVoxel; ///< read and written once
  std::function<void()> run;
};

/** The best of some runs in seconds. A number that is read back waits for what the device was given. */
double
Time(ffdp::Backend & backend, const BenchData & data, const std::function<void()> & run, int repeats)
{
  double best = INFINITY;
  for (int i = 0; i <= repeats; ++i) // the first also allocates
  {
    float      value = 0;
    const auto begin = std::chrono::steady_clock::now();
    run();
    backend.CopyToHost(&value, data.output.Data(), sizeof(value));
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    best = i > 0 ? std::min(best, seconds.count()) : best;
  }
  return best;
}

std::vector<BenchCase>
MetricCases(ffdp::Backend & backend, const BenchData & data)
{
  const auto fixed = data.Volume(data.fixed), moving = data.Volume(data.moving), output = data.Volume(data.output);
  ffdp::LocalCorrelationParameters ants, exact;
  ants.gradient = ffdp::LocalCorrelationParameters::Gradient::ANTs;
  ants.fixedVariance = ants.movingVariance = exact.fixedVariance = exact.movingVariance = 1e4;
  ffdp::LocalCorrelationOutputs outputs;
  outputs.movingGradient = output;
  const auto correlate = [=, &backend](const ffdp::LocalCorrelationParameters & parameters) {
    return [=, &backend] { backend.LocalCorrelation(fixed, moving, {}, 0, fixed.planes, parameters, outputs); };
  };
  const auto inform = [=, &backend](ffdp::MutualInformationKind kind) {
    ffdp::MutualInformationParameters parameters;
    parameters.kind = kind;
    parameters.fixedRange = parameters.movingRange = { 200, 800 };
    return [=, &backend] {
      const auto histogram = backend.ComputeJointHistogram(parameters, fixed, moving, {});
      backend.MutualInformationGradient(FinishMutualInformation(histogram), fixed, moving, {}, output, {});
    };
  };
  return { { "lncc_ants", 12, correlate(ants) },
           { "lncc_exact", 12, correlate(exact) },
           { "mi_bspline", 20, inform(ffdp::MutualInformationKind::BSpline) },
           { "mi_approximate", 20, inform(ffdp::MutualInformationKind::Approximate) },
           { "mean_squares", 12, [=, &backend] { backend.MeanSquares(moving, fixed, {}, output, {}, 0); } } };
}

std::vector<BenchCase>
WarpCases(ffdp::Backend & backend, const BenchData & data)
{
  const auto moving = data.Volume(data.moving), fixed = data.Volume(data.fixed), output = data.Volume(data.output);
  const auto u = data.Warp(data.u), v = data.Warp(data.v), gradient = data.Warp(data.gradient);
  const std::int64_t       planes = moving.planes;
  ffdp::GaussianParameters gaussian;
  std::fill(gaussian.sigma, gaussian.sigma + 3, 1.0);
  ffdp::CompositionParameters composition;
  composition.boundAlongZ = 0.5f;
  return {
    { "sampler_forward", 20, [=, &backend] { backend.Sample(moving, {}, u, output, {}); } },
    { "sampler_backward", 20, [=, &backend] { backend.SampleBackward(moving, {}, u, fixed, gradient, false, {}); } },
    { "sampler_map_gradient", 8, [=, &backend] { backend.SampleBackward(moving, {}, {}, fixed, {}, true, {}); } },
    { "gaussian_warp", 24, [=, &backend] { backend.SmoothGaussian(gradient, 0, planes, gaussian); } },
    { "compose", 36, [=, &backend] { backend.ComposeWarps(u, 0, planes, v, composition); } },
    { "jacobian", 16, [=, &backend] { backend.JacobianDeterminant(u, 0, planes, output, {}); } },
  };
}

/** Seconds of an iteration of a stage at full resolution. */
double
TimeIteration(ffdp::Backend &                backend,
              const BenchData &              data,
              ffdp::RegistrationStage::Kind  kind,
              ffdp::RegistrationMetric::Kind metric,
              int                            repeats)
{
  ffdp::ImagePair pair;
  pair.fixed.voxels = ffdp::VolumeView<const float>(data.hostFixed.data(), data.size);
  pair.moving.voxels = ffdp::VolumeView<const float>(data.hostMoving.data(), data.size);
  ffdp::RegistrationStage stage;
  stage.kind = kind;
  stage.metrics.front().kind = metric;
  stage.shrinkFactors = { 1 };
  stage.iterations = { repeats + 1 };
  stage.tolerance = -1;
  double     best = INFINITY;
  int        done = 0;
  auto       last = std::chrono::steady_clock::now();
  const auto self = ffdp::MakeSelfCommunicator();
  try
  {
    ffdp::Register(backend, *self, { pair }, {}, { stage }, [&](const ffdp::RegistrationProgress &) {
      const auto                          now = std::chrono::steady_clock::now();
      const std::chrono::duration<double> lap = now - last;
      last = now;
      best = done > 0 ? std::min(best, lap.count()) : best; // the first also allocates
      return ++done <= repeats;
    });
  }
  catch (const ffdp::RegistrationAborted &)
  {
    // as asked
  }
  return best;
}

std::string
DescribeDevice(const ffdp::DeviceName & name)
{
  if (name.cuda)
  {
    const auto found = ffdp::FindCudaDevices();
    return found.devices.at(std::size_t(std::max(name.index, 0))).name;
  }
  return ffdp::GetInstructionSetName(ffdp::GetInstructionSet()) + std::string(", ") +
         std::to_string(ffdp::ResolveThreads(0)) + " threads";
}

void
RunBench(const BenchOptions & options, const Launch & launch)
{
  if (launch.Ranks().Size() > 1)
  {
    throw CommandError("bench measures one process: start it by itself");
  }
  const ffdp::DeviceName name = ParseDevice(options.device);
  RequireDevice(name, launch);
  if (!options.json.empty())
  {
    RequireWritableText(options.json);
  }
  if (!name.cuda)
  {
    RequireMemory(NeedOfBench(double(options.size) * double(options.size) * double(options.size)), options);
  }
  const RegistrationDevice device(name, options.threads, launch);
  ffdp::Backend &          backend = device.Backend();
  const BenchData          data(backend, options.size);
  const double             voxels = double(data.size.Voxels());
  nlohmann::json           rows = nlohmann::json::array();
  std::printf("%s %s, %lld^3 voxels\n%-22s %10s %10s\n",
              backend.Name(),
              DescribeDevice(name).c_str(),
              (long long)options.size,
              "name",
              "ns/voxel",
              "GB/s");
  const auto add = [&](const std::string & row, double seconds, int bytes) {
    const double nanoseconds = 1e9 * seconds / voxels;
    std::printf("%-22s %10.4f", row.c_str(), nanoseconds);
    if (bytes > 0)
    {
      std::printf(" %10.1f", bytes / nanoseconds);
    }
    std::printf("\n");
    rows.push_back({ { "name", row },
                     { "ns_per_voxel", nanoseconds },
                     { "bytes_per_voxel", bytes > 0 ? nlohmann::json(bytes) : nlohmann::json() } });
  };
  for (const auto & cases : { MetricCases(backend, data), WarpCases(backend, data) })
  {
    for (const BenchCase & one : cases)
    {
      add(one.name, Time(backend, data, one.run, options.repeats), one.bytesPerVoxel);
    }
  }
  using Kind = ffdp::RegistrationStage::Kind;
  using Metric = ffdp::RegistrationMetric::Kind;
  const auto iterate = [&](const char * row, Kind kind, Metric metric) {
    add(row, TimeIteration(backend, data, kind, metric, options.repeats), 0);
  };
  iterate("iteration_affine_mi", Kind::Affine, Metric::MutualInformation);
  iterate("iteration_greedy_lncc", Kind::Greedy, Metric::LocalCorrelation);
  iterate("iteration_greedy_mi", Kind::Greedy, Metric::MutualInformation);
  iterate("iteration_syn_lncc", Kind::SyN, Metric::LocalCorrelation);
  if (!options.json.empty())
  {
    const nlohmann::json all = { { "version", FFDP_VERSION_STRING },   { "device", backend.Name() },
                                 { "hardware", DescribeDevice(name) }, { "size", options.size },
                                 { "repeats", options.repeats },       { "results", rows } };
    WriteText(all.dump(2) + "\n", options.json);
  }
}

} // namespace

void
AddBenchCommand(CLI::App & program, const Launch & launch)
{
  auto   options = std::make_shared<BenchOptions>();
  auto * command =
    AddCommand(program, "bench", "Time primitives and iterations on a device", options, [options, &launch] {
      RunBench(*options, launch);
    });
  command->add_option("--device", options->device, "cpu, cuda or cuda:N (see `ffdp info`)")->capture_default_str();
  command->add_option("--size", options->size, "Voxels along each axis")
    ->check(NumberBetween(16, 1024))
    ->capture_default_str();
  command->add_option("--repeats", options->repeats, "Runs of each, the best counts")
    ->check(NumberBetween(1, 1000))
    ->capture_default_str();
  command->add_option("--json", options->json, "Also write the numbers to this file");
}
