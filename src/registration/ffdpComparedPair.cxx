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
#include "ffdpComparedPair.h"

namespace ffdp
{
namespace
{

/** Index of the moving image from index of the fixed one: X = P (A (F (x + u)) + t). */
CompositeMap
MakeIndexMap(const LevelPair & images, const AffineMap & physical)
{
  const AffineMap map = Compose(images.physicalToMoving, Compose(physical, images.fixedToPhysical));
  CompositeMap    composite;
  std::copy(map.matrix, map.matrix + 9, composite.A);
  std::copy(map.offset, map.offset + 3, composite.t);
  std::copy(map.matrix, map.matrix + 9, composite.S);
  return composite;
}

} // namespace

ComparedPair::ComparedPair(Backend &            backend,
                           Communicator &       communicator,
                           const LevelPair &    images,
                           std::int64_t         halo,
                           std::int64_t         planesAtATime,
                           const JoinedPlanes & joined)
  : m_Backend(backend)
  , m_Communicator(communicator)
  , m_Images(images)
  , m_Halo(halo)
  , m_Capacity(planesAtATime + 2 * halo)
  , m_Joined(joined)
  , m_Planes(Partition(images.fixed.domain.z, communicator.Size()).Owned(communicator.Rank()))
  , m_FixedHere(backend, communicator, images.fixed, joined)
  , m_Moving(backend, communicator, images.moving, joined, images.field.moving.Sampling())
  , m_Moved(backend, images.fixed.domain, 1, m_Capacity)
  , m_MovedEdges(backend, communicator, images.fixed.domain, halo)
{
  const Extent & domain = images.fixed.domain;
  if (this->IsMasked())
  {
    this->PrepareMask();
  }
  if (images.movingMask.IsGiven())
  {
    m_MovingMask = SampledImage(backend, communicator, images.movingMask, joined);
  }
  else if (IsUnknown(images.field.moving))
  {
    m_InsideMoving = InsideTest(backend, images.moving.domain);
  }
  if (images.movingMask.IsGiven() || IsUnknown(images.field.moving))
  {
    m_MovedMask = PlaneWindow<float>(backend, domain, 1, m_Capacity);
  }
}

void
ComparedPair::PrepareMask()
{
  const Extent & domain = m_Images.fixed.domain;
  m_Mask = PlaneWindow<std::uint8_t>(m_Backend, domain, 1, m_Capacity);
  m_MaskEdges = EdgeStrips<std::uint8_t>(m_Backend, m_Communicator, domain, m_Halo);
}

void
ComparedPair::PrepareFixedWarp()
{
  if (m_MovedFixed.Capacity() > 0)
  {
    return;
  }
  const Extent & domain = m_Images.fixed.domain;
  m_Fixed = SampledImage(m_Backend, m_Communicator, m_Images.fixed, m_Joined, m_Images.field.fixed.Sampling());
  m_MovedFixed = PlaneWindow<float>(m_Backend, domain, 1, m_Capacity);
  m_MovedFixedEdges = EdgeStrips<float>(m_Backend, m_Communicator, domain, m_Halo);
  if (m_Images.fixedMask.IsGiven())
  {
    m_FixedMask = SampledImage(m_Backend, m_Communicator, m_Images.fixedMask, m_Joined);
  }
  else if (IsUnknown(m_Images.field.fixed))
  {
    m_InsideFixed = InsideTest(m_Backend, domain);
  }
  if (m_Images.fixedMask.IsGiven() || IsUnknown(m_Images.field.fixed))
  {
    m_MovedFixedMask = PlaneWindow<float>(m_Backend, domain, 1, m_Capacity);
  }
  if (this->IsMasked() && m_Mask.Capacity() == 0)
  {
    this->PrepareMask();
  }
}

void
ComparedPair::Begin(const AffineMap &                 physical,
                    const WarpView<const float> &     u,
                    const WarpView<const float> &     r,
                    const std::optional<PlaneRange> & gradients)
{
  const Extent & domain = m_Images.fixed.domain;
  m_Warp = u ? WarpInput(u) : WarpInput();
  m_FixedWarp = r ? WarpInput(r) : WarpInput();
  m_Map = MakeIndexMap(m_Images, physical);
  m_FixedMoves = r.IsGiven();
  m_Moving.Prepare(m_Map, m_Warp, domain, m_Planes, gradients);
  if (m_Images.movingMask.IsGiven())
  {
    m_MovingMask.PrepareLike(m_Moving);
  }
  if (m_FixedMoves)
  {
    this->PrepareFixedWarp();
    m_Fixed.Prepare(CompositeMap{}, r, domain, m_Planes, gradients);
    if (m_Images.fixedMask.IsGiven())
    {
      m_FixedMask.PrepareLike(m_Fixed);
    }
  }
  else
  {
    m_FixedHere.Extend(WithHalo(Partition(domain.z, m_Communicator.Size()), m_Halo));
  }
  this->SwapEdges();
  this->RestartWindows(m_Planes.first);
}

void
ComparedPair::PrepareGradients(const PlaneRange & planes)
{
  m_Moving.BringDerivatives(planes);
  if (m_FixedMoves)
  {
    m_Fixed.BringDerivatives(planes);
  }
}

void
ComparedPair::SwapEdges()
{
  m_MovedEdges.Swap([this](const VolumeView<float> & planes) { m_Moving.Sample(planes); });
  if (m_FixedMoves)
  {
    m_MovedFixedEdges.Swap([this](const VolumeView<float> & planes) { m_Fixed.Sample(planes); });
  }
  if (this->IsMasked())
  {
    m_MaskEdges.Swap([this](const VolumeView<std::uint8_t> & planes) { this->SampleMask(planes); });
  }
  if (m_Planes.first >= m_Planes.end) // others fill their windows with what they wait for
  {
    m_MovedEdges.Finish();
    m_MovedFixedEdges.Finish();
    m_MaskEdges.Finish();
  }
}

void
ComparedPair::RestartWindows(std::int64_t first)
{
  m_Moved.Restart(first);
  m_MovedFixed.Restart(first);
  m_Mask.Restart(first);
}

void
ComparedPair::Advance(std::int64_t first, std::int64_t end)
{
  const std::int64_t low = std::max<std::int64_t>(0, first - m_Halo);
  const std::int64_t high = std::min(m_Images.fixed.domain.z, end + m_Halo);
  if (low < m_Moved.First() || low > m_Moved.End())
  {
    this->RestartWindows(low);
  }
  const auto advance = [&](auto & window, auto & edges, const auto & sample) {
    window.Keep(low);
    const std::int64_t from = window.End();
    if (from < high)
    {
      window.Grow(high);
      const auto       planes = window.Volume().Planes(from, high - from);
      const PlaneRange left = edges.Fill(planes);
      if (left.first < left.end)
      {
        sample(planes.Planes(left.first, left.end - left.first));
      }
    }
  };
  advance(m_Moved, m_MovedEdges, [this](const VolumeView<float> & planes) { m_Moving.Sample(planes); });
  if (m_FixedMoves)
  {
    advance(m_MovedFixed, m_MovedFixedEdges, [this](const VolumeView<float> & planes) { m_Fixed.Sample(planes); });
  }
  if (this->IsMasked())
  {
    advance(m_Mask, m_MaskEdges, [this](const VolumeView<std::uint8_t> & planes) { this->SampleMask(planes); });
  }
}

void
ComparedPair::SampleMask(const VolumeView<std::uint8_t> & mask)
{
  const auto here = [&](PlaneWindow<float> & window) {
    window.Restart(mask.firstPlane);
    window.Grow(mask.EndPlane());
    return window.Volume();
  };
  VolumeView<const float> fixedMask = m_Images.fixedMask;
  VolumeView<const float> movedMask;
  if (m_FixedMoves && m_Images.fixedMask.IsGiven())
  {
    m_FixedMask.Sample(here(m_MovedFixedMask));
    fixedMask = m_MovedFixedMask.Volume();
  }
  else if (m_FixedMoves && IsUnknown(m_Images.field.fixed))
  {
    m_InsideFixed.Sample(m_Backend, CompositeMap{}, m_FixedWarp, here(m_MovedFixedMask));
    fixedMask = m_MovedFixedMask.Volume();
  }
  if (m_Images.movingMask.IsGiven())
  {
    m_MovingMask.Sample(here(m_MovedMask));
    movedMask = m_MovedMask.Volume();
  }
  else if (IsUnknown(m_Images.field.moving))
  {
    m_InsideMoving.Sample(m_Backend, m_Map, m_Warp, here(m_MovedMask));
    movedMask = m_MovedMask.Volume();
  }
  m_Backend.CombineMasks(fixedMask, movedMask, mask);
}

VolumeView<const float>
ComparedPair::Fixed(std::int64_t first, std::int64_t end)
{
  if (m_FixedMoves)
  {
    return m_MovedFixed.Volume();
  }
  return m_FixedHere.View(
    { std::max<std::int64_t>(0, first - m_Halo), std::min(m_Images.fixed.domain.z, end + m_Halo) });
}

} // namespace ffdp
