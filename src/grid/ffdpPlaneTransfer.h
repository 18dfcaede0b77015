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
#ifndef ffdpPlaneTransfer_h
#define ffdpPlaneTransfer_h

#include "ffdpBackend.h"
#include "ffdpCommunicator.h"
#include "ffdpPartition.h"

#include <algorithm>
#include <vector>

namespace ffdp
{

inline PlaneRange
Intersection(const PlaneRange & a, const PlaneRange & b)
{
  return { std::max(a.first, b.first), std::min(a.end, b.end) };
}

/** The planes of each rank with `halo` more on both sides, where the volume goes on; none for ranks without planes. */
inline std::vector<PlaneRange>
WithHalo(const Partition & owners, std::int64_t halo)
{
  std::vector<PlaneRange> ranges;
  for (int rank = 0; rank < owners.Ranks(); ++rank)
  {
    const PlaneRange own = owners.Owned(rank);
    ranges.push_back(own.first < own.end ? PlaneRange{ std::max<std::int64_t>(0, own.first - halo),
                                                       std::min(owners.Planes(), own.end + halo) }
                                         : own);
  }
  return ranges;
}

/** The planes that lie within `halo` below those of each rank, or above them. */
inline std::vector<PlaneRange>
HaloBelow(const Partition & owners, std::int64_t halo)
{
  std::vector<PlaneRange> ranges = WithHalo(owners, halo);
  for (int rank = 0; rank < owners.Ranks(); ++rank)
  {
    ranges[std::size_t(rank)].end = owners.Owned(rank).first;
  }
  return ranges;
}
inline std::vector<PlaneRange>
HaloAbove(const Partition & owners, std::int64_t halo)
{
  std::vector<PlaneRange> ranges = WithHalo(owners, halo);
  for (int rank = 0; rank < owners.Ranks(); ++rank)
  {
    ranges[std::size_t(rank)].first = owners.Owned(rank).end;
  }
  return ranges;
}

/** What each rank says it wants, known to all of them. */
inline std::vector<PlaneRange>
GatherRanges(Communicator & communicator, const PlaneRange & own)
{
  const std::vector<double> all = communicator.Gather({ double(own.first), double(own.end) });
  std::vector<PlaneRange>   ranges;
  for (std::size_t i = 0; i + 1 < all.size(); i += 2)
  {
    ranges.push_back({ std::int64_t(all[i]), std::int64_t(all[i + 1]) });
  }
  return ranges;
}

/** A volume as it goes from rank to rank: `from` holds the planes that this rank owns, `to` has room for those that it
 * wants. Both may be the same memory, a slab with its halo. */
template <typename T>
struct PlaneChannel
{
  VolumeView<const T> from;
  VolumeView<T>       to;
};

/** Starts to bring the planes wanted[rank] of some volumes to each rank, from those who own them: one message from each
 * rank to each that wants something of it, whatever the number of volumes. Planes that a rank owns itself are not
 * copied. Planes of a volume are densely packed. */
template <typename T>
std::unique_ptr<PendingTransfer>
StartPlanes(Communicator &                       communicator,
            const Partition &                    owners,
            const std::vector<PlaneRange> &      wanted,
            const std::vector<PlaneChannel<T>> & channels)
{
  const int            self = communicator.Rank();
  std::vector<Message> sends, receives;
  for (int other = 0; other < communicator.Size(); ++other)
  {
    const PlaneRange out = Intersection(owners.Owned(self), wanted[std::size_t(other)]);
    const PlaneRange in = Intersection(owners.Owned(other), wanted[std::size_t(self)]);
    Message          send{ other, {} }, receive{ other, {} };
    for (const PlaneChannel<T> & channel : channels)
    {
      if (out.first < out.end)
      {
        const VolumeView<const T> planes = channel.from.Planes(out.first, out.end - out.first);
        send.blocks.push_back(
          { const_cast<T *>(planes.data), std::size_t(planes.planes * planes.planeStride) * sizeof(T) });
      }
      if (in.first < in.end)
      {
        const VolumeView<T> planes = channel.to.Planes(in.first, in.end - in.first);
        receive.blocks.push_back({ planes.data, std::size_t(planes.planes * planes.planeStride) * sizeof(T) });
      }
    }
    if (other != self && !send.blocks.empty())
    {
      sends.push_back(std::move(send));
    }
    if (other != self && !receive.blocks.empty())
    {
      receives.push_back(std::move(receive));
    }
  }
  return communicator.Start(sends, receives);
}

/** The same for planes that are wanted because they lie beside a rank's own. They are zero where the communicator does
 * not exchange halos. */
template <typename T>
std::unique_ptr<PendingTransfer>
StartHaloPlanes(Backend &                            backend,
                Communicator &                       communicator,
                const Partition &                    owners,
                const std::vector<PlaneRange> &      wanted,
                const std::vector<PlaneChannel<T>> & channels)
{
  if (communicator.ExchangesHalos())
  {
    return StartPlanes(communicator, owners, wanted, channels);
  }
  const PlaneRange own = owners.Owned(communicator.Rank());
  const PlaneRange want = wanted[std::size_t(communicator.Rank())];
  for (const PlaneChannel<T> & channel : channels)
  {
    for (std::int64_t z = want.first; z < want.end; ++z)
    {
      if (z < own.first || z >= own.end)
      {
        backend.FillZero(channel.to.Row(0, z), std::size_t(channel.to.planeStride) * sizeof(T));
      }
    }
  }
  return communicator.Start({}, {});
}

} // namespace ffdp

#endif
