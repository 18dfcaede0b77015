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
#include "ffdpRegistration.h"

#include "ffdpRegistrationTestSupport.h"

using namespace ffdp;
using namespace ffdp::test;

namespace
{

RegistrationStage
SyNStage()
{
  RegistrationStage stage = GreedyStage();
  stage.kind = Kind::SyN;
  stage.learningRate = 0.25; // both images move
  return stage;
}

} // namespace

TEST(RegistrationSyN, RecoversAKnownWarpAcrossAnAffineMap)
{
  SKIP_IF_SANITIZED();
  // fixed(x) = Phantom(KnownWarp(x)), moving(y) = Phantom(map^-1(y)): phi = map o KnownWarp
  const AffineMap map = SomeMap(0.15, 1.1, { { 2, -1, 3 } });
  const TestImage fixed(FixedSize, Isotropic, KnownWarp);
  const TestImage moving({ 64, 60, 52 }, Isotropic, [&](const std::array<double, 3> & p) { return map.Inverse()(p); });
  const auto      backend = MakeCpuBackend(2);
  const auto      self = MakeSelfCommunicator();
  auto            result =
    Register(*backend, *self, { { fixed.Placed(), moving.Placed(), {}, {} } }, RegistrationStart(map), { SyNStage() });
  EXPECT_EQ(result.folds, 0);
  EXPECT_LE(result.inverseResidual, 0.3);
  result.affine = AffineMap(); // so that what is left is the warp of the fixed space, which is KnownWarp itself
  EXPECT_LT(WarpError(result, fixed), 0.7);
  std::fill(result.warp.begin(), result.warp.end(), 0.0f);
  EXPECT_GT(WarpError(result, fixed), 1.5);
}

TEST(RegistrationSyN, SwappedImagesGiveTheInverse)
{
  SKIP_IF_SANITIZED();
  const TestImage a(FixedSize, Isotropic, KnownWarp);
  const TestImage b(FixedSize, Isotropic, Same);
  const auto      forth = RunStages({ { a.Placed(), b.Placed(), {}, {} } }, { SyNStage() });
  const auto      back = RunStages({ { b.Placed(), a.Placed(), {}, {} } }, { SyNStage() });
  // The method treats both images alike, so the swapped problem is the same: what differs is where the halves are
  // joined, and interpolation there.
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < forth.warp.size(); ++i)
  {
    difference += std::abs(back.warp[i] - forth.inverseWarp[i]);
    size += std::abs(forth.inverseWarp[i]);
  }
  EXPECT_LT(difference, 0.05 * size);
}

TEST(RegistrationSyN, BytesDoNotDependOnThreads)
{
  const TestImage   fixed(FixedSize, Isotropic, KnownWarp);
  const TestImage   moving(FixedSize, Isotropic, Same);
  RegistrationStage stage = SyNStage();
  stage.iterations = { Sanitized ? 2 : 6, Sanitized ? 1 : 3 };
  for (const Metric metric : { Metric::LocalCorrelation, Metric::MutualInformation, Metric::MeanSquares })
  {
    stage.metrics.front().kind = metric;
    const auto one = RunStages({ { fixed.Placed(), moving.Placed(), {}, {} } }, { stage }, 1);
    const auto three = RunStages({ { fixed.Placed(), moving.Placed(), {}, {} } }, { stage }, 3);
    EXPECT_TRUE(SameBytes(one.warp, three.warp));
    EXPECT_TRUE(SameBytes(one.inverseWarp, three.inverseWarp));
    EXPECT_GT(MaxMagnitude(one.warp), 0.1);
  }
}

TEST(RegistrationSyN, MasksOfBothImagesMove)
{
  SKIP_IF_SANITIZED();
  TestImage     fixed(FixedSize, Isotropic, KnownWarp);
  TestImage     moving(FixedSize, Isotropic, Same);
  Volume<float> mask(FixedSize);
  for (std::int64_t i = 0; i < FixedSize.Voxels(); ++i)
  {
    const bool inside = i % FixedSize.x < 30;
    mask.values[std::size_t(i)] = inside ? 1.0f : 0.0f;
    if (!inside) // a pattern in one image only
    {
      moving.voxels.values[std::size_t(i)] = float(300 * ((i / 3 + i / (5 * FixedSize.x)) % 2));
    }
  }
  const auto with = RunStages({ { fixed.Placed(), moving.Placed(), mask.View(), mask.View() } }, { SyNStage() });
  const auto without = RunStages({ { fixed.Placed(), moving.Placed(), {}, {} } }, { SyNStage() });
  // how far it moves what both masks hide, far from what they show
  const auto movedAt = [](const RegistrationResult & result) {
    double sum = 0;
    for (std::int64_t i = 0; i < FixedSize.Voxels(); ++i)
    {
      sum += i % FixedSize.x >= 38 ? std::abs(result.warp[std::size_t(i)]) : 0;
    }
    return sum;
  };
  EXPECT_LT(movedAt(with), 0.3 * movedAt(without));
  TestImage shown = fixed;
  for (std::int64_t i = 0; i < FixedSize.Voxels(); ++i)
  {
    shown.voxels.values[std::size_t(i)] *= i % FixedSize.x < 24 ? 1.0f : 0.0f;
  }
  EXPECT_LT(WarpError(with, shown), 0.6);
}
