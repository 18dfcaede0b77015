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
// Every primitive once, on data that it makes itself: PrimitivesExample [SIZE [THREADS]]
//
// A metric is checked by walking a little way down its gradient: the loss must fall by what the gradient predicts.
// Everything else is checked against a known answer.

#include "PrimitivesTable.h"

#include "ffdpAdam.h"
#include "ffdpComposition.h"
#include "ffdpDownsample.h"
#include "ffdpGaussian.h"
#include "ffdpInstructionSet.h"
#include "ffdpInverse.h"
#include "ffdpJacobian.h"
#include "ffdpLocalCorrelation.h"
#include "ffdpMeanSquares.h"
#include "ffdpMutualInformation.h"
#include "ffdpParallel.h"
#include "ffdpSampler.h"
#include "ffdpWarpGrid.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <vector>

namespace
{

using Voxels = std::vector<float>; // a volume, or the three components of a warp one after the other

struct Problem
{
  ffdp::Extent size;
  unsigned     threads;
  Voxels       fixed;
  Voxels       moving; ///< the fixed image, displaced by about two voxels
  Voxels       warp;   ///< a smooth warp of up to one voxel

  ffdp::VolumeView<float>
  Volume(Voxels & voxels) const
  {
    return ffdp::VolumeView<float>(voxels.data(), size);
  }
  ffdp::WarpView<float>
  Warp(Voxels & values) const
  {
    return ffdp::WarpView<float>::Planar(values.data(), size);
  }
  std::size_t
  VoxelCount() const
  {
    return std::size_t(size.Voxels());
  }
};

/** Calls f(x, y, z, index of the voxel) for every voxel. */
template <typename TFunction>
void
ForEachVoxel(const ffdp::Extent & size, unsigned threads, TFunction && f)
{
  ffdp::ParallelFor(size.z, threads, [&](std::int64_t z, unsigned) {
    for (std::int64_t y = 0; y < size.y; ++y)
      for (std::int64_t x = 0; x < size.x; ++x)
      {
        f(double(x), double(y), double(z), std::size_t(x + size.x * (y + size.y * z)));
      }
  });
}

/** An image with structure everywhere, between 0 and 1; coordinates in voxels. */
double
Structure(double x, double y, double z)
{
  return 0.5 + 0.25 * std::sin(0.21 * x + 0.3 * std::sin(0.1 * z)) * std::cos(0.17 * y) +
         0.25 * std::cos(0.23 * z + 0.08 * y) * std::sin(0.11 * x + 0.2);
}

Problem
MakeProblem(std::int64_t size, unsigned threads)
{
  Problem           problem{ { size, size, size }, threads, {}, {}, {} };
  const std::size_t n = problem.VoxelCount();
  problem.fixed.resize(n);
  problem.moving.resize(n);
  problem.warp.resize(3 * n);
  ForEachVoxel(problem.size, threads, [&](double x, double y, double z, std::size_t i) {
    problem.fixed[i] = float(Structure(x, y, z));
    problem.moving[i] = float(Structure(x - 2 * std::sin(0.05 * y), y + 1.5, z - 2 * std::cos(0.06 * x)));
    problem.warp[i] = float(0.9 * std::sin(0.07 * y + 0.1));
    problem.warp[n + i] = float(0.9 * std::sin(0.06 * z + 0.2));
    problem.warp[2 * n + i] = float(0.9 * std::sin(0.08 * x + 0.3));
  });
  return problem;
}

double
LargestDifference(const Voxels & a, const Voxels & b)
{
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
  {
    largest = std::max(largest, std::abs(double(a[i]) - b[i]));
  }
  return largest;
}

/** Walks x down the gradient as far as should lower the loss by 1 % of itself, and says what came of it. */
template <typename TLoss>
void
PrintDescent(PrimitivesTable & table, const char * name, Voxels & x, const Voxels & gradient, TLoss && loss)
{
  const double before = loss();
  double       squared = 0;
  for (const float g : gradient)
  {
    squared += double(g) * g;
  }
  const double wanted = 0.01 * std::abs(before);
  for (std::size_t i = 0; i < x.size(); ++i)
  {
    x[i] -= float(wanted / squared * gradient[i]);
  }
  const double drop = before - loss();
  // A first-order prediction: what is left over is curvature.
  table.Print(name,
              "loss " + Number(before) + ", predicted fall " + Number(wanted) + ", fell by " + Number(drop),
              std::abs(drop - wanted) < 0.3 * wanted);
}

void
ShowSampler(const Problem & problem, PrimitivesTable & table)
{
  // The linear function x + 2 y + 3 z, kept inside by sampling at half size plus a warp of one voxel.
  Voxels ramp(problem.VoxelCount()), sampled(problem.VoxelCount()), expected(problem.VoxelCount());
  Voxels warp = problem.warp;
  ForEachVoxel(problem.size, problem.threads, [&](double x, double y, double z, std::size_t i) {
    const std::size_t n = problem.VoxelCount();
    ramp[i] = float(x + 2 * y + 3 * z);
    expected[i] = float(0.5 * (x + 2 * y + 3 * z) + 6 * 4 + warp[i] + 2 * warp[n + i] + 3 * warp[2 * n + i]);
  });
  ffdp::CompositeMap map;
  for (int axis = 0; axis < 3; ++axis)
  {
    map.A[4 * axis] = 0.5;
    map.t[axis] = 4;
  }
  table.Measure(
    [&] { ffdp::Sample(problem.Volume(ramp), map, problem.Warp(warp), problem.Volume(sampled), {}, problem.threads); });
  const double error = LargestDifference(sampled, expected);
  table.Print("sampler", "I(A x + t + u(x)) of a ramp, largest error " + Number(error), error < 1e-3);
}

void
ShowSamplerBackward(Problem problem, PrimitivesTable & table)
{
  Voxels     moved(problem.VoxelCount()), gradient(problem.VoxelCount()), warpGradient(3 * problem.VoxelCount());
  const auto loss = [&] {
    ffdp::Sample(
      problem.Volume(problem.moving), {}, problem.Warp(problem.warp), problem.Volume(moved), {}, problem.threads);
    return ffdp::MeanSquares(
             problem.Volume(moved), problem.Volume(problem.fixed), {}, problem.Volume(gradient), {}, 0, problem.threads)
      .Loss();
  };
  loss();
  table.Measure([&] {
    ffdp::SampleBackward(problem.Volume(problem.moving),
                         {},
                         problem.Warp(problem.warp),
                         problem.Volume(gradient),
                         problem.Warp(warpGradient),
                         false,
                         {},
                         problem.threads);
  });
  PrintDescent(table, "sampler backward", problem.warp, warpGradient, loss);
}

void
ShowLocalCorrelation(Problem problem, PrimitivesTable & table)
{
  Voxels                           gradient(problem.VoxelCount());
  ffdp::LocalCorrelationParameters parameters; // windows of 7 x 7 x 7
  ffdp::LocalCorrelationOutputs    outputs;
  outputs.movingGradient = problem.Volume(gradient);
  const auto correlate = [&](const ffdp::LocalCorrelationOutputs & asked) {
    return ffdp::LocalCorrelation(
             problem.Volume(problem.fixed), problem.Volume(problem.moving), {}, parameters, asked, problem.threads)
      .Loss();
  };
  table.Measure([&] { correlate(outputs); });
  PrintDescent(table, "LNCC", problem.moving, gradient, [&] { return correlate({}); });
}

void
ShowMutualInformation(Problem problem, PrimitivesTable & table)
{
  Voxels                            gradient(problem.VoxelCount());
  ffdp::MutualInformationParameters parameters; // cubic B-splines, 32 bins
  const auto                        inform = [&](const ffdp::VolumeView<float> & asked) {
    return ffdp::ComputeMutualInformation(
      parameters, problem.Volume(problem.fixed), problem.Volume(problem.moving), {}, asked, {}, problem.threads);
  };
  table.Measure([&] { inform(problem.Volume(gradient)); });
  PrintDescent(table, "MI", problem.moving, gradient, [&] { return inform({}); });
}

void
ShowMeanSquares(Problem problem, PrimitivesTable & table)
{
  Voxels     gradient(problem.VoxelCount());
  const auto compare = [&](const ffdp::VolumeView<float> & asked) {
    return ffdp::MeanSquares(
             problem.Volume(problem.moving), problem.Volume(problem.fixed), {}, asked, {}, 0, problem.threads)
      .Loss();
  };
  table.Measure([&] { compare(problem.Volume(gradient)); });
  PrintDescent(table, "mean squares", problem.moving, gradient, [&] { return compare({}); });
}

void
ShowGaussian(const Problem & problem, PrimitivesTable & table)
{
  Voxels constant(3 * problem.VoxelCount(), 1.25f);
  Voxels smoothed = constant;
  table.Measure([&] { ffdp::SmoothGaussian(problem.Warp(smoothed), {}, problem.threads); });
  const double error = LargestDifference(smoothed, constant);
  table.Print("Gaussian of warp", "a constant stays constant up to " + Number(error), error < 1e-5);
}

void
ShowComposition(const Problem & problem, PrimitivesTable & table)
{
  Voxels                      timed = problem.warp, step = problem.warp;
  ffdp::CompositionParameters parameters;
  parameters.border = ffdp::WarpBorder::Edge;
  table.Measure([&] { ffdp::ComposeWarps(problem.Warp(timed), problem.Warp(step), parameters, problem.threads); });

  Voxels shift(3 * problem.VoxelCount(), 2.0f), sum(3 * problem.VoxelCount(), 0.25f);
  Voxels expected(3 * problem.VoxelCount(), 2.25f);
  ffdp::ComposeWarps(problem.Warp(sum), problem.Warp(shift), parameters, problem.threads);
  const double error = LargestDifference(sum, expected);
  table.Print("composition", "shifts of 0.25 and 2 make 2.25 up to " + Number(error), error < 1e-5);
}

void
ShowInverse(const Problem & problem, PrimitivesTable & table)
{
  Voxels              warp = problem.warp, inverse(3 * problem.VoxelCount());
  ffdp::InverseResult result;
  table.Measure([&] { result = ffdp::InvertWarp(problem.Warp(warp), problem.Warp(inverse), {}, problem.threads); });
  table.Print("inverse",
              std::to_string(result.iterations) + " iterations, largest residual " + Number(result.maximumResidual) +
                " voxels",
              result.converged);
}

void
ShowJacobian(const Problem & problem, PrimitivesTable & table)
{
  const std::size_t n = problem.VoxelCount();
  Voxels            stretch(3 * n), determinant(n);
  ForEachVoxel(problem.size, problem.threads, [&](double x, double y, double z, std::size_t i) {
    stretch[i] = float(0.1 * x);
    stretch[n + i] = float(0.1 * y);
    stretch[2 * n + i] = float(0.1 * z);
  });
  double mean = 0;
  table.Measure([&] {
    mean = ffdp::JacobianDeterminant(
             problem.Warp(stretch), 0, problem.size.z, problem.Volume(determinant), {}, {}, problem.threads)
             .Mean();
  });
  const double error = LargestDifference(determinant, Voxels(n, 1.331f));
  table.Print(
    "Jacobian", "10 % longer on each axis: mean " + Number(mean) + ", 1.331 up to " + Number(error), error < 1e-4);
}

void
ShowAdam(const Problem & problem, PrimitivesTable & table)
{
  Voxels gradient = problem.warp;
  Voxels first(3 * problem.VoxelCount()), second(problem.VoxelCount());
  double norm = 0;
  table.Measure([&] {
    // The very first step divides each vector by its own length.
    std::fill(first.begin(), first.end(), 0.0f);
    std::fill(second.begin(), second.end(), 0.0f);
    norm = ffdp::AdamStep(problem.Warp(gradient), problem.Warp(first), problem.Volume(second), {}, problem.threads);
  });
  table.Print("Adam", "largest first step " + Number(norm) + ", which should be 1", std::abs(norm - 1) < 1e-4);
}

void
ShowDownsampleAndUpsample(const Problem & problem, PrimitivesTable & table)
{
  const ffdp::Extent  half = ffdp::LevelSize(problem.size, 2);
  const ffdp::GridMap map = ffdp::GridMap::Centered(problem.size, half);
  Voxels              bright(problem.VoxelCount(), 1000.0f);
  Voxels              coarse(std::size_t(half.Voxels()));
  const Voxels        expected(coarse.size(), 1000.0f);
  table.Measure([&] {
    ffdp::Downsample(problem.Volume(bright), ffdp::VolumeView<float>(coarse.data(), half), map, {}, problem.threads);
  });
  const double error = LargestDifference(coarse, expected);
  table.Print("downsample", "1000 stays 1000 up to " + Number(error), error < 1e-2);

  Voxels       coarseWarp(3 * coarse.size(), 1.5f), fineWarp(3 * problem.VoxelCount());
  const double factor = double(problem.size.x) / double(half.x);
  table.Measure([&] {
    ffdp::UpsampleWarp(
      ffdp::WarpView<float>::Planar(coarseWarp.data(), half), problem.Warp(fineWarp), map, problem.threads);
  });
  const double warpError = LargestDifference(fineWarp, Voxels(fineWarp.size(), float(1.5 * factor)));
  table.Print("upsample a warp",
              "1.5 coarse voxels are " + Number(1.5 * factor) + " fine ones up to " + Number(warpError),
              warpError < 1e-5);
}

int
Run(std::int64_t size, unsigned threads)
{
  std::cout << "FFDP primitives on " << size << "^3 voxels, " << threads << " threads, "
            << ffdp::GetInstructionSetName(ffdp::GetInstructionSet()) << "\n\n";
  const Problem   problem = MakeProblem(size, threads);
  PrimitivesTable table(std::cout, problem.size.Voxels());
  ShowSampler(problem, table);
  ShowSamplerBackward(problem, table);
  ShowLocalCorrelation(problem, table);
  ShowMutualInformation(problem, table);
  ShowMeanSquares(problem, table);
  ShowGaussian(problem, table);
  ShowComposition(problem, table);
  ShowInverse(problem, table);
  ShowJacobian(problem, table);
  ShowAdam(problem, table);
  ShowDownsampleAndUpsample(problem, table);
  return table.AllGood() ? EXIT_SUCCESS : EXIT_FAILURE;
}

} // namespace

int
main(int argc, char ** argv)
{
  const long size = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 128;
  const long threads = argc > 2 ? std::strtol(argv[2], nullptr, 10) : 0;
  if (argc > 3 || size < 32 || size > 1024 || threads < 0 || threads > 128)
  {
    std::cerr << "Usage: " << argv[0] << " [SIZE (32 to 1024) [THREADS (1 to 128)]]" << std::endl;
    return EXIT_FAILURE;
  }
  try
  {
    return Run(size, ffdp::ResolveThreads(unsigned(threads)));
  }
  catch (const std::exception & error)
  {
    std::cerr << argv[0] << ": " << error.what() << std::endl;
    return EXIT_FAILURE;
  }
}
