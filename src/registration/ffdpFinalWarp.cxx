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

#include "ffdpScratchScope.h"

#include <algorithm>
#include <cmath>

namespace ffdp
{
namespace
{

constexpr float LeastJacobian = 0.05f;    // not only positive, so that what reads the warp finds no fold either
constexpr float IronedJacobian = 0.08f;   // to which it is ironed where it is less, so that it lasts
constexpr float UsualError = 0.1f;        // voxels; what a warp and its inverse may differ by everywhere
constexpr float InverseTolerance = 0.02f; // of the inverse at its voxels; what the two may differ by is more
constexpr float LargestError = 0.2f;      // at voxels; where it is more, warps are ironed. Between them more is left
constexpr int   Margin = 2; // voxels; beyond the grid a warp is not known, and so its inverse is not near its border
constexpr int   Passes = 50;
constexpr int   InversePasses = MostFinalWarpSteps - 2; // besides the inverse itself, and a last look

/** Ironing may stand still: a voxel at the border of the grid keeps what the planes inside ask for. */
class Progress
{
public:
  /** Whether `value`, which is to grow, has not grown by a hundredth of itself for some passes. */
  bool
  HasEnded(double value)
  {
    constexpr int Patience = 5;
    m_Passes = value > m_Best + 0.01 * std::abs(m_Best) ? 0 : m_Passes + 1;
    m_Best = std::max(m_Best, value);
    return m_Passes > Patience;
  }

private:
  double m_Best = -1e30;
  int    m_Passes = 0;
};

/** Finds the determinant in some runs of owned planes, and its minima there; minima are those of all planes. Returns
 * how many voxels of these planes are folds. */
std::int64_t
MeasurePlanes(Backend &                       backend,
              Communicator &                  communicator,
              const Slab &                    warp,
              const std::vector<PlaneRange> & runs,
              const Slab &                    determinant,
              std::vector<double> &           minima)
{
  const PlaneRange &  owned = warp.Owned();
  std::vector<double> own(minima.begin() + owned.first, minima.begin() + owned.end);
  std::int64_t        folds = 0;
  for (const PlaneRange & run : runs)
  {
    const JacobianResult jacobian =
      backend.JacobianDeterminant(warp.Warp(), run.first, run.end - run.first, determinant.OwnedVolume());
    std::copy(jacobian.planeMinima.begin(), jacobian.planeMinima.end(), own.begin() + (run.first - owned.first));
    folds += jacobian.notPositive;
  }
  minima = communicator.Gather(own);
  return folds;
}

std::vector<PlaneRange>
AllPlanes(const Slab & warp)
{
  return warp.IsEmpty() ? std::vector<PlaneRange>() : std::vector<PlaneRange>{ warp.Owned() };
}

/** Finds the determinant in all owned planes, and what is to be known of it in all of all ranks; returns the smallest
 * of each plane. */
std::vector<double>
MeasureFolds(Backend &            backend,
             Communicator &       communicator,
             const Slab &         warp,
             const Slab &         determinant,
             RegistrationResult & result)
{
  std::vector<double> minima(std::size_t(warp.Domain().z));
  result.folds = MeasurePlanes(backend, communicator, warp, AllPlanes(warp), determinant, minima);
  communicator.Sum(&result.folds, 1);
  result.smallestJacobian = *std::min_element(minima.begin(), minima.end());
  return minima;
}

/** The owned planes that are at most `reach` from one whose determinant is below `least` somewhere. */
std::vector<PlaneRange>
PlanesNearFolds(const std::vector<double> & minima, double least, std::int64_t reach, const PlaneRange & owned)
{
  std::vector<PlaneRange> runs;
  for (std::int64_t z = 0; z < std::int64_t(minima.size()); ++z)
  {
    const PlaneRange near{ std::max(owned.first, z - reach), std::min(owned.end, z + reach + 1) };
    if (!(minima[std::size_t(z)] < least) || near.first >= near.end)
    {
      continue;
    }
    if (!runs.empty() && runs.back().end >= near.first)
    {
      runs.back().end = near.end;
    }
    else
    {
      runs.push_back(near);
    }
  }
  return runs;
}

/** Irons a warp in some runs of owned planes, where `measure` is below `least`; returns how many voxels of all ranks.
 */
std::int64_t
Iron(Backend &                       backend,
     Communicator &                  communicator,
     const Slab &                    warp,
     const std::vector<PlaneRange> & runs,
     const Slab &                    measure,
     float                           least)
{
  measure.RefreshHalo(backend, communicator);
  std::int64_t ironed = 0;
  for (const PlaneRange & run : runs) // runs do not touch, so none sees what became of another
  {
    ironed += backend.IronFolds(warp.Warp(), run.first, run.end - run.first, measure.Volume(), least);
  }
  communicator.Sum(&ironed, 1);
  warp.RefreshHalo(backend, communicator);
  return ironed;
}

/** Steps are small and smooth, so folds are few and shallow: they are ironed out, not prevented. The warp has a halo of
 * a plane or more. After a pass only planes near folds are looked at: ironing changes voxels beside a fold, and these
 * the determinants beside them. */
void
Unfold(Backend &            backend,
       Communicator &       communicator,
       const Slab &         warp,
       const Slab &         determinant,
       RegistrationResult & result)
{
  std::vector<double> minima = MeasureFolds(backend, communicator, warp, determinant, result);
  if (result.smallestJacobian >= LeastJacobian)
  {
    return;
  }
  Progress progress;
  double   smallest = result.smallestJacobian;
  for (int pass = 0; pass < Passes && smallest < IronedJacobian && !progress.HasEnded(smallest); ++pass)
  {
    const auto changed = PlanesNearFolds(minima, IronedJacobian, 1, warp.Owned());
    const auto measured = PlanesNearFolds(minima, IronedJacobian, 2, warp.Owned());
    result.ironed = std::max(result.ironed, Iron(backend, communicator, warp, changed, determinant, IronedJacobian));
    MeasurePlanes(backend, communicator, warp, measured, determinant, minima);
    smallest = *std::min_element(minima.begin(), minima.end());
  }
  MeasureFolds(backend, communicator, warp, determinant, result);
}

/** Makes a warp u and its inverse w agree in both orders. w is nearly exact at its voxels. Between them it is
 * interpolated, and where u squeezes many voxels into one, that is too coarse for points that come from u. So both are
 * moved a little: each to what the other one, as it is interpolated, asks for; and where this does not help, they are
 * ironed.
 */
class Reconciliation
{
public:
  Reconciliation(Backend & backend, Communicator & communicator, Slab & u, Slab & w, RegistrationResult & result)
    : m_Backend(backend)
    , m_Communicator(communicator)
    , m_Bound(std::max(BoundAlongZ(backend, communicator, u), BoundAlongZ(backend, communicator, w)))
    , m_U(u)
    , m_W(w)
    , m_Result(result)
  {
    u = WithHalo(backend, communicator, std::move(u), CompositionHalo(m_Bound));
    w = WithHalo(backend, communicator, std::move(w), CompositionHalo(m_Bound));
    m_Measure = Slab(backend, communicator, u.Domain(), 1, 1);
  }

  void
  Run(const std::function<void(double)> & report)
  {
    const ScratchScope scratch; // dozens of sweeps follow, all of the same size
    bool               done = false;
    for (int pass = 0; pass <= InversePasses && !done;)
    {
      const bool lookedAtMarks = m_LooksAtMarks;
      done = this->Pass(pass < InversePasses);
      const bool agreesAtMarks = lookedAtMarks && done;
      if (agreesAtMarks || (lookedAtMarks && pass == InversePasses))
      {
        m_LooksAtMarks = false;
        m_Result.inverseResidual = std::max(this->MeasureError(m_W, m_U), this->MeasureError(m_U, m_W));
        done = m_Result.inverseResidual <= double(LargestError);
      }
      if (done || !agreesAtMarks) // a pass that had nothing to iron at its marks, and finds more elsewhere, is not one
      {
        report(m_Result.inverseResidual);
        ++pass;
      }
    }
    m_LooksAtMarks = false;
    if (m_Result.smallestJacobian < LeastJacobian) // passes have run out; a warp without folds comes first
    {
      Unfold(m_Backend, m_Communicator, m_U, m_Measure, m_Result);
      this->DrawCloser(m_U, m_W);
      m_Result.inverseResidual = std::max(this->MeasureError(m_W, m_U), this->MeasureError(m_U, m_W));
    }
  }

private:
  /** Returns whether the warps agree. */
  bool
  Pass(bool mayIron)
  {
    this->DrawCloser(m_W, m_U); // the warp first: w, being nearly exact, has nothing to come to
    this->DrawCloser(m_U, m_W);
    MeasureFolds(m_Backend, m_Communicator, m_U, m_Measure, m_Result);
    BlockMarks   marksOfU(m_U.Domain()), marksOfW(m_U.Domain()); // where this pass irons
    const double forward = this->MeasureError(m_W, m_U);
    if (forward > double(LargestError) && mayIron)
    {
      this->Mark(m_U, marksOfU, marksOfW);
      m_Result.ironed =
        std::max(m_Result.ironed, Iron(m_Backend, m_Communicator, m_U, AllPlanes(m_U), m_Measure, -LargestError));
    }
    const double backward = this->MeasureError(m_U, m_W); // of a warp that was ironed: so both are, at the same places
    if (backward > double(LargestError) && mayIron)
    {
      this->Mark(m_W, marksOfW, marksOfU);
      Iron(m_Backend, m_Communicator, m_W, AllPlanes(m_W), m_Measure, -LargestError);
    }
    m_Result.inverseResidual = std::max(forward, backward);
    m_MarksOfU = this->OfAllRanks(std::move(marksOfU));
    m_MarksOfW = this->OfAllRanks(std::move(marksOfW));
    m_LooksAtMarks = true;
    const bool folded = m_Result.smallestJacobian < LeastJacobian;
    if (folded && mayIron)
    {
      Unfold(m_Backend, m_Communicator, m_U, m_Measure, m_Result);
      m_LooksAtMarks = false;
    }
    return !folded && m_Result.inverseResidual <= double(LargestError);
  }

  /** Marks where the errors of a warp, which are measured, are too large, and what they reach in the other one. */
  void
  Mark(const Slab & warp, BlockMarks & own, BlockMarks & reached)
  {
    if (!warp.IsEmpty())
    {
      m_Backend.MarkInverseErrors(m_Measure.OwnedVolume(), warp.OwnedWarp(), LargestError, own, reached);
    }
  }

  BlockMarks
  OfAllRanks(BlockMarks marks)
  {
    std::vector<std::int64_t> counts(marks.marks.begin(), marks.marks.end());
    m_Communicator.Sum(counts.data(), counts.size());
    for (std::size_t i = 0; i < counts.size(); ++i)
    {
      marks.marks[i] = counts[i] > 0 ? 1 : 0;
    }
    return marks;
  }

  /** Moves the voxels of `w` whose error is above the usual just as far as that. */
  void
  DrawCloser(const Slab & u, const Slab & w)
  {
    if (this->MeasureError(u, w) <= double(UsualError))
    {
      return;
    }
    InverseRefinement refinement;
    refinement.boundAlongZ = 0.99995f * m_Bound; // means of it, by ironing, may be rounded up, and must stay within
    refinement.allowed = UsualError;
    if (!w.IsEmpty())
    {
      m_Backend.RefineInverse(u.Warp(), w.OwnedWarp(), m_Measure.OwnedVolume(), refinement);
    }
    w.RefreshHalo(m_Backend, m_Communicator);
  }

  /** Finds the error w + u(x + w) in all owned planes (or at the marks: near what was ironed since all were looked at),
   * and its largest length in all of all ranks. */
  double
  MeasureError(const Slab & u, const Slab & w)
  {
    const BlockMarks * marks = !m_LooksAtMarks ? nullptr : &w == &m_U ? &m_MarksOfU : &m_MarksOfW;
    double             largest = 0;
    if (!w.IsEmpty())
    {
      largest =
        double(m_Backend.InverseError(u.Warp(), w.OwnedWarp(), m_Bound, Margin, m_Measure.OwnedVolume(), marks));
    }
    m_Communicator.Maximum(&largest, 1);
    return largest;
  }

  Backend &            m_Backend;
  Communicator &       m_Communicator;
  float                m_Bound; ///< of both warps along z
  Slab &               m_U;
  Slab &               m_W;
  Slab                 m_Measure; ///< of folds and errors in turn
  RegistrationResult & m_Result;

  // Few voxels are ironed. After a pass over all, only they and their surroundings are looked at, until all agree
  // there. Errors may have changed elsewhere, too: all are looked at in the end.
  bool       m_LooksAtMarks = false;
  BlockMarks m_MarksOfU;
  BlockMarks m_MarksOfW;
};

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
BringWarpHome(Backend &                           backend,
              Communicator &                      communicator,
              Slab                                warp,
              const Extent &                      size,
              const std::function<void(double)> & report,
              RegistrationResult &                result)
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
  report(InvertWarp(backend, communicator, warp, inverse, InverseTolerance));
  Reconciliation(backend, communicator, warp, inverse, result).Run(report);
  LeaveAtHome(backend, std::move(inverse), result.inverseWarp);
  LeaveAtHome(backend, std::move(warp), result.warp);
}

} // namespace ffdp
