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
#include "ffdpPartition.h"

#include "ffdpSlab.h"
#include "ffdpTestRanks.h"

#include <gtest/gtest.h>

namespace ffdp
{
namespace
{

/** A value that names the voxel, its channel, and that it was written by its owner. */
float
ValueAt(int channel, std::int64_t z, std::int64_t i)
{
  return float(10000 * (channel + 1) + 100 * z + i);
}

void
FillOwned(const Slab & slab, int channels)
{
  for (int c = 0; c < channels; ++c)
  {
    const VolumeView<float> planes = slab.OwnedVolume(c);
    for (std::int64_t z = planes.firstPlane; z < planes.EndPlane(); ++z)
    {
      for (std::int64_t i = 0; i < planes.planeStride; ++i)
      {
        planes.Row(0, z)[i] = ValueAt(c, z, i);
      }
    }
  }
}

void
ExpectPlanes(const Slab & slab, int channels, const PlaneRange & expected)
{
  for (int c = 0; c < channels; ++c)
  {
    const VolumeView<float> planes = slab.Volume(c);
    EXPECT_EQ(planes.firstPlane, expected.first);
    ASSERT_EQ(planes.EndPlane(), expected.end);
    for (std::int64_t z = expected.first; z < expected.end; ++z)
    {
      for (std::int64_t i = 0; i < planes.planeStride; ++i)
      {
        ASSERT_EQ(planes.Row(0, z)[i], ValueAt(c, z, i)) << "plane " << z << ", channel " << c;
      }
    }
  }
}

/** Enough for several slabs, for one slab of all ranks, for one plane, and for slabs of different thickness. */
const std::int64_t PlaneCounts[] = { 1, 2, 7, 16, 31, 67 };

} // namespace

TEST(Partition, EachPlaneHasOneOwnerInOrder)
{
  for (std::int64_t planes = 1; planes <= 70; ++planes)
  {
    for (int ranks = 1; ranks <= 9; ++ranks)
    {
      const Partition owners(planes, ranks);
      EXPECT_EQ(owners.Planes(), planes);
      EXPECT_EQ(owners.Ranks(), ranks);
      std::int64_t next = 0, thinnest = planes, thickest = 0, slabs = 0;
      for (int rank = 0; rank < ranks; ++rank)
      {
        const PlaneRange own = owners.Owned(rank);
        ASSERT_EQ(own.first, next) << planes << " planes, rank " << rank << " of " << ranks;
        ASSERT_GE(own.end, own.first);
        next = own.end;
        if (own.first < own.end)
        {
          thinnest = std::min(thinnest, own.end - own.first);
          thickest = std::max(thickest, own.end - own.first);
          ++slabs;
        }
      }
      ASSERT_EQ(next, planes);
      EXPECT_LE(thickest - thinnest, 1) << planes << " planes, " << ranks << " ranks";
      EXPECT_GE(thinnest, std::min(planes, Partition::LeastPlanes));
      EXPECT_EQ(slabs, std::min<std::int64_t>(ranks, std::max<std::int64_t>(1, planes / Partition::LeastPlanes)));
    }
  }
}

TEST(Slab, HaloHoldsWhatItsOwnersHave)
{
  const auto backend = MakeCpuBackend(1);
  test::OnRanks([&](Communicator & communicator) {
    for (const std::int64_t planes : PlaneCounts)
    {
      for (const std::int64_t halo : { 0, 1, 3, 8, 12, 100 }) // the last ones are wider than the slabs beside it
      {
        const Extent     domain{ 3, 2, planes };
        const Slab       slab(*backend, communicator, domain, 2, halo);
        const PlaneRange own = slab.Owned();
        slab.FillZero();
        FillOwned(slab, 2);
        const std::uint64_t before = communicator.SentBytes();
        slab.RefreshHalo(*backend, communicator);
        const bool empty = own.first >= own.end;
        EXPECT_EQ(slab.IsEmpty(), empty);
        const PlaneRange held{ std::max<std::int64_t>(0, own.first - halo), std::min(planes, own.end + halo) };
        ExpectPlanes(slab, 2, empty ? own : held);
        if (empty || halo == 0)
        {
          EXPECT_EQ(communicator.SentBytes(), before);
        }
      }
    }
  });
}

TEST(Slab, HaloIsSentOnceForAllChannels)
{
  const auto backend = MakeCpuBackend(1);
  test::OnRanks([&](Communicator & communicator) {
    const Extent domain{ 3, 2, 8 * communicator.Size() };
    const Slab   slab(*backend, communicator, domain, 3, 2);
    slab.FillZero();
    const std::uint64_t before = communicator.SentBytes();
    slab.RefreshHalo(*backend, communicator);
    const int neighbors = (communicator.Rank() > 0) + (communicator.Rank() + 1 < communicator.Size());
    EXPECT_EQ(communicator.SentBytes() - before, std::uint64_t(neighbors) * 3 * 2 * 6 * sizeof(float));
  });
}

TEST(FetchPlanes, BringsAnyPlanesTogether)
{
  const auto backend = MakeCpuBackend(1);
  test::OnRanks([&](Communicator & communicator) {
    for (const std::int64_t planes : PlaneCounts)
    {
      const Extent domain{ 2, 3, planes };
      const Slab   own(*backend, communicator, domain, 2);
      FillOwned(own, 2);
      const std::int64_t rank = communicator.Rank();
      // Nothing, everything, a middle that has nothing to do with what is owned, and something else on each rank.
      const PlaneRange nothing{ 0, 0 }, everything{ 0, planes }, middle{ planes / 3, planes - planes / 3 };
      const PlaneRange other{ (5 * rank) % planes, std::min(planes, (5 * rank) % planes + 1 + rank) };
      for (const PlaneRange & wanted :
           { nothing, everything, middle, other, rank % 2 ? everything : nothing, rank % 2 ? nothing : other })
      {
        const Slab fetched = FetchPlanes(*backend, communicator, { own.Volume(0), own.Volume(1) }, wanted);
        ExpectPlanes(fetched, 2, wanted);
      }
    }
  });
}

} // namespace ffdp
