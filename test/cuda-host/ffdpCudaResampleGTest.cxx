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
#include "ffdpDeviceResampler.h"

#include "ffdpCudaBackend.h"
#include "ffdpSchedules.h"
#include "ffdpTestSupport.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>

/** The resampler on the device, and what it keeps there, against the processor's: the bytes are the same. */
namespace
{
using namespace ffdp;
using namespace ffdp::test;

const Extent ImageSize{ 29, 21, 13 };
const Extent GridSize{ 141, 12, 7 }; // rows of more than one block

CompositeMap
ObliqueGridMap()
{
  CompositeMap map;
  const double A[9] = { 0.21, 0.11, -0.05, -0.013, 1.52, 0.07, 0.004, -0.06, 1.77 };
  const double S[9] = { 0.8, 0.1, 0.05, -0.1, 0.9, 0, 0.02, 0.06, 1.1 };
  const double t[3] = { -0.91415926, 0.70710678, 0.41421356 };
  std::copy_n(A, 9, map.A);
  std::copy_n(S, 9, map.S);
  std::copy_n(t, 3, map.t);
  return map;
}

template <typename T>
std::vector<T>
RandomValues(std::int64_t count, unsigned seed)
{
  std::mt19937                           generator(seed);
  const bool                             isInteger = std::is_integral<T>::value;
  const double                           low = isInteger ? double(std::numeric_limits<T>::lowest()) : -1000;
  const double                           high = isInteger ? double(std::numeric_limits<T>::max()) : 1000;
  std::uniform_real_distribution<double> uniform(low / 2, high / 2);
  std::vector<T>                         values(static_cast<std::size_t>(count));
  for (T & v : values)
  {
    v = static_cast<T>(uniform(generator));
  }
  return values;
}

/** Fields on two grids of their own, with linear maps around them. */
struct Chain
{
  Warp<float>         first = RandomWarp({ 12, 9, 7 }, 3, 1.0);
  std::vector<double> second = RandomValues<double>(3 * ImageSize.Voxels(), 4);
  WarpChain           chain;

  Chain()
  {
    for (double & v : second)
    {
      v *= 2e-3; // voxels
    }
    chain.start.matrix[0] = 0.2;
    chain.start.offset[1] = 1.3;
    chain.steps.resize(2);
    chain.steps[0].warp = first.View();
    chain.steps[0].toIndex.matrix[0] = 0.5;
    chain.steps[0].version = 1;
    chain.steps[1].warp = WarpView<const double>::Interleaved(second.data(), 3, ImageSize);
    chain.steps[1].after.matrix[1] = 0.1;
    chain.steps[1].version = 1;
  }
};

/** Displacements that point outside, are not numbers, or put points on voxels and halfway between them. */
Warp<float>
AwkwardWarp()
{
  Warp<float> u = RandomWarp(GridSize, 8, 2.5);
  const float values[] = { std::nanf(""), std::numeric_limits<float>::infinity(), -1e30f, 0.0f, 0.5f, -0.5f, 1.0f };
  for (std::size_t i = 0; i < u.component[0].values.size(); i += 5)
  {
    u.component[i % 3].values[i] = values[i % 7];
  }
  return u;
}

/** The same problem on both: the whole grid, and a box of it that begins within a block. */
template <typename TIn, typename TOut>
void
ExpectBytesOfTheProcessor(const ResampleProblem & problem, int components, Interpolation interpolation)
{
  static const auto processor = MakeCpuBackend(2);
  DeviceResampler   device(MakeCudaBackend());
  for (const PixelBox & box : { PixelBox{ { 0, 0, 0 }, { GridSize.x, GridSize.y, GridSize.z } },
                                PixelBox{ { 131, 3, 2 }, { 9, 8, 4 } },
                                PixelBox{ { 5, 0, 1 }, { 130, 5, 1 } } })
  {
    const std::int64_t count = box.count[0] * box.count[1] * box.count[2] * components;
    std::vector<TOut>  found(static_cast<std::size_t>(count), TOut(77)), expected(static_cast<std::size_t>(count));
    ResampleParameters parameters;
    parameters.interpolation = interpolation;
    for (int c = 0; c < components; ++c)
    {
      parameters.outside.push_back(3 + c);
    }
    const PixelView to(expected.data(), GridSize, box, components);
    if (problem.chain.steps.empty())
    {
      processor->Resample(problem.image, problem.map, problem.warp, to, parameters);
    }
    else
    {
      processor->ResampleChain(problem.image, problem.map, problem.chain, to, parameters);
    }
    device.Resample(problem, PixelView(found.data(), GridSize, box, components), parameters);
    const auto outside = std::count(expected.begin(), expected.end(), TOut(3));
    EXPECT_LT(outside, count * 3 / 4); // the image is reached
    EXPECT_TRUE(SameBytes(found, expected)) << "types " << typeid(TIn).name() << ' ' << typeid(TOut).name()
                                            << ", components " << components << ", first column " << box.first[0];
  }
}

template <typename TIn, typename TOut = TIn>
void
ExpectBytesForAll(int components)
{
  const auto      values = RandomValues<TIn>(ImageSize.Voxels() * components, 5);
  const auto      u = AwkwardWarp();
  const Chain     chain;
  ResampleProblem straight, warped, chained;
  straight.image = ConstPixelView(values.data(), ImageSize, components);
  straight.imageVersion = 1;
  straight.map = ObliqueGridMap();
  warped = straight;
  warped.warp = u.View();
  warped.warpVersion = 1;
  chained = straight;
  chained.chain = chain.chain;
  chained.map = LinearPart(chain.chain);
  for (const Interpolation interpolation : { Interpolation::Linear, Interpolation::Nearest })
  {
    for (const ResampleProblem * problem : { &straight, &warped, &chained })
    {
      SCOPED_TRACE(testing::Message() << "interpolation " << int(interpolation) << ", problem "
                                      << (problem == &straight ? "straight" : (problem == &warped ? "warp" : "chain")));
      ExpectBytesOfTheProcessor<TIn, TOut>(*problem, components, interpolation);
    }
  }
}

} // namespace

TEST(CudaResample, FloatsHaveTheBytesOfTheProcessor)
{
  ExpectBytesForAll<float>(1);
}

TEST(CudaResample, EveryTypeHasTheBytesOfTheProcessor)
{
  ExpectBytesForAll<std::int8_t>(1);
  ExpectBytesForAll<std::uint8_t>(1);
  ExpectBytesForAll<std::int16_t>(1);
  ExpectBytesForAll<std::uint16_t>(1);
  ExpectBytesForAll<std::int32_t>(1);
  ExpectBytesForAll<std::uint32_t>(1);
  ExpectBytesForAll<std::int64_t>(1);
  ExpectBytesForAll<std::uint64_t>(1);
  ExpectBytesForAll<double>(1);
}

TEST(CudaResample, CastsAndComponentsHaveTheBytesOfTheProcessor)
{
  ExpectBytesForAll<float, std::uint8_t>(1); // cut to the range
  ExpectBytesForAll<std::int16_t, float>(1);
  ExpectBytesForAll<std::uint8_t>(3);
  ExpectBytesForAll<float>(2);
  ExpectBytesForAll<double, std::int16_t>(5);
}

/** The sampler works on tiles with barriers: the order of threads must not matter. */
TEST(CudaResample, ShuffledSchedulesGiveTheSameBytes)
{
  const auto      values = RandomValues<float>(ImageSize.Voxels(), 5);
  const auto      u = AwkwardWarp();
  ResampleProblem problem;
  problem.image = ConstPixelView(values.data(), ImageSize);
  problem.map = ObliqueGridMap();
  problem.warp = u.View();
  DeviceResampler device(MakeCudaBackend());
  int             differing = -1;
  CountDifferentSchedules(
    [&] {
      std::vector<float> result(std::size_t(GridSize.Voxels()));
      device.Resample(problem, PixelView(result.data(), GridSize), {});
      return result;
    },
    20,
    differing);
  EXPECT_EQ(differing, 0);
}

TEST(CudaResample, ImageAndFieldsGoToTheDeviceOnce)
{
  auto            values = RandomValues<float>(ImageSize.Voxels(), 5);
  const Chain     chain;
  ResampleProblem problem;
  problem.image = ConstPixelView(values.data(), ImageSize);
  problem.imageVersion = 7;
  problem.chain = chain.chain;
  problem.map = LinearPart(chain.chain);
  DeviceResampler    device(MakeCudaBackend());
  std::vector<float> result(std::size_t(GridSize.Voxels()));
  const auto         run = [&] {
    const std::uint64_t before = device.UploadedBytes();
    device.Resample(problem, PixelView(result.data(), GridSize), {});
    return device.UploadedBytes() - before;
  };
  const std::uint64_t imageBytes = values.size() * sizeof(float);
  const std::uint64_t firstBytes = 3 * 12 * 9 * 7 * sizeof(float);
  const std::uint64_t secondBytes = chain.second.size() * sizeof(double);
  EXPECT_EQ(run(), imageBytes + firstBytes + secondBytes);
  EXPECT_EQ(run(), 0u);
  const std::vector<float> unchanged = result;
  for (float & v : values)
  {
    v += 5;
  }
  EXPECT_EQ(run(), 0u);
  EXPECT_TRUE(SameBytes(result, unchanged)) << "what nobody was told of: the copy of the device counts";
  problem.imageVersion = 8;
  EXPECT_EQ(run(), imageBytes);
  EXPECT_FALSE(SameBytes(result, unchanged));
  problem.chain.steps[1].version = 9;
  EXPECT_EQ(run(), secondBytes);
  problem.imageVersion = 0; // not known
  EXPECT_EQ(run(), imageBytes);
  EXPECT_EQ(run(), imageBytes);
}

TEST(CudaResample, ABackendThatUsesTheMemoryOfTheHostCopiesNothing)
{
  const auto      values = RandomValues<float>(ImageSize.Voxels(), 5);
  const auto      u = AwkwardWarp();
  ResampleProblem problem;
  problem.image = ConstPixelView(values.data(), ImageSize);
  problem.map = ObliqueGridMap();
  problem.warp = u.View();
  std::vector<float> found(std::size_t(GridSize.Voxels())), expected(found.size());
  MakeCpuBackend(1)->Resample(problem.image, problem.map, problem.warp, PixelView(expected.data(), GridSize), {});
  DeviceResampler processor(MakeCpuBackend(1));
  processor.Resample(problem, PixelView(found.data(), GridSize), {});
  EXPECT_TRUE(SameBytes(found, expected));
  EXPECT_EQ(processor.UploadedBytes(), 0u);
}

TEST(CudaResample, RowsOfALargerImageAreWrittenInPlace)
{
  const auto      values = RandomValues<std::int16_t>(ImageSize.Voxels(), 5);
  ResampleProblem problem;
  problem.image = ConstPixelView(values.data(), ImageSize);
  problem.map = ObliqueGridMap();
  DeviceResampler           device(MakeCudaBackend());
  std::vector<std::int16_t> whole(std::size_t(GridSize.Voxels())), parts(whole.size(), 77);
  device.Resample(problem, PixelView(whole.data(), GridSize), {});
  for (const std::int64_t first : { std::int64_t{ 0 }, std::int64_t{ 50 } })
  {
    PixelView part(parts.data(), GridSize);
    part.box.first[0] = first;
    part.box.count[0] = first == 0 ? 50 : GridSize.x - 50;
    part.data = parts.data() + first;
    device.Resample(problem, part, {});
  }
  EXPECT_TRUE(SameBytes(whole, parts));
}

TEST(CudaResample, RefusesWhatTheProcessorRefuses)
{
  const auto         values = RandomValues<float>(ImageSize.Voxels(), 5);
  const auto         u = RandomWarp({ 8, 7, 5 }, 1, 1);
  std::vector<float> result(std::size_t(GridSize.Voxels()));
  const PixelView    output(result.data(), GridSize);
  DeviceResampler    device(MakeCudaBackend());
  ResampleProblem    problem;
  EXPECT_THROW(device.Resample(problem, output, {}), std::invalid_argument); // no image
  problem.image = ConstPixelView(values.data(), ImageSize);
  EXPECT_THROW(device.Resample(problem, PixelView{}, {}), std::invalid_argument);
  problem.warp = u.View(); // on another grid
  EXPECT_THROW(device.Resample(problem, output, {}), std::invalid_argument);
  problem.warp = {};
  problem.map.t[1] = NAN;
  EXPECT_THROW(device.Resample(problem, output, {}), std::invalid_argument);
  problem.map.t[1] = 0;
  problem.chain.steps.resize(1); // without a field
  EXPECT_THROW(device.Resample(problem, output, {}), std::invalid_argument);
  problem.chain.steps.clear();
  EXPECT_NO_THROW(device.Resample(problem, output, {}));
}
