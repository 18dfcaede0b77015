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
#include "ffdpPlaneDelivery.h"

#include "ffdpAgreement.h"
#include "ffdpPartition.h"

#include <algorithm>
#include <exception>
#include <vector>

namespace
{

/** Planes that are read at a time. All of them have one owner. */
struct Parcel
{
  int              owner = 0;
  int              volume = 0;
  ffdp::PlaneRange planes;
};

std::vector<Parcel>
CutParcels(const ffdp::Partition & owners, int volumes, std::int64_t planesAtOnce)
{
  std::vector<Parcel> parcels;
  for (int volume = 0; volume < volumes; ++volume)
  {
    for (int owner = 0; owner < owners.Ranks(); ++owner)
    {
      const ffdp::PlaneRange owned = owners.Owned(owner);
      for (std::int64_t first = owned.first; first < owned.end; first += planesAtOnce)
      {
        parcels.push_back({ owner, volume, { first, std::min(owned.end, first + planesAtOnce) } });
      }
    }
  }
  return parcels;
}

/** Rank 0 reads one parcel while the one before is under way. After a failure it sends what it has, since the others
 * wait for it; that it failed is told when all parcels are there. */
void
ReadOnFirst(ffdp::Communicator &        communicator,
            PlaneSource &               source,
            const std::vector<Parcel> & parcels,
            std::int64_t                perPlane,
            std::int64_t                planesAtOnce,
            const PlaneSink &           take)
{
  const int                              self = communicator.Rank();
  std::exception_ptr                     failure;
  std::vector<float>                     buffers[2];
  std::unique_ptr<ffdp::PendingTransfer> underWay[2];
  std::size_t                            turn = 0;
  for (std::vector<float> & buffer : buffers)
  {
    buffer.resize(std::size_t(planesAtOnce * perPlane));
  }
  for (const Parcel & parcel : parcels)
  {
    std::vector<float> & buffer = buffers[turn];
    if (underWay[turn])
    {
      underWay[turn]->Wait();
      underWay[turn].reset();
    }
    const ffdp::MemoryBlock block{ buffer.data(),
                                   std::size_t((parcel.planes.end - parcel.planes.first) * perPlane) * sizeof(float) };
    if (self == 0 && !failure)
    {
      try
      {
        source.Read(parcel.volume, parcel.planes, buffer.data());
      }
      catch (...)
      {
        failure = std::current_exception();
      }
    }
    if (parcel.owner != 0)
    {
      std::vector<ffdp::Message> sends, receives;
      if (self == 0)
      {
        sends.push_back({ parcel.owner, { block } });
      }
      if (self == parcel.owner)
      {
        receives.push_back({ 0, { block } });
      }
      underWay[turn] = communicator.Start(sends, receives);
    }
    if (self == parcel.owner)
    {
      if (underWay[turn])
      {
        underWay[turn]->Wait();
        underWay[turn].reset();
      }
      take(parcel.volume, parcel.planes, buffer.data());
    }
    turn = 1 - turn;
  }
  for (auto & transfer : underWay)
  {
    if (transfer)
    {
      transfer->Wait();
    }
  }
  DoTogether(communicator, [&] {
    if (failure)
    {
      std::rethrow_exception(failure);
    }
  });
}

} // namespace

void
DeliverPlanes(ffdp::Communicator & communicator,
              PlaneSource &        source,
              const ffdp::Extent & domain,
              const PlaneSink &    take)
{
  constexpr std::int64_t FloatsAtOnce = 1 << 20;
  const std::int64_t     perPlane = domain.x * domain.y * source.ValuesPerVoxel();
  const std::int64_t     planesAtOnce = std::max<std::int64_t>(1, FloatsAtOnce / perPlane);
  const ffdp::Partition  owners(domain.z, communicator.Size());
  const auto             parcels = CutParcels(owners, source.Volumes(), planesAtOnce);
  if (!source.IsRandomAccess())
  {
    ReadOnFirst(communicator, source, parcels, perPlane, planesAtOnce, take);
    return;
  }
  DoTogether(communicator, [&] {
    std::vector<float> buffer(std::size_t(planesAtOnce * perPlane));
    for (const Parcel & parcel : parcels)
    {
      if (parcel.owner == communicator.Rank())
      {
        source.Read(parcel.volume, parcel.planes, buffer.data());
        take(parcel.volume, parcel.planes, buffer.data());
      }
    }
  });
}
