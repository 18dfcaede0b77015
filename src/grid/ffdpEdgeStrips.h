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
#ifndef ffdpEdgeStrips_h
#define ffdpEdgeStrips_h

#include "ffdpDeviceArray.h"
#include "ffdpPlaneTransfer.h"

namespace ffdp
{

/** The planes beside a rank's own of a volume that nobody keeps: each rank makes its planes as they are needed, and
 * forgets them. So those that a neighbor needs are made beforehand, swapped, and kept until they are used: strips of
 * `halo` planes at both edges of what this rank owns, and as many of its neighbors. */
template <typename T>
class EdgeStrips
{
public:
  EdgeStrips() = default;

  EdgeStrips(Backend & backend, Communicator & communicator, const Extent & domain, std::int64_t halo)
    : m_Backend(&backend)
    , m_Communicator(&communicator)
    , m_Owners(domain.z, communicator.Size())
    , m_Own(m_Owners.Owned(communicator.Rank()))
    , m_Halo(communicator.Size() > 1 ? halo : 0)
  {
    const std::int64_t thickness = std::min(m_Halo, m_Own.end - m_Own.first);
    const PlaneRange   below = HaloBelow(m_Owners, m_Halo)[std::size_t(communicator.Rank())];
    const PlaneRange   above = HaloAbove(m_Owners, m_Halo)[std::size_t(communicator.Rank())];
    this->Make(m_OwnLow, domain, { m_Own.first, m_Own.first + thickness });
    this->Make(m_OwnHigh, domain, { m_Own.end - thickness, m_Own.end });
    this->Make(m_Below, domain, below);
    this->Make(m_Above, domain, above);
  }

  /** Calls produce(view) for the planes at both edges, and starts to swap them. */
  template <typename TProduce>
  void
  Swap(const TProduce & produce)
  {
    if (m_Halo == 0)
    {
      return;
    }
    this->Finish(); // what was swapped before may not have been used
    this->Produce(m_OwnHigh, produce);
    m_Upward = StartHaloPlanes<T>(
      *m_Backend, *m_Communicator, m_Owners, HaloBelow(m_Owners, m_Halo), { { m_OwnHigh.view, m_Below.view } });
    this->Produce(m_OwnLow, produce);
    m_Downward = StartHaloPlanes<T>(
      *m_Backend, *m_Communicator, m_Owners, HaloAbove(m_Owners, m_Halo), { { m_OwnLow.view, m_Above.view } });
  }

  /** Copies the planes of a view that are known without being made; returns those that are left to make. */
  PlaneRange
  Fill(const VolumeView<T> & planes)
  {
    PlaneRange left{ planes.firstPlane, planes.EndPlane() };
    if (m_Halo > 0)
    {
      this->Finish();
      for (const Strip * strip : { &m_Below, &m_OwnLow, &m_Above, &m_OwnHigh })
      {
        const PlaneRange part = Intersection(left, { strip->view.firstPlane, strip->view.EndPlane() });
        if (part.first < part.end && (part.first == left.first || part.end == left.end))
        {
          m_Backend->Move(planes.Row(0, part.first),
                          strip->view.Row(0, part.first),
                          std::size_t((part.end - part.first) * planes.planeStride) * sizeof(T));
          left = part.first == left.first ? PlaneRange{ part.end, left.end } : PlaneRange{ left.first, part.first };
        }
      }
    }
    return left;
  }

  /** Waits for the swap to end. Ranks that make nothing must do so, too. */
  void
  Finish()
  {
    for (std::unique_ptr<PendingTransfer> * pending : { &m_Upward, &m_Downward })
    {
      if (*pending)
      {
        (*pending)->Wait();
        pending->reset();
      }
    }
  }

private:
  struct Strip
  {
    DeviceArray<T> memory;
    VolumeView<T>  view;
  };

  void
  Make(Strip & strip, const Extent & domain, const PlaneRange & planes)
  {
    strip.memory = DeviceArray<T>(*m_Backend, (planes.end - planes.first) * domain.x * domain.y);
    strip.view = VolumeView<T>(strip.memory.Data(), domain, planes.first, planes.end - planes.first);
  }
  template <typename TProduce>
  void
  Produce(const Strip & strip, const TProduce & produce)
  {
    if (strip.view.planes > 0)
    {
      produce(strip.view);
    }
  }

  Backend *                        m_Backend = nullptr;
  Communicator *                   m_Communicator = nullptr;
  Partition                        m_Owners{ 1, 1 };
  PlaneRange                       m_Own;
  std::int64_t                     m_Halo = 0;
  Strip                            m_OwnLow, m_OwnHigh, m_Below, m_Above;
  std::unique_ptr<PendingTransfer> m_Upward, m_Downward;
};

} // namespace ffdp

#endif
