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

namespace ffdp
{
namespace
{

/** Finds the determinant in all owned planes, and what is to be known of it in all of all ranks. */
void
MeasureFolds(Backend &            backend,
             Communicator &       communicator,
             const Slab &         warp,
             const Slab &         determinant,
             RegistrationResult & result)
{
  JacobianResult jacobian;
  if (!warp.IsEmpty())
  {
    jacobian = backend.JacobianDeterminant(
      warp.Warp(), warp.Owned().first, warp.Owned().end - warp.Owned().first, determinant.OwnedVolume());
  }
  double smallest = -jacobian.minimum;
  communicator.Maximum(&smallest, 1);
  communicator.Sum(&jacobian.notPositive, 1);
  result.smallestJacobian = -smallest;
  result.folds = jacobian.notPositive;
}

/** Steps are small and smooth, so folds are few and shallow: they are ironed out, not prevented. */
void
Unfold(Backend & backend, Communicator & communicator, Slab & warp, RegistrationResult & result)
{
  constexpr float Least = 0.05f; // not only positive, so that what reads the warp finds no fold either
  constexpr int   Passes = 50;
  warp = WithHalo(backend, communicator, std::move(warp), 1);
  const Slab determinant(backend, communicator, warp.Domain(), 1, 1);
  MeasureFolds(backend, communicator, warp, determinant, result);
  for (int pass = 0; pass < Passes && result.smallestJacobian < Least; ++pass)
  {
    determinant.RefreshHalo(backend, communicator);
    std::int64_t ironed = 0;
    if (!warp.IsEmpty())
    {
      ironed = backend.IronFolds(
        warp.Warp(), warp.Owned().first, warp.Owned().end - warp.Owned().first, determinant.Volume(), Least);
    }
    communicator.Sum(&ironed, 1);
    result.ironed = std::max(result.ironed, ironed);
    warp.RefreshHalo(backend, communicator);
    MeasureFolds(backend, communicator, warp, determinant, result);
  }
}

/** A warp of zeros: in the memory of the result, where the backend can use that, so that large warps exist once. */
Slab
MakeHome(Backend & backend, Communicator & communicator, const Extent & size, std::vector<float> & values)
{
  if (backend.SharesHostMemory())
  {
    return Slab(backend, communicator, size, 3, values);
  }
  Slab home(backend, communicator, size, 3);
  home.FillZero();
  return home;
}

/** Moves a warp to such memory, without its halo. */
Slab
MoveHome(Backend & backend, Communicator & communicator, Slab && warp, std::vector<float> & values)
{
  Slab home = MakeHome(backend, communicator, warp.Domain(), values);
  for (int c = 0; c < 3 && !warp.IsEmpty(); ++c)
  {
    const VolumeView<float> from = warp.OwnedVolume(c);
    backend.Move(home.Volume(c).data, from.data, std::size_t(from.planes * from.planeStride) * sizeof(float));
  }
  warp = Slab();
  return home;
}

void
CopyToHost(Backend & backend, const Slab & warp, std::vector<float> & values)
{
  if (backend.SharesHostMemory())
  {
    return; // it is there
  }
  const std::int64_t count = (warp.Owned().end - warp.Owned().first) * warp.Domain().x * warp.Domain().y;
  values.resize(std::size_t(3 * count));
  for (int c = 0; c < 3 && count > 0; ++c)
  {
    backend.CopyToHost(values.data() + c * count, warp.OwnedVolume(c).data, std::size_t(count) * sizeof(float));
  }
}

} // namespace

void
BringWarpHome(Backend &            backend,
              Communicator &       communicator,
              Slab                 warp,
              const Extent &       size,
              RegistrationResult & result)
{
  if (warp.Domain() != size)
  {
    warp = Regrid(backend, communicator, warp, size);
  }
  Unfold(backend, communicator, warp, result);
  result.hasWarp = true;
  result.warpSize = size;
  result.warpPlanes = warp.Owned();
  warp = MoveHome(backend, communicator, std::move(warp), result.warp);
  CopyToHost(backend, warp, result.warp);
  const Slab inverse = MakeHome(backend, communicator, size, result.inverseWarp);
  result.inverseResidual = InvertWarp(backend, communicator, warp, inverse);
  CopyToHost(backend, inverse, result.inverseWarp);
}

} // namespace ffdp
