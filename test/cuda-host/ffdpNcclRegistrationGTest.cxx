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
#include "ffdpNcclCommunicator.h"

#include "ffdpCudaBackend.h"
#include "ffdpPartition.h"

#include "ffdpRegistrationTestSupport.h"

/** Registrations whose planes are spread over the devices of several processes, against one processor. */
using namespace ffdp;
using namespace ffdp::test;

namespace
{

struct Problem
{
  TestImage fixed{ { 18, 15, 27 }, { { 2.9, 3.1, 1.6 } }, Same };
  TestImage moving{ { 17, 16, 29 }, { { 2.9, 3.1, 1.6 } }, [](const std::array<double, 3> & p) {
                     return KnownWarp(SomeMap(0.05, 1.02, { { 1, -1, 2 } })(p));
                   } };

  RegistrationResult
  Run(Backend & backend, Communicator & communicator, const RegistrationStage & stage) const
  {
    const auto own = [&](const TestImage & image, Volume<float> & planes) {
      const PlaneRange range = Partition(image.voxels.domain.z, communicator.Size()).Owned(communicator.Rank());
      planes = image.voxels.Slab(range.first, range.end);
      PlacedImage placed{ planes.View(), image.indexToPhysical };
      placed.voxels.data = planes.planes > 0 ? placed.voxels.data : nullptr;
      return placed;
    };
    Volume<float> fixedPlanes, movingPlanes;
    ImagePair     pair;
    pair.fixed = own(fixed, fixedPlanes);
    pair.moving = own(moving, movingPlanes);
    return Register(backend, communicator, { pair }, AffineMap(), { stage });
  }
};

RegistrationStage
ShortStage(Kind kind, Metric metric)
{
  RegistrationStage stage;
  stage.kind = kind;
  stage.metrics.front().kind = metric;
  stage.metrics.front().radius = 2;
  stage.shrinkFactors = { 2, 1 };
  stage.iterations = { 4, 4 };
  stage.learningRate = 0.5;
  stage.gradientSigma = 1.7;
  stage.warpSigma = 0.5;
  stage.smallestSize = 8;
  return stage;
}

/** The planes that this rank owns of a whole warp. */
std::vector<float>
OwnPart(const RegistrationResult & whole, const RegistrationResult & own)
{
  const std::int64_t plane = whole.warpSize.x * whole.warpSize.y;
  std::vector<float> part;
  for (int c = 0; c < 3; ++c)
  {
    const auto first = whole.warp.begin() + (c * whole.warpSize.z + own.warpPlanes.first) * plane;
    part.insert(part.end(), first, first + (own.warpPlanes.end - own.warpPlanes.first) * plane);
  }
  return part;
}

class NcclRegistration : public testing::Test
{
protected:
  const Problem                       m_Problem;
  const std::unique_ptr<Backend>      m_Cuda = MakeCudaBackend();
  const std::unique_ptr<Communicator> m_Ranks = MakeNcclCommunicator(MPI_COMM_WORLD, *m_Cuda);
  const std::unique_ptr<Communicator> m_Self = MakeSelfCommunicator();
};

} // namespace

TEST_F(NcclRegistration, AffineHasTheBitsOfOneProcessor)
{
  const RegistrationStage stage = ShortStage(Kind::Affine, Metric::MutualInformation);
  const auto              known = m_Problem.Run(*MakeCpuBackend(1), *m_Self, stage);
  const auto              found = m_Problem.Run(*m_Cuda, *m_Ranks, stage);
  EXPECT_EQ(0, std::memcmp(&known.affine, &found.affine, sizeof(known.affine)));
}

TEST_F(NcclRegistration, GreedyWithMutualInformationHasTheBitsOfOneProcessor)
{
  const RegistrationStage stage = ShortStage(Kind::Greedy, Metric::MutualInformation);
  const auto              known = m_Problem.Run(*MakeCpuBackend(1), *m_Self, stage);
  const auto              found = m_Problem.Run(*m_Cuda, *m_Ranks, stage);
  EXPECT_GT(MaxMagnitude(known.warp), 0.2);
  EXPECT_TRUE(SameBytes(OwnPart(known, found), found.warp));
  EXPECT_TRUE(m_Ranks->Size() == 1 || m_Ranks->SentBytes() > 0);
}

TEST_F(NcclRegistration, SyNWithLocalCorrelationHasTheBitsOfOneDevice)
{
  const RegistrationStage stage = ShortStage(Kind::SyN, Metric::LocalCorrelation);
  const auto              known = m_Problem.Run(*m_Cuda, *m_Self, stage);
  const auto              found = m_Problem.Run(*m_Cuda, *m_Ranks, stage);
  EXPECT_GT(MaxMagnitude(known.warp), 0.2);
  EXPECT_TRUE(SameBytes(OwnPart(known, found), found.warp));
}

TEST_F(NcclRegistration, RefusesABackendWithoutADevice)
{
  EXPECT_THROW(MakeNcclCommunicator(MPI_COMM_WORLD, *MakeCpuBackend(1)), std::invalid_argument);
  EXPECT_EQ(RankOnHost(MPI_COMM_WORLD), m_Ranks->Rank()); // all processes of the test are on one host
}
