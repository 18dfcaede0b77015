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

std::vector<float>
CopyToHost(Backend & backend, const Slab & warp)
{
  const std::int64_t count = (warp.Owned().end - warp.Owned().first) * warp.Domain().x * warp.Domain().y;
  std::vector<float> values(std::size_t(3 * count));
  for (int c = 0; c < 3 && count > 0; ++c)
  {
    backend.CopyToHost(values.data() + c * count, warp.OwnedVolume(c).data, std::size_t(count) * sizeof(float));
  }
  return values;
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
  {
    const InvertedWarp inverse = InvertWarp(backend, communicator, warp);
    result.inverseResidual = inverse.residual;
    result.inverseWarp = CopyToHost(backend, inverse.warp);
  }
  result.warp = CopyToHost(backend, warp);
}

} // namespace ffdp
