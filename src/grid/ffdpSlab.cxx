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
#include "ffdpSlab.h"

namespace ffdp
{

Slab
WithHalo(Backend & backend, Communicator & communicator, Slab && slab, std::int64_t halo)
{
  if (communicator.Size() == 1 || slab.Halo() == halo)
  {
    return std::move(slab);
  }
  Slab other(backend, communicator, slab.Domain(), slab.Channels(), halo);
  for (int c = 0; c < slab.Channels() && !slab.IsEmpty(); ++c)
  {
    const VolumeView<float> from = slab.OwnedVolume(c);
    backend.Move(other.OwnedVolume(c).data, from.data, std::size_t(from.planes * from.planeStride) * sizeof(float));
  }
  slab = Slab(); // before planes of the halo arrive
  other.RefreshHalo(backend, communicator);
  return other;
}

Slab
FetchPlanes(Backend &                                    backend,
            Communicator &                               communicator,
            const std::vector<VolumeView<const float>> & own,
            const PlaneRange &                           wanted)
{
  const Extent &                   domain = own.front().domain;
  const Partition                  owners(domain.z, communicator.Size());
  const PlaneRange                 owned = owners.Owned(communicator.Rank());
  const PlaneRange                 mine = Intersection(owned, wanted);
  Slab                             fetched(backend, domain, int(own.size()), mine, wanted);
  std::vector<PlaneChannel<float>> channels;
  for (std::size_t c = 0; c < own.size(); ++c)
  {
    channels.push_back({ own[c], fetched.Volume(int(c)) });
  }
  const auto pending = StartPlanes(communicator, owners, GatherRanges(communicator, wanted), channels);
  for (const PlaneChannel<float> & channel : channels)
  {
    if (mine.first < mine.end)
    {
      const VolumeView<const float> from = channel.from.Planes(mine.first, mine.end - mine.first);
      backend.Move(channel.to.Planes(mine.first, mine.end - mine.first).data,
                   from.data,
                   std::size_t(from.planes * from.planeStride) * sizeof(float));
    }
  }
  pending->Wait();
  return fetched;
}

} // namespace ffdp
