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
#include "ffdpLocalCorrelation.h"

#include "ffdpBackend.h"
#include "ffdpCudaLocalCorrelation.h"
#include "ffdpDeviceStaging.h"
#include "ffdpLocalCorrelationReference.h"
#include "ffdpSchedules.h"

#include <gtest/gtest.h>

namespace
{

using namespace ffdp;
using namespace ffdp::test;
using Parameters = LocalCorrelationParameters;

/** All that an evaluation gives. */
struct Evaluation
{
  LocalCorrelationResult result;
  Volume<float>          movingGradient, fixedGradient, map;

  std::vector<double>
  Numbers() const
  {
    std::vector<double> all = result.planeSums;
    for (const Volume<float> * volume : { &map, &movingGradient, &fixedGradient })
    {
      all.insert(all.end(), volume->values.begin(), volume->values.end());
    }
    return all;
  }
};

struct Case
{
  Volume<float>        fixed, moving;
  Volume<std::uint8_t> mask;
  bool                 masked = false;
  Parameters           parameters;
};

/** compute is the device's LocalCorrelation, or that of the processor's backend. */
template <typename TCompute>
Evaluation
Evaluate(const Case & c, const TCompute & compute)
{
  Evaluation e;
  e.movingGradient = e.fixedGradient = e.map = Volume<float>(c.fixed.domain, NAN);
  LocalCorrelationOutputs outputs;
  outputs.movingGradient = e.movingGradient.View();
  outputs.fixedGradient = e.fixedGradient.View();
  outputs.map = e.map.View();
  e.result = compute(c.fixed.View(),
                     c.moving.View(),
                     c.masked ? c.mask.View() : VolumeView<const std::uint8_t>(),
                     std::int64_t(0),
                     c.fixed.domain.z,
                     c.parameters,
                     outputs);
  return e;
}

const auto onDevice = [](const auto &... arguments) { return LocalCorrelation(arguments..., 1); };
const auto onProcessor = [](const auto &... arguments) { return MakeCpuBackend(1)->LocalCorrelation(arguments...); };

/** Each is off by at most what ffdpLocalCorrelationGTest.cxx derives; see ffdpCudaLocalCorrelation.h. */
void
ExpectNearProcessor(const Case & c)
{
  const auto                 fixed = c.fixed.As<double>(), moving = c.moving.As<double>();
  const CorrelationReference reference =
    CorrelationReferenceEvaluator(fixed, moving, c.masked ? &c.mask : nullptr, c.parameters).Evaluate();
  const double     twice = 2 * 2e-6 * reference.condition;
  const Evaluation device = Evaluate(c, onDevice), processor = Evaluate(c, onProcessor);
  ASSERT_LT(twice, 0.02) << "the data of this test are ill-conditioned";
  EXPECT_TRUE(SameBytes(device.result.planeCounts, processor.result.planeCounts));
  EXPECT_NEAR(device.result.Loss(), processor.result.Loss(), twice);
  EXPECT_LE(MaxDifference(device.map.values, processor.map.values), twice);
  const auto near = [&](const std::vector<float> & a, const std::vector<float> & b) {
    EXPECT_LE(MaxDifference(a, b), 4 * twice * MaxMagnitude(b));
  };
  near(device.movingGradient.values, processor.movingGradient.values);
  near(device.fixedGradient.values, processor.fixedGradient.values);
}

/** Windows for both families of kernels, the first four for the one that marches. */
std::vector<Parameters>
SomeWindows()
{
  std::vector<Parameters> all;
  for (const auto & radius : std::vector<std::array<int, 3>>{
         { { 1, 1, 1 } }, { { 2, 2, 2 } }, { { 3, 3, 3 } }, { { 4, 4, 4 } }, { { 3, 2, 1 } }, { { 0, 5, 2 } } })
    for (const auto gradient : { Parameters::Gradient::Exact, Parameters::Gradient::ANTs })
    {
      Parameters p;
      p.radius = radius;
      p.gradient = gradient;
      p.epsilon = 1e-3;
      all.push_back(p);
      if (radius[2] == 1)
      {
        p.window = Parameters::Window::Gaussian;
        all.push_back(p);
      }
    }
  return all;
}

Case
RandomCase(const Extent & size, double mean, double deviation)
{
  Case c;
  c.fixed = RandomVolume(size, 11, mean, deviation);
  c.moving = RandomVolume(size, 12, -mean, deviation);
  c.mask = RandomMask(size, 13);
  c.parameters.fixedVariance = c.parameters.movingVariance = deviation * deviation;
  return c;
}

TEST(CudaLocalCorrelation, IsNearTheProcessor)
{
  int index = 0;
  for (const Extent & size : { Extent{ 33, 26, 7 }, Extent{ 41, 19, 1 }, Extent{ 5, 30, 9 } })
    for (const Parameters & p : SomeWindows())
    {
      const bool bright = index++ / 2 % 2 != 0; // both gradients of a window are the one or the other
      SCOPED_TRACE(::testing::Message() << size.x << "x" << size.y << "x" << size.z << " radius " << p.radius[0] << ","
                                        << p.radius[1] << "," << p.radius[2] << (bright ? " bright" : ""));
      Case c = RandomCase(size, bright ? 1000 : 0, bright ? 30 : 1);
      c.parameters = p;
      c.parameters.fixedVariance = c.parameters.movingVariance = bright ? 900 : 1;
      ExpectNearProcessor(c);
      c.masked = true;
      ExpectNearProcessor(c);
      c.parameters.maskWindows = false;
      ExpectNearProcessor(c);
    }
}

/** Contrast of 1 on bright plateaus: only a mean of voxels near by keeps it. */
TEST(CudaLocalCorrelation, KeepsContrastWhereItIsBright)
{
  const Extent size{ 64, 40, 9 };
  Case         c = RandomCase(size, 0, 1);
  for (std::int64_t z = 0; z < size.z; ++z)
    for (std::int64_t y = 0; y < size.y; ++y)
      for (std::int64_t x = 0; x < size.x; ++x)
      {
        c.fixed.At(x, y, z) += 1000.0f + 1000.0f * float(y / 16);
      }
  c.parameters.radius = { { 2, 2, 2 } };
  const auto                 fixed = c.fixed.As<double>(), moving = c.moving.As<double>();
  const CorrelationReference reference = CorrelationReferenceEvaluator(fixed, moving, nullptr, c.parameters).Evaluate();
  const Evaluation           device = Evaluate(c, onDevice);
  // Away from the steps, which are at edges of tiles. Without a shift, squares of 1000 are rounded to 0.06.
  for (const std::int64_t y : { 4, 8, 12, 24, 36 })
  {
    EXPECT_NEAR(device.map.At(30, y, 4), reference.map.At(30, y, 4), 1e-4) << y;
  }
}

/** So many planes that fields go around their ring several times, and blocks start in the middle of a batch. */
TEST(CudaLocalCorrelation, ManyBatchesOfPlanes)
{
  for (const int radiusX : { 1, 2 }) // the second cannot march
    for (const auto gradient : { Parameters::Gradient::Exact, Parameters::Gradient::ANTs })
    {
      Case c = RandomCase({ 11, 9, 150 }, 0, 1);
      c.parameters.radius = { { radiusX, 1, 1 } };
      c.parameters.gradient = gradient;
      c.parameters.epsilon = 1e-3;
      ExpectNearProcessor(c);
    }
}

TEST(CudaLocalCorrelation, WindowsTooLargeForSharedMemory)
{
  for (const auto gradient : { Parameters::Gradient::Exact, Parameters::Gradient::ANTs })
  {
    Case c = RandomCase({ 50, 60, 3 }, 0, 1);
    c.parameters.radius = { { 30, 25, 1 } };
    c.parameters.gradient = gradient;
    ExpectNearProcessor(c);
    c.masked = true;
    ExpectNearProcessor(c);
  }
}

TEST(CudaLocalCorrelation, DoesNotDependOnTheSchedule)
{
  for (const bool marching : { true, false })
    for (const auto gradient : { Parameters::Gradient::Exact, Parameters::Gradient::ANTs })
    {
      Case c = RandomCase({ 30, 27, 5 }, 100, 10);
      c.masked = true;
      c.parameters.radius = { { 2, 2, marching ? 2 : 1 } };
      c.parameters.gradient = gradient;
      ForEachSchedule([&] { return Evaluate(c, onDevice).Numbers(); });
    }
}

/** What a volume needs beyond its planes: fields of a batch and a window of planes, whatever its length. */
TEST(CudaLocalCorrelation, MemoryDoesNotGrowWithTheVolume)
{
  const auto extra = [](std::int64_t planes) {
    const Extent                    size{ 24, 13, planes };
    cuda::Device                    device(0);
    const cuda::DeviceBuffer<float> fixed(device, RandomVolume(size, 1).values);
    const cuda::DeviceBuffer<float> moving(device, RandomVolume(size, 2).values);
    const cuda::DeviceBuffer<float> gradient(device, size.Voxels());
    const std::size_t               before = device.AllocatedBytes();
    LocalCorrelationOutputs         outputs;
    outputs.movingGradient = VolumeView<float>(gradient.Data(), size);
    cuda::LocalCorrelation(device,
                           VolumeView<const float>(fixed.Data(), size),
                           VolumeView<const float>(moving.Data(), size),
                           {},
                           0,
                           planes,
                           Parameters(),
                           outputs);
    EXPECT_EQ(device.AllocatedBytes(), before);
    return device.PeakBytes() - before;
  };
  const std::size_t shorter = extra(80), longer = extra(160);
  EXPECT_LE(longer, shorter + 80 * (sizeof(double) + sizeof(float))); // a sum and a weight per plane
}

} // namespace
