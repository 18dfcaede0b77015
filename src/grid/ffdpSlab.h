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
#ifndef ffdpSlab_h
#define ffdpSlab_h

#include "ffdpDeviceArray.h"
#include "ffdpLargePages.h"
#include "ffdpPlaneTransfer.h"

namespace ffdp
{

/** Planes of some volumes in the memory of a backend: those that this rank owns, and a halo of planes beside them that
 * other ranks own. With one rank there is no halo: the volume ends where the slab does. */
class Slab
{
public:
  Slab() = default;

  Slab(Backend & backend, Communicator & communicator, const Extent & domain, int channels, std::int64_t halo = 0)
    : Slab(backend,
           domain,
           channels,
           Partition(domain.z, communicator.Size()).Owned(communicator.Rank()),
           WithHalo(Partition(domain.z, communicator.Size()), halo)[std::size_t(communicator.Rank())])
  {
    m_Halo = halo;
  }

  /** Without a halo, in memory that the caller keeps: `values` gets the size of what this rank owns, and is zero. For a
   * backend that uses memory of the host. */
  Slab(Backend & backend, Communicator & communicator, const Extent & domain, int channels, std::vector<float> & values)
    : m_Domain(domain)
    , m_Channels(channels)
    , m_Owned(Partition(domain.z, communicator.Size()).Owned(communicator.Rank()))
    , m_Held(m_Owned)
  {
    const std::int64_t planes = std::max<std::int64_t>(0, m_Owned.end - m_Owned.first);
    const auto count = std::size_t(channels * planes * domain.x * domain.y);
    values.clear();
    values.reserve(count);
    AdviseLargePages(values.data(), count * sizeof(float)); // before it is touched
    values.assign(count, 0.0f);
    m_Memory = DeviceArray<float>(backend, values.data(), std::int64_t(values.size()));
  }

  /** Planes that are held for another reason than that they lie beside the owned ones. */
  Slab(Backend & backend, const Extent & domain, int channels, const PlaneRange & owned, const PlaneRange & held)
    : m_Domain(domain)
    , m_Channels(channels)
    , m_Owned(owned)
    , m_Held(held)
    , m_Memory(backend, channels * std::max<std::int64_t>(0, held.end - held.first) * domain.x * domain.y)
  {}

  /** False for a default-constructed slab; a rank that owns no plane has a slab all the same. */
  explicit operator bool() const { return m_Channels > 0; }

  const Extent &
  Domain() const
  {
    return m_Domain;
  }
  const PlaneRange &
  Owned() const
  {
    return m_Owned;
  }
  const PlaneRange &
  Held() const
  {
    return m_Held;
  }
  std::int64_t
  Halo() const
  {
    return m_Halo;
  }
  int
  Channels() const
  {
    return m_Channels;
  }
  bool
  IsEmpty() const
  {
    return m_Owned.first >= m_Owned.end;
  }

  /** The planes that are held. */
  VolumeView<float>
  Volume(int channel = 0) const
  {
    return VolumeView<float>(
      m_Memory.Data() + channel * (m_Memory.Count() / m_Channels), m_Domain, m_Held.first, m_Held.end - m_Held.first);
  }
  WarpView<float>
  Warp() const
  {
    return WarpView<float>::Planar(this->Volume(0).data,
                                   this->Volume(1).data,
                                   this->Volume(2).data,
                                   m_Domain,
                                   m_Held.first,
                                   m_Held.end - m_Held.first);
  }
  WarpView<float>
  OwnedWarp() const
  {
    return this->Warp().Planes(m_Owned.first, m_Owned.end - m_Owned.first);
  }
  VolumeView<float>
  OwnedVolume(int channel = 0) const
  {
    return this->Volume(channel).Planes(m_Owned.first, m_Owned.end - m_Owned.first);
  }

  void
  FillZero() const
  {
    if (m_Memory.Data())
    {
      m_Memory.FillZero();
    }
  }

  /** Starts to fetch the planes of the halo as their owners have them now. */
  std::unique_ptr<PendingTransfer>
  StartHalo(Backend & backend, Communicator & communicator) const
  {
    std::vector<PlaneChannel<float>> channels;
    for (int c = 0; c < m_Channels; ++c)
    {
      channels.push_back({ this->Volume(c), this->Volume(c) });
    }
    const Partition owners(m_Domain.z, communicator.Size());
    return StartHaloPlanes(backend, communicator, owners, WithHalo(owners, m_Halo), channels);
  }
  void
  RefreshHalo(Backend & backend, Communicator & communicator) const
  {
    this->StartHalo(backend, communicator)->Wait();
  }

private:
  Extent             m_Domain;
  int                m_Channels = 0;
  PlaneRange         m_Owned, m_Held;
  std::int64_t       m_Halo = 0;
  DeviceArray<float> m_Memory;
};

/** The same planes with a halo of another width, whose planes are fetched. */
Slab
WithHalo(Backend & backend, Communicator & communicator, Slab && slab, std::int64_t halo);

/** The planes `wanted` (of this rank) of volumes of which each rank has its own: brought together in one piece. */
Slab
FetchPlanes(Backend &                                    backend,
            Communicator &                               communicator,
            const std::vector<VolumeView<const float>> & own,
            const PlaneRange &                           wanted);

} // namespace ffdp

#endif
