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
#include "ffdpMeanSquares.h"

#include "ffdpBackend.h"
#include "ffdpDeviceStaging.h"
#include "ffdpSchedules.h"
#include "ffdpTestSupport.h"

#include <gtest/gtest.h>

namespace
{

using namespace ffdp;
using namespace ffdp::test;

struct Outcome
{
  MeanSquaresResult  result;
  std::vector<float> movingGradient, fixedGradient;
};

void
ExpectSame(const Outcome & a, const Outcome & b)
{
  EXPECT_TRUE(SameBytes(a.result.planeSums, b.result.planeSums));
  EXPECT_TRUE(SameBytes(a.result.planeCounts, b.result.planeCounts));
  EXPECT_TRUE(SameBytes(a.movingGradient, b.movingGradient));
  EXPECT_TRUE(SameBytes(a.fixedGradient, b.fixedGradient));
}

/** Planes [first, end) of the images; compute is the device's MeanSquares, or a method of the processor's backend. */
template <typename TCompute>
Outcome
Evaluate(const Volume<float> &        moving,
         const Volume<float> &        fixed,
         const Volume<std::uint8_t> * mask,
         std::int64_t                 normalizer,
         const TCompute &             compute)
{
  Volume<float> gradientM(moving.domain, moving.firstPlane, moving.planes, 7), gradientF = gradientM;
  Outcome       out;
  out.result = compute(moving.View(),
                       fixed.View(),
                       mask ? mask->View() : VolumeView<const std::uint8_t>(),
                       gradientM.View(),
                       gradientF.View(),
                       normalizer);
  out.movingGradient = gradientM.values;
  out.fixedGradient = gradientF.values;
  return out;
}

const auto onDevice = [](const auto &... arguments) { return MeanSquares(arguments..., 1); };
const auto onProcessor = [](const auto &... arguments) { return MakeCpuBackend(1)->MeanSquares(arguments...); };

} // namespace

GTEST_TEST(CudaMeanSquares, HasTheBitsOfTheProcessor)
{
  std::vector<Extent> sizes = AwkwardSizes();
  sizes.push_back({ 1100, 40, 2 }); // wider than what the processor takes at a time, higher than a piece
  for (const Extent & size : sizes)
    for (const auto & brightness :
         { std::make_pair(0.0, 1.0), std::make_pair(30000.0, 20.0), std::make_pair(5.0, 0.0) })
    {
      const Volume<float>        moving = RandomVolume(size, 1, brightness.first, brightness.second);
      const Volume<float>        fixed = RandomVolume(size, 2, brightness.first, 2 * brightness.second);
      const Volume<std::uint8_t> mask = RandomMask(size, 3);
      for (const auto * m : { static_cast<const Volume<std::uint8_t> *>(nullptr), &mask })
      {
        ExpectSame(Evaluate(moving, fixed, m, 0, onDevice), Evaluate(moving, fixed, m, 0, onProcessor));
      }
      const Volume<float> slabM = moving.Slab(size.z / 2, size.z), slabF = fixed.Slab(size.z / 2, size.z);
      const auto          slabMask = mask.Slab(size.z / 2, size.z);
      ExpectSame(Evaluate(slabM, slabF, &slabMask, 12345, onDevice),
                 Evaluate(slabM, slabF, &slabMask, 12345, onProcessor));
    }
}

GTEST_TEST(CudaMeanSquares, ValueAloneWritesNothing)
{
  const Extent        size{ 40, 35, 3 };
  const Volume<float> moving = RandomVolume(size, 1), fixed = RandomVolume(size, 2);
  const auto          device = MeanSquares(moving.View(), fixed.View());
  const auto          processor = MakeCpuBackend(1)->MeanSquares(moving.View(), fixed.View(), {}, {}, {}, 0);
  EXPECT_TRUE(SameBytes(device.planeSums, processor.planeSums));
}

GTEST_TEST(CudaMeanSquares, DoesNotDependOnTheSchedule)
{
  const Extent               size{ 37, 70, 4 };
  const Volume<float>        moving = RandomVolume(size, 1), fixed = RandomVolume(size, 2);
  const Volume<std::uint8_t> mask = RandomMask(size, 3);
  ForEachSchedule([&] { return Evaluate(moving, fixed, &mask, 0, onDevice).result.planeSums; });
  ForEachSchedule([&] { return Evaluate(moving, fixed, &mask, 0, onDevice).movingGradient; });
}
