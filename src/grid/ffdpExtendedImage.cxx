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
#include "ffdpExtendedImage.h"

#include "ffdpCheck.h"

namespace ffdp
{
namespace
{

bool
Contains(const PlaneRange & outer, const PlaneRange & inner)
{
  return inner.first >= inner.end || (outer.first <= inner.first && inner.end <= outer.end);
}

} // namespace

ExtendedImage::ExtendedImage(Backend &                       backend,
                             Communicator &                  communicator,
                             const VolumeView<const float> & own,
                             const JoinedPlanes &            joined)
  : m_Backend(&backend)
  , m_Communicator(&communicator)
  , m_Own(own)
  , m_Joined(joined)
{
  this->Forget();
}

void
ExtendedImage::Forget()
{
  const Partition owners(m_Own.domain.z, m_Communicator->Size());
  m_Held.clear();
  for (int rank = 0; rank < m_Communicator->Size(); ++rank)
  {
    m_Held.push_back(owners.Owned(rank));
  }
  this->Release();
}

void
ExtendedImage::Release()
{
  m_Below = Slab();
  m_Above = Slab();
  m_Whole = Slab();
}

void
ExtendedImage::Extend(const std::vector<PlaneRange> & wanted, bool inOnePiece)
{
  const Partition         owners(m_Own.domain.z, m_Communicator->Size());
  const int               self = m_Communicator->Rank();
  std::vector<PlaneRange> below(wanted.size()), above(wanted.size());
  bool                    anyone = false;
  for (int rank = 0; rank < m_Communicator->Size(); ++rank)
  {
    const auto       r = std::size_t(rank);
    const PlaneRange own = owners.Owned(rank);
    const PlaneRange want = wanted[r];
    if (Contains(m_Held[r], want) || Contains(own, want))
    {
      continue;
    }
    const bool ownsSome = own.first < own.end;
    const bool touches = ownsSome && want.first <= own.end && own.first <= want.end;
    below[r] = { want.first, ownsSome ? std::clamp(own.first, want.first, want.end) : want.end };
    above[r] = { ownsSome ? std::clamp(own.end, want.first, want.end) : want.end, want.end };
    m_Held[r] = touches ? PlaneRange{ std::min(own.first, want.first), std::max(own.end, want.end) } : want;
    anyone = true;
    if (rank == self)
    {
      this->Release(); // before the next ones are there
      this->MakeRoom(below[r], above[r], inOnePiece && touches);
    }
  }
  if (anyone)
  {
    const auto fetch = [&](const std::vector<PlaneRange> & ranges, const Slab & piece) {
      const PlaneRange &      here = ranges[std::size_t(self)];
      const VolumeView<float> to = here.first >= here.end ? VolumeView<float>()
                                   : m_Whole              ? m_Whole.Volume().Planes(here.first, here.end - here.first)
                                                          : piece.Volume();
      return StartPlanes(*m_Communicator, owners, ranges, std::vector<PlaneChannel<float>>{ { m_Own, to } });
    };
    const auto fromBelow = fetch(below, m_Below);
    const auto fromAbove = fetch(above, m_Above);
    fromBelow->Wait();
    fromAbove->Wait();
  }
}

void
ExtendedImage::MakeRoom(const PlaneRange & below, const PlaneRange & above, bool inOnePiece)
{
  if (!inOnePiece)
  {
    m_Below = Slab(*m_Backend, m_Own.domain, 1, {}, below);
    m_Above = Slab(*m_Backend, m_Own.domain, 1, {}, above);
    return;
  }
  m_Whole = Slab(*m_Backend, m_Own.domain, 1, {}, m_Held[std::size_t(m_Communicator->Rank())]);
  m_Backend->Move(m_Whole.Volume().Row(0, m_Own.firstPlane),
                  m_Own.data,
                  std::size_t(m_Own.planes * m_Own.planeStride) * sizeof(float));
}

VolumeView<const float>
ExtendedImage::View(const PlaneRange & planes)
{
  if (m_Own && (m_Communicator->Size() == 1 || Contains({ m_Own.firstPlane, m_Own.EndPlane() }, planes)))
  {
    return m_Own;
  }
  for (const Slab * piece : { &m_Below, &m_Above, &m_Whole })
  {
    if (*piece && planes.first < planes.end && Contains(piece->Held(), planes))
    {
      return piece->Volume();
    }
  }
  const std::int64_t plane = m_Own.domain.x * m_Own.domain.y;
  const std::int64_t count = std::max<std::int64_t>(0, planes.end - planes.first);
  const std::int64_t needed = std::max<std::int64_t>(1, count) * plane; // who wants none still gets a view of something
  if (m_Joined->Count() < needed)
  {
    *m_Joined = DeviceArray<float>(); // before the larger one is there
    *m_Joined = DeviceArray<float>(*m_Backend, needed);
    m_Joined->FillZero();
  }
  if (count == 0)
  {
    return VolumeView<const float>(m_Joined->Data(), m_Own.domain, 0, 1);
  }
  const VolumeView<float> joined(m_Joined->Data(), m_Own.domain, planes.first, count);
  std::int64_t            found = 0;
  const auto              copy = [&](const VolumeView<const float> & from) {
    const PlaneRange part = Intersection({ from.firstPlane, from.EndPlane() }, planes);
    if (part.first < part.end)
    {
      found += part.end - part.first;
      m_Backend->Move(joined.Row(0, part.first),
                      from.Row(0, part.first),
                      std::size_t((part.end - part.first) * plane) * sizeof(float));
    }
  };
  copy(m_Own);
  for (const Slab * piece : { &m_Below, &m_Above })
  {
    if (*piece)
    {
      copy(piece->Volume());
    }
  }
  Require(found == count, "planes of an image are used that were not fetched");
  return joined;
}

} // namespace ffdp
