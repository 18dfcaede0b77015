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
#include "ffdpFinalWarp.h"

#include <algorithm>

namespace ffdp
{
namespace
{

/** A warp of zeros: in the memory of the result, where that can be used, so that large warps exist once. Several ranks
 * need halos beside it. */
Slab
MakeHome(Backend & backend, Communicator & communicator, const Extent & size, std::vector<float> & values)
{
  if (backend.SharesHostMemory() && communicator.Size() == 1)
  {
    return Slab(backend, communicator, size, 3, values);
  }
  Slab home(backend, communicator, size, 3);
  home.FillZero();
  return home;
}

/** Moves a warp to such memory. */
Slab
MoveHome(Backend & backend, Communicator & communicator, Slab && warp, std::vector<float> & values)
{
  if (!backend.SharesHostMemory() || communicator.Size() > 1)
  {
    return std::move(warp);
  }
  Slab home = MakeHome(backend, communicator, warp.Domain(), values);
  for (int c = 0; c < 3; ++c)
  {
    const VolumeView<float> from = warp.OwnedVolume(c);
    backend.Move(home.Volume(c).data, from.data, std::size_t(from.planes * from.planeStride) * sizeof(float));
  }
  warp = Slab();
  return home;
}

/** Leaves in the result what is not there already; the slab is gone afterwards. */
void
LeaveAtHome(Backend & backend, Slab && warp, std::vector<float> & values)
{
  const std::int64_t count = (warp.Owned().end - warp.Owned().first) * warp.Domain().x * warp.Domain().y;
  if (values.empty() && count > 0)
  {
    values.resize(std::size_t(3 * count));
    for (int c = 0; c < 3; ++c)
    {
      backend.CopyToHost(values.data() + c * count, warp.OwnedVolume(c).data, std::size_t(count) * sizeof(float));
    }
  }
  warp = Slab();
}

} // namespace

FinalWarp::FinalWarp(Backend & backend, Communicator & communicator, const Extent & size, RegistrationResult & result)
  : m_Backend(backend)
  , m_Communicator(communicator)
  , m_Size(size)
  , m_Result(result)
{}

void
FinalWarp::Begin(Slab warp)
{
  if (warp.Domain() != m_Size)
  {
    warp = Regrid(m_Backend, m_Communicator, warp, m_Size);
  }
  warp = WithHalo(m_Backend, m_Communicator, std::move(warp), 1);
  BlockMarks unused(m_Size);
  m_Result.ironed = Unfolding(m_Backend, m_Communicator, m_Size).Unfold(warp, LimitsOfWarp, nullptr, unused, unused);
  m_Warp = MoveHome(m_Backend, m_Communicator, std::move(warp), m_Result.warp);
  m_Inverse = MakeHome(m_Backend, m_Communicator, m_Size, m_Result.inverseWarp);
  m_Result.inverseResidual = InvertWarp(m_Backend, m_Communicator, m_Warp, m_Inverse, InverseTolerance);
  m_Bound = std::max(BoundAlongZ(m_Backend, m_Communicator, m_Warp), BoundAlongZ(m_Backend, m_Communicator, m_Inverse));
  m_Reconciliation.emplace(m_Backend, m_Communicator, m_Bound, m_Warp, m_Inverse, m_Result);
}

void
FinalWarp::Leave()
{
  m_Reconciliation->CountFolds();
  m_Reconciliation.reset();
  m_Result.hasWarp = true;
  m_Result.warpSize = m_Size;
  m_Result.warpPlanes = m_Warp.Owned();
  LeaveAtHome(m_Backend, std::move(m_Inverse), m_Result.inverseWarp);
  LeaveAtHome(m_Backend, std::move(m_Warp), m_Result.warp);
}

void
FinalWarp::Exchange(StateArchive & archive)
{
  archive.Exchange(m_Bound);
  archive.Exchange(m_Result.ironed);
  archive.Exchange(m_Result.inverseResidual);
  if (archive.IsLoading())
  {
    m_Warp = MakeHome(m_Backend, m_Communicator, m_Size, m_Result.warp);
    m_Inverse = MakeHome(m_Backend, m_Communicator, m_Size, m_Result.inverseWarp);
  }
  archive.Exchange(m_Backend, m_Warp);
  archive.Exchange(m_Backend, m_Inverse);
  if (archive.IsLoading())
  {
    m_Reconciliation.emplace(m_Backend, m_Communicator, m_Bound, m_Warp, m_Inverse, m_Result);
  }
  m_Reconciliation->Exchange(archive);
}

} // namespace ffdp
