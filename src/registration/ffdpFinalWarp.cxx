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

constexpr float LeastJacobian = 0.05f; // not only positive, so that what reads the warp finds no fold either
constexpr float UsualError = 0.1f;     // voxels; what a warp and its inverse may differ by everywhere
constexpr float LargestError = 0.3f; // where it is more, warps are ironed; half a voxel is promised, between voxels too
constexpr int   Passes = 50;

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

/** Irons a warp where `measure` is below `least`; returns how many voxels of all ranks. */
std::int64_t
Iron(Backend & backend, Communicator & communicator, const Slab & warp, const Slab & measure, float least)
{
  measure.RefreshHalo(backend, communicator);
  std::int64_t ironed = 0;
  if (!warp.IsEmpty())
  {
    ironed = backend.IronFolds(
      warp.Warp(), warp.Owned().first, warp.Owned().end - warp.Owned().first, measure.Volume(), least);
  }
  communicator.Sum(&ironed, 1);
  warp.RefreshHalo(backend, communicator);
  return ironed;
}

/** Steps are small and smooth, so folds are few and shallow: they are ironed out, not prevented. The warp has a halo of
 * a plane or more. */
void
Unfold(Backend &            backend,
       Communicator &       communicator,
       const Slab &         warp,
       const Slab &         determinant,
       RegistrationResult & result)
{
  MeasureFolds(backend, communicator, warp, determinant, result);
  for (int pass = 0; pass < Passes && result.smallestJacobian < LeastJacobian; ++pass)
  {
    result.ironed = std::max(result.ironed, Iron(backend, communicator, warp, determinant, LeastJacobian));
    MeasureFolds(backend, communicator, warp, determinant, result);
  }
}

/** Moves the voxels of `w` whose error w + u(x + w) is above the usual just as far as that. */
void
DrawCloser(Backend & backend, Communicator & communicator, const Slab & u, const Slab & w, float boundAlongZ)
{
  InverseRefinement refinement;
  refinement.boundAlongZ = boundAlongZ;
  refinement.allowed = UsualError;
  refinement.insideOnly = true;
  if (!w.IsEmpty())
  {
    backend.RefineInverse(u.Warp(), w.OwnedWarp(), refinement);
  }
  w.RefreshHalo(backend, communicator);
}

/** Finds the error w + u(x + w) in all owned planes, and its largest length in all of all ranks. */
double
MeasureError(Backend &      backend,
             Communicator & communicator,
             const Slab &   u,
             const Slab &   w,
             float          boundAlongZ,
             const Slab &   error)
{
  double largest =
    w.IsEmpty() ? 0.0 : double(backend.InverseError(u.Warp(), w.OwnedWarp(), boundAlongZ, error.OwnedVolume()));
  communicator.Maximum(&largest, 1);
  return largest;
}

/** Makes a warp u and its inverse w agree in both orders. w is exact at its voxels. Between them it is interpolated,
 * and where u squeezes many voxels into one, that is too coarse for points that come from u. So both are moved a
 * little: each to what the other one, as it is interpolated, asks for; and where this does not help, they are ironed.
 */
void
Reconcile(Backend & backend, Communicator & communicator, Slab & u, Slab & w, RegistrationResult & result)
{
  const float bound = std::max(BoundAlongZ(backend, communicator, u), BoundAlongZ(backend, communicator, w));
  u = WithHalo(backend, communicator, std::move(u), CompositionHalo(bound));
  w = WithHalo(backend, communicator, std::move(w), CompositionHalo(bound));
  const Slab errorOfWarp(backend, communicator, u.Domain(), 1, 1);
  const Slab errorOfInverse(backend, communicator, u.Domain(), 1, 1);
  for (int pass = 0;; ++pass)
  {
    DrawCloser(backend, communicator, w, u, bound); // the warp first: w, which is exact, has nothing to come closer to
    DrawCloser(backend, communicator, u, w, bound);
    MeasureFolds(backend, communicator, u, errorOfWarp, result);
    const bool   folded = result.smallestJacobian < LeastJacobian;
    const double forward = MeasureError(backend, communicator, w, u, bound, errorOfWarp);
    const double backward = MeasureError(backend, communicator, u, w, bound, errorOfInverse);
    result.inverseResidual = std::max(forward, backward);
    if (pass == Passes || (!folded && result.inverseResidual <= double(LargestError)))
    {
      return;
    }
    if (forward > double(LargestError))
    {
      result.ironed = std::max(result.ironed, Iron(backend, communicator, u, errorOfWarp, -LargestError));
    }
    if (backward > double(LargestError))
    {
      Iron(backend, communicator, w, errorOfInverse, -LargestError);
    }
    if (folded)
    {
      Unfold(backend, communicator, u, errorOfWarp, result);
    }
  }
}

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
  warp = WithHalo(backend, communicator, std::move(warp), 1);
  Unfold(backend, communicator, warp, Slab(backend, communicator, size, 1, 1), result);
  result.hasWarp = true;
  result.warpSize = size;
  result.warpPlanes = warp.Owned();
  warp = MoveHome(backend, communicator, std::move(warp), result.warp);
  Slab inverse = MakeHome(backend, communicator, size, result.inverseWarp);
  InvertWarp(backend, communicator, warp, inverse);
  Reconcile(backend, communicator, warp, inverse, result);
  LeaveAtHome(backend, std::move(inverse), result.inverseWarp);
  LeaveAtHome(backend, std::move(warp), result.warp);
}

} // namespace ffdp
